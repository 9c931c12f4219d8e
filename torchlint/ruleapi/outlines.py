"""What CPython's own parser shows of a file, at a tenth of the cost of LibCST's tree.

An outline never says no where LibCST would find something: names are resolved without their scopes,
and where a star import may bind a name, anything is possible.
"""

from __future__ import annotations

import ast
import warnings
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeVar

from torchlint.analysis.literals import UNKNOWN, Literal
from torchlint.analysis.torch_api import canonical
from torchlint.files.plain_layout import plain_layout
from torchlint.files.reading import SourceError, decode
from torchlint.files.words import Words
from torchlint.source.nesting import too_much

if TYPE_CHECKING:
    from collections.abc import Iterator

_N = TypeVar("_N", bound=ast.AST)
_LEAVES: Final = frozenset("arg attr ctx id kind level module op ops type_comment".split())
"""Fields that hold names, contexts and operators."""
_FIELDS: Final[dict[type[ast.AST], tuple[str, ...]]] = {}
"""The others, by the class of node."""
_CHOICES: Final = (ast.IfExp, ast.BoolOp)


class Outline:
    """The nodes of a file by their class, and what its calls and assignments may be.

    Args:
        tree: the file as `ast.parse` reads it.
        text: its text.
    """

    def __init__(self, tree: ast.Module, text: str) -> None:
        named = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        rest: list[ast.AST] = [each for each in tree.body if not isinstance(each, named)]
        self.parts: list[list[ast.AST]] = [[each] for each in tree.body if isinstance(each, named)]
        """The classes and functions outside of others, and what is outside of all."""
        self.parts.append(rest)
        self._text = text
        self._nodes: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        _collect(tree, self._nodes)
        self._resolved: dict[str, frozenset[str]] = {}
        self._open: list[str] = []
        self._unsure = any(each.names[0].name == "*" for each in self.nodes(ast.ImportFrom))
        """Whether names may refer to more than is seen, such as what a star import binds."""

    def nodes(self, *kinds: type[_N]) -> Iterator[_N]:
        """Every node of these exact classes, in no order."""
        for kind in kinds:
            yield from self._nodes.get(kind, ())  # type: ignore[misc]

    def matches(self, pattern: str) -> bool:
        """Whether a regular expression, as those of `triggers`, is found outside of docstrings."""
        return self.words.match(pattern)

    @cached_property
    def words(self) -> Words:
        """The words of the code, without docstrings and other strings that are statements."""
        lines = self._text.encode("utf-8", "replace").split(b"\n")
        for statement in self.nodes(ast.Expr):
            if isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str):
                _blank(lines, statement)
        return Words(b"\n".join(lines))

    def function_texts(self) -> Iterator[bytes]:
        """The code of each function with its decorators, without functions inside it, docstrings
        and lines of comments; last what is outside of all. In the layout of `words`."""
        lines = self.words.written.split(b"\n")
        owners = [0] * len(lines)
        functions: list[ast.FunctionDef | ast.AsyncFunctionDef]
        functions = [*self.nodes(ast.FunctionDef), *self.nodes(ast.AsyncFunctionDef)]
        for number, each in enumerate(sorted(functions, key=lambda each: each.lineno), start=1):
            first = min(part.lineno for part in (each, *each.decorator_list)) - 1
            last = each.end_lineno or each.lineno
            owners[first:last] = [number] * (last - first)
        parts: dict[int, list[bytes]] = defaultdict(list)
        for number, line in zip(owners, lines, strict=True):
            if not line.lstrip().startswith(b"#"):
                parts[number].append(line)
        outside = parts.pop(0, [])
        for part in (*parts.values(), outside):
            yield plain_layout(b"\n".join(part))

    def calls(self, *names: str) -> Iterator[ast.Call]:
        """The calls of what may have one of these dotted names of torch."""
        wanted = frozenset(names)
        for call in self.loose_calls(*names):
            if not wanted.isdisjoint(self.resolve(call.func)) or self._unsure:
                yield call

    def loose_calls(self, *names: str) -> Iterator[ast.Call]:
        """The same by the last parts of the names alone, and by each name that they are given to,
        as that of a parameter."""
        for spelling in self._spellings({name.rpartition(".")[2] for name in names}):
            yield from self._calls.get(spelling, ())

    def methods(self, *names: str) -> Iterator[ast.Call]:
        """The calls `x.method(…)` of methods with these names."""
        for name in names:
            for call in self._calls.get(name, ()):
                if isinstance(call.func, ast.Attribute):
                    yield call

    def passed(self, *keywords: str) -> Iterator[ast.expr]:
        """What any call passes by these keywords."""
        yield from (each.value for each in self.nodes(ast.keyword) if each.arg in keywords)

    def assigned(self, *names: str) -> Iterator[ast.expr]:
        """What names or attributes are set to, whatever they belong to; of parameters the
        default."""
        for name in names:
            yield from self._assigned.get(name, ())

    def resolve(self, node: ast.expr) -> frozenset[str]:
        """The dotted names of imported things that an expression may refer to."""
        tail: list[str] = []
        while isinstance(node, ast.Attribute):
            tail.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            names = self._named(node.id)
        elif isinstance(node, ast.IfExp) and not tail:
            names = self.resolve(node.body) | self.resolve(node.orelse)
        elif isinstance(node, ast.BoolOp) and not tail:
            names = frozenset().union(*map(self.resolve, node.values))
        else:
            return frozenset()
        if not tail:
            return names
        rest = ".".join(reversed(tail))
        return frozenset(canonical(f"{name}.{rest}") for name in names)

    def _named(self, name: str) -> frozenset[str]:
        known = self._resolved.get(name)
        if known is not None:
            return known
        if name in self._open:
            self._unsure |= name != self._open[-1]  # each is set to the other somewhere
            return frozenset()
        self._open.append(name)
        names = set(map(canonical, self._imports.get(name, (f"builtins.{name}",))))
        for value in self._aliases.get(name, ()):
            names |= self.resolve(value)
        self._open.pop()
        self._resolved[name] = frozenset(names)
        return self._resolved[name]

    @cached_property
    def _calls(self) -> dict[str, list[ast.Call]]:
        """By the last part of the called name; that of a choice by all of them."""
        calls: dict[str, list[ast.Call]] = defaultdict(list)
        for call in self.nodes(ast.Call):
            for name in _lasts(call.func):
                calls[name].append(call)
        return calls

    @cached_property
    def _assigned(self) -> dict[str, list[ast.expr]]:
        values_by_name: dict[str, list[ast.expr]] = defaultdict(list)
        for target, given in self._settings():
            for name, value in _unpacked(target, given):
                values_by_name[name].append(value)
        for each in self.nodes(ast.arguments):
            plain = (*each.posonlyargs, *each.args)
            named = [*zip(reversed(plain), reversed(each.defaults), strict=False)]
            for parameter, default in (
                *named,
                *zip(each.kwonlyargs, each.kw_defaults, strict=True),
            ):
                if default is not None:
                    values_by_name[parameter.arg].append(default)
        return values_by_name

    @cached_property
    def _imports(self) -> dict[str, list[str]]:
        """What a name is imported from."""
        origins: dict[str, list[str]] = defaultdict(list)
        for node in self.nodes(ast.Import):
            for each in node.names:
                top = each.name.partition(".")[0]
                origins[each.asname or top].append(each.name if each.asname else top)
        for origin in self.nodes(ast.ImportFrom):
            if not origin.level and origin.module:
                for each in origin.names:
                    origins[each.asname or each.name].append(f"{origin.module}.{each.name}")
        return origins

    @cached_property
    def _aliases(self) -> dict[str, list[ast.expr]]:
        """The names, and choices of names, that a name is set to."""
        values_by_name: dict[str, list[ast.expr]] = defaultdict(list)
        kinds = (ast.Name, ast.Attribute, *_CHOICES)
        for target, value in self._settings():
            if isinstance(target, ast.Name) and isinstance(value, kinds):
                values_by_name[target.id].append(value)
        return values_by_name

    def _settings(self) -> Iterator[tuple[ast.expr, ast.expr]]:
        """Each target of an assignment, and its value."""
        for assign in self.nodes(ast.Assign):
            yield from ((target, assign.value) for target in assign.targets)
        for annotated in self.nodes(ast.AnnAssign):
            if annotated.value is not None:
                yield annotated.target, annotated.value
        yield from ((each.target, each.value) for each in self.nodes(ast.NamedExpr))

    @cached_property
    def _other_names(self) -> dict[str, set[str]]:
        """By the last part of a dotted name, the names that it is given."""
        names_by_last: dict[str, set[str]] = defaultdict(set)
        for name, origins in self._imports.items():
            for origin in origins:
                names_by_last[origin.rpartition(".")[2]].add(name)
        given = [(name, value) for name, values in self._assigned.items() for value in values]
        given += [(each.arg, each.value) for each in self.nodes(ast.keyword) if each.arg]
        for name, value in given:
            for last in _lasts(value):
                names_by_last[last].add(name)
        return names_by_last

    def _spellings(self, lasts: set[str]) -> set[str]:
        spellings, todo = set(lasts), list(lasts)
        while todo:
            new = self._other_names.get(todo.pop(), set()) - spellings
            spellings |= new
            todo += new
        return spellings


def _collect(tree: ast.AST, nodes: dict[type[ast.AST], list[ast.AST]]) -> None:
    """As `ast.walk`, which takes more than twice as long: it looks at names and contexts too."""
    todo = [tree]
    while todo:
        node = todo.pop()
        kind = node.__class__
        nodes[kind].append(node)
        names = _FIELDS.get(kind)
        if names is None:
            fields = getattr(kind, "_fields", ())  # a list may also have None, and strings
            names = _FIELDS[kind] = tuple(name for name in fields if name not in _LEAVES)
        for name in names:
            value = getattr(node, name, None)
            if value.__class__ is list:
                todo += value
            elif isinstance(value, ast.AST):
                todo.append(value)


def outline_of(path: str, data: bytes) -> Outline | None:
    """The outline of a file; None if CPython cannot read it, or it is nested too deep."""
    try:
        text = decode(path, data).text.replace("\r\n", "\n").replace("\r", "\n")
    except SourceError:
        return None
    if too_much(text) is not None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Outline(ast.parse(text, path), text)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return None


def chain(node: ast.AST) -> str:
    """The names of an expression from the left, through calls and items: `torch.arange.float` for
    `torch.arange(8).float()`; from the first dot on if it begins with anything but a name."""
    names: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Subscript):
            node = node.value
        else:
            break
    names.append(node.id if isinstance(node, ast.Name) else "")
    return ".".join(reversed(names))


def literal(node: ast.expr | None) -> Literal:
    """The value of a literal, as `torchlint.analysis.literals.literal` tells it."""
    if isinstance(node, ast.Constant):
        return UNKNOWN if node.value is ... else node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = literal(node.operand)
        return -inner if isinstance(inner, int | float) else UNKNOWN
    if isinstance(node, ast.Tuple | ast.List):
        values = tuple(map(literal, node.elts))
        return UNKNOWN if UNKNOWN in values else values
    return UNKNOWN


def argument(call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
    """What is passed by this name or at this position, from 0; not through `*` or `**`."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[position] if position is not None and position < len(call.args) else None


def has_stars(call: ast.Call) -> bool:
    """Whether `*` or `**` may pass anything."""
    return any(isinstance(each, ast.Starred) for each in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )


def _last_name(node: ast.AST) -> str:
    """`b` of `b` and of `a.b`; empty for anything else."""
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names that a target binds, and what each of them gets, or a part of it."""
    if not isinstance(target, ast.Tuple | ast.List):
        yield _last_name(target), value
        return
    parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
    for index, each in enumerate(target.elts):
        yield from _unpacked(each, parts[index] if len(parts) == len(target.elts) else value)


def _lasts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from _lasts(node.body)
        yield from _lasts(node.orelse)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _lasts(value)
    elif last := _last_name(node):
        yield last


def _blank(lines: list[bytes], statement: ast.Expr) -> None:
    """Write blanks over a statement in lines of UTF-8, in which columns count bytes."""
    first, last = statement.lineno - 1, (statement.end_lineno or statement.lineno) - 1
    for row in range(first, last + 1):
        line = lines[row]
        start = statement.col_offset if row == first else 0
        end = (statement.end_col_offset or 0) if row == last else len(line)
        lines[row] = line[:start] + b" " * (end - start) + line[end:]
