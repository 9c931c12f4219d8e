"""Offsets of nodes, checked against LibCST's own positions and against the text."""

from __future__ import annotations

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from torchlint.files.lines import LineIndex
from torchlint.files.reading import Source
from torchlint.finding import Position
from torchlint.source.parse import parse
from torchlint.source.positions import Positions, PositionsByNeed
from torchlint.source.tree import Tree

PROGRAM = '''#!/usr/bin/env python
"""Docstring."""
from __future__ import (annotations,)  # comment
import a.b as c, d

@decorate(1)
# between
@other
class Meter(Base, metaclass=M):

    total: int = 0

    async def update(self, *values, key=lambda x, /, y=1: x, **rest) -> "None":
        """Add."""
        async with lock as l, (other): pass
        for i, v in enumerate(values): self.total += (v).item(); print(f"{v!r:>{w}} {i=} {{}}")
        else:
            pass
            # the end of the block

        if (self.total
                > 3): return [x async for x in y if x if not z]
        elif not (yield): del x[0], y[1:2, ::3]
        else:
            raise E from (
                e  # why
            )
        try:
            assert x, "m"
        except (A, B) as e:
            global g
        finally:
            while True:
                break

match p:
    case [1, *rest] | {"k": v} if v: pass
x = ("a"
     'b') if b else -1 @ c ** (d,)  ; y = {**a, 1: 2}; z: int
'''

TEXTS = {
    "everything": PROGRAM,
    "carriage return and newline": PROGRAM.replace("\n", "\r\n"),
    "carriage returns": PROGRAM.replace("\n", "\r"),
    "tabs": PROGRAM.replace("    ", "\t"),
    "no final newline": PROGRAM.rstrip(),
    "empty": "",
}


def parsed(text: str) -> cst.Module:
    return parse(Source("x.py", text.encode(), text, "utf-8", bom=False))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_offsets_agree_with_the_positions_of_libcst(text: str) -> None:
    tree = parsed(text)
    positions, lines = Positions(tree, text), LineIndex(text)
    expected = MetadataWrapper(tree, unsafe_skip_copy=True).resolve(PositionProvider)
    for node, place in expected.items():
        if isinstance(node, cst.Module) or place.end.line > len(lines._starts):
            continue
        start, end = positions.span(node)
        row = lines.position(start)
        assert (row.row, row.column - 1) == (place.start.line, place.start.column), node
        assert end == lines.offset(Position(place.end.line, place.end.column + 1)), node


LOSSY = {
    "form feed before a statement": "\x0cx = 1\n\x0cclass A:\n    y = here\n\x0c\x0c\nz = here\n",
    "space before the colon of except": "try:\n    x\nexcept E  :\n    here\nhere\n",
    "blanks after the last statement": "def f():\n    here\n\x0cx = here\n   \t ",
    "carriage returns and form feeds": "x\r\x0cy = here\r\x0c",
    "form feed in front of a block": "if x:\n\x0c    here\n    here\n\x0c    here\nhere\n",
    "form feed behind blanks": "if x:\n  \x0c    here\n    here\n    here\n",
    "comment behind a block": "if x:\n    here\n\n  \t #é\n\t\t#ab\r\n\t\t\t#ac\n\t\x0c\n",
    "one of two comments that begin alike": "if x:\n    here\n\n    \n\t\t   #ab\n\t\t#ac\n",
    "line end behind a comment": "if x:\n    here\nx = here\n\x0c#ab\n\x0c\n \t#ab\r\n",
    "comment before the last blanks": "x\r\n\nx = here\n\t#a\x0cx = here\n\n\t\x0c",
    "comment that begins like the last": "if x:\n    here\r\n    here\n\t#ab\n\r\t#a",
    "far into a long file": "x = 1\n" * 3000 + "\x0cx = here\n" + "y = 2\n" * 3000 + "\x0chere\n",
}


REPEATED = {
    "the same twice": "run(x)\nrun(x)\n",
    "the same inside of another": "def f():\n    run(x)\nrun(x)\n",
    "the end of another": "a.run(x)\nrun(x)",
    "a last line that is there before": "run(x)\nrun(x)",
    "two that differ in a blank": "try:\n    x\nexcept E :\n    y\ntry:\n    x\nexcept E:\n    y\n",
    "two that differ in a form feed": "if x:\n\x0c    a\n    b\nif x:\n    a\n    b\n",
    "two that differ in a comment": "if x:\n    a\nif x:\n    a\n\n  \t #b\n\t\t#c\n",
    "many": "".join(f"run({number})\n" for number in range(40)),
}


@pytest.mark.parametrize("text", [*TEXTS.values(), *LOSSY.values(), *REPEATED.values()])
def test_offsets_by_need_are_those_of_the_whole_file(text: str) -> None:
    tree = parsed(text)
    above, whole = Tree(tree).ancestors, Positions(tree, text)
    together = PositionsByNeed(tree, text, above)
    kinds = (cst.BaseExpression, cst.BaseStatement, cst.BaseSmallStatement, cst.Arg, cst.Comma)
    nodes = [node for node in every(tree) if isinstance(node, kinds)]
    for number, node in enumerate(nodes):
        assert together.span(node) == whole.span(node), node
        if number % (len(nodes) // 50 + 1) == 0:
            assert PositionsByNeed(tree, text, above).span(node) == whole.span(node), node


@pytest.mark.parametrize("text", LOSSY.values(), ids=LOSSY)
def test_offsets_are_right_where_libcst_loses_something(text: str) -> None:
    tree = parsed(text)
    assert tree.code != text
    positions = Positions(tree, text)
    names = [node for node in every(tree) if isinstance(node, cst.Name)]
    statements = [node for node in every(tree) if isinstance(node, cst.BaseSmallStatement)]
    assert any(name.value == "here" for name in names)
    for name in names:
        start, end = positions.span(name)
        assert text[start:end] == name.value
    for statement in statements:
        start, end = positions.span(statement)
        assert text[start:end] == tree.code_for_node(statement)


def every(node: cst.CSTNode) -> list[cst.CSTNode]:
    return [node, *(inner for child in node.children for inner in every(child))]


def test_a_node_inside_an_f_string_has_its_place() -> None:
    text = "print(f'{a:>{width}} {b.item()!r}' f\"{c=}\")\n"
    tree = parsed(text)
    positions = Positions(tree, text)
    found = {
        text[slice(*positions.span(node))]
        for node in every(tree)
        if isinstance(node, cst.Name | cst.Call)
    }
    assert {"a", "width", "b", "b.item()", "c"} <= found


def test_a_tree_of_another_text_is_an_error() -> None:
    for other in ("x = 2\n", "x = 1\ny\n", "y x = 1\n", ""):
        with pytest.raises(ValueError, match="not that of the text"):
            Positions(parsed("x = 1\n"), other)
