"""Other ways to write a program that change nothing of what it does.

A finding about a program is one about each of its variations. Each function here takes a program and
returns the files of its variation by path, or None where it has nothing to vary; `train.py` is the
program itself.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

import libcst as cst
import libcst.matchers as m

if TYPE_CHECKING:
    from collections.abc import Iterator

Files = Mapping[str, str]
Variation = Callable[[str], "Files | None"]
MAIN: Final = "train.py"
_SUFFIX: Final = "_2"


def other_import_names(source: str) -> Files | None:
    """`import numpy as np` becomes `import numpy as np_2`, and so do all uses."""
    tree = cst.parse_module(source)
    names = _imported(tree) - _bound_otherwise(tree)
    return _one(tree.visit(_RenameImports(names))) if names else None


def whole_module_imports(source: str) -> Files | None:
    """`from torch.utils.data import DataLoader` becomes `import torch.utils.data`, and the uses
    name it in full."""
    tree = cst.parse_module(source)
    bound = _bound_otherwise(tree)
    full: dict[str, str] = {}
    for line in _lines(tree):
        for node in line.body:
            if isinstance(node, cst.ImportFrom) and _is_spelled_out(node):
                module = _dotted(node.module)
                assert not isinstance(node.names, cst.ImportStar)
                for alias in node.names:
                    full[_local(alias)] = f"{module}.{_dotted(alias.name)}"
    if not full or bound & full.keys() or "torch" in bound:
        return None
    return _one(tree.visit(_NameInFull(full)))


def blank_lines_and_comments(source: str) -> Files | None:
    """A comment and an empty line before each statement."""
    return _one(cst.parse_module(source).visit(_Spread()))


def annotations(source: str) -> Files | None:
    """Each parameter and each function says that it takes, or returns, an object."""
    return _one(cst.parse_module(source).visit(_Annotate()))


def under_if_true(source: str) -> Files | None:
    """The body of each function, behind its docstring, under `if True:`."""
    tree = cst.parse_module(source)
    changed = tree.visit(_UnderIfTrue())
    return None if changed.deep_equals(tree) else _one(changed)


def other_local_names(source: str) -> Files | None:
    """Each local variable of a function that is only assigned and read gets another ending."""
    tree = cst.parse_module(source)
    changed = tree.visit(_RenameLocals())
    return None if changed.deep_equals(tree) else _one(changed)


def helpers_elsewhere(source: str) -> Files | None:
    """The functions that need nothing of their file but its imports move into another one."""
    tree = cst.parse_module(source)
    imports = [line for line in tree.body if _is_import(line)]
    known = _imported(tree) | set(dir(builtins))
    movable = [
        node
        for node in tree.body
        if isinstance(node, cst.FunctionDef)
        and _free_names(node) <= known
        and not node.decorators
        and node.name.value != "main"
    ]
    if not movable:
        return None
    names = ", ".join(node.name.value for node in movable)
    moved = cst.Module(body=[*imports, *movable])
    back = cst.parse_module(f"from helpers import {names}\n").body[0]
    body = [node for node in tree.body if not any(node is each for each in movable)]
    last = max((index for index, node in enumerate(body) if _is_import(node)), default=-1)
    body.insert(last + 1, back)
    return {MAIN: tree.with_changes(body=body).code, "helpers.py": moved.code}


def imports_elsewhere(source: str) -> Files | None:
    """All imports move into another file, and come back by a star."""
    tree = cst.parse_module(source)
    moved = [line for line in tree.body if _is_import(line) and not _is_of_future(line)]
    kept = [line for line in tree.body if not any(line is each for each in moved)]
    first = sum(map(_is_of_future, kept)) + (tree.get_docstring() is not None)
    kept.insert(first, cst.parse_module("from common import *\n").body[0])
    if not moved:
        return None
    return {MAIN: tree.with_changes(body=kept).code, "common.py": cst.Module(body=moved).code}


ALL: Final[dict[str, Variation]] = {
    each.__name__.replace("_", " "): each
    for each in (
        other_import_names, whole_module_imports, blank_lines_and_comments, annotations,
        under_if_true, other_local_names, helpers_elsewhere, imports_elsewhere,
    )
}  # fmt: skip


# names -------------------------------------------------------------------------------------


def _one(tree: cst.Module) -> Files:
    return {MAIN: tree.code}


def _lines(tree: cst.Module) -> Iterator[cst.SimpleStatementLine]:
    for node in tree.body:
        if isinstance(node, cst.SimpleStatementLine):
            yield node


def _is_import(node: cst.CSTNode) -> bool:
    return m.matches(node, m.SimpleStatementLine(body=[m.Import() | m.ImportFrom()]))


def _is_of_future(node: cst.CSTNode) -> bool:
    future = m.ImportFrom(module=m.Name("__future__"))
    return m.matches(node, m.SimpleStatementLine(body=[future]))


def _is_spelled_out(node: cst.ImportFrom) -> bool:
    """An import that can be named in full: absolute, without a star, of a whole module's name."""
    return (
        not node.relative
        and not isinstance(node.names, cst.ImportStar)
        and _dotted(node.module) not in ("", "__future__")
    )


def _dotted(node: cst.BaseExpression | None) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


def _local(alias: cst.ImportAlias) -> str:
    if alias.asname is not None:
        return _dotted(alias.asname.name)  # type: ignore[arg-type]
    return _dotted(alias.name).partition(".")[0]


def _imported(tree: cst.Module) -> set[str]:
    """The names that imports at the top level bind, but for those of `__future__`."""
    found = set()
    for line in _lines(tree):
        for node in line.body:
            if isinstance(node, cst.Import):
                found |= {_local(each) for each in node.names if "." not in _dotted(each.name)}
                found |= {_local(each) for each in node.names if each.asname is not None}
            elif (
                isinstance(node, cst.ImportFrom)
                and not isinstance(node.names, cst.ImportStar)
                and _dotted(node.module) != "__future__"
            ):
                found |= {_local(each) for each in node.names}
    return found


class _Bindings(cst.CSTVisitor):
    """The names that anything but an import at the top level binds."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._depth = 0

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        self._target(node.target)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._target(node.target)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._target(node.target)

    def visit_For(self, node: cst.For) -> None:
        self._target(node.target)

    def visit_CompFor(self, node: cst.CompFor) -> None:
        self._target(node.target)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        self._target(node.target)

    def visit_AsName(self, node: cst.AsName) -> None:
        if self._depth == 0:
            self._target(node.name)

    def visit_Import(self, node: cst.Import) -> None:
        self._depth += 1

    def leave_Import(self, original_node: cst.Import) -> None:
        self._depth -= 1

    visit_ImportFrom = visit_Import  # type: ignore[assignment]
    leave_ImportFrom = leave_Import  # type: ignore[assignment]

    def visit_Param(self, node: cst.Param) -> None:
        self.names.add(node.name.value)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self.names.add(node.name.value)

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self.names.add(node.name.value)

    def visit_Global(self, node: cst.Global) -> None:
        self.names |= {each.name.value for each in node.names}

    def visit_Nonlocal(self, node: cst.Nonlocal) -> None:
        self.names |= {each.name.value for each in node.names}

    def _target(self, node: cst.BaseExpression) -> None:
        if isinstance(node, cst.Name):
            self.names.add(node.value)
        elif isinstance(node, cst.Tuple | cst.List):
            for element in node.elements:
                self._target(element.value)


def _bound_otherwise(tree: cst.CSTNode) -> set[str]:
    visitor = _Bindings()
    tree.visit(visitor)
    return visitor.names


class _Uses(cst.CSTVisitor):
    """The names that are read, not the parts behind a dot or before an `=` of a call."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        node.value.visit(self)
        return False

    def visit_Arg(self, node: cst.Arg) -> bool:
        node.value.visit(self)
        return False

    def visit_Name(self, node: cst.Name) -> None:
        self.names.add(node.value)


def _free_names(function: cst.FunctionDef) -> set[str]:
    uses = _Uses()
    function.visit(uses)
    return uses.names - _bound_otherwise(function)


# changes -----------------------------------------------------------------------------------


class _Rename(cst.CSTTransformer):
    """Renames names, not the parts behind a dot or before an `=` of a call."""

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self.names = dict(names or {})

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        new = self.names.get(original_node.value)
        return updated_node if new is None else cst.parse_expression(new)


class _RenameImports(_Rename):
    def __init__(self, names: set[str]) -> None:
        super().__init__({name: name + _SUFFIX for name in names})

    def leave_ImportAlias(
        self, original_node: cst.ImportAlias, updated_node: cst.ImportAlias
    ) -> cst.ImportAlias:
        local = _local(original_node)
        if local not in self.names or (
            original_node.asname is None and "." in _dotted(original_node.name)
        ):
            return original_node
        name = cst.AsName(name=cst.Name(self.names[local]))
        return original_node.with_changes(asname=name)

    def leave_ImportFrom(
        self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom
    ) -> cst.ImportFrom:
        return updated_node.with_changes(module=original_node.module)


class _NameInFull(_Rename):
    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def leave_ImportFrom(
        self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom
    ) -> cst.BaseSmallStatement:
        if not _is_spelled_out(original_node):
            return original_node
        module, names = original_node.module, original_node.names
        assert module is not None
        assert not isinstance(names, cst.ImportStar)
        if any(_local(each) not in self.names for each in names):
            return original_node  # in a block, or in a function
        return cst.Import(names=[cst.ImportAlias(name=module)])  # type: ignore[arg-type]

    def visit_Import(self, node: cst.Import) -> bool:
        return False


class _RenameLocals(cst.CSTTransformer):
    """Renames the variables of each outermost function that are assigned by name."""

    def __init__(self) -> None:
        self._depth = 0

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self._depth += 1

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        self._depth -= 1
        if self._depth or m.findall(original_node, m.Global() | m.Nonlocal() | m.ClassDef()):
            return updated_node
        inner = m.findall(original_node, m.FunctionDef() | m.Lambda())
        if len(inner) > 1:
            return updated_node
        params = {each.name.value for each in m.findall(original_node.params, m.Param())}  # type: ignore[attr-defined]
        assigned = set()
        for target in m.findall(original_node, m.AssignTarget(target=m.Name())):
            assigned.add(target.target.value)  # type: ignore[attr-defined]
        names = {name: name + _SUFFIX for name in assigned - params}
        body = original_node.body.visit(_Rename(names))
        return updated_node.with_changes(body=body)


class _Spread(cst.CSTTransformer):
    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        return updated_node.with_changes(leading_lines=[*updated_node.leading_lines, *_ABOVE])

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> cst.For:
        return updated_node.with_changes(leading_lines=[*updated_node.leading_lines, *_ABOVE])

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> cst.If:
        return updated_node.with_changes(leading_lines=[*updated_node.leading_lines, *_ABOVE])


_ABOVE: Final = (
    cst.EmptyLine(indent=False),
    cst.EmptyLine(comment=cst.Comment("# What follows is as it was.")),
)


class _Annotate(cst.CSTTransformer):
    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        if updated_node.returns is not None:
            return updated_node
        return updated_node.with_changes(returns=cst.Annotation(cst.Name("object")))

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return False

    def leave_Param(self, original_node: cst.Param, updated_node: cst.Param) -> cst.Param:
        if updated_node.annotation is not None or original_node.name.value in ("self", "cls"):
            return updated_node
        return updated_node.with_changes(annotation=cst.Annotation(cst.Name("object")))


class _UnderIfTrue(cst.CSTTransformer):
    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        if not isinstance(updated_node.body, cst.IndentedBlock):
            return updated_node
        body = list(updated_node.body.body)
        head = []
        if m.matches(body[0], m.SimpleStatementLine(body=[m.Expr(m.SimpleString())])):
            head.append(body.pop(0))
        if not body:
            return updated_node
        block = cst.If(cst.Name("True"), cst.IndentedBlock(body))
        return updated_node.with_changes(body=updated_node.body.with_changes(body=[*head, block]))
