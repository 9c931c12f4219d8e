"""Which functions of the project a call can run, and what it passes to their parameters."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from torchlint.analysis.callables import SOMEWHERE, UNKNOWN, is_dotted
from torchlint.project.symbols import Index, Key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from torchlint.analysis.callables import Held
    from torchlint.analysis.summary import CallSite, FunctionSummary, Passed, Summary

    _Resolved = dict[Key, list["tuple[Key, ...] | None"]]

CALL_DEPTH = 3
FARTHEST_CALL = 5
"""Through how many calls a training step is followed where the files are parsed anyway; behind so
many, a condition or a branch was easily overlooked, so findings there are hints."""
_ORIGINS_DEPTH = 6
"""How many factories, parameters and attributes an object is followed through."""

_MOST_OBJECTS = 64
"""What one parameter, attribute or result can be: a helper that is given hundreds of functions
in hundreds of places would lead from each place to each function."""


class _Object(NamedTuple):
    """A function or class, or an object of the class; `guessed` if it is one of several whose name
    is computed."""

    key: Key
    made: bool
    guessed: bool = False


class _Objects(NamedTuple):
    """What a target refers to, and whether that depends on the objects that are passed, and on
    files that are not parsed."""

    found: list[_Object]
    passed: bool
    unparsed: bool


_NOTHING = _Objects([], passed=False, unparsed=False)


class Calls:
    """The calls of all parsed files, resolved on demand."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._resolved: tuple[_Resolved, _Resolved] = ({}, {})
        """The callees of calls, by caller and call number: without loading files, and with."""
        self._objects: dict[tuple[Key, str, int, bool], _Objects] = {}
        """What `_objects_of` found, until more files are parsed."""
        self._unsure: list[tuple[Key, int]] = []
        """Calls that may resolve differently once more files are parsed."""
        self._provisional: set[tuple[Key, int]] = set()
        """Calls that may resolve differently once more is known of the objects that are passed."""
        self._guesses: dict[tuple[Key, int], tuple[Key, ...]] = {}
        """What else a call may run, if a computed name is its name."""
        self._asked_for_passed = 0
        """How often an answer depended on the objects that are passed."""

    def add(self, summaries: Mapping[str, Summary]) -> None:
        """Add the summaries of more files. Calls that were resolved for certain stay resolved."""
        self._index.add(summaries)
        for caller, number in self._unsure:
            for resolved in self._resolved:
                if caller in resolved:
                    resolved[caller][number] = None
        self._unsure.clear()
        self._objects.clear()
        self._reset_provisional()
        self.__dict__.pop("passed_objects", None)

    def sites(self) -> Iterator[tuple[Key, int, CallSite]]:
        """Every call: the function around it, its number there, and the call."""
        for key, function in self._index.functions.items():
            for number, site in enumerate(function.calls):
                yield key, number, site

    def callers(self, functions: Collection[Key]) -> dict[Key, list[tuple[Key, CallSite]]]:
        """The calls that can run each of these functions."""
        sites: dict[Key, list[tuple[Key, CallSite]]] = defaultdict(list)
        names = {each.name.rpartition(".")[2] for each in functions} | self._index.held_names
        for key, _, site in self.sites():
            if site.method and site.method not in names and site.method != "()":
                continue  # a method of an object has its own name, or that of an attribute
            # Not cached as in `callees`: most calls are resolved only here.
            for target in self._resolve_site(key, site):
                if target.key in functions and not target.guessed:
                    sites[target.key].append((key, site))
        return sites

    def callees(self, caller: Key, number: int, *, load: bool = False) -> tuple[Key, ...]:
        """The functions of the project that a call can run.

        With `load`, unparsed files that the call leads to are added to `Index.missing`.

        Args:
            number: the index of the call in the caller.
        """
        resolved = self._resolved[load].get(caller)
        calls = self._index.functions[caller].calls
        if resolved is None:
            resolved = self._resolved[load][caller] = [None] * len(calls)
        resolved_keys = resolved[number]
        if resolved_keys is None:
            met, asked = self._index.met_unparsed, self._asked_for_passed
            found = self._resolve_site(caller, calls[number], load=load)
            present = [each for each in found if each.key in self._index.functions]
            resolved_keys = tuple(dict.fromkeys(each.key for each in present if not each.guessed))
            guesses = dict.fromkeys(each.key for each in present if each.guessed)
            others = tuple(key for key in guesses if key not in resolved_keys)
            if others or (caller, number) in self._guesses:
                self._guesses[caller, number] = others
            resolved[number] = resolved_keys
            if self._index.met_unparsed == met:  # there was nothing to load
                both = self._resolved[not load].setdefault(caller, [None] * len(calls))
                both[number] = resolved_keys
            if self._index.met_unparsed != met or calls[number].target == "self":
                self._unsure.append((caller, number))
            if self._asked_for_passed != asked:
                self._provisional.add((caller, number))
        return resolved_keys

    def guesses(self, caller: Key, number: int) -> tuple[Key, ...]:
        """The functions that a call runs if a computed name is theirs: `getattr(metrics, name)`."""
        self.callees(caller, number)
        return self._guesses.get((caller, number), ())

    def may_lead_somewhere(self, caller: Key, site: CallSite) -> bool:
        """Whether a call that no function was found for may yet run one of the project: a call of
        a parameter, of what a function of the project gave, or of an attribute that holds one.

        Most attributes of a module are layers of torch's own, also where its class does not say so.
        """
        if site.method != "()":
            return False
        targets = [site.target]
        if site.target.startswith("self."):
            owner = self._owner(caller)
            if owner is None or self._index.is_module(owner):
                return False
            held = self._index.attribute(owner, site.target[5:].partition("#")[0])[1]
            targets = [target for _, target in held]
        return any(self._may_be_of_the_project(caller.path, target) for target in targets)

    def _may_be_of_the_project(self, path: str, target: str) -> bool:
        if target == UNKNOWN or target.startswith("$"):
            return True
        return self._index.locate(path, target.partition("()")[0]) is not None

    def _resolve_site(self, caller: Key, site: CallSite, *, load: bool = False) -> list[_Object]:
        """The functions that a call can run."""
        if site.target == UNKNOWN:
            return []
        if site.target in ("self", "super"):
            own = self._own_methods(caller, site, load=load)
            return [_Object(method, made=False) for method in own]
        keys = []
        for each in self._objects_of(caller, site.target, load=load):
            method = self._method_of(each, site.method or "()", load=load)
            if method is not None:
                keys.append(each._replace(key=method))
            elif each.made and site.method not in ("", "()"):
                keys += self._run_by_attribute(each.key, site.method, load=load)
        return keys

    def _run_by_attribute(self, class_: Key, name: str, *, load: bool) -> Iterator[_Object]:
        """What a call of an attribute of an object runs: `model.encoder(x)`."""
        holder, held = self._index.attribute(class_, name, load=load)
        init = Key(holder.path, f"{holder.name}.__init__")
        for target in (target for place, target in held if not place):
            for each in self._objects_of(init, target, 1, load=load):
                method = self._method_of(each, "()", load=load)
                if method is not None:
                    yield each._replace(key=method)

    def _method_of(self, each: _Object, method: str, *, load: bool) -> Key | None:
        """What a call of an object, with the method `()`, or of a method of it runs."""
        if each.key in self._index.functions:
            return each.key if method == "()" else None
        if method != "()":
            return self._index.method(each.key, method, load=load)
        if each.made:
            return self._index.callable(each.key, load=load)
        return self._index.method(each.key, "__init__", load=load)

    def _own_methods(self, caller: Key, site: CallSite, *, load: bool) -> list[Key]:
        """The method of the caller's class, and what derived classes have in its place."""
        owner = self._owner(caller)
        if owner is None:
            return []
        inherited = site.target == "super"
        found = self._index.method(owner, site.method, load=load, inherited=inherited)
        others = [] if inherited else self._index.overrides(owner, site.method)
        return [*([found] if found else []), *others]

    def _owner(self, function: Key) -> Key | None:
        """The class of a method, or of the method around a function."""
        name = function.name
        while name:
            name = name.rpartition(".")[0]
            owner = Key(function.path, name)
            if owner in self._index.classes:
                return owner
        return None

    def _objects_of(
        self, caller: Key, target: str, depth: int = 0, *, load: bool = False
    ) -> list[_Object]:
        """What a target refers to in a function."""
        if depth > _ORIGINS_DEPTH:
            return []
        if is_dotted(target):
            owner, _, name = target.rpartition(".")
            if name == SOMEWHERE:
                members = self._index.members(caller.path, owner, load=load)
                return [_Object(key, made=False, guessed=True) for key in members]
            symbol = self._index.symbol(caller.path, target, load=load)
            return [] if symbol is None else [_Object(symbol, made=False)]
        cached = self._objects.get((caller, target, depth, load))
        if cached is None:
            met, asked = self._index.met_unparsed, self._asked_for_passed
            found = _few(self._found_objects(caller, target, depth, load=load))
            passed = self._asked_for_passed != asked
            cached = _Objects(found, passed, self._index.met_unparsed != met)
            cached = _NOTHING if cached == _NOTHING else cached  # of most targets
            self._objects[caller, target, depth, load] = cached
            if not cached.unparsed:
                self._objects[caller, target, depth, not load] = cached
        else:
            self._asked_for_passed += cached.passed
            self._index.met_unparsed += cached.unparsed
        return cached.found

    def _found_objects(
        self, caller: Key, target: str, depth: int, *, load: bool
    ) -> Iterator[_Object]:
        whole, _, part = target.partition("#")
        if whole.endswith("()"):
            for maker in self._objects_of(caller, whole[:-2], depth + 1, load=load):
                if maker.key in self._index.classes and not part:
                    yield maker._replace(made=True)
        elif whole.startswith("self.") and not part:
            yield from self._methods_named(caller, whole[5:], load=load)
        for origin, held in self._origins(caller, whole, depth, load=load):
            for name in _parts(held, part):
                yield from self._objects_of(origin, name, depth + 1, load=load)

    def _methods_named(self, caller: Key, name: str, *, load: bool) -> Iterator[_Object]:
        owner = self._owner(caller)
        if owner is not None and (own := self._index.method(owner, name, load=load)) is not None:
            for method in (own, *self._index.overrides(owner, name)):
                yield _Object(method, made=False)

    def _origins(
        self, caller: Key, target: str, depth: int, *, load: bool
    ) -> Iterable[tuple[Key, Held]]:
        """Where a parameter or attribute, or what a function returns, comes from: a function, and
        what is held there."""
        if target.endswith("()"):
            makers = self._objects_of(caller, target[:-2], depth + 1, load=load)
            functions = ((each.key, self._index.functions.get(each.key)) for each in makers)
            return [(key, held) for key, maker in functions if maker for held in maker.returns]
        if target.startswith("$"):
            self._asked_for_passed += 1
            parameter = target[1:]
            return self.passed_objects.get((self._with_parameter(caller, parameter), parameter), ())
        owner = self._owner(caller)
        if owner is None:
            return ()
        class_, found = self._index.attribute(owner, target[5:], load=load)
        init = Key(class_.path, f"{class_.name}.__init__")
        return [(init, held) for held in found]

    def _with_parameter(self, function: Key, name: str) -> Key:
        """The function, or one around it, that has a parameter."""
        at = function
        while at.name and (
            at not in self._index.functions or name not in self._index.functions[at].parameters
        ):
            at = Key(at.path, at.name.rpartition(".")[0])
        return at if at.name else function

    @cached_property
    def passed_objects(self) -> dict[tuple[Key, str], dict[tuple[Key, Held], None]]:
        """For each parameter, the objects that calls pass to it: the caller, and what is held
        there."""
        objects: dict[tuple[Key, str], dict[tuple[Key, Held], None]] = defaultdict(dict)
        self.__dict__["passed_objects"] = objects
        sites = [
            (key, number, site)
            for key, number, site in self.sites()
            if any(passed.objects for passed in site.arguments)
        ]
        before = -1
        while sum(map(len, objects.values())) != before:
            before = sum(map(len, objects.values()))
            self._reset_provisional()
            for key, number, site in sites:
                for target in self.callees(key, number):
                    function = self._index.functions[target]
                    for parameter, passed in received(function, site.arguments):
                        given = objects[target, parameter] if passed.objects else {}
                        given.update(dict.fromkeys((key, held) for held in passed.objects))
            sites = [each for each in sites if each[:2] in self._provisional]
        self._reset_provisional()
        return objects

    def _reset_provisional(self) -> None:
        """Forget what depends on which objects are passed."""
        self._objects = {asked: each for asked, each in self._objects.items() if not each.passed}
        for caller, number in self._provisional:
            for resolved in self._resolved:
                if caller in resolved:
                    resolved[caller][number] = None


def _few(objects: Iterable[_Object]) -> list[_Object]:
    """Each once, sorted; none if there are too many to say anything of one."""
    few: set[_Object] = set()
    for each in objects:
        few.add(each)
        if len(few) > _MOST_OBJECTS:
            return []
    return sorted(few)


def _parts(held: Held, part: str) -> Iterator[str]:
    """The targets of a part of what is held; of all of it if `part` is empty."""
    place, target = held
    if place == part or (place and part and SOMEWHERE in (place, part)):
        yield target
    elif not place and not is_dotted(target):
        yield f"{target.partition('#')[0]}#{SOMEWHERE if '#' in target else part}"


def received(
    function: FunctionSummary, arguments: tuple[Passed, ...]
) -> Iterator[tuple[str, Passed]]:
    """Each argument with the parameter that receives it."""
    names = function.parameters
    catch_all = next((name[2:] for name in names if name.startswith("**")), None)
    for passed in arguments:
        if passed.name.startswith("#"):
            index = int(passed.name[1:])
            if index < len(names) and not names[index].startswith("**"):
                yield names[index], passed
        elif passed.name in names:
            yield passed.name, passed
        elif catch_all is not None and passed.name != "*":
            yield catch_all, passed
