"""What was measured, and on what: versions, the subject's size, the processor."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subjects import Subjects


def versions(subjects: Subjects, peer: Path | None) -> dict[str, object]:
    """Everything that somebody needs to compare these numbers with their own."""
    return {
        **machine(),
        "torchfix": peer and _torchfix_version(peer),
        "subject": _wheel_name(subjects.tree),
        "files": sum(1 for _ in subjects.tree.rglob("*.py")),
        "files_that_mention_torch": _lines(subjects.mention),
        "files_that_pass_the_gate": _lines(subjects.gate),
        "bytes_that_mention_torch": _bytes(subjects.mention),
        "bytes_that_pass_the_gate": _bytes(subjects.gate),
    }


def machine() -> dict[str, object]:
    """The machine, Python and the packages that the time goes to."""
    return {
        "python": platform.python_version(),
        "torchlint": metadata.version("torchlint"),
        "libcst": metadata.version("libcst"),
        "click": metadata.version("click"),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "processors": os.cpu_count(),
    }


def _torchfix_version(command: Path) -> str:
    python = command.parent / "python"
    code = "from importlib.metadata import version; print(version('torchfix'))"
    done = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _wheel_name(tree: Path) -> str:
    for info in sorted(tree.glob("*.dist-info")):
        return info.name.removesuffix(".dist-info")
    return tree.name


def _processor() -> str:
    try:
        described = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    match = re.search(r"^model name\s*:\s*(.+)$", described, re.MULTILINE)
    return match[1] if match else platform.processor()


def _paths(listed: Path) -> list[str]:
    return listed.read_text(encoding="utf-8").splitlines()


def _lines(listed: Path) -> int:
    return len(_paths(listed))


def _bytes(listed: Path) -> int:
    return sum(Path(path).stat().st_size for path in _paths(listed))
