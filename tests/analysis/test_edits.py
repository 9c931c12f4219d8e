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
from torchlint.finding import Applicability, Edit, Fix
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
    "a line of its own, its comment stays": (
        "f(\n    a,  # one\n    n=4,  # two\n    # about b\n    b=1,\n)\n",
        "f(\n    a,  # one\n    # two\n    # about b\n    b=1,\n)\n",
    ),
    "a line of its own, with a comment for a tool": (
        "f(\n    a,\n    n=4,  # noqa\n    b=1,\n)\n",
        "f(\n    a,\n    b=1,\n)\n",
    ),
    "the last line": ("f(\n    a,\n    n=4,\n)\n", "f(\n    a,\n)\n"),
    "the last line, no comma": ("f(\n    a,\n    n=4\n)\n", "f(\n    a\n)\n"),
    "the last line, no comma, its comment": (
        "f(\n    a,\n    n=4  # two\n)\n",
        "f(\n    a,\n    # two\n)\n",
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
        "a\n# above\n# right\n# below\nb\n",
    ),
    "a line with a comment for a tool": ("a\nhere  # noqa\nb\n", "a\nb\n"),
    "comments in several lines of a block": (
        "if a:\n    b\n    here(  # one\n        # two\n        1,\n    )  # three\n",
        "if a:\n    b\n    # one\n    # two\n    # three\n",
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
    "only carriage returns": ("a\rhere  # c\rb\r", "a\r# c\rb\r"),
    "tabs": ("if a:\n\tb\n\there\nc\n", "if a:\n\tb\nc\n"),
    "form feed": ("a\n\x0chere\nb\n", "a\n\x0cb\n"),
    "form feed before the indentation": (
        "if a:\n    b\n\x0c    here  # c\nd\n",
        "if a:\n    b\n\x0c    # c\nd\n",
    ),
    "a backslash before it": ("if a:\n    b\n    \\\n    here\nc\n", "if a:\n    b\nc\n"),
    "a backslash behind it": ("a\nhere \\\n\nb\n", "a\nb\n"),
    "below a comment that ends with a backslash": ("# a \\\nhere\nb\n", "# a \\\nb\n"),
}


@pytest.mark.parametrize(("before", "after"), DELETED.values(), ids=DELETED)
def test_a_statement_is_deleted(before: str, after: str) -> None:
    module = module_of(before)
    text = made(module, edits.delete_statement(module, marked(module)))
    assert text == after
    module_of(text)


def test_an_elif_is_not_a_place_for_edits() -> None:
    module = module_of("if a:\n    b\nelif here:\n    c\n")
    branch = marked_line(module)
    assert edits.insert_before(module, branch, "x") is None
    assert edits.insert_after(module, branch, "x") is None


BEFORE = {
    "top level": ("a\nhere\n", "a\nx = 1\ny\nhere\n"),
    "below its comments": ("# above\nhere\n", "# above\nx = 1\ny\nhere\n"),
    "in a block": ("if a:\n    here\n", "if a:\n    x = 1\n    y\n    here\n"),
    "tabs": ("if a:\n\there\n", "if a:\n\tx = 1\n\ty\n\there\n"),
    "carriage returns": ("if a:\r\n  here\r\n", "if a:\r\n  x = 1\r\n  y\r\n  here\r\n"),
    "first of several on the line": ("here; a\n", "x = 1\ny\nhere; a\n"),
    "a backslash before it": ("a\n\\\nhere\n", "a\nx = 1\ny\n\\\nhere\n"),
    "form feed before the indentation": (
        "if a:\n\x0c    here\n",
        "if a:\n    x = 1\n    y\n\x0c    here\n",
    ),
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
    "last of several on the line": ("a; here\n", "a; here\nx = 1\n\ny\n"),
    "a backslash behind it": ("here \\\n\na\n", "here \\\n\nx = 1\n\ny\na\n"),
    "a backslash behind a semicolon": ("here; \\\n\na\n", "here; \\\n\nx = 1\n\ny\na\n"),
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


IN_LINE = {
    "behind others": ("a; here; b\n", "a; x; here; b\n", "a; here; x; b\n"),
    "a suite": ("if a: here\n", "if a: x; here\n", "if a: here; x\n"),
}


@pytest.mark.parametrize(("text", "before", "after"), IN_LINE.values(), ids=IN_LINE)
def test_a_statement_is_put_next_to_one_in_its_line(text: str, before: str, after: str) -> None:
    module = module_of(text)
    assert made(module, edits.insert_before(module, marked(module), "x")) == before
    assert made(module, edits.insert_after(module, marked(module), "x")) == after


def test_there_is_no_place_for_two_lines_in_a_line() -> None:
    for text in ("if a: here\n", "a; here; b\n"):
        module = module_of(text)
        assert edits.insert_before(module, marked(module), "x\ny") is None
        assert edits.insert_after(module, marked(module), "x\ny") is None


MOVED = {
    "a line": ("for a in b:\n    here\n    c\n", "here\nfor a in b:\n    c\n"),
    "its comment": (
        "for a in b:\n    # above\n    here  # c\n    d\n",
        "here  # c\nfor a in b:\n    # above\n    d\n",
    ),
    "the only one": ("for a in b:\n    here  # c\n", "here\nfor a in b:\n    pass  # c\n"),
    "one of several on a line": (
        "for a in b:\n    c; here; d  # e\n",
        "here\nfor a in b:\n    c; d  # e\n",
    ),
    "in a suite": ("for a in b: here; c\n", "here\nfor a in b: c\n"),
    "in a block": (
        "if e:\n\tfor a in b:\n\t\there\n\t\tc\n",
        "if e:\n\there\n\tfor a in b:\n\t\tc\n",
    ),
    "a string over lines": (
        "for a in b:\n    here = '''\n  x\n'''\n    c\n",
        "here = '''\n  x\n'''\nfor a in b:\n    c\n",
    ),
    "form feeds": ("\x0cfor a in b:\n\x0c    here\n    c\n", "here\n\x0cfor a in b:\n\x0c    c\n"),
}


@pytest.mark.parametrize(("before", "after"), MOVED.values(), ids=MOVED)
def test_a_statement_is_moved_above_a_loop(before: str, after: str) -> None:
    module = module_of(before)
    (loop,) = module.nodes(cst.For)
    text = made(module, edits.move_before(module, marked(module), loop))
    assert text == after
    module_of(text)


UNDER = {
    "a line": ("here = 1  # c\n", "with a:\n    here = 1  # c\n"),
    "over lines": ("here = f(\n  1)\n", "with a:\n    here = f(\n  1)\n"),
    "tabs": ("if b:\n\there\n", "if b:\n\twith a:\n\t\there\n"),
    "form feed": ("if b:\n\x0c  here\n", "if b:\n\x0c  with a:\n    here\n"),
    "a string over lines": ("here = '''\nb'''\n", "with a:\n    here = '''\nb'''\n"),
    "a backslash": ("if b:\n  here = \\\n  c\n", "if b:\n  with a:\n    here = \\\n  c\n"),
}


@pytest.mark.parametrize(("before", "after"), UNDER.values(), ids=UNDER)
def test_a_statement_is_put_under_a_head(before: str, after: str) -> None:
    module = module_of(before)
    text = made(module, edits.put_under(module, marked(module), "with a:"))
    assert text == after
    module_of(text)


@pytest.mark.parametrize("text", ["a; here\n", "here; a\n", "if a: here\n"])
def test_a_statement_that_shares_its_line_is_put_under_nothing(text: str) -> None:
    module = module_of(text)
    assert edits.put_under(module, marked(module), "with a:") is None


def test_text_is_put_before_a_statement() -> None:
    module = module_of("a; (here)\n")
    assert made(module, edits.put_before(module, marked(module), "x = ")) == "a; x = (here)\n"


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
    "several on a line": ("import os; x; y\n", "import os; import torch.nn; x; y\n"),
    "a docstring on the line": ("'d'; import os; x\n", "'d'; import os; import torch.nn; x\n"),
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


def expression(module: Module) -> cst.BaseExpression:
    """The largest expression that begins with `here`."""
    node: cst.CSTNode = next(name for name in module.nodes(cst.Name) if name.value == "here")
    while isinstance(parent := module.parent(node), cst.BaseExpression):
        node = parent
    assert isinstance(node, cst.BaseExpression)
    return node


REPLACED = {
    "a name": ("x = here  # c\n", "a", "x = a  # c\n"),
    "inside its parentheses": ("x = (here)  # c\n", "a + b", "x = (a + b)  # c\n"),
    "an operation": ("x = f(here)\n", "a + b", "x = f(a + b)\n"),
    "several lines in brackets": ("x = f(here)\n", "a\n+ b", "x = f(a\n+ b)\n"),
    "several lines elsewhere": ("x = here\n", "a.\n b", "x = (a.\n b)\n"),
    "several lines in own parentheses": ("x = (here)\n", "a.\n b", "x = (a.\n b)\n"),
    "several lines that a backslash joins": ("x = here\n", "a \\\n + b", "x = a \\\n + b\n"),
    "a lambda": ("f(n=here)\n", "lambda: 0", "f(n=lambda: 0)\n"),
    "in a list": ("[here]\n", "not a", "[not a]\n"),
    "in a dict": ("{here: 1}\n", "not a", "{not a: 1}\n"),
    "an index": ("x[here]\n", "a + b", "x[a + b]\n"),
    "a star": ("f(*here)\n", "a or b", "f(*(a or b))\n"),
    "a comprehension": ("[x for x in here]\n", "a if b else c", "[x for x in (a if b else c)]\n"),
    "carriage returns": ("f(\r\nhere)\r\n", "(a,\nb)", "f(\r\n(a,\r\nb))\r\n"),
}


@pytest.mark.parametrize(("before", "text", "after"), REPLACED.values(), ids=REPLACED)
def test_an_expression_is_replaced(before: str, text: str, after: str) -> None:
    module = module_of(before)
    result = made(module, edits.replace(module, expression(module), text))
    assert result == after
    module_of(result)


STRONGER = {
    "before a dot": ("here.x\n", "a + b", "(a + b).x\n"),
    "a number before a dot": ("here.x\n", "1", "(1).x\n"),
    "called": ("here()\n", "lambda: 0", "(lambda: 0)()\n"),
    "indexed": ("here[0]\n", "-a", "(-a)[0]\n"),
    "multiplied": ("here * 2\n", "a + b", "(a + b) * 2\n"),
    "a power": ("-here ** 2\n", "-a", "-(-a) ** 2\n"),
    "compared": ("here < 2\n", "a < b", "(a < b) < 2\n"),
    "awaited": ("async def f(): await here\n", "a + b", "async def f(): await (a + b)\n"),
    "something that needs none": ("here.x * 2\n", "f(a)[0]", "f(a)[0].x * 2\n"),
    "in parentheses already": ("here.x\n", "(a + b)", "(a + b).x\n"),
    "assigned to": ("here = 1\n", "a.b", "a.b = 1\n"),
}


@pytest.mark.parametrize(("before", "text", "after"), STRONGER.values(), ids=STRONGER)
def test_an_operand_gets_the_parentheses_that_it_needs(before: str, text: str, after: str) -> None:
    module = module_of(before)
    name = next(name for name in module.nodes(cst.Name) if name.value == "here")
    assert made(module, edits.replace(module, name, text)) == after


@pytest.mark.parametrize("text", ["a, b", "n=4", "*a", "a = b", "", "a)(b", "x for x in y, z"])
def test_what_is_not_one_expression_cannot_replace_one(text: str) -> None:
    module = module_of("f((here))\n")
    name = next(name for name in module.nodes(cst.Name) if name.value == "here")
    with pytest.raises(ValueError, match="expression"):
        edits.replace(module, name, text)


WRITTEN = {
    # what is in f(…): as an argument, and before a dot
    "a name": ("a", "a", "a"),
    "in parentheses": ("((a))", "a", "a"),
    "a number": ("(1)", "1", "(1)"),
    "an operation": ("a + b", "a + b", "(a + b)"),
    "a tuple": ("(a, b)", "(a, b)", "(a, b)"),
    "a tuple of one": ("(a,)", "(a,)", "(a,)"),
    "a generator": ("x for x in y", "(x for x in y)", "(x for x in y)"),
    "a walrus": ("a := 1", "(a := 1)", "(a := 1)"),
    "a lambda": ("lambda: 0", "lambda: 0", "(lambda: 0)"),
    "a string in parts": ("'a' 'b'", "'a' 'b'", "'a' 'b'"),
    "a string over lines": ("'''a\nb'''", "'''a\nb'''", "'''a\nb'''"),
    "several lines": ("a.\n b", "(a.\n b)", "(a.\n b)"),
    "several lines in brackets": ("a(\n1)", "a(\n1)", "a(\n1)"),
    "a comment inside": ("a(  # c\n1)", "a(  # c\n1)", "a(  # c\n1)"),
    "a comment in its parentheses": ("((  # c\na))", "((  # c\na))", "((  # c\na))"),
}


@pytest.mark.parametrize(("text", "value", "operand"), WRITTEN.values(), ids=WRITTEN)
def test_code_is_written_to_fit_elsewhere(text: str, value: str, operand: str) -> None:
    module = module_of(f"f({text})\n")
    node = call_of(module).args[0].value
    assert edits.value(module, node) == value
    assert edits.operand(module, node) == operand
    module_of(f"g({value}, n={value})\nx = {value}\nx = {operand}.y ** 2\n")


def test_several_arguments_take_the_place_of_one_and_its_parentheses() -> None:
    for arg in ("1", "((1))", "n=(1)", "*((1,))"):
        module = module_of(f"f(a, {arg}, m=1)\n")
        edit = edits.replace_argument(module, call_of(module).args[1], "()", "k=2")
        assert made(module, edit) == "f(a, (), k=2, m=1)\n"


def test_an_expression_is_wrapped_with_its_parentheses() -> None:
    for arg in ("a", "(a, b)", "((a))", "(  # c\n a)"):
        module = module_of(f"f({arg})\n")
        changes = edits.wrap(module, call_of(module).args[0].value, "g")
        assert made(module, changes) == f"f(g({arg}))\n"


RECEIVERS = {
    "a call": ("a.f()\n", "a\n", "a.f().g()\n"),
    "parentheses around the call": ("((a).f(1))\n", "((a))\n", "((a).f(1).g())\n"),
    "parentheses around the method": ("((a.f))()\n", "((a))\n", "((a.f))().g()\n"),
    "several lines": ("(a\n.f(\n1)\n.h)\n", "(a\n.h)\n", "(a\n.f(\n1).g()\n.h)\n"),
    "a backslash": ("a \\\n  .f()\n", "a\n", "a \\\n  .f().g()\n"),
}


@pytest.mark.parametrize(("before", "without", "with_"), RECEIVERS.values(), ids=RECEIVERS)
def test_a_method_call_is_taken_out_or_added(before: str, without: str, with_: str) -> None:
    module = module_of(before)
    (call,) = module.nodes(cst.Call)
    assert made(module, edits.keep_receiver(module, call)) == without
    assert made(module, edits.call_method(module, call, "g()")) == with_


def fix(*changes: Edit) -> Fix:
    return Fix(Applicability.SAFE, "", changes)


LOST = {
    "none": ("f(here)  # c\n", None),
    "a sign in a string": ("f(here, '#')\n", None),
    "a sign in an f-string": ("f(here, f'{1:#x} #')\n", None),
    "in brackets": ("f(  # c\nhere)\n", "a comment"),
    "before the comma": ("f(here  # c\n,)\n", "a comment"),
    "behind a sign in a string": ("f(here, '#', # '#'\n)\n", "a comment"),
}


@pytest.mark.parametrize(("text", "reason"), LOST.values(), ids=LOST)
def test_a_fix_that_would_lose_a_comment_is_not_made(text: str, reason: str | None) -> None:
    module = module_of(text)
    why_not = edits.why_not(module, fix(edits.replace(module, expression(module), "a")))
    assert why_not is None
    why_not = edits.why_not(module, fix(edits.replace(module, call_of(module), "a")))
    assert why_not == reason or (reason and why_not and why_not.startswith(reason))


def test_a_comment_that_moves_is_not_lost() -> None:
    module = module_of("for a in b:\n    here  # c\n    d  # c\n")
    (loop,) = module.nodes(cst.For)
    moved = edits.move_before(module, marked(module), loop)
    assert edits.why_not(module, fix(*moved)) is None
    assert edits.why_not(module, fix(moved[1])) is not None
    assert edits.why_not(module, fix(*moved, moved[0], moved[1])) is None


def test_a_comment_for_a_tool_goes_with_no_statement() -> None:
    module = module_of("a\nhere  # noqa\n")
    assert edits.why_not(module, fix(edits.delete_statement(module, marked(module)))) is not None


IN_STRINGS = {
    "other quotes": ('f"{f(here)}"\n', "'cuda'", "f\"{f(here, d='cuda')}\"\n"),
    "its own quotes": ('f"{f(here)}"\n', '"cuda"', "f\"{f(here, d='cuda')}\"\n"),
    "both quotes": ('f"{f(here)}"\n', '"cu\'da"', None),
    "both quotes around": ("f\"{g(f'{f(here)}')}\"\n", "'cuda'", None),
    "a backslash": ('f"{f(here)}"\n', "'\\n'", None),
    "beside one": ("f(here, f'{1}')\n", "'\\n'", "f(here, f'{1}', d='\\n')\n"),
}


@pytest.mark.parametrize(("before", "value", "after"), IN_STRINGS.values(), ids=IN_STRINGS)
def test_an_f_string_holds_what_each_python_reads(
    before: str, value: str, after: str | None
) -> None:
    module = module_of(before)
    edit = edits.add_argument(module, call_of(module), f"d={value}")
    why_not = edits.why_not(module, fix(edit))
    assert (why_not is None) is (after is not None)
    if after is not None:
        assert made(module, edit) == after


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
