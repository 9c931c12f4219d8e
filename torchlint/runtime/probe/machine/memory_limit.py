"""How much main memory this process may use at most."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_GROUPS = "sys/fs/cgroup"


def memory_limit(root: str = "/") -> int | None:
    """Bytes: the machine's memory, or less if a control group of this process has less; None if
    nobody says.

    https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files

    Args:
        root: what is in `proc` and `sys` there is believed.
    """
    try:
        machine = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, OSError, ValueError):
        machine = []
    return min([*machine, *_of_groups(Path(root))], default=None)


def _of_groups(root: Path) -> Iterator[int]:
    for file in _files(root):
        try:
            text = file.read_text(encoding="ascii").strip()
        except (OSError, ValueError):  # one that a container does not show
            continue
        if text.isdecimal():  # else it is `max`
            yield int(text)


def _files(root: Path) -> Iterator[Path]:
    """Of the groups of this process and of those above them, in both versions."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in lines.splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if not controllers:
            folders, name = [root / _GROUPS, root / _GROUPS / "unified"], "memory.max"
        elif "memory" in controllers.split(","):
            folders, name = [root / _GROUPS / "memory"], "memory.limit_in_bytes"
        else:
            continue
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for folder in folders:
            for depth in range(len(parts) + 1):
                yield folder.joinpath(*parts[:depth], name)
