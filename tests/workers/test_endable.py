"""Work in a child: what takes for ever is lost alone, and Ctrl-C ends it at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from torchlint.workers import endable
from torchlint.workers.pool import Pool

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

ENDLESS = """\
import os, signal, sys
from torchlint.engine import map_file
from torchlint.__main__ import run

parse = map_file.parse

def endless(source):
    if "endless" not in source.path:
        return parse(source)
    with open("child", "w") as file:
        file.write(str(os.getpid()))
    {then}
    10 ** 10 ** 9  # holds the interpreter, as a native parser does

map_file.parse = endless
{before}
sys.exit(run(["check", "--isolated", "--no-cache", "--jobs", "1", "--hints", *sys.argv[1:]]))
"""
SLOW = "import torch\nloader = torch.utils.data.DataLoader(data)\nloss.backward()\nmodel.cuda()\n"


def number(items: list[str]) -> list[int]:
    for item in items:
        endable.begin_item(sleeps=item == "waits")
        if item == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "waits":
            signal.pause()
        while item == "endless":
            pass
    return [len(item) for item in items]


@pytest.mark.parametrize("bad", ["endless", "dies", "waits"])
def test_what_ends_its_process_is_lost_alone(bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endable, "LONGEST_S", 0)
    monkeypatch.setattr(endable, "LONGEST_WAIT_S", 1)
    items = ["a", bad, "bcd", bad, "ef"]
    assert list(endable.in_child(number, items)) == [
        ("a", 1),
        (bad, None),
        ("bcd", 3),
        (bad, None),
        ("ef", 2),
    ]


def process(items: list[str]) -> list[int]:
    return [os.getpid() if item == "a" else number([item])[0] for item in items]


def test_nothing_is_left_of_a_child_that_is_no_longer_wanted() -> None:
    done = endable.in_child(process, ["a", "endless"])
    _, child = next(done)
    assert child is not None
    done.close()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_pool_that_is_not_endable_works_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endable, "is_possible", lambda: True)  # whoever runs the tests has threads
    here = Pool().map(process, ["a"], weigh=len)
    child = Pool(endable=True).map(process, ["a"], weigh=len)
    assert [found for _, found in here] == [os.getpid()]
    assert [found for _, found in child] != [os.getpid()]


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    (tmp_path / "endless.py").write_text(SLOW)
    (tmp_path / "train.py").write_text(SLOW)
    return tmp_path


def run(folder: Path, *, before: str = "", then: str = "") -> subprocess.CompletedProcess[str]:
    code = ENDLESS.format(before=before, then=then)
    words = [sys.executable, "-c", code, "."]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def test_a_file_without_end_is_named_and_hides_no_other(endless: Path) -> None:
    done = run(endless, before="from torchlint.workers import endable; endable.LONGEST_S = 0")
    assert done.returncode == 2
    assert "train.py:2:10: TL101" in done.stdout
    assert "endless.py: error: Checking this file takes more than" in done.stderr


def test_ctrl_c_ends_what_cannot_be_interrupted(endless: Path) -> None:
    done = run(endless, then="os.kill(os.getppid(), signal.SIGINT)")
    assert done.returncode == 130
    assert "Interrupted." in done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int((endless / "child").read_text()), 0)
