"""What is said about a program that fails at the first look."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from torchlint.experiment import first_look
from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.first_look import Looker
from torchlint.experiment.request import Request
from torchlint.experiment.subject import Linted
from torchlint.runtime.failures import ERROR, TIMEOUT, Failed
from torchlint.runtime.probe.run_settings import RunSettings
from torchlint.runtime.processes.network import Network
from torchlint.runtime.program import script
from torchlint.runtime.run import Job
from torchlint.runtime.sandbox.overlayfs import OVERLAYFS, REDIRECT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Said = Callable[..., str]

HINT = "Its own arguments go after `--`, as in `-- --data FOLDER`."


@pytest.fixture
def said_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Said:
    """What is said about a script that fails in a way, and ran with some arguments."""
    (tmp_path / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)

    def said(kind: str, tail: str, *argv: str, status: str = ERROR) -> str:
        def survey(*_: object, **__: object) -> None:
            raise Failed(status, f"It failed with {kind}.", kind=kind, tail=tail)

        monkeypatch.setattr(first_look, "survey", survey)
        program = script("train.py", argv)
        jobs = SimpleNamespace(job=lambda *_, **__: None)
        looker = Looker(Request(program), Linted(program), jobs, None)  # type: ignore[arg-type]
        with pytest.raises(ExperimentError) as caught:
            looker.look()
        return caught.value.message

    return said


def test_a_script_that_misses_its_arguments_says_where_they_go(said_of: Said) -> None:
    tail = "Error: Missing option '--data'."
    said = said_of("exit code 2", tail)
    assert said == f"The script failed: It failed with exit code 2. {HINT}\n{tail}"
    assert HINT not in said_of("exit code 2", tail, "--epochs", "3")
    assert said_of("exit code 1", "no CUDA").endswith("exit code 1.\nno CUDA")


def test_a_script_that_is_slow_to_start_has_not_failed(said_of: Said) -> None:
    said = said_of("timeout", "", status=TIMEOUT)
    assert said == "The script hung, or is slow to start: It failed with timeout."


def test_a_script_that_misses_its_ranks_says_how_to_start_them(said_of: Said) -> None:
    said = said_of("KeyError", "KeyError: 'LOCAL_RANK'", "--epochs", "3")
    assert "It needs ranks; start them with `--nproc-per-node N`, 2 or more." in said


@pytest.mark.parametrize(("argv", "finished"), [((), True), (("--epochs",), True), ((), False)])
def test_a_script_that_ends_without_a_step_may_want_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...], *, finished: bool
) -> None:
    (tmp_path / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)
    seen = SimpleNamespace(anchor=None, counts={}, finished=finished)
    monkeypatch.setattr(first_look, "survey", lambda *_, **__: seen)
    program = script("train.py", argv)
    jobs = SimpleNamespace(job=lambda *_, **__: None)
    looker = Looker(Request(program), Linted(program), jobs, None)  # type: ignore[arg-type]
    with pytest.raises(ExperimentError) as caught:
        looker.look()
    assert caught.value.message.endswith(HINT) == (finished and not argv)


@pytest.mark.parametrize(
    ("sandbox", "network", "connected", "alone"),
    [
        (OVERLAYFS, Network(listens=True), False, True),
        (REDIRECT, Network(listens=True), False, False),
        (OVERLAYFS, Network(), False, False),
        (OVERLAYFS, Network(listens=True, reaches_out=True), False, False),
        (OVERLAYFS, Network(listens=True), True, False),
    ],
    ids=["listens", "no network of its own", "no port", "reaches out", "has reached out"],
)
def test_programs_that_clash_at_ports_alone_get_networks_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
    sandbox: str,
    network: Network,
    connected: bool,
    alone: bool,
) -> None:
    effects = [SimpleNamespace(kind="connect")] if connected else []
    monkeypatch.setattr(first_look, "collect", lambda *_: effects)
    settings = RunSettings(main="train.py", project="/p", sandbox=sandbox, socket="s", scratch="t")
    workspace = SimpleNamespace(folders=list)
    looker = Looker(None, None, None, workspace)  # type: ignore[arg-type]
    tried: list[bool] = []
    monkeypatch.setattr(looker, "_try", lambda job: tried.append(job.own_network))
    seen = SimpleNamespace(network=network)
    assert looker._only_ports([Job(settings)] * 2, seen, seen) is alone  # type: ignore[arg-type]
    assert tried == [True, True] * alone
