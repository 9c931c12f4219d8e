"""Text edits: what they change, and that all the rest stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlint.analysis import edits
from torchlint.analysis.module import Module
from torchlint.files.lines import LineIndex
from torchlint.files.reading import Source
from torchlint.finding import Edit
from torchlint.fixes.splice import spans, spliced
from torchlint.source.parse import parse

if TYPE_CHECKING:
    from collections.abc import Iterable


def module_of(text: str) -> Module:
    source = Source("x.py", text.encode(), text, "utf-8", bom=False)
    return Module(source, parse(source), (2, 13))


def made(module: Module, edit: Edit | Iterable[Edit] | None) -> str:
    assert edit is not None
    changes = [edit] if isinstance(edit, Edit) else edit
    return spliced(module.text, spans(changes, LineIndex(module.text)))


def call_of(module: Module, name: str = "f") -> cst.Call:
    return next(
        call
        for call in module.nodes(cst.Call)
        if isinstance(call.func, cst.Name) and call.func.value == name
    )


def marked(module: Module) -> cst.BaseSmallStatement:
    """The small statement that says `here`."""
    name = next(name for name in module.nodes(cst.Name) if name.value == "here")
    small = module.small_statement(name)
    assert small is not None
    return small


def marked_line(module: Module) -> cst.BaseStatement:
    """The line or compound statement that says `here`."""
    name = next(name for name in module.nodes(cst.Name) if name.value == "here")
    statement = module.statement(name)
    assert statement is not None
    return statement


ADDED = {
    "no arguments": ("f()\n", "f(n=4)\n"),
    "blanks between the parentheses": ("f( )\n", "f(n=4)\n"),
    "an empty line between the parentheses": ("f(\n)\n", "f(n=4)\n"),
    "a comment between the parentheses": ("x = f(\n  # c\n)\n", "x = f(\n  # c\n  n=4,\n)\n"),
    "a comment after the parenthesis": ("x = f(  # c\n)\n", "x = f(  # c\n    n=4,\n)\n"),
    "one line": ("f(a, b=1)\n", "f(a, b=1, n=4)\n"),
    "one line, comma at the end": ("f(a, b=1,)\n", "f(a, b=1, n=4,)\n"),
    "one line, blank before the comma": ("f(a , )\n", "f(a , n=4, )\n"),
    "after stars": ("f(*a, **k)\n", "f(*a, **k, n=4)\n"),
    "a generator": ("f(x for x in y)\n", "f((x for x in y), n=4)\n"),
    "a generator in parentheses": ("f((x for x in y))\n", "f((x for x in y), n=4)\n"),
    "a parenthesised argument": ("f((a))\n", "f((a), n=4)\n"),
    "a parenthesised call": ("(f(a))\n", "(f(a, n=4))\n"),
    "a line each": ("f(\n    a,\n    b\n)\n", "f(\n    a,\n    b,\n    n=4\n)\n"),
    "a line each, comma at the end": (
        "f(\n    a,\n    b,\n)\n",
        "f(\n    a,\n    b,\n    n=4,\n)\n",
    ),
    "a line each, comments": (
        "f(\n    a,  # one\n    b  # two\n    # end\n)\n",
        "f(\n    a,  # one\n    b,  # two\n    n=4\n    # end\n)\n",
    ),
    "a line each, comma and comments": (
        "f(\n    a,  # one\n    b,  # two\n    # end\n)\n",
        "f(\n    a,  # one\n    b,  # two\n    n=4,\n    # end\n)\n",
    ),
    "aligned": ("x = f(a,\n      b)\n", "x = f(a,\n      b,\n      n=4)\n"),
    "aligned, comma at the end": ("x = f(a,\n      b,)\n", "x = f(a,\n      b,\n      n=4,)\n"),
    "several on the last line": ("f(\n    a, b\n)\n", "f(\n    a, b, n=4\n)\n"),
    "several on the last line, comma": ("f(\n    a, b,\n)\n", "f(\n    a, b, n=4,\n)\n"),
    "an argument over lines": ("f(a, [\n    1,\n])\n", "f(a, [\n    1,\n], n=4)\n"),
    "tabs": ("if x:\n\tf(\n\t\ta,\n\t)\n", "if x:\n\tf(\n\t\ta,\n\t\tn=4,\n\t)\n"),
    "carriage returns": ("f(\r\n    a\r\n)\r\n", "f(\r\n    a,\r\n    n=4\r\n)\r\n"),
    "only carriage returns": ("f(\r    a\r)\r", "f(\r    a,\r    n=4\r)\r"),
    "a backslash": ("f(a, \\\n  b)\n", "f(a, \\\n  b,\n  n=4)\n"),
    "a comment before the comma": (
        "f(\n    a  # c\n    ,\n)\n",
        "f(\n    a  # c\n    ,\n    n=4,\n)\n",
    ),
    "no final newline": ("f(a)", "f(a, n=4)"),
}


@pytest.mark.parametrize(("before", "after"), ADDED.values(), ids=ADDED)
def test_an_argument_is_added_in_the_layout_of_the_call(before: str, after: str) -> None:
    module = module_of(before)
    assert made(module, edits.add_argument(module, call_of(module), "n=4")) == after


REMOVED = {
    "the only one": ("f(n=4)\n", "f()\n"),
    "the only one, comma": ("f( n=4, )\n", "f()\n"),
    "the only one, on its line": ("f(\n    n=4,\n)\n", "f()\n"),
    "the only one, with a comment": ("f(\n    # c\n    n=4,\n)\n", "f(\n    # c\n    \n)\n"),
    "the first": ("f(n=4, a=1)\n", "f(a=1)\n"),
    "the middle": ("f(a, n=4, b=1)\n", "f(a, b=1)\n"),
    "the last": ("f(a, n=4)\n", "f(a)\n"),
    "the last, comma": ("f(a, n=4,)\n", "f(a,)\n"),
    "a parenthesised one": ("f(a, n=(4), b=1)\n", "f(a, b=1)\n"),
    "a line of its own": ("f(\n    a,\n    n=4,\n    b=1,\n)\n", "f(\n    a,\n    b=1,\n)\n"),
    "a line of its own, its comment too": (
        "f(\n    a,  # one\n    n=4,  # two\n    # about b\n    b=1,\n)\n",
        "f(\n    a,  # one\n    # about b\n    b=1,\n)\n",
    ),
    "the last line": ("f(\n    a,\n    n=4,\n)\n", "f(\n    a,\n)\n"),
    "the last line, no comma": ("f(\n    a,\n    n=4\n)\n", "f(\n    a\n)\n"),
    "the last line, no comma, its comment": (
        "f(\n    a,\n    n=4  # two\n)\n",
        "f(\n    a,\n)\n",
    ),
    "the last line, no comma, a comment above": (
        "f(\n    a,  # one\n    n=4\n)\n",
        "f(\n    a,  # one\n    \n)\n",
    ),
    "aligned, in the middle": ("x = f(a, n=4,\n      b=1)\n", "x = f(a,\n      b=1)\n"),
    "aligned, the first": ("x = f(n=4,\n      b=1)\n", "x = f(\n      b=1)\n"),
    "aligned, the first, comma at the end": (
        "x = f(n=4,\n      b=1,)\n",
        "x = f(\n      b=1,)\n",
    ),
    "aligned, the last": ("x = f(a,\n      n=4)\n", "x = f(a)\n"),
    "aligned, a comment before the next": (
        "x = f(a, n=4,  # c\n      b=1)\n",
        "x = f(a,  # c\n      b=1)\n",
    ),
    "a comment before the last": ("f(a,  # c\n  n=4)\n", "f(a,  # c\n  )\n"),
    "a comment before the last, comma": ("f(a,  # c\n  n=4,)\n", "f(a,  # c\n  )\n"),
    "several on a line": ("f(\n    n=4, a=1,\n    b=2,\n)\n", "f(\n    a=1,\n    b=2,\n)\n"),
    "an argument over lines": ("f(a, n=[\n    1,\n], b=2)\n", "f(a, b=2)\n"),
    "carriage returns": ("f(\r\n    a,\r\n    n=4,\r\n)\r\n", "f(\r\n    a,\r\n)\r\n"),
}


@pytest.mark.parametrize(("before", "after"), REMOVED.values(), ids=REMOVED)
def test_an_argument_is_removed_with_its_comma_and_line(before: str, after: str) -> None:
    module = module_of(before)
    call = call_of(module)
    arg = next(arg for arg in call.args if arg.keyword and arg.keyword.value == "n")
    text = made(module, edits.remove_argument(module, call, arg))
    assert text == after
    module_of(text)


DELETED = {
    "a line": ("a\nhere\nb\n", "a\nb\n"),
    "a line with a comment": (
        "a\n# above\nhere  # right\n# below\nb\n",
        "a\n# above\n# below\nb\n",
    ),
    "the last line, no newline": ("a\nhere", "a\n"),
    "a call over lines": ("a\nhere(\n    1,\n)\nb\n", "a\nb\n"),
    "the only one of a block": ("if a:\n    here  # c\nb\n", "if a:\n    pass  # c\nb\n"),
    "one of two in a block": ("if a:\n    here\n    b\n", "if a:\n    b\n"),
    "the only one after a colon": ("if a: here\n", "if a: pass\n"),
    "one of two after a colon": ("if a: here; b\n", "if a: b\n"),
    "first on a line": ("here; b; c\n", "b; c\n"),
    "middle of a line": ("a; here; c  # d\n", "a; c  # d\n"),
    "last on a line": ("a; here\n", "a\n"),
    "last on a line, semicolon": ("a; b; here;\n", "a; b;\n"),
    "alone with a semicolon": ("a\nhere;\nb\n", "a\nb\n"),
    "carriage returns": ("a\r\nhere\r\nb\r\n", "a\r\nb\r\n"),
    "tabs": ("if a:\n\tb\n\there\nc\n", "if a:\n\tb\nc\n"),
    "form feed": ("a\n\x0chere\nb\n", "a\n\x0cb\n"),
}


@pytest.mark.parametrize(("before", "after"), DELETED.values(), ids=DELETED)
def test_a_statement_is_deleted(before: str, after: str) -> None:
    module = module_of(before)
    text = made(module, edits.delete_statement(module, marked(module)))
    assert text == after
    module_of(text)


DELETED_COMPOUNDS = {
    "a loop": ("a\nfor here in x:\n    b\nelse:\n    c\n    # end\nd\n", "a\nd\n"),
    "a loop, comments of the next statement stay": (
        "for here in x:\n    b\n    # end\n\n# d\nd\n",
        "\n# d\nd\n",
    ),
    "nested blocks": ("while here:\n    if b:\n        c\n        # end\nd\n", "d\n"),
    "if with branches": ("if here:\n    b\nelif c:\n    d\nelse:\n    e\nf\n", "f\n"),
    "with, the only one of a block": ("if a:\n    with here:\n        b\n", "if a:\n    pass\n"),
    "a class with decorators": ("@a\n@b(1)\nclass here: pass\nd\n", "d\n"),
    "the end of the file": ("a\nwhile here:\n    b", "a\n"),
    "one line": ("a\nwhile here: b; c\nd\n", "a\nd\n"),
}


@pytest.mark.parametrize(("before", "after"), DELETED_COMPOUNDS.values(), ids=DELETED_COMPOUNDS)
def test_a_compound_statement_is_deleted_with_its_lines(before: str, after: str) -> None:
    module = module_of(before)
    text = made(module, edits.delete_statement(module, marked_line(module)))
    assert text == after
    module_of(text)


def test_try_and_match_are_deleted_to_their_ends() -> None:
    for block in (
        "try:\n    a\nexcept E:\n    b\nelse:\n    c\nfinally:\n    d\n    # end\n",
        "try:\n    a\nexcept E:\n    b\n    # end\n",
        "match a:\n    case 1:\n        b\n        # end\n",
        "def f():\n    a\n    # end\n",
    ):
        module = module_of(f"{block}e\n")
        assert made(module, edits.delete_statement(module, module.tree.body[0])) == "e\n"


def test_an_elif_is_no_place_for_edits() -> None:
    module = module_of("if a:\n    b\nelif here:\n    c\n")
    branch = marked_line(module)
    with pytest.raises(ValueError, match="elif"):
        edits.delete_statement(module, branch)
    with pytest.raises(ValueError, match="elif"):
        edits.replace(module, branch, branch)
    assert edits.insert_before(module, branch, "x") is None
    assert edits.insert_after(module, branch, "x") is None


BEFORE = {
    "top level": ("a\nhere\n", "a\nx = 1\ny\nhere\n"),
    "below its comments": ("# above\nhere\n", "# above\nx = 1\ny\nhere\n"),
    "in a block": ("if a:\n    here\n", "if a:\n    x = 1\n    y\n    here\n"),
    "tabs": ("if a:\n\there\n", "if a:\n\tx = 1\n\ty\n\there\n"),
    "carriage returns": ("if a:\r\n  here\r\n", "if a:\r\n  x = 1\r\n  y\r\n  here\r\n"),
    "several on the line": ("a; here\n", "x = 1\ny\na; here\n"),
    "form feed": ("a\n\x0chere\n", "a\nx = 1\ny\n\x0chere\n"),
    "no final newline": ("here", "x = 1\ny\nhere"),
}


@pytest.mark.parametrize(("before", "after"), BEFORE.values(), ids=BEFORE)
def test_lines_are_put_above_a_statement(before: str, after: str) -> None:
    module = module_of(before)
    assert made(module, edits.insert_before(module, marked(module), "x = 1\ny")) == after


def test_lines_go_above_decorators() -> None:
    module = module_of("if a:\n    @b\n    def here(): pass\n")
    text = made(module, edits.insert_before(module, marked_line(module), "x"))
    assert text == "if a:\n    x\n    @b\n    def here(): pass\n"


AFTER = {
    "top level": ("here  # c\na\n", "here  # c\nx = 1\n\ny\na\n"),
    "in a block": ("if a:\n    here\nb\n", "if a:\n    here\n    x = 1\n\n    y\nb\n"),
    "several on the line": ("here; a\n", "here; a\nx = 1\n\ny\n"),
    "a call over lines": ("here(\n  1)\na\n", "here(\n  1)\nx = 1\n\ny\na\n"),
    "carriage returns": ("here\r\n", "here\r\nx = 1\r\n\r\ny\r\n"),
    "no final newline": ("if a:\n    here", "if a:\n    here\n    x = 1\n\n    y"),
}


@pytest.mark.parametrize(("before", "after"), AFTER.values(), ids=AFTER)
def test_lines_are_put_below_a_statement(before: str, after: str) -> None:
    module = module_of(before)
    assert made(module, edits.insert_after(module, marked(module), "x = 1\n\ny")) == after


AFTER_COMPOUND = {
    "a loop": (
        "for here in a:\n    b\n    # end\n# c\nc\n",
        "for here in a:\n    b\n    # end\nx\n# c\nc\n",
    ),
    "branches": ("if here:\n    b\nelse:\n    c\n", "if here:\n    b\nelse:\n    c\nx\n"),
    "nested": (
        "def f():\n    with here:\n        b\n",
        "def f():\n    with here:\n        b\n    x\n",
    ),
    "one line": ("while here: b\n", "while here: b\nx\n"),
}


@pytest.mark.parametrize(("before", "after"), AFTER_COMPOUND.values(), ids=AFTER_COMPOUND)
def test_lines_are_put_below_a_whole_block(before: str, after: str) -> None:
    module = module_of(before)
    assert made(module, edits.insert_after(module, marked_line(module), "x")) == after


def test_there_is_no_place_in_a_suite_after_a_colon() -> None:
    module = module_of("if a: here\n")
    assert edits.insert_before(module, marked(module), "x") is None
    assert edits.insert_after(module, marked(module), "x") is None


def test_there_is_no_place_after_a_continued_line() -> None:
    module = module_of("a\n\\\nhere\n")
    assert edits.insert_before(module, marked(module), "x") is None


IMPORTED = {
    "empty": ("", "import torch.nn\n"),
    "only comments": ("# a\n", "# a\nimport torch.nn\n"),
    "only a comment, no newline": ("# a", "# a\nimport torch.nn"),
    "after the imports": (
        "import os\nfrom a import b\n\nx\n",
        "import os\nfrom a import b\nimport torch.nn\n\nx\n",
    ),
    "after an import over lines": (
        "from a import (\n    b,\n)\nx\n",
        "from a import (\n    b,\n)\nimport torch.nn\nx\n",
    ),
    "after the docstring": ('"""Doc."""\nx\n', '"""Doc."""\nimport torch.nn\nx\n'),
    "after __future__": (
        '"""Doc."""\nfrom __future__ import annotations\nx\n',
        '"""Doc."""\nfrom __future__ import annotations\nimport torch.nn\nx\n',
    ),
    "below the first comments": (
        "#!/bin/python\n# coding: utf8\nx\n",
        "#!/bin/python\n# coding: utf8\nimport torch.nn\nx\n",
    ),
    "not into try": (
        "import os\ntry:\n    import a\nexcept E:\n    pass\nimport b\n",
        "import os\nimport torch.nn\ntry:\n    import a\nexcept E:\n    pass\nimport b\n",
    ),
    "not bound by a parent": ("import torch\n", "import torch\nimport torch.nn\n"),
    "not bound by another name": (
        "import torch.nn as nn\n",
        "import torch.nn as nn\nimport torch.nn\n",
    ),
    "not bound by from": ("from torch import nn\n", "from torch import nn\nimport torch.nn\n"),
    "not bound by a namesake": ("import torch.nnx\n", "import torch.nnx\nimport torch.nn\n"),
    "not bound in a function": (
        "import os\ndef f():\n    import torch.nn\n",
        "import os\nimport torch.nn\ndef f():\n    import torch.nn\n",
    ),
    "not bound under a condition": (
        "import os\nif a:\n    import torch.nn\n",
        "import os\nimport torch.nn\nif a:\n    import torch.nn\n",
    ),
    "carriage returns": ("import os\r\nx\r\n", "import os\r\nimport torch.nn\r\nx\r\n"),
    "no final newline": ("import os", "import os\nimport torch.nn"),
}


@pytest.mark.parametrize(("before", "after"), IMPORTED.values(), ids=IMPORTED)
def test_an_import_is_added_with_the_others(before: str, after: str) -> None:
    module = module_of(before)
    assert made(module, edits.add_import(module, "torch.nn")) == after


@pytest.mark.parametrize(
    "text",
    [
        "import torch.nn\n",
        "x = 1\nimport os, torch.nn.functional\n",
        "try:\n    import torch.nn\nexcept ImportError:\n    raise\n",
    ],
)
def test_what_is_imported_already_is_not_imported_again(text: str) -> None:
    assert edits.add_import(module_of(text), "torch.nn") == ()


def test_a_submodule_binds_its_package() -> None:
    assert edits.add_import(module_of("import torch.nn\n"), "torch") == ()
    assert edits.add_import(module_of("import torch as torch\n"), "torch") == ()
    assert edits.add_import(module_of("import torch as t\n"), "torch") != ()


def test_text_replaces_what_is_inside_the_parentheses() -> None:
    module = module_of("x = (here)  # c\n")
    name = next(name for name in module.nodes(cst.Name) if name.value == "here")
    assert made(module, edits.replace(module, name, "a + b")) == "x = (a + b)  # c\n"


def test_a_node_replaces_the_parentheses_too() -> None:
    module = module_of("x = (here)  # c\n")
    name = next(name for name in module.nodes(cst.Name) if name.value == "here")
    node = cst.parse_expression("(a + b)")
    assert made(module, edits.replace(module, name, node)) == "x = (a + b)  # c\n"
    assert made(module, edits.replace(module, name, cst.Name("y"))) == "x = y  # c\n"


def test_replacement_text_takes_the_newlines_of_the_file() -> None:
    module = module_of("x\r\nhere\r\n")
    assert (
        made(module, edits.replace(module, marked(module), "a\nb\r\nc")) == "x\r\na\r\nb\r\nc\r\n"
    )


def test_a_node_that_is_put_in_its_own_place_changes_nothing() -> None:
    text = (
        "class A(\n    B,\n):\n    @d\n    def f(self, a=(\n        1),  # c\n    ):\n"
        "        x = (a\n             + b)  # c\n"
        "        with (a as b): g(  # d\n            1,\n        ); h()\n        # end\n"
        "        return [\n            c for c in d\n        ]\n"
    )
    module = module_of(text)
    kinds = (cst.BaseStatement, cst.BaseSmallStatement, cst.BaseExpression, cst.Arg)
    nodes = [node for node in module.within(module.tree) if isinstance(node, kinds)]
    assert len(nodes) > 20
    for node in nodes:
        assert made(module, edits.replace(module, node, node)) == text


@st.composite
def texts_with_edits(draw: st.DrawFn) -> tuple[str, list[tuple[int, int, str]]]:
    text = draw(st.text(alphabet="ab \t\n\r\x0cé\u2028", max_size=60))
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    contents = st.text(alphabet="xy\n\r", max_size=5)
    return text, [
        (start, end, draw(contents)) for start, end in zip(cuts[::2], cuts[1::2], strict=False)
    ]


@given(texts_with_edits())
def test_nothing_outside_of_edits_changes(example: tuple[str, list[tuple[int, int, str]]]) -> None:
    text, wanted = example
    lines = LineIndex(text)
    changes = [Edit(lines.position(i), lines.position(j), content) for i, j, content in wanted]
    found = spans(reversed(changes), lines)
    assert found == wanted
    result = spliced(text, found)
    here = done = 0
    for start, end, content in wanted:
        kept = start - done
        assert result[here : here + kept] == text[done:start]
        assert result[here + kept : here + kept + len(content)] == content
        here, done = here + kept + len(content), end
    assert result[here:] == text[done:]
