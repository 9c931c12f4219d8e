"""Which files of a program are checked before it has run, and after."""

from __future__ import annotations

import io
import os
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.cli import program_check
from torchlint.cli.options import Options
from torchlint.cli.program_check import ProgramCheck
from torchlint.report.measured.progress_line import ProgressLine
from torchlint.runtime.failures import OutOfTime
from torchlint.runtime.program import script

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.project.target import Target
    from torchlint.verify.compared.measured_fixes import Fixes

TRAINS = """\
import torch
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in batches:
    optimizer.zero_grad(set_to_none=False)
    model(batch).mean().backward()
    optimizer.step()
"""


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProgramCheck:
    """Of a script that imports `pkg`, which imports three files; another one tests it."""
    (tmp_path / "pkg").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "train.py").write_text(f"import pkg\n{TRAINS}")
    (tmp_path / "pkg/__init__.py").write_text("from pkg import a, b, c\n")
    for name in ("pkg/a.py", "pkg/b.py", "pkg/c.py", "tests/test_train.py"):
        (tmp_path / name).write_text(TRAINS)
    monkeypatch.chdir(tmp_path)
    options = Options({"hints": False, "pedantic": False, "isolated": True, "jobs": 1})
    return ProgramCheck(script("train.py", ()), options, ProgressLine(io.StringIO()))


def files_of(check: ProgramCheck, *loaded: str) -> list[str]:
    return sorted(check.fixes({os.path.realpath(each) for each in loaded}, None).sources)


def test_what_the_script_imports_is_checked_before_it_runs(check: ProgramCheck) -> None:
    assert files_of(check) == ["pkg/a.py", "pkg/b.py", "pkg/c.py", "train.py"]


def test_files_below_the_working_directory_have_their_names_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs/train.py").write_text(f"import jobs.lib\n{TRAINS}")
    (tmp_path / "jobs/lib.py").write_text(TRAINS)
    monkeypatch.chdir(tmp_path / "jobs")
    options = Options({"hints": False, "pedantic": False, "isolated": True, "jobs": 1})
    inside = ProgramCheck(script("train.py", ()), options, ProgressLine(io.StringIO()))
    assert files_of(inside) == ["lib.py", "train.py"]


def test_a_check_that_has_no_time_for_the_imports_has_it_for_the_script(
    check: ProgramCheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = program_check.find_fixes

    def find_fixes(targets: list[Target], *given: Any, **how: Any) -> Fixes:
        if len(targets) > 1:
            raise OutOfTime
        return plain(targets, *given, **how)

    monkeypatch.setattr(program_check, "find_fixes", find_fixes)
    found = check.fixes((), time.monotonic() + 900)
    assert list(found.sources) == ["train.py"]
    assert found.left_out[0].startswith("The budget has no room to check 4 more files that it imp")
    # Once the files are known that are loaded, there is another try.
    monkeypatch.setattr(program_check, "find_fixes", plain)
    found = check.fixes({os.path.realpath("pkg/b.py")}, None)
    assert "pkg/b.py" in found.sources
    assert found.left_out == ()


def test_the_alarm_ends_what_asks_nobody_for_the_time() -> None:
    def forever() -> None:
        with program_check.alarm(0.01):
            while True:
                pass

    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(OutOfTime):
        forever()
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_of_a_large_package_only_what_a_run_has_loaded_is_checked(
    check: ProgramCheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_check, "_MOST", 4)
    assert files_of(check) == ["train.py"]
    assert files_of(check, "train.py", "pkg/__init__.py", "pkg/b.py") == ["pkg/b.py", "train.py"]
