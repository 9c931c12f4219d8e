"""Programs that nest or repeat any construct of Python's grammar, as large as asked.

The constructs come from the `ast` module, whose classes say in their docstrings which fields they
have: `Call(expr func, expr* args, keyword* keywords)`. A construct that can hold another of its
kind, directly or through others, is nested in itself; a field that takes many is filled.
"""

from __future__ import annotations

import ast
import io
import itertools
import re
import sys
import tokenize
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LEAVES = {"identifier": "x", "int": 0, "string": None, "constant": 1}
_KINDS = ("expr", "stmt", "pattern")
"""What can hold itself."""
_HOLES = {
    "expr": "    value = {}\n",
    "stmt": "{}\n",
    "pattern": "    match batch:\n        case {}:\n            pass\n",
}
PROGRAM = """\
import torch
from torch.utils.data import DataLoader

model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8)).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for batch in DataLoader(dataset, batch_size=4):
    loss = model(batch.cuda()).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


class Field(NamedTuple):
    """A field of a construct: the kind of what it holds, and how many of them."""

    owner: type[ast.AST]
    name: str
    kind: str
    many: bool
    optional: bool


class Shape(NamedTuple):
    """A family of programs; `text(n)` has the construct n times."""

    name: str
    text: Callable[[int], str]


def shapes(*, pairs: bool = False) -> Iterator[Shape]:
    """All families.

    Args:
        pairs: also nest each two ways of nesting in each other: some 10,000 more.
    """
    found = {kind: list(_cycles(kind)) for kind in _KINDS}
    for kind, cycles in found.items():
        for cycle in cycles:
            yield from _layouts(kind, f"nested {_path(cycle)}", _nested(kind, (cycle,)))
        for first, second in itertools.combinations(cycles, 2) if pairs else ():
            name = f"nested {_path(first)} + {_path(second)}"
            yield Shape(name, _in_program(kind, _nested(kind, (first, second))))
    for field in _fields_of_all():
        if field.many:
            kind = _kind_of(field.owner)
            if kind in _KINDS:
                yield from _layouts(kind, f"many {field.owner.__name__}.{field.name}", _many(field))
    yield from _texts()


def _layouts(kind: str, name: str, build: Callable[[int], str]) -> Iterator[Shape]:
    """The same construct as `ast` writes it, with each token on its own line, cut off before its
    end, and repeated as a statement."""
    yield Shape(name, _in_program(kind, build))
    yield Shape(f"{name}, cut", _in_program(kind, lambda n: build(n)[:-1]))
    yield Shape(f"{name}, 8 deep, repeated", lambda n: PROGRAM + _hole(kind, build(8)) * n)
    if kind == "expr":
        yield Shape(f"{name}, split", _in_program(kind, lambda n: _split(build(n))))


def _texts() -> Iterator[Shape]:
    """What has no place in a syntax tree."""
    lines = {
        "parentheses": lambda n: f"value = {'(' * n}1{')' * n}",
        "pattern parentheses": lambda n: f"match x:\n        case {'(' * n}y{')' * n}: pass",
        "comments": lambda n: "# note\n    " * n,
        "blank lines": lambda n: "\n" * n,
        "blanks": lambda n: "value =" + " " * n + "1",
        "semicolons": lambda n: "x = 1; " * n,
        "strings": lambda n: "value = (" + "'a' " * n + ")",
        "continuations": lambda n: "value = 1 " + "\\\n" * n,
        "names": lambda n: "x" * n,
        "digits": lambda n: "value = 1" + "_1" * n,
        "decimals": lambda n: "value = 1." + "1" * n,
        "string": lambda n: f"value = '{'a' * n}'",
        "escapes": lambda n: "value = '" + "\\x41" * n + "'",
        "lone quotes": lambda n: "value = " + "'a\n    " * n,
        "lone triple quotes": lambda n: 'value = """' + '"" ' * n,
        "open brackets": lambda n: "value = " + "([{" * n,
        "closing brackets": lambda n: "value = " + ")]}" * n,
        "dedents": lambda n: "\n".join(" " * (4 + (i % 2) * 4) + "if x:" for i in range(n)),
        "tabs": lambda n: "if x:\n" + "\tpass\n    pass\n" * n,
        "form feeds": lambda n: "\f\n" * n,
        "carriage returns": lambda n: "x = 1\r    " * n,
        "replacement fields": lambda n: "value = f'" + "{x!r:>{y}}" * n + "'",
        "nested replacement fields": lambda n: "value = f'" + "{x:" * n + "}" * n + "'",
        "coding lines": lambda n: "# coding: utf-8\n" * n,
        "suppressions": lambda n: "x = 1  # torchlint: ignore[TL201]\n    " * n,
        "suppressed codes": lambda n: "x = 1  # torchlint: ignore[" + "TL201," * n + "]",
        "reads": lambda n: "total += loss.item()\n    " * n,
        "reads of names": lambda n: "".join(f"t{i} = loss.item()\n    " for i in range(n)),
        "assignments": lambda n: "loss = loss.detach()\n    " * n,
        "loops": lambda n: "for x, y in loader:\n        loss.item()\n    " * n,
        "inner functions": lambda n: "".join(
            f"def f{i}():\n        loss.item()\n    " for i in range(n)
        ),
        "calls of calls": lambda n: "".join(
            f"def f{i}(a):\n        f{i + 1}(a.item())\n    " for i in range(n)
        ),
        "all call all": lambda n: "".join(
            f"def f{i}(a):\n"
            + "".join(f"        f{j}(a)\n" for j in range(int(n**0.5) + 1))
            + "    "
            for i in range(int(n**0.5) + 1)
        ),
        "modules": lambda n: "".join(
            f"class M{i}(torch.nn.Module):\n        def forward(self, x):\n"
            f"            return M{i + 1}()(x).item()\n    "
            for i in range(n)
        ),
        "layers": lambda n: (
            "torch.nn.Sequential(" + "torch.nn.Conv2d(3, 3, 3), torch.nn.BatchNorm2d(3), " * n + ")"
        ),
        "loaders": lambda n: "DataLoader(dataset)\n    " * n,
        "copies": lambda n: "torch.tensor(numpy.zeros(3))\n    " * n,
        "imports": lambda n: "".join(f"from m{i} import a{i}\n    " for i in range(n)),
    }
    for name, line in lines.items():
        yield Shape(name, lambda n, line=line: f"{PROGRAM}    {line(n)}\n")


# one construct --------------------------------------------------------------------------


def _fields_of_all() -> list[Field]:
    return [
        field
        for owner in vars(ast).values()
        if isinstance(owner, type) and issubclass(owner, ast.AST) and owner.__doc__
        for field in _fields(owner)
        if not (sys.version_info >= (3, 12) and owner.__name__ in _OLD)
    ]


_OLD = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice", "Suite"}


def _fields(owner: type[ast.AST]) -> list[Field]:
    found = re.fullmatch(rf"{owner.__name__}\((.*)\)", owner.__doc__ or "", re.DOTALL)
    if found is None:
        return []
    parts = (part.split() for part in found[1].split(",") if part.strip())
    return [
        Field(owner, name, kind.rstrip("*?"), kind.endswith("*"), kind.endswith("?"))
        for kind, name in parts
    ]


def _kind_of(owner: type[ast.AST]) -> str:
    base = owner.__base__
    return owner.__name__ if base in (ast.AST, None) else base.__name__


def _constructs(kind: str) -> list[type[ast.AST]]:
    sum_type = getattr(ast, kind)
    return [each for each in sum_type.__subclasses__() if each.__name__ not in _OLD] or [sum_type]


_LEAF = {
    "expr": lambda: ast.Name("x", ast.Load()),
    "stmt": ast.Pass,
    "pattern": lambda: ast.MatchAs(name="y"),
    "expr_context": ast.Load,
    "type_param": lambda: ast.TypeVar("T"),
}


def _least(kind: str) -> object:
    """The smallest thing of a kind."""
    if kind in _LEAVES:
        return _LEAVES[kind]
    if kind in _LEAF:
        return _LEAF[kind]()
    return _made(_constructs(kind)[0])


def _made(owner: type[ast.AST], **given: object) -> ast.AST:
    """A construct with the smallest content, but for what is given."""
    values: dict[str, object] = {}
    for field in _fields(owner):
        if field.name in given:
            values[field.name] = given[field.name]
        elif field.many:
            few = 0 if field.kind in ("keyword", "type_param", "type_ignore", "arg") else 1
            values[field.name] = [_least(field.kind) for _ in range(few)]
        elif not field.optional:
            values[field.name] = _least(field.kind)
    if owner is ast.Compare:
        values["ops"] = [ast.Lt() for _ in values["comparators"]]  # type: ignore[attr-defined]
    if owner is ast.Dict:
        count = max(len(values["keys"]), len(values["values"]))  # type: ignore[arg-type]
        for name in ("keys", "values"):
            values[name] += [_least("expr")] * (count - len(values[name]))  # type: ignore
    if owner is ast.MatchMapping:
        count = max(len(values["keys"]), len(values["patterns"]))  # type: ignore[arg-type]
        values["keys"] = [ast.Constant(1)] * count
        values["patterns"] += [_least("pattern")] * (count - len(values["patterns"]))  # type: ignore
    if owner is ast.MatchClass:
        values["kwd_attrs"] = ["a" for _ in values["kwd_patterns"]]  # type: ignore[attr-defined]
    if owner is ast.arguments:
        values["kw_defaults"] = []
        defaults = len(values["defaults"])  # type: ignore[arg-type]
        if "defaults" in given or defaults:
            values["posonlyargs"], values["args"] = [], [ast.arg(f"a{i}") for i in range(defaults)]
    if owner in (ast.JoinedStr,):
        held = values["values"]
        values["values"] = [ast.FormattedValue(each, -1) for each in held]  # type: ignore
    return owner(**values)


# nesting --------------------------------------------------------------------------------


def _cycles(kind: str) -> Iterator[tuple[Field, ...]]:
    """Ways from a kind through others back to it, outermost first."""

    def walk(
        here: str, way: tuple[Field, ...], seen: frozenset[str]
    ) -> Iterator[tuple[Field, ...]]:
        for owner in _constructs(here):
            for field in _fields(owner):
                if field.kind == kind:
                    yield (*way, field)
                elif (
                    field.kind not in seen
                    and field.kind not in _LEAVES
                    and (hasattr(ast, field.kind))
                ):
                    yield from walk(field.kind, (*way, field), seen | {field.kind})

    yield from walk(
        kind, (), frozenset({kind, "expr_context", *(_KINDS if kind == "stmt" else ())})
    )


def _path(cycle: tuple[Field, ...]) -> str:
    return " > ".join(f"{field.owner.__name__}.{field.name}" for field in cycle)


def _nested(kind: str, cycles: tuple[tuple[Field, ...], ...]) -> Callable[[int], str]:
    def build(n: int) -> str:
        inside = _least(kind)
        for number in range(n):
            for field in reversed(cycles[number % len(cycles)]):
                inside = _made(field.owner, **{field.name: [inside] if field.many else inside})
        return _unparsed(inside)

    return build


def _many(field: Field) -> Callable[[int], str]:
    def build(n: int) -> str:
        return _unparsed(_made(field.owner, **{field.name: [_least(field.kind) for _ in range(n)]}))

    return build


def _unparsed(node: object) -> str:
    """
    Raises:
        ValueError: this combination is not Python.
    """
    assert isinstance(node, ast.AST)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200_000)
    try:
        return ast.unparse(ast.fix_missing_locations(node))
    except (AttributeError, TypeError, RecursionError, IndexError) as error:
        raise ValueError(str(error)) from error
    finally:
        sys.setrecursionlimit(limit)


# layout ---------------------------------------------------------------------------------


def _in_program(kind: str, build: Callable[[int], str]) -> Callable[[int], str]:
    return lambda n: PROGRAM + _hole(kind, build(n))


def _hole(kind: str, text: str) -> str:
    if kind == "stmt":
        text = "".join(f"    {line}\n" for line in text.split("\n"))
    return _HOLES[kind].format(text) if kind != "stmt" else text


def _split(expression: str) -> str:
    """In parentheses, each token on its own line."""
    tokens = tokenize.generate_tokens(io.StringIO(expression).readline)
    return "(" + "\n".join(token.string for token in tokens if token.string.strip()) + ")"
