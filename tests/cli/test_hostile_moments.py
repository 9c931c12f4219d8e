"""Whatever happens while files are fixed: each of them is the old one or the new one."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from torchlint.fixes import fixer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Any

    Run = Callable[..., Any]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals and links")

BEFORE = """\
import numpy as np
import torch


def batch(rows):
    array = np.zeros(rows)
    return torch.tensor([array, array])
"""
COMMAND = (sys.executable, "-m", "torchlint")


@pytest.fixture
def after(here: Path, torchlint: Run) -> str:
    """What `fix` makes of `BEFORE`."""
    return torchlint("fix", "-", "--apply", stdin=BEFORE.encode()).text


def project(folder: Path, count: int) -> list[Path]:
    folder.mkdir(exist_ok=True)
    files = [folder / f"part{number}.py" for number in range(count)]
    for file in files:
        file.write_text(BEFORE)
    return files


def start(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def test_two_at_once_fix_each_file_once(here: Path, after: str) -> None:
    files = project(here / "src", 30)
    both = [start(here, "fix", "--apply", "src") for _ in range(2)]
    errors = [process.communicate()[1] for process in both]
    assert after != BEFORE
    assert {file.read_text() for file in files} <= {BEFORE, after}
    assert any(file.read_text() == after for file in files)
    assert {process.returncode for process in both} <= {0, 2}
    assert b"Traceback" not in b"".join(errors)
    assert sorted(os.listdir(here / "src")) == sorted(file.name for file in files)


def test_a_link_out_of_the_folder_is_not_written_through(
    here: Path, torchlint: Run, after: str
) -> None:
    (outside,) = project(here / "outside", 1)
    inside, link = project(here / "src", 2)
    link.unlink()
    link.symlink_to(outside)
    assert torchlint("fix", "--apply", "src").code == 0
    assert (inside.read_text(), outside.read_text()) == (after, BEFORE)


def test_a_named_link_stays_one_and_its_file_is_fixed(
    here: Path, torchlint: Run, after: str
) -> None:
    (outside,) = project(here / "outside", 1)
    (here / "link.py").symlink_to(outside)
    assert torchlint("fix", "--apply", "link.py").code == 0
    assert (here / "link.py").is_symlink()
    assert outside.read_text() == after


def test_a_named_folder_that_is_a_link_is_fixed(here: Path, torchlint: Run, after: str) -> None:
    (file,) = project(here / "outside", 1)
    (here / "link").symlink_to("outside")
    assert torchlint("fix", "--apply", "link").code == 0
    assert file.read_text() == after


def test_a_file_that_became_a_link_meanwhile_is_not_written_through(
    here: Path, torchlint: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (outside,) = project(here / "outside", 1)
    (file,) = project(here / "src", 1)
    apply = fixer.apply

    def swap_first(files: Sequence[fixer.FixedFile]) -> object:
        file.unlink()
        file.symlink_to(outside)
        return apply(files)

    monkeypatch.setattr(fixer, "apply", swap_first)
    outcome = torchlint("fix", "--apply", "src")
    assert outcome.code == 2
    assert "has changed since it was read" in outcome.err
    assert outside.read_text() == BEFORE


def test_a_file_with_two_hard_links_leaves_the_other_as_it_was(
    here: Path, torchlint: Run, after: str
) -> None:
    (file,) = project(here / "src", 1)
    (here / "other").hardlink_to(file)
    assert torchlint("fix", "--apply", "src").code == 0
    assert (file.read_text(), (here / "other").read_text()) == (after, BEFORE)
