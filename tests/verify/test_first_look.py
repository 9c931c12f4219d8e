"""What is said of a program that fails at the first look."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from torchlint.runtime.failures import ERROR, Failed
from torchlint.runtime.program import script
from torchlint.verify import first_look
from torchlint.verify.compared.changes import Changes
from torchlint.verify.errors import VerifyError
from torchlint.verify.first_look import Looker
from torchlint.verify.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Said = Callable[..., str]

HINT = "Its own arguments go after `--`, as in `-- --data FOLDER`."


@pytest.fixture
def said_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Said:
    """What is said of a script that fails in a way, and ran with some arguments."""
    (tmp_path / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)

    def said(kind: str, tail: str, *argv: str) -> str:
        def survey(*_: object, **__: object) -> None:
            raise Failed(ERROR, f"It failed with {kind}.", kind=kind, tail=tail)

        monkeypatch.setattr(first_look, "survey", survey)
        program = script("train.py", argv)
        jobs = SimpleNamespace(job=lambda *_, **__: None)
        looker = Looker(Request(program), Changes(program), jobs, None)  # type: ignore[arg-type]
        with pytest.raises(VerifyError) as caught:
            looker.look_at_original()
        return caught.value.message

    return said


MISSES = {
    "argparse": ("exit code 2", "usage: train.py [-h] --data DATA\ntrain.py: error: the following"),
    "click": ("exit code 2", "Error: Missing option '--data'."),
    "docopt": ("exit code 1", "Usage:\n  train.py --data=FOLDER"),
    "sys.argv": ("IndexError", "    data = sys.argv[1]\nIndexError: list index out of range"),
}
OTHERS = {
    "a value": ("ValueError", "    load(usage)\nValueError: disk usage: 90 %"),
    "an index": ("IndexError", "    data[1]\nIndexError: list index out of range"),
    "an exit": ("exit code 1", "no CUDA"),
}


@pytest.mark.parametrize(("kind", "tail"), MISSES.values(), ids=list(MISSES))
def test_a_script_that_misses_its_arguments_says_where_they_go(
    said_of: Said, kind: str, tail: str
) -> None:
    assert said_of(kind, tail) == f"The script failed: It failed with {kind}. {HINT}\n{tail}"
    assert HINT not in said_of(kind, tail, "--epochs", "3")


@pytest.mark.parametrize(("kind", "tail"), OTHERS.values(), ids=list(OTHERS))
def test_a_script_that_fails_otherwise_is_told_of_no_arguments(
    said_of: Said, kind: str, tail: str
) -> None:
    assert HINT not in said_of(kind, tail)
