"""What runs did to the world outside of their processes, or would have done."""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchlint.runtime.probe.files.view import REDIRECTED, REMOVED
from torchlint.runtime.probe.world.journal import JOURNAL
from torchlint.runtime.sandbox.disk_space import MOST_PRINTED, OUTPUTS
from torchlint.runtime.sandbox.overlayfs import UPPER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

HELPER: Final = "helper"
"""A process that an installed package started by itself."""
PROCESS: Final = "process"
"""One that the script started. What it writes is an effect of its own."""
UPLOAD: Final = "upload"
"""A tracker that was switched off, or something that would have been sent."""
_MOST: Final = 50
"""More files than this in a folder are summed up in one line."""
_OF_FILES: Final = ("create", "write", "delete")
_OPAQUE: Final = ("user.overlay.opaque", "trusted.overlay.opaque")


@dataclass(frozen=True, slots=True)
class SideEffect:
    """Something that the script did outside its process.

    `kind` is `write`, `create`, `delete`, `mkdir`, `output`, `process`, `helper`, `connect` or
    `upload`; `kept` says whether it reached the real world.
    """

    kind: str
    what: str
    kept: bool
    count: int = 1

    @property
    def is_let_through(self) -> bool:
        """Whether something outside has changed, or may have heard of the script."""
        return self.kept and self.kind not in (HELPER, PROCESS)


def collect(folders: Sequence[str], project: str) -> tuple[SideEffect, ...]:
    """What the runs in these folders did, merged and sorted; paths relative to the project.

    `count` says in how many runs (or processes, for what is not a file) it was seen, or how many
    files there are if `what` is a folder full of them: then it ends with a slash.
    """
    counts: Counter[tuple[str, str, bool]] = Counter()
    for folder in folders:
        seen = [*_overlaid(folder, project), *_redirected(folder), *_journal(folder)]
        for effect in seen:
            counts[effect.kind, _shown(effect.what, project), effect.kept] += effect.count
    found = [SideEffect(*key, count=count) for key, count in counts.items()]
    found += _printed(folders)
    return tuple(sorted(_summed_up(found), key=lambda effect: (effect.what, effect.kind)))


def _printed(folders: Sequence[str]) -> Iterator[SideEffect]:
    """What was printed and is too much to be kept."""
    for name in OUTPUTS:
        sizes = []
        for folder in folders:
            with suppress(OSError):
                sizes.append(os.stat(os.path.join(folder, name)).st_size)
        cut = [size for size in sizes if size > MOST_PRINTED]
        if cut:
            what = f"up to {max(cut) / 1e9:.1f} GB on {name}, whose end is kept"
            yield SideEffect("output", what, kept=False, count=len(cut))


def _overlaid(folder: str, project: str) -> Iterator[SideEffect]:
    """What was written over the project under overlayfs; paths are relative to it."""
    upper = os.path.join(folder, UPPER)
    if os.path.isdir(upper):
        yield from _differences(upper, project, "", replaced=False)


def _differences(upper: str, lower: str, name: str, *, replaced: bool) -> Iterator[SideEffect]:
    """Walk what is above; `replaced`: nothing that is below shows through."""
    with os.scandir(upper) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        inner, below = os.path.join(name, entry.name), os.path.join(lower, entry.name)
        existed = os.path.lexists(below)
        if entry.is_dir(follow_symlinks=False):
            if entry.name == "__pycache__":
                continue
            new = replaced or not os.path.isdir(below) or _is_opaque(entry.path)
            if new and existed and not replaced:
                yield SideEffect("delete", inner, kept=False)
            if new:
                yield SideEffect("mkdir", inner, kept=False)
            yield from _differences(entry.path, below, inner, replaced=new)
        elif _is_whiteout(entry):
            if existed and not replaced:
                yield SideEffect("delete", inner, kept=False)
        else:
            was_file = existed and not replaced and not os.path.isdir(below)
            if existed and not replaced and not was_file:
                yield SideEffect("delete", inner, kept=False)
            yield SideEffect("write" if was_file else "create", inner, kept=False)


def _is_whiteout(entry: os.DirEntry[str]) -> bool:
    """Overlayfs marks what is gone by a character device with the number 0."""
    status = entry.stat(follow_symlinks=False)
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == 0


def _is_opaque(folder: str) -> bool:
    for attribute in _OPAQUE:
        with suppress(OSError):
            if os.getxattr(folder, attribute, follow_symlinks=False) == b"y":
                return True
    return False


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
    """Sum up in one line a new folder with many files, and many files in one that was there."""
    groups: dict[tuple[str, str, bool], list[SideEffect]] = {}
    summed = list(effects)
    new = sorted(effect.what for effect in summed if effect.kind == "mkdir")
    outermost = [path for path in new if not _folder_among(path, set(new))]
    for effect in summed:
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
    for effect in summed:
        if effect.kind == "mkdir" and not _folder_among(effect.what, swallowed):
            yield effect


def _folder_among(path: str, folders: Collection[str]) -> str | None:
    """The folder of these that a path is in."""
    inner = os.path.dirname(path)
    while inner and inner not in folders and inner != os.path.dirname(inner):
        inner = os.path.dirname(inner)
    return inner if inner in folders else None
