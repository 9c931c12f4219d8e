"""Resolves dotted names to files of the project and to the functions and classes in them."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.project.sys_path import LEVELS_UP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from torchlint.analysis.callables import Held
    from torchlint.analysis.summary import ClassSummary, FunctionSummary, Summary
    from torchlint.project.sys_path import Root

_DEEPEST = 8
_MOST_BASES = 200
_MOST_DERIVED = 64
_MOST_MEMBERS = 32
_MOST_LOCATED = 4096
"""A name that hundreds of star imports may provide is looked for in each of them."""
_CUT_OUT = 2
"""Where leading packages of a dotted name are missing, at least so many names must match."""


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """A function or class: its file and its qualified name."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class _Unparsed:
    """A name that leads to a file that is not parsed."""

    path: str


class Locator:
    """Finds the checked file that an import refers to.

    Args:
        paths: every checked file, as shown to the user.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._here = os.path.join(os.getcwd(), "")
        self._shown: dict[str, str] = {}
        """The shown paths by absolute path, relative to `_here` if they are below it."""
        self._folders: dict[str, str] = {}
        """The absolute folder of each path."""
        self._located: dict[str, tuple[str, tuple[str, ...]] | None] = {}
        """Names resolved from `_folder`: all files of a folder see the same modules, if they put
        the same folders on `sys.path`."""
        self._folder: tuple[str, tuple[Root, ...]] | None = None
        self._added: dict[str, tuple[Root, ...]] = {}
        """The folders that files put on `sys.path` themselves."""
        self._roots: dict[str, set[str]] = {}
        """The folders that contain each module or package name."""
        folders: dict[str, str] = {}  # one string for all files of a folder
        for path in paths:
            absolute = os.path.abspath(path)
            below = absolute.removeprefix(self._here)
            self._shown[path if path == below else below] = path
            above, file = os.path.split(absolute)
            folder = self._folders[path] = folders.setdefault(above, above)
            self._roots.setdefault(file.removesuffix(".py"), set()).add(folder)
        seen: set[str] = set()
        for folder in folders:
            while folder not in seen:
                seen.add(folder)
                folder, name = os.path.split(folder)
                self._roots.setdefault(name, set()).add(folder)

    def note_roots(self, path: str, roots: tuple[Root, ...]) -> None:
        """Note which folders a file puts on `sys.path`, before it is asked what it imports."""
        if roots:
            self._added[path] = roots
        else:
            self._added.pop(path, None)

    def locate(self, path: str, dotted: str) -> tuple[str, tuple[str, ...]] | None:
        """The file that a dotted name of `path` leads to, and the rest of the name inside it."""
        if dotted.startswith(":"):
            return path, tuple(dotted[1:].split("."))
        folder = self._folders.get(path)
        if folder is None:
            return None
        roots = self._added.get(path, ())
        if self._folder != (folder, roots) or len(self._located) >= _MOST_LOCATED:
            self._folder = folder, roots
            self._located.clear()
        if dotted not in self._located:
            self._located[dotted] = self._locate(folder, dotted, roots)
        return self._located[dotted]

    def outside(self, dotted: str) -> bool:
        """Whether a name is of the standard library and leads to no checked file from anywhere."""
        top = dotted.partition(".")[0]
        return top in sys.stdlib_module_names and top not in self._roots

    def _locate(
        self, folder: str, dotted: str, roots: tuple[Root, ...]
    ) -> tuple[str, tuple[str, ...]] | None:
        level = len(dotted) - len(dotted.lstrip("."))
        parts = tuple(part for part in dotted.split(".") if part)
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._under(folder, parts)
        located = self._on_sys_path(folder, parts, roots) or self._above(folder, parts)
        if located is None and parts and parts[0] in sys.stdlib_module_names:
            return None  # `import random` is not some other folder's random.py
        if located is None and parts and parts[0] in self._roots:
            return self._beside(folder, parts, self._roots[parts[0]])
        for start in range(1, len(parts) - 1) if located is None else ():
            # The folder was copied out of a larger package, so leading names are missing.
            located = self._above(folder, parts[start:])
            if located is not None and len(parts) - start - len(located[1]) >= _CUT_OUT:
                return located
            located = None
        return located

    def _on_sys_path(
        self, folder: str, parts: tuple[str, ...], roots: tuple[Root, ...]
    ) -> tuple[str, tuple[str, ...]] | None:
        """The module as seen from the folders that the file itself puts on `sys.path`; those that
        come behind its own have no module of a name that its own has, nor of the standard library.
        """
        if not roots or not parts or parts[0] not in self._roots:
            return None
        hidden = parts[0] in sys.stdlib_module_names or folder in self._roots[parts[0]]
        for root in roots:
            if hidden and not root.first:
                continue
            for start in root.places(folder):
                if start in self._roots[parts[0]]:
                    return self._under(start, parts)
        return None

    def _above(self, folder: str, parts: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
        """The module as seen from a folder on `sys.path`: the script's own or a parent."""
        folders = self._roots.get(parts[0]) if parts else None
        best: tuple[str, tuple[str, ...]] | None = None
        # From pkg/pkg.py, `pkg.part.name` is not in that file: the longest match wins.
        while folders and (best is None or len(best[1]) > 1):
            if folder in folders:
                found = self._under(folder, parts)
                if found is not None and len(found[1]) < len(best[1] if best else parts):
                    best = found
            above = os.path.dirname(folder)
            if above == folder:
                break
            folder = above
        return best

    def _beside(
        self, near: str, parts: tuple[str, ...], folders: set[str]
    ) -> tuple[str, tuple[str, ...]] | None:
        """A module in a folder that the script puts on `sys.path`, such as `lib/`: the only one
        with that name below the script's folder or one of the two above it."""
        for _ in range(LEVELS_UP):
            matches = {
                located
                for folder in folders
                if folder.startswith(near + os.sep)
                and self._file(os.path.join(folder, "__init__.py")) is None  # no root: a package
                and (located := self._under(folder, parts)) is not None
                and len(located[1]) <= 1
            }
            if matches:
                return matches.pop() if len(matches) == 1 else None
            near = os.path.dirname(near)
        return None

    def _under(self, folder: str, parts: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
        for length in range(len(parts), -1, -1):
            base = os.sep.join((folder.rstrip(os.sep), *parts[:length]))
            for absolute in (f"{base}.py", f"{base}{os.sep}__init__.py"):
                file = self._file(absolute)
                if file is not None:
                    return file, parts[length:]
        return None

    def _file(self, absolute: str) -> str | None:
        return self._shown.get(absolute.removeprefix(self._here))


class Index:
    """Resolves dotted names to functions and classes, as seen from a file.

    Args:
        locator: finds the files.
        mentions: whether a file, parsed or not, contains a word.
    """

    def __init__(self, locator: Locator, mentions: Callable[[str, str], bool]) -> None:
        self.locate = locator.locate
        self._mentions = mentions
        self.summaries: dict[str, Summary] = {}
        """The summaries of parsed files by path."""
        self.missing: set[str] = set()
        """Unparsed files that hot code leads to."""
        self.functions: dict[Key, FunctionSummary] = {}
        self.classes: dict[Key, ClassSummary] = {}
        self._symbols: dict[Key, Key | _Unparsed | None] = {}
        """What names resolve to that their file does not define, such as re-exports."""
        self._methods: dict[tuple[Key, str, bool], Key | None] = {}
        """What methods were found, where all bases are parsed."""
        self._unsure: set[Key] = set()
        """The names among them that may resolve differently once more files are parsed."""
        self.met_unparsed = 0
        """How often a name led to an unparsed file. An answer that does not change this count
        stays valid when more files are added."""

    def add(self, summaries: Mapping[str, Summary]) -> None:
        """Add the summaries of more files."""
        for path, summary in sorted(summaries.items()):
            self.summaries[path] = summary
            for function in summary.functions:
                self.functions.setdefault(Key(path, function.name), function)
            for class_ in summary.classes:
                self.classes.setdefault(Key(path, class_.name), class_)
        self.__dict__.pop("_derived", None)
        self._methods.clear()
        for known in self._unsure:
            del self._symbols[known]
        self._unsure.clear()
        self.missing.clear()

    # functions and classes ---------------------------------------------------------------

    def symbol(self, path: str, dotted: str, *, load: bool = False) -> Key | None:
        """The function or class that a dotted name of `path` refers to, through re-exports.

        With `load`, an unparsed file that the name leads to is added to `missing`.
        """
        located = self._symbol(path, dotted, 0)
        if isinstance(located, _Unparsed):
            if load:
                self.missing.add(located.path)
            return None
        return located

    def members(self, path: str, dotted: str, depth: int = 0, *, load: bool = False) -> list[Key]:
        """The functions and classes of a module, also those that it imports from others of the
        project; none if there are so many that one of them says little about the others."""
        located = self.locate(path, dotted)
        if located is None or located[1] or depth > _DEEPEST:
            return []
        file = located[0]
        summary = self.summaries.get(file)
        if summary is None:
            self.met_unparsed += 1
            if load:
                self.missing.add(file)
            return []
        names = [each.name for each in summary.functions]
        names += [each.name for each in summary.classes]
        keys = {Key(file, name) for name in names if name and "." not in name}
        keys.update(
            key for name, _ in summary.exports if (key := self.symbol(file, f":{name}")) is not None
        )
        for star in summary.stars:
            keys.update(self.members(file, star, depth + 1, load=load))
        return sorted(keys) if len(keys) <= _MOST_MEMBERS else []

    def _symbol(self, path: str, dotted: str, depth: int) -> Key | _Unparsed | None:
        located = self.locate(path, dotted)
        if located is None or not located[1] or depth > _DEEPEST:
            return None
        file, rest = located
        key = Key(file, ".".join(rest))
        if key in self.functions or key in self.classes:
            return key
        if key not in self._symbols:
            met = self.met_unparsed
            self._symbols[key] = None  # ends circular re-exports
            self._symbols[key] = self._find(file, rest, depth)
            if self.met_unparsed != met:
                self._unsure.add(key)
        elif key in self._unsure:
            self.met_unparsed += 1
        return self._symbols[key]

    def _find(self, file: str, rest: tuple[str, ...], depth: int) -> Key | _Unparsed | None:
        summary = self.summaries.get(file)
        if summary is None:
            # A star import provides names that the file itself does not contain.
            if self._mentions(file, rest[0]) or self._mentions(file, "import *"):
                self.met_unparsed += 1
                return _Unparsed(file)
            return None
        for name, target in summary.exports:
            if name == rest[0]:
                found = self._symbol(file, ".".join((target, *rest[1:])), depth + 1)
                if found is not None:
                    return found
        if len(rest) > 1:
            owner = self._symbol(file, ":" + rest[0], depth + 1) if len(rest) == 2 else None
            if isinstance(owner, Key) and owner in self.classes:
                return self.method(owner, rest[1])
            return owner if isinstance(owner, _Unparsed) else None
        return self._starred(file, summary, rest[0], depth)

    def _starred(
        self, file: str, summary: Summary, name: str, depth: int
    ) -> Key | _Unparsed | None:
        unparsed: _Unparsed | None = None
        for star in reversed(summary.stars):  # the last one of a name counts
            if not self._offers(file, star, name):
                continue
            found = self._symbol(file, f"{star}.{name}", depth + 1)
            if isinstance(found, Key):
                return found
            unparsed = unparsed or found
        return unparsed

    def _offers(self, path: str, star: str, name: str) -> bool:
        """Whether the star import of a module may bind a name."""
        located = self.locate(path, star)
        summary = None if located is None else self.summaries.get(located[0])
        return summary is None or bool(located and located[1]) or summary.offers(name)

    def method(
        self, class_: Key, name: str, *, load: bool = False, inherited: bool = False
    ) -> Key | None:
        """The function that a method call on an instance runs, through the bases of its class;
        with `inherited`, the one that `super()` leads to."""
        asked = (class_, name, inherited)
        if asked in self._methods:
            return self._methods[asked]
        met = self.met_unparsed
        lineage = islice(self._lineage(class_, load=load), inherited, None)
        owns = (Key(each.path, f"{each.name}.{name}") for each in lineage)
        found = next((own for own in owns if own in self.functions), None)
        if self.met_unparsed == met:
            self._methods[asked] = found
        return found

    def overrides(self, class_: Key, name: str) -> list[Key]:
        """The functions that classes derived from this one have in place of its method; none if
        there are so many that one of them says little about the others."""
        derived = {class_}
        left = [class_]
        while left:
            new = [each for each in self._derived[left.pop()] if each not in derived]
            derived.update(new)
            left += new
            if len(derived) > _MOST_DERIVED:
                return []
        keys = (Key(each.path, f"{each.name}.{name}") for each in derived - {class_})
        return sorted(key for key in keys if key in self.functions)

    @cached_property
    def _derived(self) -> dict[Key, list[Key]]:
        """By class: those parsed ones that name it as a base."""
        subclasses: dict[Key, list[Key]] = defaultdict(list)
        for key, class_ in self.classes.items():
            for base in class_.bases:
                parent = self.symbol(key.path, base)
                if parent is not None:
                    subclasses[parent].append(key)
        return subclasses

    def callable(self, class_: Key, *, load: bool = False) -> Key | None:
        """What calling an instance runs: `forward` of a module, else `__call__`."""
        return self.method(class_, "forward", load=load) or self.method(class_, "__call__")

    def is_module(self, class_: Key) -> bool:
        """Whether a class, or a base of it, has a base that is a module of torch or a framework."""
        return any(
            base.endswith(ANY.module_classes) or base.startswith("torch.nn.")
            for key in self._lineage(class_)
            for base in self.classes[key].bases
        )

    def attribute(
        self, class_: Key, name: str, *, load: bool = False
    ) -> tuple[Key, tuple[Held, ...]]:
        """What `self.name` may hold, and the class that says so: this one or a base."""
        for each in self._lineage(class_, load=load):
            summary = self.classes.get(each)
            for attribute, held in summary.attributes if summary is not None else ():
                if attribute == name:
                    return each, held
        return class_, ()

    @property
    def held_names(self) -> set[str]:
        """The names of the attributes that hold something of the project in any class."""
        return {name for each in self.classes.values() for name, _ in each.attributes}

    def _lineage(self, class_: Key, *, load: bool = False) -> Iterator[Key]:
        """A class and its bases, nearest first, as far as they are followed."""
        return islice(self._ancestry(class_, {class_}, load=load), _MOST_BASES)

    def _ancestry(
        self, class_: Key, seen: set[Key], depth: int = 0, *, load: bool = False
    ) -> Iterator[Key]:
        """A class and its bases, nearest first."""
        yield class_
        summary = self.classes.get(class_)
        for base in summary.bases if summary is not None and depth <= _DEEPEST else ():
            parent = self.symbol(class_.path, base, load=load)
            if parent is not None and parent in self.classes and parent not in seen:
                seen.add(parent)
                yield from self._ancestry(parent, seen, depth + 1, load=load)
