"""The GPU's half of `verify`, on a GPU that is simulated (`tests/simulated_gpu.py`).

Its time is simulated too, so a verdict does not depend on how busy the machine is.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.verify.test_script_kinds import Kind, Verified, run
from tests.warm_start import torchlint_by
from torchlint.report.verify.verification_words import CPU_BANNER

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.warm_start import Start

SCRIPT = "reads_each_step.py"
SHORT = ("--pairs", "2", "--steps", "30", "--warmup", "4", "--numbers-steps", "6")
ONE_PAIR = ("--pairs", "1")
"""For what does not depend on a verdict."""
FIXED = {"loss.item()": "loss.detach().float()", "print(": "running = float(running)\nprint("}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="verify does not run on Windows")


@pytest.fixture
def verify(
    tmp_path: Path,
    gpu_start: Start,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Callable[..., Verified]:
    def verified(words: str, *options: str, start: Start = gpu_start) -> Verified:
        torchlint = torchlint_by(start, monkeypatch, capfd)
        return run(Kind(words, words), (*SHORT, *options), tmp_path, torchlint)

    return verified


def milliseconds(script: Path, start: Start) -> float:
    """How long a step takes when nothing measures it."""
    child = start(
        [sys.executable, str(script)], env={"STEPS": "200"}, stdout=subprocess.PIPE, stdin=None
    )
    out, _ = child.communicate()
    assert child.returncode == 0
    return float(out.split()[-1])


def test_a_read_on_each_step_is_confirmed_to_cost_what_it_costs(
    verify: Callable[..., Verified],
    gpu_start: Start,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Asked after the first step, after the warm-up and after each of ten blocks.
    monkeypatch.setenv("SIMULATED_GPU_MHZ", "1980 1980 1930")
    page = tmp_path / "page.html"
    verified = verify(SCRIPT, "--html", str(page))
    script = tmp_path / "project" / SCRIPT
    fixed = tmp_path / "fixed.py"
    text = script.read_text()
    for before, after in FIXED.items():
        text = text.replace(before, after)
    fixed.write_text(text)
    truth = milliseconds(script, gpu_start) / milliseconds(fixed, gpu_start)

    result = verified.result
    assert verified.code == 0, verified.said
    assert result["environment"]["device"] == "cuda"
    assert result["environment"]["gpu"] == {"name": "Simulated GPU"}
    (fix,) = result["fixes"]
    assert (fix["code"], fix["verdict"]) == ("TL201", "CONFIRMED")
    assert fix["numerics"]["agreement"] == "bitwise equal"
    assert truth > 1.5
    # Without noise the interval is a point.
    assert fix["ci"] == pytest.approx([truth, truth], rel=0.01)
    assert result["aa"]["ratio"] == pytest.approx(1.0)
    assert "Simulated GPU" in verified.said
    assert "Simulated GPU" in page.read_text()
    assert CPU_BANNER not in verified.said + page.read_text()
    assert result["notes"] == []
    assert result["aa"]["clocks"]["mhz"] == [1930, 1980]


@pytest.mark.parametrize("hidden", [False, True])
def test_without_a_gpu_it_is_not_measurable(
    hidden: bool, verify: Callable[..., Verified], gpu_start: Start, warm_start: Start
) -> None:
    options, start = (("--device", "cpu"), gpu_start) if hidden else ((), warm_start)
    verified = verify(SCRIPT, *ONE_PAIR, *options, start=start)
    result = verified.result
    assert (result["environment"]["device"], result["environment"]["gpu"]) == ("cpu", None)
    (fix,) = result["fixes"]
    assert (fix["code"], fix["verdict"]) == ("TL201", "NOT MEASURABLE HERE"), verified.said
    assert "avoids waiting for a GPU" in verified.said


def test_a_gpu_that_is_not_there_is_said_before_the_script_runs(
    verify: Callable[..., Verified], warm_start: Start
) -> None:
    verified = verify("crashes.py", "--device", "cuda", start=warm_start)
    assert verified.code == verified.result["exit"] == 2, verified.said
    assert verified.result["total"] is None
    assert (
        "This machine has no GPU that torch can use; leave out --device cuda, or run this where "
        "one is." in " ".join(verified.said.split())
    )


def test_a_script_that_leaves_the_gpu_alone_is_not_measured_as_on_it(
    verify: Callable[..., Verified],
) -> None:
    verified = verify("plain.py", "--device", "cuda")
    assert verified.code == verified.result["exit"] == 2, verified.said
    assert verified.result["total"] is None
    assert (
        "The script computes on the CPU, though there is a GPU; give it the arguments that train "
        "there, or leave out --device cuda." in " ".join(verified.said.split())
    )


def test_a_script_that_leaves_the_gpu_alone_is_measured_on_the_processor(
    verify: Callable[..., Verified],
) -> None:
    verified = verify("plain.py", *ONE_PAIR)
    environment = verified.result["environment"]
    assert (environment["device"], environment["gpu"]) == ("cpu", None), verified.said
    assert verified.result["total"]["pairs"] == 1


def test_programs_that_the_gpus_memory_does_not_hold_together_run_one_after_the_other(
    verify: Callable[..., Verified], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMULATED_GPU_MB", "1500")
    verified = verify(SCRIPT, *ONE_PAIR, "--device", "cuda", "--total-only")
    assert verified.result["total"]["ratio"] > 1.5, verified.said
    assert any(
        "does not hold the programs side by side" in note for note in verified.result["notes"]
    )
