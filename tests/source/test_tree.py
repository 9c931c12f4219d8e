"""The one walk: which nodes it meets, in which order, and who is whose parent."""

from __future__ import annotations

import libcst as cst
import pytest

from torchlint.source.tree import Tree

PROGRAM = '''
"""Doc."""
from __future__ import annotations
import os, sys as system
@decorated(by, this=1)
class Base(Mixin, metaclass=Meta):
    field: int = 0

    async def method(self, a, /, b=1, *rest, c: int = 2, **more) -> None:
        global count
        async with lock as held, other: pass
        async for i, *j in stream: continue
        else: del i
        try: await self
        except (A, B) as e: raise X from e
        else: assert a, b
        finally: return
        while not a[1:2:3]: break
        x = y = [*rest, {**more, "k": v}, {1, 2}, (3, 4.0, 5j)]
        x += (yield a) or (lambda z=1: z)(q)
        if (n := 10) > 5 >= 3: pass
        elif a is not b: pass
        else: f"{a!r:>{b}}" "more"
        return [i async for i in a if b for j in c], {k: v for k in w}, {s for s in t}
match command:
    case Point(x=0, y=[_, *rest]) | {"k": v, **others} if ok: pass
'''


def test_the_walk_meets_every_node_that_is_not_punctuation() -> None:
    module = cst.parse_module(PROGRAM)
    tree = Tree(module)
    punctuation = (
        cst.BaseParenthesizableWhitespace,
        cst.TrailingWhitespace,
        cst.EmptyLine,
        cst.Comment,
        cst.Newline,
        cst.LeftParen,
        cst.RightParen,
        cst.LeftSquareBracket,
        cst.RightSquareBracket,
        cst.LeftCurlyBrace,
        cst.RightCurlyBrace,
        cst.Comma,
        cst.Semicolon,
        cst.Colon,
        cst.Dot,
        cst.AssignEqual,
        cst.Asynchronous,
        cst.ParamSlash,
    )
    stack: list[cst.CSTNode] = [module]
    missed = []
    while stack:
        node = stack.pop()
        if isinstance(node, punctuation):
            continue
        if node not in tree:
            missed.append(type(node).__name__)
        stack.extend(node.children)
    assert missed == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@d\nclass C(b): pass", ["d", "C", "b"]),
        ("def f(a, /, b=x, *c, d=y, **e): g", "f a b x c d y e g".split()),
        ("a if b else c", ["a", "b", "c"]),
        ("[a for b in c if d for e in g]", ["a", "b", "c", "d", "e", "g"]),
        ("f(a, k=b, *c)", ["f", "a", "k", "b", "c"]),
        ("for a in b:\n  c\nelse:\n  d", ["a", "b", "c", "d"]),
        ("x: int = y", ["x", "int", "y"]),
    ],
    ids=["decorated", "parameters", "conditional", "comprehension", "call", "loop", "annotated"],
)
def test_nodes_of_one_type_come_in_source_order(text: str, names: list[str]) -> None:
    tree = Tree(cst.parse_module(text))
    assert [name.value for name in tree.nodes(cst.Name)] == names


def test_order_puts_a_parent_before_its_children_and_lines_one_after_the_other() -> None:
    tree = Tree(cst.parse_module(PROGRAM))
    for node in tree.nodes(cst.Name, cst.Call, cst.If, cst.SimpleStatementLine):
        parent = tree.parent(node)
        assert parent is not None
        assert tree.order(parent) < tree.order(node)
    lines = tree.nodes(cst.SimpleStatementLine)
    assert [tree.order(line) for line in lines] == sorted(tree.order(line) for line in lines)


def test_ancestors_lead_from_the_nearest_to_the_module() -> None:
    tree = Tree(cst.parse_module("def f():\n    if a:\n        b(c)\n"))
    name = next(name for name in tree.nodes(cst.Name) if name.value == "c")
    kinds = [type(above).__name__ for above in tree.ancestors(name)]
    assert kinds == [
        "Arg",
        "Call",
        "Expr",
        "SimpleStatementLine",
        "IndentedBlock",
        "If",
        "IndentedBlock",
        "FunctionDef",
        "Module",
    ]


class TestEnclosing:
    TEXT = "class A:\n    def f(self):\n        def g():\n            b(c)\n        d\ne\n"

    @pytest.fixture
    def tree(self) -> Tree:
        return Tree(cst.parse_module(self.TEXT))

    @pytest.mark.parametrize(
        ("name", "function"), [("c", "g"), ("d", "f"), ("A", None), ("e", None)]
    )
    def test_finds_the_nearest_function(self, tree: Tree, name: str, function: str | None) -> None:
        node = next(node for node in tree.nodes(cst.Name) if node.value == name)
        found = tree.enclosing(node, cst.FunctionDef)
        assert (found and found.name.value) == function

    def test_takes_an_abstract_type_for_all_its_kinds(self, tree: Tree) -> None:
        node = next(node for node in tree.nodes(cst.Name) if node.value == "c")
        assert isinstance(tree.enclosing(node, cst.BaseStatement), cst.SimpleStatementLine)

    def test_answers_the_same_when_asked_again_from_elsewhere(self, tree: Tree) -> None:
        nodes = tree.nodes(cst.Name)
        once = [tree.enclosing(node, cst.FunctionDef) for node in nodes]
        again = [tree.enclosing(node, cst.FunctionDef) for node in reversed(nodes)]
        assert once == again[::-1]

    def test_takes_the_nearest_of_several_types(self, tree: Tree) -> None:
        node = next(node for node in tree.nodes(cst.Name) if node.value == "d")
        assert isinstance(tree.enclosing(node, cst.ClassDef, cst.FunctionDef), cst.FunctionDef)


def test_thousands_of_nested_calls_do_not_overflow_the_stack() -> None:
    node: cst.BaseExpression = cst.Name("x")
    for _ in range(3000):
        node = cst.Call(cst.Name("f"), [cst.Arg(node)])
    root = cst.Module([cst.SimpleStatementLine([cst.Expr(node)])])
    tree = Tree(root)
    assert len(tree.nodes(cst.Call)) == 3000
    assert len(list(tree.ancestors(tree.nodes(cst.Name)[-1]))) > 3000
