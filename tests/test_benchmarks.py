"""The benchmark scripts run, and say what they measured. Speed itself is not tested here."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis.strategies
import pytest

from tests.report.tune.sample_tunings import tuning
from torchlint.finding import Applicability
from torchlint.report.tune import tune_json

if TYPE_CHECKING:
    from types import ModuleType

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
TORCH = "from torch.utils.data import DataLoader\nloader = DataLoader(data)\n"


def script(name: str, *words: object) -> str:
    command = [sys.executable, str(BENCHMARKS / name), *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import generated_sources

    return generated_sources


@pytest.fixture
def verdicts(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import verdicts

    return verdicts


def test_files_that_mention_torch_and_those_that_pass_the_gate_are_told_apart(
    tmp_path: Path,
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name, text in {"a": TORCH, "b": "import torch\n", "c": "import numpy\n"}.items():
        (tree / f"{name}.py").write_text(text)
    mention, gate = tmp_path / "mention.txt", tmp_path / "gate.txt"
    script("relevant_files.py", tree, mention, gate)
    assert [Path(line).name for line in mention.read_text().splitlines()] == ["a.py", "b.py"]
    assert [Path(line).name for line in gate.read_text().splitlines()] == ["a.py"]


def test_growth_measures_check_and_parse(tmp_path: Path, sources: ModuleType) -> None:
    short, long = tmp_path / "short.py", tmp_path / "long.py"
    short.write_text(sources.training_script(100))
    long.write_text(sources.training_script(300))
    measured = json.loads(script("growth.py", short, long, 1))
    assert set(measured) == {"check", "parse"}
    assert all(seconds > 0 for pair in measured.values() for seconds in pair)


def test_generated_scripts_are_as_long_as_asked_and_valid(sources: ModuleType) -> None:
    lengths = [sources.training_script(lines).count("\n") for lines in (1_000, 10_000)]
    assert lengths == pytest.approx([1_000, 10_000], rel=0.05)
    names = [
        node.name
        for node in ast.parse(sources.training_script(1_000)).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    ]
    assert len(names) == len(set(names))


def test_plain_files_are_valid_and_never_say_torch(tmp_path: Path, sources: ModuleType) -> None:
    sources.write_plain_files(tmp_path / "plain", 3)
    texts = [path.read_text() for path in (tmp_path / "plain").iterdir()]
    assert len(texts) == 3
    for text in texts:
        ast.parse(text)
        assert "torch" not in text


def test_copies_of_packages_have_nothing_in_common(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import many_files

    many_files.plant(tmp_path / "tree", 620, ["torchlint"])
    texts = {path: path.read_text("utf-8") for path in (tmp_path / "tree").rglob("*.py")}
    assert len(texts) == len(set(texts.values())) == 620
    for path, text in texts.items():
        ast.parse(text)
        copy, other = ("0", "1") if "copy0" in path.parts else ("1", "0")
        assert f"torchlint_{copy}" in path.parts
        assert not re.search(rf"\bfrom torchlint(?:_{other})?[. ]", text)
    whole = tmp_path / "tree" / "copy0" / "torchlint_0" / "engine" / "map_project.py"
    assert "class Mapper_0:" in whole.read_text("utf-8")


def test_a_part_of_a_package_is_still_made_of_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import many_files

    names = ["p/__init__.py", "p/a.py", "p/q/__init__.py", *(f"p/q/{n}.py" for n in range(9))]
    for count in range(1, len(names)):
        found = many_files.chosen([Path(name) for name in names], count)
        assert len(set(found)) == len(found) == count
        assert Path("p/__init__.py") in found
        assert Path("p/q/__init__.py") in found or not any("q" in each.parts for each in found)


def test_a_missed_bound_is_named(verdicts: ModuleType) -> None:
    cpu = {
        "check": 2.0,
        "check --hints": 6.0,
        "check script": 0.4,
        "torchfix": 100.0,
        "parse mention": 10.0,
        "check plain": 0.1,
        "import click": 0.08,
        "check short": 1.0,
        "check long": 5.0,
    }
    result = {
        "cpu_seconds": cpu,
        "peak_bytes": {"check": 150_000_000},
        "inside_one_process": {"check": [1.0, 12.0]},
    }
    missed = {verdict.what for verdict in verdicts.judge(result) if not verdict.held}
    assert missed == {
        "check --hints / parsing the files that mention torch",
        "a file ten times as long, inside one process",
    }


# what verify measures -----------------------------------------------------------------------


@pytest.fixture
def evidence(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import evidence

    return evidence


@pytest.fixture
def gpu_checks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import gpu_checks

    return gpu_checks


def outcome(name: str, **environment: object) -> object:
    """A verification of a fix that was confirmed, as the benchmark keeps it."""
    from verified_fixtures import Outcome, brief, without_places

    from tests.report.verify import sample_results
    from torchlint.report.verify.verification_json import document

    result = sample_results.result(environment=sample_results.environment(**environment))
    return Outcome(name, "ok", 0, 30.0, without_places(brief(document(result)), "/somewhere"))


def test_every_rule_with_a_training_script_is_verified(evidence: ModuleType) -> None:
    from torchlint.ruleapi.registry import all_rules

    rules = all_rules().values()
    applied = {Applicability.SAFE, Applicability.UNSAFE}
    fixable = {
        rule.name
        for rule in rules
        if applied.intersection(rule.promises) and not rule.about_comments
    }
    patched = [name for name in evidence.names() if name not in fixable]
    assert fixable.issubset(evidence.names())
    assert patched == ["fused-adamw"]


def test_a_patch_next_to_a_training_script_applies_to_it(evidence: ModuleType) -> None:
    from verified_fixtures import FIXTURES, PATCH

    from torchlint.verify.compared.patches import patched

    patches = list(FIXTURES.glob(f"*/{PATCH}"))
    assert patches
    for patch in patches:
        ((before, after),) = patched(str(patch), str(patch.parent)).values()
        assert before == (patch.parent / "train.py").read_bytes() != after


@pytest.mark.needs("matplotlib")
def test_evidence_has_a_row_for_each_script_and_a_plot(
    evidence: ModuleType, tmp_path: Path
) -> None:
    from verified_fixtures import Outcome

    crashed = Outcome("zero-grad-keeps-tensors", "failed", 4, 3.0, said="KeyError: 'labels'")
    outcomes = [outcome("tensor-copies-numpy"), crashed]
    evidence.write(evidence.collected(outcomes, ["--device", "cpu"]), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "cpu-2cores.json",
        "cpu-2cores.md",
        "cpu-2cores.svg",
    }
    page = (tmp_path / "cpu-2cores.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| [")]
    assert "CONFIRMED" in rows[0]
    assert "exit code 4" in rows[1]
    assert {row.count("|") for row in rows} == {10}
    assert "Ratios on a CPU say nothing about a GPU." in page
    assert "KeyError: 'labels'" in page
    plot = (tmp_path / "cpu-2cores.svg").read_text(encoding="utf-8")
    assert "tensor-copies-numpy" in plot
    kept = json.loads((tmp_path / "cpu-2cores.json").read_text(encoding="utf-8"))
    assert set(kept["scripts"]) == {"tensor-copies-numpy", "zero-grad-keeps-tensors"}


@pytest.mark.needs("matplotlib")
def test_one_script_alone_keeps_what_is_known_of_the_others(
    evidence: ModuleType, tmp_path: Path
) -> None:
    first = [outcome("tensor-copies-numpy"), outcome("item-in-step-loop")]
    evidence.write(evidence.collected([*first, outcome("no-such-rule")], []), tmp_path)
    again = evidence.with_others(evidence.collected([outcome("item-in-step-loop")], []), tmp_path)
    assert list(again["scripts"]) == ["tensor-copies-numpy", "item-in-step-loop"]


@pytest.mark.needs("matplotlib")
def test_evidence_of_the_same_numbers_is_the_same(evidence: ModuleType, tmp_path: Path) -> None:
    found = evidence.collected([outcome("tensor-copies-numpy")], [])
    for folder in ("first", "second"):
        evidence.write(found, tmp_path / folder)
    for path in (tmp_path / "first").iterdir():
        assert path.read_bytes() == (tmp_path / "second" / path.name).read_bytes()


def test_a_machine_is_called_by_its_gpu(evidence: ModuleType) -> None:
    assert evidence.machine_of({"gpu": {"name": "NVIDIA H200"}, "processors": 8}) == "nvidia-h200"
    assert evidence.machine_of({"gpu": None, "processors": 8}) == "cpu-8cores"


def test_evidence_names_no_place_of_the_machine(evidence: ModuleType) -> None:
    from verified_fixtures import without_places

    said = {"why": ["/tmp/x1/train.py failed in /home/me/venv/lib/torch/nn.py", "1/2 and/or a/b"]}
    assert without_places(said, "/tmp/x1") == {
        "why": ["train.py failed in …/nn.py", "1/2 and/or a/b"]
    }


def test_gpu_checks_refuse_where_there_is_no_gpu(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(BENCHMARKS / "gpu.sh")],
        check=False,
        capture_output=True,
        text=True,
        cwd="/",
        env={
            **os.environ,
            "CUDA_VISIBLE_DEVICES": "",
            "PYTHON": sys.executable,
            "OUT": str(tmp_path),
        },
    )
    assert done.returncode == 2
    assert "no GPU" in done.stderr or "no torch" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_gpu_check_that_fails_loses_no_other(gpu_checks: ModuleType) -> None:
    def breaks(limit_s: float) -> dict[str, object]:
        raise ValueError("no such thing")

    def hangs(limit_s: float) -> dict[str, object]:
        raise subprocess.TimeoutExpired("verify", limit_s)

    found: dict[str, dict[str, object]] = {}
    wanted = {
        "breaks": (9.0, breaks),
        "hangs": (9.0, hangs),
        "works": (9.0, lambda limit_s: {"status": "ok", "limit": limit_s}),
    }
    gpu_checks.run(wanted, found)
    assert {name: said["status"] for name, said in found.items()} == {
        "breaks": "failed",
        "hangs": "timeout",
        "works": "ok",
    }
    assert found["breaks"]["why"] == "ValueError: no such thing"
    assert found["works"]["limit"] == 9.0


def test_gpu_checks_end_in_time(gpu_checks: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check gets no more than what is left, and none begins when little is."""
    clock = iter([0.0, 0.0, 0.0, 470.0, 470.0, 470.0, 495.0, 495.0])
    monkeypatch.setattr(gpu_checks.time, "monotonic", lambda: next(clock))
    limits = []

    def notes(limit_s: float) -> dict[str, object]:
        limits.append(limit_s)
        return {"status": "ok"}

    found: dict[str, dict[str, object]] = {}
    gpu_checks.run(dict.fromkeys(("first", "second", "third"), (80.0, notes)), found)
    assert limits == [80.0, 30.0]
    assert found["third"]["status"] == "left out"


def test_what_was_not_computed_on_a_gpu_fails_a_gpu_check(gpu_checks: ModuleType) -> None:
    on_cpu, on_gpu = (gpu_checks.told(outcome("x", device=each)) for each in ("cpu", "cuda"))
    assert (on_cpu["status"], on_gpu["status"]) == ("failed", "ok")
    assert on_gpu["ratio"] == 1.777


@pytest.mark.parametrize(
    ("device", "verdict", "exit_", "status"),
    [
        ("cuda", "CONFIRMED", 0, "ok"),
        ("cuda", None, 7, "ok"),
        ("cpu", "CONFIRMED", 0, "failed"),
        ("cuda", "SLOWER", 0, "failed"),
        ("cuda", None, 4, "failed"),
    ],
)
def test_a_gpu_check_of_a_search_asks_for_no_slower_program(
    gpu_checks: ModuleType, device: str, verdict: str | None, exit_: int, status: str
) -> None:
    found = json.loads(tune_json.render(tuning(exit=exit_)))
    found["environment"]["device"] = device
    found["total"] = None if verdict is None else {**found["total"], "verdict": verdict}
    said = gpu_checks.tuned(found)
    assert said["status"] == status
    assert said["changes"]["channels-last"] == "slower"


@pytest.mark.parametrize(
    ("name", "device", "findings", "status"),
    [
        ("on_gpu", "cuda", [("TR201", 20, 0.1), ("TR202", 16, 0.2)], "ok"),
        ("on_gpu", "cpu", [("TR201", 20, 0.1), ("TR202", 16, 0.2)], "failed"),
        ("on_gpu", "cuda", [("TR201", 19, 0.1), ("TR202", 16, 0.2)], "failed"),
        ("on_gpu", "cuda", [("TR201", 20, None), ("TR202", 16, 0.2)], "failed"),
        ("on_gpu_clean", "cuda", [], "ok"),
        ("on_gpu_clean", "cuda", [("TR201", 20, 0.1)], "failed"),
    ],
)
def test_a_gpu_check_of_a_profile_asks_for_what_was_planted(
    gpu_checks: ModuleType,
    name: str,
    device: str,
    findings: list[tuple[str, int, float | None]],
    status: str,
) -> None:
    from tests.report.profile import sample_profiles
    from torchlint.report.profile.profile_json import document

    found = sample_profiles.profile(
        environment=sample_profiles.environment(device=device),
        findings=tuple(
            sample_profiles.finding(share, code=code, row=row) for code, row, share in findings
        ),
    )
    assert gpu_checks.profiled(name, document(found))["status"] == status


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_a_fix_that_is_killed_tears_no_file() -> None:
    result = json.loads(script("kill_fix.py", "--kills", 4, "--files", 20))
    assert result["torn"] == 0
    assert result["old"] + result["new"] == 4 * 20
    assert result["before"] + result["during"] + result["after"] == 4
    assert result["drafts_at_the_end"] == 0


# fuzzing ------------------------------------------------------------------------------------


@pytest.fixture
def fuzz(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import fuzz

    return fuzz


def test_fuzzing_says_how_many_cases_of_each_kind_held() -> None:
    result = json.loads(script("fuzz.py", "--cases", 12, "--only", "config,cache"))
    assert result["cases"] == {"config": 5, "cache": 7}
    assert result["failures"] == {}


def test_fuzzing_tries_the_same_cases_for_the_same_seed(
    fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, again, other = [], [], []
    for seed, tried in ((1, first), (1, again), (2, other)):
        monkeypatch.setattr(fuzz, "hold", tried.append)
        fuzz.fuzz("config", 20, seed, [TORCH], fuzz.Tally())
    assert len(first) == 20
    assert first == again != other


def test_fuzzing_keeps_the_first_input_that_breaks_something(
    fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Breaks:
        def __init__(self) -> None:
            self.files = {"deep/a.py": b"x = 1"}

        def hold(self, folder: Path) -> None:
            raise ValueError((folder / "deep/a.py").read_text())

    monkeypatch.setattr(fuzz.tempfile, "tempdir", str(tmp_path))
    tally = fuzz.Tally()
    for _ in range(2):
        monkeypatch.setitem(fuzz.KINDS, "check", lambda _: hypothesis.strategies.just(Breaks()))
        fuzz.fuzz("check", 1, 0, [TORCH], tally)
    assert list(tally.failures.values()) == [2]
    (kept,) = tally.folder.iterdir()
    assert (kept / "deep/a.py").read_bytes() == b"x = 1"
    assert "ValueError: x = 1" in (kept / "error.txt").read_text()


@pytest.fixture
def gpu_waits(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import gpu_waits

    return gpu_waits


PLAYED = """\
import sys
import warnings

sys.path[:0] = [{benchmarks!r}, {root!r}]
import torch
from tests.runtime.probe.played import programs

book = programs.play()
counted = book.wait

def wait(kind, times=1):
    for _ in range(times if torch.cuda.mode == "warn" and not book.deaf else 0):
        warnings.warn("called a synchronizing CUDA operation")
    counted(kind, times)

book.wait = wait
torch.cuda.set_sync_debug_mode = lambda mode: setattr(torch.cuda, "mode", mode)
sys.argv = ["gpu_waits.py", "script", {script!r}]
import gpu_waits
gpu_waits.main()
"""


def test_waits_of_a_gpu_are_counted_from_step_to_step(gpu_waits: ModuleType) -> None:
    script = BENCHMARKS.parent / "tests" / "rehearse" / "scripts" / "plain.py"
    program = PLAYED.format(
        benchmarks=str(BENCHMARKS), root=str(BENCHMARKS.parent), script=str(script)
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True
    )
    steps = json.loads(done.stdout.splitlines()[-1])
    assert steps == [6] * gpu_waits.STEPS
    assert gpu_waits.agree({"waits": 5.5, "idle": 0.5}, steps)
    assert not gpu_waits.agree({"waits": 5.0, "idle": 0.0}, steps)
    assert not gpu_waits.agree({"waits": 6.0, "idle": 0.0}, [])


def test_what_the_debug_mode_of_torch_cannot_see_is_left_out(gpu_waits: ModuleType) -> None:
    assert gpu_waits.visible("moved", {"copies": 2, "asynchronous": 1, "item": 1}) == 3
    assert gpu_waits.visible("commands", {"synchronize": 4, "empty_cache": 1}) == 2
