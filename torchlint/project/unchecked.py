"""The files of the user that a check of single files left out although they import them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.files.discover import shown_path
from torchlint.files.reading import SourceError, is_notebook, read_bytes
from torchlint.project.target import mentions_torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.project.sys_path import Root
    from torchlint.project.target import Target

_MOST_FILES: Final = 64
_READS: Final = (b".item(", b".cpu(", b".numpy(", b".tolist(")
"""Of a tensor that a helper is given, which need not mention torch."""
_MOST_NAMES: Final = 500
"""Of a file. Each name takes some looks at the disk."""


class Unchecked(NamedTuple):
    """Files that were left out, as they are shown; one that imports them; a folder with all."""

    files: tuple[str, ...]
    importer: str
    folder: str


def unchecked(targets: Sequence[Target]) -> Unchecked | None:
    """What the named files import, directly or indirectly, that is not checked and mentions torch
    or reads tensors; None if that is nothing. Of very many files, the first are followed."""
    checked = {os.path.realpath(target.path) for target in targets}
    named = [each.path for each in targets if each.named and each.data is None]
    waiting = [(path, path) for path in named if not is_notebook(path)][:_MOST_FILES]
    paths: dict[str, str] = {}
    while waiting and len(paths) < _MOST_FILES:
        path, importer = waiting.pop(0)
        data = _read(path)
        relevant = mentions_torch(data)
        if path != importer and (relevant or any(word in data for word in _READS)):
            paths[path] = importer
        if not relevant:
            continue
        from torchlint.project.imports import imported_names
        from torchlint.project.sys_path import sys_path_roots

        for other in _imported(path, imported_names(data)[:_MOST_NAMES], sys_path_roots(data)):
            real = os.path.realpath(other)
            if real not in checked:
                checked.add(real)
                waiting.append((other, importer))
    if not paths:
        return None
    importer = next(iter(paths.values()))
    absolute = [os.path.abspath(path) for path in (importer, *paths)]
    folder = os.path.commonpath([os.path.dirname(path) for path in absolute])
    return Unchecked(tuple(map(shown_path, sorted(absolute[1:]))), importer, shown_path(folder))


def _read(path: str) -> bytes:
    try:
        return read_bytes(path)
    except SourceError:
        return b""


def _imported(path: str, names: Sequence[str], roots: Sequence[Root]) -> Iterator[str]:
    """The files that dotted names lead to: below the folder of the file, one that it puts on
    `sys.path`, or one above it."""
    from torchlint.project.sys_path import LEVELS_UP

    own = os.path.dirname(os.path.abspath(path))
    first, later = ([each for each in roots if each.first is early] for early in (True, False))
    folders = [
        *(place for root in first for place in root.places(own)),
        own,
        *(place for root in later for place in root.places(own)),
        *(_above(own, up) for up in range(1, LEVELS_UP + 1)),
    ]
    holders: dict[str, str | None] = {}
    for name in names:
        bare = name.lstrip(".")
        parts = [part for part in bare.split(".") if part]
        level = len(name) - len(bare)
        top: str | None = _above(own, level - 1) if level else None
        if parts and not level:
            if parts[0] not in holders:
                holders[parts[0]] = next((each for each in folders if _holds(each, parts[0])), None)
            top = holders[parts[0]]
        if top is None:
            continue
        for length in range(len(parts), -1 if level else 0, -1):
            base = os.path.join(top, *parts[:length])
            file = next(filter(os.path.isfile, (f"{base}.py", f"{base}/__init__.py")), None)
            if file is not None:
                yield file
                break


def _holds(folder: str, name: str) -> bool:
    path = os.path.join(folder, name)
    return os.path.isfile(f"{path}.py") or os.path.isdir(path)


def _above(folder: str, levels: int) -> str:
    for _ in range(levels):
        folder = os.path.dirname(folder)
    return folder
