"""What `from common import *` binds: the names that a file of the project has imported itself.

The names that such a file defines are found when the project is joined. Those that it has from
torch or another package must be known when the file with the star is read.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Final

from torchlint.files.digests import blake2b

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torchlint.project.symbols import Locator

STAR: Final = "*"
"""Before the name of a module that is not a file of the project: all its names are bound."""
_STATEMENT: Final = re.compile(
    rb"^([ \t]*)(?:from[ \t]+([.\w]{1,200})[ \t]+import[ \t]*([^\n#;]*)|import[ \t]+([^\n#;]*)|"
    rb"(?:class|def|async[ \t]+def)[ \t]+(\w{1,200})|(\w{1,200})[ \t]*(?::[^=\n]*)?=(?!=))",
    re.MULTILINE,
)
_AT_TOP: Final = re.compile(rb"^(?![ \t\r\n#)\]}])(class\b|def\b|async\b|@)?", re.MULTILINE)
_ALL: Final = re.compile(rb"^__all__\b[^=\n]*=[ \t]*([\[(])", re.MULTILINE)
_CLOSING: Final = {b"[": b"]", b"(": b")"}
_QUOTED: Final = re.compile(rb"['\"](\w{1,200})['\"]")
_ALIAS: Final = re.compile(rb"([.\w]{1,200})(?:[ \t]+as[ \t]+(\w{1,200}))?")
_COMMENT: Final = re.compile(rb"#[^\n]*")
_DEEPEST: Final = 8
_LONGEST: Final = 4000
"""Bytes of an import in parentheses."""
_MOST: Final = 400
"""Names that the stars of one file may bind."""


class Offered:
    """What a file offers to a star import, by its bytes."""

    def __init__(self, data: bytes) -> None:
        self.imported: dict[str, str] = {}
        """The names that it imports at its top level, and what they refer to there."""
        self.defined: set[str] = set()
        """The names that it binds otherwise."""
        self.stars: list[str] = []
        """The modules of its own star imports, in order."""
        self._data = data
        for match in _STATEMENT.finditer(data):
            self._add(match)
        self.fingerprint = self._fingerprint()
        del self._data

    def has(self, name: str) -> bool:
        """Whether a star import binds a name, if the file has it."""
        return not name.startswith("_") if self._public is None else name in self._public

    def _add(self, match: re.Match[bytes]) -> None:
        indent, source, names, plain, definition, variable = match.groups()
        if indent and (definition or variable or self._in_definition(match.start())):
            return
        bound = definition or variable
        if bound is not None:
            self.defined.add(_text(bound))
        elif plain is not None:
            for name, alias in _ALIAS.findall(plain):
                top = _text(name).partition(".")[0]
                self.imported[_text(alias) or top] = _text(name) if alias else top
        elif names.startswith(b"*"):
            self.stars.append(_text(source))
        else:
            if names.startswith(b"("):
                listed = self._data[match.start(3) : match.start(3) + _LONGEST]
                names = _COMMENT.sub(b"", listed).partition(b")")[0]
            base = _text(source)
            joint = "" if base.endswith(".") else "."
            for name, alias in _ALIAS.findall(names):
                self.imported[_text(alias or name)] = f"{base}{joint}{_text(name)}"

    def _in_definition(self, place: int) -> bool:
        """Whether an indented line is part of a function or class, not of a `try`."""
        places, definitions = self._tops
        number = bisect_right(places, place) - 1
        return number >= 0 and definitions[number]

    @cached_property
    def _tops(self) -> tuple[list[int], list[bool]]:
        """Where the statements at the top level start, and whether they are definitions."""
        found = list(_AT_TOP.finditer(self._data))
        return [each.start() for each in found], [bool(each[1]) for each in found]

    @cached_property
    def _public(self) -> frozenset[str] | None:
        """The names in `__all__`; None if there is none, or if it is put together."""
        listed = _ALL.search(self._data)
        if listed is None or self._data.count(b"__all__") > 1:
            return None
        end = self._data.find(_CLOSING[listed[1]], listed.end())
        return frozenset(map(_text, _QUOTED.findall(self._data[listed.end() : end])))

    def _fingerprint(self) -> str:
        """The same for files that offer the same."""
        public = None if self._public is None else sorted(self._public)
        said = (sorted(self.imported.items()), sorted(self.defined), self.stars, public)
        return blake2b(repr(said).encode(), digest_size=8).hexdigest()


class Stars:
    """The names that the star imports of the files of a project bind.

    Args:
        offer: returns what a file of the project offers.
    """

    def __init__(self, offer: Callable[[str], Offered], locator: Locator) -> None:
        self._offer = offer
        self._locator = locator

    def brought(self, path: str) -> tuple[tuple[str, str], ...]:
        """The names that the star imports of a file bind from other packages, and what they refer
        to. A name of the project is not among them."""
        found = self._through(path, self._offer(path).stars, {path}, 0)
        return tuple(found.items())[:_MOST]

    def _through(
        self, path: str, stars: Iterable[str], seen: set[str], depth: int
    ) -> dict[str, str]:
        """What star imports in a file bind, the last one of a name last."""
        brought: dict[str, str] = {}
        for star in stars:
            located = self._locator.locate(path, star)
            if located is None and depth:
                brought[f"{STAR}{star}"] = star
            if located is None or located[1] or located[0] in seen or depth > _DEEPEST:
                continue
            file = located[0]
            seen.add(file)
            offers = self._offer(file)
            outside = {
                name: dotted
                for name, dotted in offers.imported.items()
                if not dotted.startswith(".") and self._locator.locate(file, dotted) is None
            }
            own = offers.defined | (offers.imported.keys() - outside.keys())
            inner = self._through(file, offers.stars, seen, depth + 1) | outside
            for name in filter(offers.has, (*inner, *own)):
                brought.pop(name, None)
                if name not in own:
                    brought[name] = inner[name]
        return brought


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
