"""How an experiment ends: each way leaves a result, and no folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.request import Request
from torchlint.experiment.session import Session
from torchlint.experiment.subject import Linted
from torchlint.runtime.failures import ERROR, Failed, OutOfTime
from torchlint.runtime.program import script

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Told:
    code: int
    summary: str
    stopped: int | None
    seconds: float = 0.0


class Ends(Session[Linted, Told]):
    """Ends as it is told to."""

    how: BaseException | None = None
    folder = ""

    def run(self) -> None:
        self.folder = self.workspace.folder("run")
        if self.how is not None:
            raise self.how

    def failed(self, failed: Failed) -> tuple[str, int]:
        return failed.message, 4

    def late(self) -> None:
        self.fail(f"It is late. {self.doing}".strip(), 7)

    def result(self) -> Told:
        assert os.path.isdir(self.folder)
        return Told(self.code, self.summary, self.stopped)


@pytest.mark.parametrize(
    ("how", "result"),
    [
        (None, (0, "", None)),
        (ExperimentError("It takes no step.", 6), (6, "It takes no step.", None)),
        (Failed(ERROR, "It died."), (4, "It died.", None)),
        (OutOfTime(), (7, "It is late.", None)),
        (OutOfTime("It compiles."), (7, "It is late. It compiles.", None)),
        (KeyboardInterrupt(), (0, "", 130)),
        (SystemExit(143), (0, "", 143)),
        (SystemExit("words"), (0, "", 130)),
    ],
)
def test_each_end_leaves_a_result_and_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: Any, result: tuple[Any, ...]
) -> None:
    (tmp_path / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)
    program = script("train.py", ())
    watcher: Any = SimpleNamespace(stage=lambda *_, **__: None)
    session = Ends(Request(program), Linted(program), watcher)
    session.how = how
    told = session.conduct()
    assert (told.code, told.summary, told.stopped) == result
    assert not os.path.exists(session.folder)


def test_a_run_may_be_silent_for_longer_where_the_first_look_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)
    program = script("train.py", ())
    session = Ends(Request(program), Linted(program), SimpleNamespace())  # type: ignore[arg-type]
    assert (session.patience_s(1.0), session.patience_s(10.0)) == (120.0, 200.0)
    seen: Any = SimpleNamespace(start_s=100.0, times=(40.0, 10.0))
    session.first_look = SimpleNamespace(original=seen)  # type: ignore[assignment]
    assert session.patience_s(1.0) == 450.0
