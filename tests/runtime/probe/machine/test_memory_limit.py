"""The memory that a process may use, by the machine and its control groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint.runtime.probe.machine.memory_limit import memory_limit

if TYPE_CHECKING:
    from pathlib import Path

GROUPS = "sys/fs/cgroup"
HUGE = 1 << 62


def write(root: Path, files: dict[str, str]) -> str:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return str(root)


@pytest.mark.parametrize(
    "files",
    [
        {"proc/self/cgroup": "0::/a/b\n", f"{GROUPS}/a/b/memory.max": "4096\n"},
        {
            "proc/self/cgroup": "0::/a/b\n",
            f"{GROUPS}/a/b/memory.max": "max\n",
            f"{GROUPS}/a/memory.max": "4096\n",
        },
        {"proc/self/cgroup": "0::/\n", f"{GROUPS}/memory.max": "4096\n"},
        {"proc/self/cgroup": "0::/gone\n", f"{GROUPS}/memory.max": "4096\n"},
        {
            "proc/self/cgroup": "1:cpu:/x\n4:memory:/a:b\n0::/\n",
            f"{GROUPS}/memory/a:b/memory.limit_in_bytes": "4096\n",
            f"{GROUPS}/memory/memory.limit_in_bytes": "9223372036854771712\n",
        },
    ],
    ids=["own", "of the one above", "of a container", "hidden", "version 1"],
)
def test_the_least_limit_counts(tmp_path: Path, files: dict[str, str]) -> None:
    assert memory_limit(write(tmp_path, files)) == 4096


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"proc/self/cgroup": "0::/a\n", f"{GROUPS}/a/memory.max": "max\n"},
        {"proc/self/cgroup": "nonsense\n\n4:memory\n"},
        {"proc/self/cgroup": "0::/../../x\n", "x/memory.max": "4096\n"},
        {"proc/self/cgroup": "4:memory:/\n", f"{GROUPS}/memory/memory.limit_in_bytes": f"{HUGE}"},
    ],
    ids=["no groups", "no limit", "nonsense", "outside", "as good as none"],
)
def test_without_a_limit_it_is_the_memory_of_the_machine(
    tmp_path: Path, files: dict[str, str]
) -> None:
    found = memory_limit(write(tmp_path, files))
    assert found is not None
    assert 1 << 26 < found < HUGE
