"""What `per-file-ignores` of the configuration switches off in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.files.discover import parts_of
from torchlint.files.globs import parse

if TYPE_CHECKING:
    from torchlint.config.settings import Settings


def off_for(absolute: str, settings: Settings) -> tuple[str, ...]:
    """The rules that `per-file-ignores` switches off for a file."""
    root, parts = parts_of(settings.root), parts_of(absolute)
    if parts[: len(root)] == root:
        parts = parts[len(root) :]
    off: list[str] = []
    for pattern, codes in settings.per_file_ignores:
        glob = parse(pattern)
        if glob is not None and glob.covers(parts):
            off += codes
    return tuple(dict.fromkeys(off))
