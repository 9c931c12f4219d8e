"""Gathers what the runs of a verification did to the world, or would have done."""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from torchlint.runtime import sandbox
from torchlint.runtime.probe.files.view import REDIRECTED, REMOVED
from torchlint.runtime.probe.world.journal import JOURNAL
from torchlint.verify.result import SideEffect

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

_MOST: Final = 50
"""More files than this in a folder are told in one line."""
_OF_FILES: Final = ("create", "write", "delete")


def collect(folders: Sequence[str], project: str) -> tuple[SideEffect, ...]:
    """What the runs in these folders did, merged and sorted; paths relative to the project.

    `count` says in how many runs (or processes, for what is not a file) it was seen, or how many
    files there are if `what` is a folder full of them: then it ends with a slash.
    """
    counts: Counter[tuple[str, str, bool]] = Counter()
    for folder in folders:
        seen = [*sandbox.written(folder, project), *_redirected(folder), *_journal(folder)]
        for effect in seen:
            counts[effect.kind, _shown(effect.what, project), effect.kept] += effect.count
    found = (SideEffect(*key, count=count) for key, count in counts.items())
    return tuple(sorted(_summed_up(found), key=lambda effect: (effect.what, effect.kind)))


def _journal(folder: str) -> Iterator[SideEffect]:
    with suppress(OSError), open(os.path.join(folder, JOURNAL), encoding="ascii") as stream:
        for line in stream:
            # A process may have been killed in the middle of the last line.
            with suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                yield SideEffect(str(entry["kind"]), str(entry["what"]), bool(entry["kept"]))


def _redirected(folder: str) -> Iterator[SideEffect]:
    """What was written to a copy, and what was only seemingly removed; absolute paths."""
    upper, removed = os.path.join(folder, REDIRECTED), os.path.join(folder, REMOVED)
    gone = set(_marks(removed))
    for real in gone:
        new = os.path.join(upper, real.lstrip("/"))
        remade = os.path.isdir(new) or os.path.isdir(real) or not os.path.lexists(new)
        if remade and os.path.dirname(real) not in gone:
            yield SideEffect("delete", real, kept=False)
    for path, folders, files in os.walk(upper):
        inside = path[len(upper) :] or "/"
        for name in folders:
            real = os.path.join(inside, name)
            if os.path.islink(os.path.join(path, name)):
                files.append(name)
            elif real in gone or not os.path.isdir(real):
                yield SideEffect("mkdir", real, kept=False)
        for name in files:
            real = os.path.join(inside, name)
            existed = os.path.lexists(real) and not os.path.isdir(real) and inside not in gone
            yield SideEffect("write" if existed else "create", real, kept=False)


def _marks(removed: str) -> Iterator[str]:
    with suppress(OSError):
        for name in os.listdir(removed):
            with suppress(OSError), open(os.path.join(removed, name), "rb") as stream:
                path = os.fsdecode(stream.read())
                # With a slash: something in this folder is removed, not the folder itself.
                if not path.endswith("/"):
                    yield path


def _shown(what: str, project: str) -> str:
    inside = project.rstrip("/") + "/"
    text = what.removeprefix(inside)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _summed_up(effects: Iterable[SideEffect]) -> Iterator[SideEffect]:
    """Tell in one line of a new folder with many files, and of many in one that was there."""
    groups: dict[tuple[str, str, bool], list[SideEffect]] = {}
    found = list(effects)
    new = sorted(effect.what for effect in found if effect.kind == "mkdir")
    outermost = [path for path in new if not _folder_among(path, set(new))]
    for effect in found:
        if effect.kind in _OF_FILES:
            folder = _folder_among(effect.what, set(outermost)) or os.path.dirname(effect.what)
            groups.setdefault((effect.kind, folder, effect.kept), []).append(effect)
        elif effect.kind != "mkdir":
            yield effect
    full = {key for key, group in groups.items() if len(group) > _MOST}
    for key, group in groups.items():
        if key in full:
            kind, folder, kept = key
            yield SideEffect(kind, f"{folder or '.'}/", kept, sum(effect.count for effect in group))
        else:
            yield from group
    swallowed = {folder for kind, folder, _kept in full if kind == "create"}
    for effect in found:
        if effect.kind == "mkdir" and not _folder_among(effect.what, swallowed):
            yield effect


def _folder_among(path: str, folders: Collection[str]) -> str | None:
    """The folder of these that a path lies in."""
    inner = os.path.dirname(path)
    while inner and inner not in folders and inner != os.path.dirname(inner):
        inner = os.path.dirname(inner)
    return inner if inner in folders else None
