"""Why a search for files skips a path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.files.discover import ignores_of, parts_of, shown_path
from torchlint.files.globs import parse

if TYPE_CHECKING:
    from torchlint.config.settings import Settings


def why_left_out(absolute: str, settings: Settings, *, folder: bool) -> str | None:
    """Which entry of `exclude`, or which ignore file, excludes this path or a folder above it.

    None if nothing does. A file that is named on the command line is checked nevertheless.
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
    _, ignoring = ignores_of(absolute, folder=folder)
    return None if ignoring is None else f"{shown_path(ignoring)} names it"
