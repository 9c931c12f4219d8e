"""Globs as `.gitignore` means them, for ignore files and for settings alike.

Patterns come with the code that is checked. A pattern turned into one regular expression can
take exponential time on a hostile name, so names are matched segment by segment, each in time
proportional to pattern times name.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_PATTERNS = 4_000
"""Lines of one ignore file that count; each is tried on each file."""
_WILD = frozenset("*?[\\")
_LONGEST = 1_000
"""Characters of a pattern for one name; a longer pattern matches nothing. Names have up to 255."""


class Glob:
    """One pattern: `**` spans folders, `*`, `?` and `[...]` stay inside one name."""

    def __init__(self, segments: tuple[str, ...], *, folders_only: bool) -> None:
        self.segments = segments
        self.folders_only = folders_only

    def matches(self, parts: Sequence[str], *, folder: bool = False) -> bool:
        """Whether the pattern matches this path itself, relative to the folder of the pattern."""
        if self.folders_only and not folder:
            return False
        if len(self.segments) == 2 and self.segments[0] == "**":
            return _name_matches(self.segments[1], parts[-1])
        return _path_matches(self.segments, parts)

    def covers(self, parts: Sequence[str]) -> bool:
        """Whether the pattern matches this file or a folder above it."""
        return self.matches(parts) or any(
            self.matches(parts[:depth], folder=True) for depth in range(1, len(parts))
        )


@lru_cache(maxsize=MOST_PATTERNS)
def parse(pattern: str) -> Glob | None:
    """The glob for a pattern; None for a pattern that matches nothing.

    A pattern without a slash before its end matches that name at any depth.
    """
    pattern = pattern.removeprefix("./")
    folders_only = pattern.endswith("/")
    anchored = "/" in pattern.rstrip("/")
    segments = [segment for segment in pattern.split("/") if segment not in ("", ".")]
    segments = [
        segment
        for before, segment in zip(["", *segments], segments, strict=False)
        if not before == segment == "**"
    ]
    if not segments:
        return None
    if not anchored:
        segments.insert(0, "**")
    if segments[-1] == "**":
        segments.append("*")
    return Glob(tuple(segments), folders_only=folders_only)


def _path_matches(segments: tuple[str, ...], parts: Sequence[str]) -> bool:
    at = here = 0
    star = resume = -1
    while here < len(parts):
        if at < len(segments) and segments[at] == "**":
            star, resume = at, here
            at += 1
        elif at < len(segments) and _name_matches(segments[at], parts[here]):
            at += 1
            here += 1
        elif star >= 0:
            resume += 1
            at, here = star + 1, resume
        else:
            return False
    return all(segment == "**" for segment in segments[at:])


def _name_matches(pattern: str, name: str) -> bool:
    if _WILD.isdisjoint(pattern):
        return pattern == name
    matcher = _compiled(pattern)
    return matcher is not None and matcher.match(name) is not None


@lru_cache(maxsize=MOST_PATTERNS)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    if len(pattern) > _LONGEST:
        return None
    import fnmatch

    try:
        return re.compile(fnmatch.translate(_escape_or_set().sub(_as_fnmatch, pattern)))
    except re.error:
        return None


@cache
def _escape_or_set() -> re.Pattern[str]:
    return re.compile(r"\\(.)|\[([!^]?)(\]?[^\]]{0,200})\]")


def _as_fnmatch(hit: re.Match[str]) -> str:
    """fnmatch has `[!...]` and `[*]` where git also has `[^...]` and a backslash."""
    if hit[1] is not None:
        return f"[{hit[1]}]" if hit[1] in "*?[" else hit[1]
    return f"[{'!' if hit[2] else ''}{hit[3]}]".replace("\\", "")


class IgnoreFile:
    """The lines of one `.gitignore`; paths are relative to its folder."""

    def __init__(self, lines: tuple[tuple[Glob, bool], ...]) -> None:
        self.lines = lines

    def verdict(self, parts: Sequence[str], *, folder: bool) -> bool | None:
        """True: ignored. False: a `!` line keeps it. None: no line matches this path."""
        for glob, ignored in reversed(self.lines):
            if glob.matches(parts, folder=folder):
                return ignored
        return None


def parse_ignore_file(lines: Iterable[str]) -> IgnoreFile:
    """Reads `.gitignore` lines: comments, `!`, escaped first characters and trailing blanks.

    Lines after the first `MOST_PATTERNS` are ignored.
    """
    parsed: list[tuple[Glob, bool]] = []
    for line in islice(lines, MOST_PATTERNS):
        line = line.rstrip("\r\n")
        while line.endswith(" ") and not line.endswith("\\ "):
            line = line[:-1]
        if line.startswith("#"):
            continue
        ignored = not line.startswith("!")
        glob = parse(line if ignored else line[1:])
        if glob is not None:
            parsed.append((glob, ignored))
    return IgnoreFile(tuple(parsed))
