"""What of the project an expression holds: functions, classes and objects of classes; by name, in
a list or dict, in `partial`, in what a function returns.

A target says what it is: `models.Net` for a function or class, `models.Net()` for what a call of it
gives, `$name` for a parameter, `self.name` for an attribute. `$name#0` is the first item of one,
`$name#*` any item.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple

import libcst as cst

from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.analysis.layers.layer_lists import LayerLists
from torchlint.analysis.literals import literal
from torchlint.analysis.names import How, dotted_text, sounds_like_class
from torchlint.analysis.torch_api import canonical
from torchlint.analysis.values.call_values import MODULE_METHODS, WRAPPERS
from torchlint.analysis.values.iteration import gives_keys
from torchlint.analysis.values.kinds import TENSORS, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.analysis.module import Module
    from torchlint.analysis.names import Binding

Held = tuple[str, str]
"""Where something is in a list, tuple or dict, and its target. The place is `0` for the first
item, a key, `*` for somewhere, or empty if it is the thing itself."""
SOMEWHERE: Final = "*"
UNKNOWN: Final = "?"
"""The target of a call of something that the file got from elsewhere."""
OUTSIDE: Final = (
    "torch.",
    "numpy.",
    "builtins.",
    "torchvision.",
    "os.",
    "math.",
    "time.",
    "random.",
    "sys.",
    "logging.",
    "argparse.",
    "tqdm.",
    "collections.",
    "functools.",
    "json.",
    "re.",
    "cv2.",
    "PIL.",
    "scipy.",
    "sklearn.",
    "matplotlib.",
    "pandas.",
)
"""What the dotted names begin with that never lead into the project."""
WRAPPED: Final = frozenset({"module", "_orig_mod"})
"""The attributes in which wrappers keep the module that they are given."""
_SPREAD = "*items"
"""The key of what gives its items to a list or dict: `[*losses]`, `losses.extend(…)`."""
_KEPT = "**items"
"""The key of what gives them under the keys that they have: `dict(losses)`."""
_MOST_FOUND = 32
_MOST_VISITED = 200
_DEEPEST = 4
_LOOKUPS = frozenset({"get", "pop"})
_ALL_ITEMS = frozenset({"values", "items"})
_SAME_ITEMS = frozenset(
    {
        "builtins.dict",
        "builtins.list",
        "builtins.reversed",
        "builtins.sorted",
        "builtins.tuple",
        "builtins.enumerate",
        "builtins.zip",
        "collections.OrderedDict",
        "torch.nn.ModuleDict",
        "torch.nn.ModuleList",
    }
)
"""Functions that return a container with the items of what they are given."""
_SAME = WRAPPERS | {"copy.copy", "functools.partial", "torch.jit.trace", "apex.amp.initialize"}
"""Functions that return what calls their first argument."""
_SEQUENTIAL = "torch.nn.Sequential"
_DISPLAYS = (cst.Dict, cst.List, cst.Tuple, cst.Set)
_Display = cst.Dict | cst.List | cst.Tuple | cst.Set


class _Part(NamedTuple):
    """A part of an expression, or the expression itself, and the place of what it holds."""

    node: cst.BaseExpression
    part: str
    place: str


class _Entry(NamedTuple):
    """An expression in a container, and its key there."""

    node: cst.BaseExpression
    key: str

    def parts(self, whole: _Part) -> tuple[_Part, ...]:
        """What it gives to a part of the container."""
        if self.key == _SPREAD:
            return (_Part(self.node, whole.part and SOMEWHERE, whole.place),)
        if self.key == _KEPT:
            return (_Part(self.node, whole.part, whole.place),)
        return _item(self.node, self.key, whole)


class _Entries:
    """What a container holds, by key: it may have thousands of entries, and as many places that
    each ask for one."""

    def __init__(self, entries: Iterable[_Entry]) -> None:
        self._all = list(entries)
        self._numbers: dict[str, list[int]] = {}
        for number, entry in enumerate(self._all):
            self._numbers.setdefault(entry.key, []).append(number)

    def parts(self, whole: _Part) -> Iterator[_Part]:
        """Those that may be in a part, no more than anybody visits."""
        entries = self._all[-_MOST_VISITED:]
        if whole.part not in ("", SOMEWHERE):
            keys = (whole.part, SOMEWHERE, _SPREAD, _KEPT)
            found = (self._numbers.get(key, ())[-_MOST_VISITED:] for key in keys)
            entries = [self._all[number] for number in sorted(chain.from_iterable(found))]
        for entry in entries:
            yield from entry.parts(whole)


class Holders:
    """The expressions of one file that hold something of the project."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._lists = LayerLists(module)
        self._depth = 0
        self._entries: dict[object, _Entries] = {}
        self._known: dict[tuple[object, tuple[int, ...], int], tuple[Held, ...]] = {}

    def targets(self, node: cst.BaseExpression) -> list[str]:
        """What an expression is."""
        return [target for place, target in self.contents(node) if not place]

    def contents(self, node: cst.BaseExpression, path: tuple[int, ...] = ()) -> tuple[Held, ...]:
        """What an expression is, and what it holds if it is a container; or the part of it that
        an assignment to several targets gives to one.

        No more than 32 targets, so that a table of hundreds does not make all of them hot.
        """
        asked = (self._same(node), path, self._depth)
        if asked not in self._known:
            walk = self._walk(_Part(node, _part_of(path), ""))
            found = dict.fromkeys(islice(walk, _MOST_FOUND + 1))
            self._known[asked] = tuple(found) if len(found) <= _MOST_FOUND else ()
        return self._known[asked]

    def _same(self, node: cst.BaseExpression) -> object:
        """A key that other expressions have for which the answer is the same: the next thousand
        uses of a list."""
        if isinstance(node, cst.Name):
            bindings = self._module.flow.reaching(node)
            if bindings and all(each.how is not How.PARAMETER for each in bindings):
                return (*map(id, bindings), self._lists.named(node))
        elif isinstance(node, cst.Subscript):
            whole = self._same(node.value)
            if isinstance(whole, tuple):
                return whole, isinstance(node.slice[0].slice, cst.Slice), _key(node)
        return node

    def is_known(self, name: cst.Name) -> bool:
        """Whether nothing that a name may refer to is part of the project: `nn.MSELoss()`."""
        if self._module.resolve(name):
            return True
        for binding in self._module.flow.reaching(name):
            value: cst.CSTNode | None = binding.value
            while (
                isinstance(value, cst.Call)
                and isinstance(value.func, cst.Attribute)
                and value.func.attr.value in MODULE_METHODS
            ):
                value = value.func.value
            if not isinstance(value, cst.Call) or not self._module.resolve(value.func):
                return False
        return True

    def added(self, node: cst.BaseExpression) -> list[Held]:
        """What is added later to the list, dict or container that a name or `self.name` refers
        to."""
        return [held for part in self._added(node, "", "") for held in self._walk(part)]

    def _walk(self, start: _Part) -> Iterator[Held]:
        seen: set[tuple[int, str, str]] = set()
        left = [start]
        while left and len(seen) < _MOST_VISITED:
            each = left.pop()
            known = (id(each.node), each.part, each.place)
            if known not in seen:
                seen.add(known)
                yield from ((each.place, target) for target in self._named(each))
                left += self._inside(each)

    # targets -----------------------------------------------------------------------------

    def _named(self, each: _Part) -> Iterator[str]:
        """The targets that a name, an attribute or a call is itself."""
        node, suffix = each.node, f"#{each.part}" if each.part else ""
        if isinstance(node, cst.Call):
            yield from (f"{name}(){suffix}" for name in self._callees(node))
            yield from self._chosen(node)
        elif isinstance(node, cst.Name | cst.Attribute):
            if not each.part:
                yield from filter(is_inside, self._dotted(node))
            if isinstance(node, cst.Name) and node.value not in ("self", "cls"):
                bindings = self._module.flow.reaching(node)
                if any(binding.how is How.PARAMETER for binding in bindings):
                    yield f"${node.value}{suffix}"
                    annotated = () if each.part else self._module.value(node).classes
                    yield from (f"{name}()" for name in filter(is_inside, annotated))
            elif _of_self(node):
                yield f"{dotted_text(node)}{suffix}"

    def _dotted(self, node: cst.Name | cst.Attribute) -> Iterable[str]:
        """The dotted names of what is imported or defined under a name."""
        bindings = self._module.flow.reaching(node) if isinstance(node, cst.Name) else None
        if not bindings:
            return self._module.resolve(node)
        return [canonical(binding.dotted) for binding in bindings if binding.dotted is not None]

    def _callees(self, call: cst.Call) -> Iterator[str]:
        """The functions and classes of the project that a call may run, to give what they make."""
        names = self._module.resolve(call.func)
        for name in filter(is_inside, names):
            yield name
            owner, _, last = name.rpartition(".")
            if last.startswith("from_") and sounds_like_class(owner):
                yield owner  # another way to make an object
        if names:
            return
        if isinstance(call.func, cst.Attribute):
            method = self._module.definitions.method(call.func)
            if method is not None:
                yield f":{self._module.qualified_name(method)}"
        elif isinstance(call.func, cst.Name | cst.Subscript) and self._depth < _DEEPEST:
            self._depth += 1
            for target in self.targets(call.func):
                if is_dotted(target) or (target.startswith("$") and self._may_make(call)):
                    yield target
            self._depth -= 1

    def _may_make(self, call: cst.Call) -> bool:
        """Whether a call of a parameter may make a module: `block(planes, stride)`."""
        value = self._module.value(call)
        return not value.has(TENSORS | Kind.LIKELY | Kind.HOST)

    def _chosen(self, call: cst.Call) -> Iterator[str]:
        """`getattr(losses, "dice")`; any function of the module for a name that is not known."""
        if not self._module.calls(call, "builtins.getattr") or len(call.args) < 2:
            return
        name = literal(call.args[1].value)
        last = name if isinstance(name, str) else SOMEWHERE
        for owner in filter(is_inside, self._module.resolve(call.args[0].value)):
            yield f"{owner}.{last}"

    # what is inside ----------------------------------------------------------------------

    def _inside(self, each: _Part) -> Iterable[_Part]:
        """The expressions that an expression gets what it holds from."""
        node, part, place = each
        if isinstance(node, cst.Name):
            return self._bound(node, part, place)
        if isinstance(node, cst.Call):
            return self._made(node, part, place)
        if isinstance(node, _DISPLAYS):
            return self._in(node, part, place)
        if isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp):
            return _item(node.elt, SOMEWHERE, each)
        if isinstance(node, cst.DictComp):
            return _item(node.value, SOMEWHERE, each)
        if isinstance(node, cst.IfExp):
            return _Part(node.body, part, place), _Part(node.orelse, part, place)
        if isinstance(node, cst.BooleanOperation):
            return _Part(node.left, part, place), _Part(node.right, part, place)
        if isinstance(node, cst.NamedExpr):
            return (_Part(node.value, part, place),)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
            sides = (node.left, node.right)
            joins = any(isinstance(side, cst.List) for side in sides)
            return [_Part(side, part and SOMEWHERE, place) for side in sides if joins]
        if isinstance(node, cst.Attribute) and node.attr.value in WRAPPED:
            return () if _of_self(node) else (_Part(node.value, part, place),)
        if isinstance(node, cst.Subscript):
            if isinstance(node.slice[0].slice, cst.Slice):
                return (_Part(node.value, part and SOMEWHERE, place),)
            return (_Part(node.value, SOMEWHERE if part else _key(node), place),)
        return ()

    def _bound(self, name: cst.Name, part: str, place: str) -> Iterator[_Part]:
        """What the bindings give to a name that a use of it sees."""
        for binding in self._module.flow.reaching(name):
            value = binding.value
            if value is None or binding.dotted is not None or binding.how is How.PARAMETER:
                continue
            if binding.how is How.ITERATION:
                source = _iterated(value, binding.path, self._module)
                if source is not None:
                    yield _Part(source, SOMEWHERE, place)
            elif binding.how is How.UPDATE and isinstance(binding.node, cst.Assign):
                yield from _item(value, _key_set(binding), _Part(name, part, place))
            elif binding.path:
                yield _Part(value, SOMEWHERE if part else _part_of(binding.path), place)
            else:
                yield _Part(value, part, place)
        yield from self._added(name, part, place)

    def _added(self, node: cst.BaseExpression, part: str, place: str) -> Iterator[_Part]:
        """`parts.append(x)`, and for an attribute also `self.parts += [x]`."""
        word = node.value if isinstance(node, cst.Name) else dotted_text(node)
        named = self._lists.named(node) if word in self._grown else None
        if named is None:
            return
        key = (named, isinstance(node, cst.Attribute))
        if key not in self._entries:
            self._entries[key] = _Entries(_changes(self._lists.grown[named], of_self=key[1]))
        yield from self._entries[key].parts(_Part(node, part, place))

    @cached_property
    def _grown(self) -> frozenset[str]:
        return frozenset(name for _, name in self._lists.grown)

    def _in(self, container: _Display | cst.Call, part: str, place: str) -> Iterator[_Part]:
        """What is in a list or dict, or in a call such as `dict(…)`."""
        if container not in self._entries:
            given = _given(container) if isinstance(container, cst.Call) else _written(container)
            self._entries[container] = _Entries(given)
        return self._entries[container].parts(_Part(container, part, place))

    def _made(self, call: cst.Call, part: str, place: str) -> Iterable[_Part]:
        """What a call gets what it gives from: `partial(f, x)`, `zip(losses, weights)`,
        `torch.compile(step)`, `steps.get(name)`, `Net().cuda()`."""
        names = self._module.resolve(call.func)
        first = call.args[0].value if call.args else None
        if not names and isinstance(call.func, cst.Attribute):
            return self._of_method(call, call.func, part, place)
        if not _SAME_ITEMS.isdisjoint(names):
            return self._in(call, part, place)
        if _SEQUENTIAL in names:
            return self._in_sequence(call, part, place)
        if not _SAME.isdisjoint(names) and first is not None:
            several = part.isdigit() and int(part) < len(call.args)
            if several and "apex.amp.initialize" in names:
                return (_Part(call.args[int(part)].value, "", place),)
            return (_Part(first, part, place),)
        if "builtins.getattr" in names and len(call.args) > 1:
            wrapped = literal(call.args[1].value) in WRAPPED
            return [_Part(arg.value, part, place) for arg in call.args[::2] if wrapped]
        if first is not None and any(map(_may_wrap, names)) and self._is_module(first):
            return (_Part(first, part, place),)
        return ()

    def _is_module(self, node: cst.BaseExpression) -> bool:
        return isinstance(node, cst.Call) or self._module.value(node).has(Kind.MODULE)

    def _in_sequence(self, call: cst.Call, part: str, place: str) -> Iterator[_Part]:
        """The modules of an `nn.Sequential`: its call runs them all."""
        for arg in call.args[-_MOST_VISITED:]:
            listed = bool(arg.star) or (
                isinstance(arg.value, cst.Call) and self._module.calls(arg.value, *_SAME_ITEMS)
            )
            yield _Part(arg.value, SOMEWHERE if listed else "", place)
            if not part and not place:
                yield _Part(arg.value, SOMEWHERE if listed else "", SOMEWHERE)

    @staticmethod
    def _of_method(call: cst.Call, func: cst.Attribute, part: str, place: str) -> Iterable[_Part]:
        """What a method gets it from: of its object, or of what it is given."""
        method = func.attr.value
        if method in _ALL_ITEMS:
            return (_Part(func.value, part and SOMEWHERE, place),)
        if method in _LOOKUPS:
            key = _as_key(call.args[0].value) if call.args else SOMEWHERE
            return (_Part(func.value, SOMEWHERE if part else key, place),)
        if method in ANY.prepares | ANY.unwraps and call.args:
            if not part:
                return (_Part(call.args[0].value, "", place),)
            several = part.isdigit() and int(part) < len(call.args)
            return (_Part(call.args[int(part)].value, "", place),) if several else ()
        if method in MODULE_METHODS:
            return (_Part(func.value, part, place),)
        return ()


def _written(display: _Display) -> Iterator[_Entry]:
    """The items of a list, tuple, set or dict."""
    starred = False
    for index, element in enumerate(display.elements):
        if isinstance(element, cst.StarredElement | cst.StarredDictElement):
            starred = True
            yield _Entry(element.value, _SPREAD)
        elif isinstance(element, cst.DictElement):
            yield _Entry(element.value, _as_key(element.key))
        else:
            yield _Entry(element.value, SOMEWHERE if starred else str(index))


def _given(call: cst.Call) -> Iterator[_Entry]:
    """The items of `dict(losses, dice=dice)`."""
    for arg in call.args:
        yield _Entry(arg.value, arg.keyword.value if arg.keyword else _KEPT)


def _changes(changes: Iterable[cst.CSTNode], *, of_self: bool) -> Iterator[_Entry]:
    """What a list or dict gets after it was made."""
    for change in changes:
        if isinstance(change, cst.Call) and isinstance(change.func, cst.Attribute):
            extends = change.func.attr.value == "extend"
            if change.args:
                yield _Entry(change.args[-1].value, _SPREAD if extends else SOMEWHERE)
        elif of_self and isinstance(change, cst.AugAssign):
            yield _Entry(change.value, _SPREAD)
        elif of_self and isinstance(change, cst.Assign):
            target = change.targets[0].target
            assert isinstance(target, cst.Subscript)
            yield _Entry(change.value, _key(target))


def _item(node: cst.BaseExpression, key: str, whole: _Part) -> tuple[_Part, ...]:
    """An item of a container, if it is in the part that is asked for."""
    if not whole.part:
        return (_Part(node, "", whole.place or key),)
    if whole.part == SOMEWHERE and isinstance(node, _DISPLAYS):
        return (_Part(node, SOMEWHERE, whole.place),)
    wanted = SOMEWHERE in (whole.part, key) or whole.part == key
    return (_Part(node, "", whole.place),) if wanted else ()


def _iterated(
    source: cst.BaseExpression, path: tuple[int, ...], module: Module
) -> cst.BaseExpression | None:
    """What has the items that a loop gives to a part of its target."""
    while isinstance(source, cst.Call) and path:
        if module.calls(source, "builtins.enumerate") and source.args:
            source, path = source.args[0].value, path[1:] if path[0] else ()
        elif module.calls(source, "builtins.zip") and path[0] < len(source.args):
            source, path = source.args[path[0]].value, path[1:]
        elif gives_keys(source.func):
            return source if path[0] else None
        else:
            break
    return source


def _part_of(path: tuple[int, ...]) -> str:
    return str(path[0]) if len(path) == 1 else SOMEWHERE if path else ""


def _key(node: cst.Subscript) -> str:
    index = node.slice[0].slice
    return _as_key(index.value) if isinstance(index, cst.Index) else SOMEWHERE


def _key_set(binding: Binding) -> str:
    """The key of `x["a"] = y`."""
    targets = binding.node.targets if isinstance(binding.node, cst.Assign) else ()
    keys = {_key(each.target) for each in targets if isinstance(each.target, cst.Subscript)}
    return keys.pop() if len(keys) == 1 else SOMEWHERE


def _as_key(node: cst.BaseExpression | None) -> str:
    value = literal(node)
    known = isinstance(value, str | int) and str(value).replace("_", "").isalnum()
    return str(value) if known else SOMEWHERE


def _of_self(node: cst.BaseExpression) -> bool:
    """`self.name`."""
    return isinstance(node, cst.Attribute) and dotted_text(node.value) == "self"


def _may_wrap(name: str) -> bool:
    """Whether a dotted name may be of a class whose objects run the module that they are given."""
    return sounds_like_class(name) and is_inside(name) and not name.startswith(":")


def is_dotted(target: str) -> bool:
    """Whether a target is a function or class by its dotted name."""
    return not target.startswith(("$", "self.")) and "()" not in target


def is_inside(name: str) -> bool:
    """Whether a dotted name may lead into the project."""
    return not name.startswith(OUTSIDE)
