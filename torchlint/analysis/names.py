"""What a name refers to: scopes, bindings, and dotted names seen through aliases.

A dotted name has one of three forms: `torch.nn.Conv2d` (imported absolutely), `.utils.accuracy`
(imported relatively, one dot per level) and `:Trainer.step` (defined in this file).
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.torch_api import canonical, star_exports

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from torchlint.source.tree import Tree

_BUILTINS = frozenset(dir(builtins)) - {"None", "True", "False"}
_MOST_CANDIDATES = 8
_MOST_BINDINGS = 200
"""A name that a scope binds more often can be anything: to ask each use which of them it sees would
take the square of their number, and only generated code does that."""
_BROUGHT_BY_STARS = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "np": "numpy",
    "numpy": "numpy",
}
"""What these words mean wherever people import them. A file that uses one and imports it nowhere
has it from a star import of a module that does."""
SCOPES = (
    cst.Module,
    cst.FunctionDef,
    cst.ClassDef,
    cst.Lambda,
    cst.ListComp,
    cst.SetComp,
    cst.DictComp,
    cst.GeneratorExp,
)
_ANY_SCOPE = frozenset(SCOPES)  # found in less time than in a tuple
_BORDERS = (cst.Param, cst.CompFor)


class How(Enum):
    """How a name got its value."""

    IMPORT = "import"
    DEFINITION = "definition"
    ASSIGNMENT = "assignment"
    UNPACKING = "unpacking"
    UPDATE = "update"
    """`x += 1`, `x[0] = 1`: the old value lives on in part."""
    ITERATION = "iteration"
    CONTEXT = "context"
    PARAMETER = "parameter"
    OTHER = "other"
    MANY = "many"
    """In more ways than are told apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One place where a name gets a value.

    `value` is the expression that the value comes from: the right side of an assignment, the
    iterable of a loop, the default of a parameter. `path` leads from that value to the part that
    the name receives, as indices of nested tuples.
    """

    name: str
    how: How
    node: cst.CSTNode
    value: cst.BaseExpression | None = None
    path: tuple[int, ...] = ()
    dotted: str | None = None
    starred: str = ""


class Scope:
    """The names bound in one module, class, function, lambda or comprehension."""

    __slots__ = ("bindings", "elsewhere", "node", "parent", "stars")

    def __init__(self, node: cst.CSTNode, parent: Scope | None) -> None:
        self.node = node
        self.parent = parent
        self.bindings: dict[str, list[Binding]] = {}
        self.elsewhere: set[str] = set()
        """Names declared `global` or `nonlocal` here."""
        self.stars: list[str] = []


def without_parameters(base: cst.Arg) -> cst.BaseExpression:
    """`Dataset` of a class's base `Dataset[int]`."""
    return base.value.value if isinstance(base.value, cst.Subscript) else base.value


def dotted_text(node: cst.CSTNode | None) -> str:
    """`a.b.c` for names joined by dots, else the empty string."""
    parts: list[str] = []
    while type(node) is cst.Attribute:  # `isinstance` asks a class that is abstract for long
        parts.append(node.attr.value)
        node = node.value
    if type(node) is not cst.Name:
        return ""
    parts.append(node.value)
    return ".".join(reversed(parts))


def qualified_name(tree: Tree, node: cst.FunctionDef | cst.ClassDef) -> str:
    """`Trainer.step` for a method, without `<locals>`."""
    names = [node.name.value]
    names += [
        above.name.value
        for above in tree.ancestors(node)
        if isinstance(above, (cst.FunctionDef, cst.ClassDef))
    ]
    return ".".join(reversed(names))


class Names:
    """Scopes and bindings of one file, built on the first question.

    Args:
        brought: the names that star imports of other files bind, if these have them from another
            package, and what they refer to; with a `*` before it, a module whose names they bind.
    """

    def __init__(self, tree: Tree, brought: Mapping[str, str] | None = None) -> None:
        self._tree = tree
        self.brought = brought or {}
        self._scopes: dict[int, Scope] = {}
        self._resolved: dict[int, tuple[str, ...]] = {}
        self._scope_of: dict[int, Scope] = {}
        self._around: dict[int, Scope] = {}
        self.module = self._open(tree.root)
        _collect(self, tree)

    def _open(self, node: cst.CSTNode) -> Scope:
        scope = self._scopes.get(id(node))
        if scope is None:
            parent = None if isinstance(node, cst.Module) else self.scope(node)
            scope = self._scopes[id(node)] = Scope(node, parent)
        return scope

    def scope(self, node: cst.CSTNode) -> Scope:
        """The scope in which `node` is evaluated."""
        tree, scope_of = self._tree, self._scope_of
        passed: list[int] = []
        child: cst.CSTNode = node
        enclosing: Scope | None = None
        while enclosing is None and (above := tree.parent(child)) is not None:
            kind = above.__class__
            if kind in _ANY_SCOPE:
                if _evaluated_inside(above, child):
                    enclosing = self._open(above)
                else:
                    passed.clear()
            else:
                if kind in _BORDERS:
                    enclosing = self._scope_around(above, child)
                if enclosing is None:
                    enclosing = scope_of.get(id(above))
                    passed.append(id(above))
            child = above
        if enclosing is None:
            enclosing = self.module
        for key in passed:
            scope_of[key] = enclosing
        return enclosing

    def _scope_around(self, border: cst.CSTNode, child: cst.CSTNode) -> Scope | None:
        """Where the default and annotation of a parameter, and the first iterable of a
        comprehension, are evaluated: around the scope that they are written in."""
        owner = self._tree.parent(border)
        if isinstance(border, cst.Param):
            if child is border.name:
                return None
            owner = self._tree.enclosing(border, cst.FunctionDef, cst.Lambda)
        elif not isinstance(border, cst.CompFor) or child is not border.iter:
            return None
        if owner is None or owner.__class__ not in SCOPES:
            return None
        if id(owner) not in self._around:
            self._around[id(owner)] = self.scope(owner)
        return self._around[id(owner)]

    def scopes(self) -> Iterable[Scope]:
        return self._scopes.values()

    def lookup(self, name: cst.Name) -> list[Binding]:
        """Every binding, in source order, that a use of `name` can see; [] if there is none."""
        return self.lookup_from(self.scope(name), name.value)

    def lookup_from(self, start: Scope, name: str) -> list[Binding]:
        scope: Scope | None = start
        while scope is not None:
            visible = scope is start or not isinstance(scope.node, cst.ClassDef)
            if visible and name not in scope.elsewhere and name in scope.bindings:
                return scope.bindings[name]
            scope = scope.parent
        return []

    def imported_as(self, package: str, near: cst.CSTNode) -> str | None:
        """The name that a package has where a node is, such as `np` for `numpy`."""
        scope: Scope | None = self.scope(near)
        while scope is not None:
            for name, bindings in scope.bindings.items():
                if all(each.how is How.IMPORT and each.dotted == package for each in bindings):
                    return name
            scope = scope.parent
        return None

    def resolve(self, node: cst.CSTNode) -> tuple[str, ...]:
        """Every dotted name that an expression can refer to, in source order.

        Empty if the expression is not a name, or if nothing is known of it.
        """
        cached = self._resolved.get(id(node))
        if cached is None:
            self._resolved[id(node)] = ()  # a name that is bound through itself
            found = dict.fromkeys(canonical(name) for name in self._candidates(node))
            cached = self._resolved[id(node)] = tuple(found)[:_MOST_CANDIDATES]
        return cached

    def _candidates(self, node: cst.CSTNode) -> Iterator[str]:
        if type(node) is cst.Name:
            yield from self._name_candidates(node)
        elif type(node) is cst.Attribute:
            attributes = [node.attr.value]
            base: cst.BaseExpression = node.value
            while type(base) is cst.Attribute:
                attributes.append(base.attr.value)
                base = base.value
            tail = ".".join(reversed(attributes))
            if isinstance(base, cst.Name):
                for name in self.resolve(base):
                    yield f"{name}.{tail}"
        elif isinstance(node, cst.IfExp):
            yield from self.resolve(node.body)
            yield from self.resolve(node.orelse)
        elif isinstance(node, cst.BooleanOperation):
            yield from self.resolve(node.left)
            yield from self.resolve(node.right)

    def _name_candidates(self, node: cst.Name) -> Iterator[str]:
        bindings = self.lookup(node)
        if not bindings:
            if node.value in self.brought:
                yield self.brought[node.value]
                return
            starred = (name[1:] for name in self.brought if name.startswith("*"))
            for module in (*self.module.stars, *starred):
                if node.value in star_exports(module):
                    yield f"{module}.{node.value}"
            if node.value in _BUILTINS:
                yield f"builtins.{node.value}"
            elif any(not star_exports(module) for module in self.module.stars):
                # As if it were defined here: the project follows the star.
                yield _BROUGHT_BY_STARS.get(node.value, f":{node.value}")
            return
        for binding in bindings[:_MOST_CANDIDATES]:
            if binding.dotted is not None:
                yield binding.dotted
            elif (
                binding.how is How.ASSIGNMENT
                and binding.value is not None
                and binding.value is not node
                and isinstance(
                    binding.value, (cst.Name, cst.Attribute, cst.IfExp, cst.BooleanOperation)
                )
            ):
                yield from self.resolve(binding.value)


def is_super(node: cst.CSTNode | None) -> bool:
    """`super()`, with arguments or without."""
    return isinstance(node, cst.Call) and dotted_text(node.func) == "super"


def sounds_like_class(name: str) -> bool:
    """Whether the last part of a dotted name is written as those of classes are."""
    return name.rpartition(".")[2].lstrip(":")[:1].isupper()


def _evaluated_inside(scope: cst.CSTNode, child: cst.CSTNode) -> bool:
    """False for decorators, returned types, bases: written in a scope, evaluated around it."""
    if isinstance(scope, (cst.FunctionDef, cst.ClassDef)):
        return child is scope.body or isinstance(child, cst.Parameters)
    return True


def _collect(names: Names, tree: Tree) -> None:
    declarations: list[cst.Global | cst.Nonlocal] = [
        *tree.nodes(cst.Global),
        *tree.nodes(cst.Nonlocal),
    ]
    for declaration in declarations:
        scope = names.scope(declaration)
        scope.elsewhere.update(item.name.value for item in declaration.names)
    _collect_definitions(names, tree)
    _collect_assignments(names, tree)
    for scope in names.scopes():
        for name, bindings in scope.bindings.items():
            if len(bindings) > 1:
                bindings.sort(key=lambda binding: tree.order(binding.node))
            if len(bindings) > _MOST_BINDINGS:
                bindings[:] = [Binding(name, How.MANY, bindings[0].node)]


def _collect_definitions(names: Names, tree: Tree) -> None:
    bind = names._open
    for alias in tree.nodes(cst.Import):
        scope = names.scope(alias)
        for item in alias.names:
            dotted = dotted_text(item.name)
            if item.asname is not None and isinstance(item.asname.name, cst.Name):
                _add(scope, Binding(item.asname.name.value, How.IMPORT, alias, dotted=dotted))
            else:
                top = dotted.partition(".")[0]
                _add(scope, Binding(top, How.IMPORT, alias, dotted=top))
    for node in tree.nodes(cst.ImportFrom):
        _collect_from(names.scope(node), node)
    for function in tree.nodes(cst.FunctionDef):
        dotted = ":" + qualified_name(tree, function)
        _add(
            names.scope(function),
            Binding(function.name.value, How.DEFINITION, function, dotted=dotted),
        )
    for class_ in tree.nodes(cst.ClassDef):
        dotted = ":" + qualified_name(tree, class_)
        _add(names.scope(class_), Binding(class_.name.value, How.DEFINITION, class_, dotted=dotted))
    for parameters in tree.nodes(cst.Parameters):
        owner = tree.parent(parameters)
        if owner is not None:
            _collect_parameters(bind(owner), parameters)


def _collect_from(scope: Scope, node: cst.ImportFrom) -> None:
    source = "." * len(node.relative) + dotted_text(node.module)
    if isinstance(node.names, cst.ImportStar):
        scope.stars.append(source)
        return
    joint = "" if source.endswith(".") else "."
    for item in node.names:
        name = dotted_text(item.name)
        bound = name
        if item.asname is not None and isinstance(item.asname.name, cst.Name):
            bound = item.asname.name.value
        _add(scope, Binding(bound, How.IMPORT, node, dotted=f"{source}{joint}{name}"))


def _collect_parameters(scope: Scope, parameters: cst.Parameters) -> None:
    plain = (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)
    for param in plain:
        _add(scope, Binding(param.name.value, How.PARAMETER, param, param.default))
    for star in (parameters.star_arg, parameters.star_kwarg):
        if isinstance(star, cst.Param):
            starred = "**" if star is parameters.star_kwarg else "*"
            _add(scope, Binding(star.name.value, How.PARAMETER, star, starred=starred))


def _collect_assignments(names: Names, tree: Tree) -> None:
    for assign in tree.nodes(cst.Assign):
        for target in assign.targets:
            _bind_target(names, target.target, How.ASSIGNMENT, assign, assign.value, ())
    for annotated in tree.nodes(cst.AnnAssign):
        if annotated.value is not None:
            _bind_target(names, annotated.target, How.ASSIGNMENT, annotated, annotated.value, ())
    for walrus in tree.nodes(cst.NamedExpr):
        _bind_target(names, walrus.target, How.ASSIGNMENT, walrus, walrus.value, ())
    for update in tree.nodes(cst.AugAssign):
        _bind_target(names, update.target, How.UPDATE, update, update.value, ())
    for loop in tree.nodes(cst.For):
        _bind_target(names, loop.target, How.ITERATION, loop, loop.iter, ())
    for comp in tree.nodes(cst.CompFor):
        _bind_target(names, comp.target, How.ITERATION, comp, comp.iter, ())
    for item in tree.nodes(cst.WithItem):
        if item.asname is not None:
            _bind_target(names, item.asname.name, How.CONTEXT, item, item.item, ())
    for handler in tree.nodes(cst.ExceptHandler):
        if handler.name is not None:
            _bind_target(names, handler.name.name, How.OTHER, handler, None, ())


def _bind_target(
    names: Names,
    target: cst.BaseExpression,
    how: How,
    node: cst.CSTNode,
    value: cst.BaseExpression | None,
    path: tuple[int, ...],
) -> None:
    if isinstance(target, cst.Name):
        if path and how is How.ASSIGNMENT:
            how = How.UNPACKING
        scope = names.scope(target)
        while target.value in scope.elsewhere and scope.parent is not None:
            scope = scope.parent
        _add(scope, Binding(target.value, how, node, value, path))
    elif isinstance(target, (cst.Tuple, cst.List)):
        for index, element in enumerate(target.elements):
            if isinstance(element, cst.StarredElement):
                _bind_target(names, element.value, How.OTHER, node, None, ())
            else:
                _bind_target(names, element.value, how, node, value, (*path, index))
    elif isinstance(target, cst.Subscript) and isinstance(target.value, cst.Name):
        _bind_target(names, target.value, How.UPDATE, node, value, ())


def _add(scope: Scope, binding: Binding) -> None:
    scope.bindings.setdefault(binding.name, []).append(binding)
