"""Why a search for files passes a path over."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from torchlint.config.settings import ConfigError, read_capped
from torchlint.files.discover import parts_of, shown_path
from torchlint.files.globs import parse, parse_ignore_file

if TYPE_CHECKING:
    from torchlint.config.settings import Settings


def why_left_out(absolute: str, settings: Settings, *, folder: bool) -> str | None:
    """Which entry of `exclude`, or which ignore file, names this path or a folder above it.

    None if nothing does. A path that is named on the command line is checked all the same.
    """
    parts, root = parts_of(absolute), parts_of(settings.root)
    if parts[: len(root)] != root:
        root = ()
    for depth in range(len(root) + 1, len(parts) + 1):
        is_folder = folder or depth < len(parts)
        for pattern in settings.exclude:
            glob = parse(pattern)
            if glob is not None and glob.matches(parts[len(root) : depth], folder=is_folder):
                return f"exclude names `{pattern}`"
    return _ignored_by(absolute, folder=folder)


def _ignored_by(absolute: str, *, folder: bool) -> str | None:
    top = absolute if folder else os.path.dirname(absolute)
    while not os.path.lexists(os.path.join(top, ".git")):
        if top == os.path.dirname(top):
            return None
        top = os.path.dirname(top)
    if top == absolute:
        return None
    chain = [absolute]
    while os.path.dirname(chain[0]) != top and chain[0] != top:
        chain.insert(0, os.path.dirname(chain[0]))
    files = [(os.path.join(top, ".git", "info", "exclude"), len(parts_of(top)))]
    for path in chain:
        above = os.path.dirname(path)
        files.append((os.path.join(above, ".gitignore"), len(parts_of(above))))
        last: tuple[bool, str] | None = None
        for file, depth in files:
            said = _verdict(file, parts_of(path)[depth:], folder=folder or path != absolute)
            last = last if said is None else (said, file)
        if last is not None and last[0]:
            return f"{shown_path(last[1])} names it"
    return None


def _verdict(file: str, parts: tuple[str, ...], *, folder: bool) -> bool | None:
    try:
        text = os.fsdecode(read_capped(file)) if os.path.isfile(file) else ""
    except ConfigError:
        return None
    return parse_ignore_file(text.removeprefix("\ufeff").split("\n")).verdict(parts, folder=folder)
