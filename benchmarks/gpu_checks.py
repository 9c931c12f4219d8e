"""Every check of `verify`, `profile`, `rehearse` and `tune` that needs a GPU, within nine minutes.
`gpu.sh` starts it.

Usage: gpu_checks.py FILE    writes what was found as JSON into FILE, and prints it
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpu_waits import agree
from verified_fixtures import FIXTURES, Outcome, names, verify

HERE = Path(__file__).resolve().parent
BUDGET_S = 500.0
"""For all checks together; what would begin later is left out, and says so."""
_FIRST = ("item-in-step-loop", "cudnn-benchmark-missing", "dataloader-no-workers")
"""Those that show their worth on a GPU alone, or most there."""
_OPTIONS = ("--device", "cuda", "--pairs", "4", "--total-only", "--budget", "45s")
_PLAIN = "zero-grad-keeps-tensors"
_SHORTEST_S = 20.0
_PROFILED = HERE.parent / "tests" / "profile" / "scripts"
_REHEARSED = (
    "tests/rehearse/scripts/plain.py",
    "tests/rehearse/scripts/threads.py",
    "fixtures/item-in-step-loop/train.py",
    "fixtures/create-then-move/train.py",
    "fixtures/tensor-literal-on-device/train.py",
    "fixtures/index-tensor-on-cpu/train.py",
)
_PLANTED = {
    "on_gpu": (("TR202", "a blocking copy"), ("TR201", "one item a step")),
    "on_gpu_clean": (),
}
"""Scripts, with the code and a part of the line of each cost that was planted."""

Check = Callable[[float], dict[str, Any]]
"""Gets a time limit in seconds; says `status` (`ok`, `failed`, `timeout`) and what was found."""


def checks(found: dict[str, dict[str, Any]]) -> dict[str, tuple[float, Check]]:
    """By name: the most seconds for it, and the check, which can read what others have found."""
    rehearsals = {f"rehearse {name}": (40.0, _rehearses(name)) for name in _REHEARSED}
    searches = {f"tune {name}": (90.0, _tunes(name)) for name in _FIRST}
    profiles = {f"profile {name}": (70.0, _profiles(name)) for name in _PLANTED}
    first = {f"verify {name}": (80.0, _verifies(name)) for name in _FIRST}
    rest = {f"verify {name}": (80.0, _verifies(name)) for name in names() if name not in _FIRST}
    return {
        "waits of programs": (60.0, _waits),
        **rehearsals,
        **profiles,
        **searches,
        **first,
        "against itself": (80.0, _against_itself),
        "cost of the meter": (60.0, _meter_cost),
        **{name: check for name, check in rest.items() if name == f"verify {_PLAIN}"},
        "a plain run": (40.0, lambda limit_s: _plain_run(found, limit_s)),
        **rest,
    }


def run(wanted: dict[str, tuple[float, Check]], found: dict[str, dict[str, Any]]) -> None:
    """Run the checks in turn; none can stop the others."""
    begun = time.monotonic()
    for name, (most_s, check) in wanted.items():
        left = BUDGET_S - (time.monotonic() - begun)
        if left < _SHORTEST_S:
            found[name] = {"status": "left out", "why": "no time was left"}
            continue
        started = time.monotonic()
        try:
            said = check(min(most_s, left))
        except subprocess.TimeoutExpired:
            said = {"status": "timeout"}
        except Exception as error:
            said = {"status": "failed", "why": f"{type(error).__name__}: {error}"[:500]}
        found[name] = {**said, "seconds": round(time.monotonic() - started, 1)}
        print(f"{name}: {found[name]['status']}", file=sys.stderr, flush=True)


# the checks --------------------------------------------------------------------------------


def _verifies(name: str) -> Check:
    return lambda limit_s: told(verify(name, _OPTIONS, limit_s=limit_s))


def _against_itself(limit_s: float) -> dict[str, Any]:
    said = told(verify(_FIRST[0], _OPTIONS, limit_s=limit_s, against_itself=True))
    if said.get("verdict") in ("CONFIRMED", "SLOWER"):
        said["status"] = "failed"
    return said


def told(outcome: Outcome) -> dict[str, Any]:
    """The figures of a verification; one that did not compute on the GPU has failed."""
    document, status = outcome.document, outcome.status
    total, aa = document.get("total") or {}, document.get("aa") or {}
    if status == "ok" and document["environment"]["device"] != "cuda":
        status = "failed"
    figures = ("verdict", "ratio", "ci", "ms", "memory_mb", "pairs", "why")
    return {
        "status": status,
        "exit": outcome.exit,
        **{key: total[key] for key in figures if key in total},
        "numerics": (total.get("numerics") or {}).get("agreement"),
        "aa": [aa.get("ratio"), aa.get("ci"), aa.get("fit")],
        "step": (document.get("plan") or {}).get("step"),
        "summary": document.get("summary", ""),
        **({"said": outcome.said} if outcome.said else {}),
    }


def _profiles(name: str) -> Check:
    def check(limit_s: float) -> dict[str, Any]:
        words = (
            "profile",
            str(_PROFILED / f"{name}.py"),
            "--yes",
            "--device",
            "cuda",
            "--isolated",
        )
        budget = ("--budget-time", f"{max(1, int(limit_s) - 10)}s", "--output-format", "json")
        done = _ran([sys.executable, "-m", "torchlint", *words, *budget], limit_s)
        try:
            document = json.loads(done.stdout)
        except ValueError:
            return {"status": "failed", "said": (done.stdout + done.stderr)[-1000:]}
        return profiled(name, document)

    return check


def _tunes(name: str) -> Check:
    def check(limit_s: float) -> dict[str, Any]:
        script = str(FIXTURES / name / "train.py")
        words = ("tune", script, "--yes", "--device", "cuda", "--isolated")
        budget = ("--budget", f"{max(1, int(limit_s) - 10)}s", "--output-format", "json")
        done = _ran([sys.executable, "-m", "torchlint", *words, *budget], limit_s)
        try:
            return tuned(json.loads(done.stdout))
        except ValueError:
            return {"status": "failed", "said": (done.stdout + done.stderr)[-1000:]}

    return check


def tuned(document: dict[str, Any]) -> dict[str, Any]:
    """What a search came to. It has failed if it did not compute on the GPU, if the whole is slower
    or has other numbers than it may, or if it was not measured."""
    total = document["total"] or {}
    numbers = (total.get("numerics") or {}).get("agreement")
    on_gpu = document["environment"]["device"] == "cuda"
    well = document["exit"] in (0, 3, 7) and total.get("verdict") != "SLOWER"
    fates = {each["name"]: each["outcome"] for each in document["changes"]}
    return {
        "status": "ok" if on_gpu and well else "failed",
        "exit": document["exit"],
        "summary": document["summary"][-1000:],
        **{key: total.get(key) for key in ("verdict", "ratio", "ci", "ms", "pairs")},
        "numerics": numbers,
        "changes": fates,
        "alone": {each["name"]: each["alone"] for each in document["changes"]},
        "memory_mb": document["memory_mb"],
        "first_s": document["first_s"],
    }


def profiled(name: str, document: dict[str, Any]) -> dict[str, Any]:
    """What a profile of a script with planted costs says; it has failed unless it finds these, each
    at its line and with a ceiling, and no others, on the GPU."""
    lines = (_PROFILED / f"{name}.py").read_text(encoding="utf-8").splitlines()
    wanted = [
        (code, row)
        for code, words in _PLANTED[name]
        for row, line in enumerate(lines, 1)
        if words in line and "planted" in line
    ]
    known = [each for each in document["findings"] if each["share"] is not None]
    right = sorted((each["code"], each["row"]) for each in known) == sorted(wanted)
    on_gpu = (document["environment"] or {}).get("device") == "cuda"
    shown = ("code", "row", "fact", "ceiling")
    return {
        "status": "ok" if right and on_gpu and document["exit"] == 0 else "failed",
        "exit": document["exit"],
        "summary": document["summary"][-1000:],
        "timing": document["timing"],
        "limit": document["limit"],
        "findings": [{key: each[key] for key in shown} for each in document["findings"]],
        "below": [{key: each[key] for key in shown} for each in document["below"]],
        "facts": {each["label"]: each["text"] for each in document["facts"]},
        "layers": document["layers"][:3],
        "costs": document["costs"],
        "not_measured": document["not_measured"],
    }


def _waits(limit_s: float) -> dict[str, Any]:
    """Whether each step of small programs waits as often as the rehearsal counts."""
    done = _ran([sys.executable, str(HERE / "gpu_waits.py"), "programs"], limit_s)
    try:
        found = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        return {"status": "failed", "said": (done.stdout + done.stderr)[-1000:]}
    apart = {name: steps for name, steps in found.items() if len(set(steps)) > 1}
    return {"status": "failed" if apart else "ok", "programs": len(found), "apart": apart}


def _rehearses(path: str) -> Check:
    def check(limit_s: float) -> dict[str, Any]:
        """Whether a script's steps wait as often as its rehearsal has counted."""
        script = str(HERE.parent / path)
        words = ("rehearse", script, "--yes", "--isolated", "--output-format", "json")
        told = _ran([sys.executable, "-m", "torchlint", *words], limit_s / 2)
        real = _ran([sys.executable, str(HERE / "gpu_waits.py"), "script", script], limit_s / 2)
        try:
            seen = json.loads(told.stdout)["rehearsal"]
            steps = json.loads(real.stdout.splitlines()[-1])
        except (ValueError, IndexError):
            said = told.stdout[-500:] + told.stderr[-500:] + real.stderr[-500:]
            return {"status": "failed", "said": said}
        counted = {name: seen[name] for name in ("waits", "idle", "copies", "launches")}
        status = "ok" if agree(seen, steps) else "failed"
        return {"status": status, "steps": steps, "counted": counted, "memory": seen["memory"]}

    return check


def _meter_cost(limit_s: float) -> dict[str, Any]:
    """What the meter adds to a step, by the script that measures it."""
    command = [sys.executable, str(HERE / "meter_cost.py"), "--device", "cuda"]
    done = _ran(command, limit_s)
    status = "ok" if done.returncode == 0 else "failed"
    try:
        return {"status": status, "measured": json.loads(done.stdout)}
    except ValueError:
        return {"status": "failed", "said": (done.stdout + done.stderr)[-1000:]}


_RUN_PLAIN = """
import json, os, runpy, sys, time
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

WARMUP, STEPS = 30, 200
steps, begun = 0, 0.0


def after_each_step(*_):
    global steps, begun
    steps += 1
    if steps == WARMUP:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        begun = time.perf_counter()
    if steps == WARMUP + STEPS:
        torch.cuda.synchronize()
        taken = time.perf_counter() - begun
        peak = torch.cuda.max_memory_allocated() / 2**20
        print(json.dumps({"ms": 1000 * taken / STEPS, "memory_mb": peak}), flush=True)
        os._exit(0)


register_optimizer_step_post_hook(after_each_step)
torch.manual_seed(0)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def _plain_run(found: dict[str, dict[str, Any]], limit_s: float) -> dict[str, Any]:
    """Step time and peak memory without any of verify's machinery, next to what verify says."""
    script = FIXTURES / _PLAIN / "train.py"
    plain = json.loads(_ran([sys.executable, "-c", _RUN_PLAIN, str(script)], limit_s).stdout)
    verified = found.get(f"verify {_PLAIN}", {})
    said = {"plain": plain, "verify": {key: verified.get(key) for key in plain}}
    if not verified.get("ms") or not verified.get("memory_mb"):
        return {"status": "failed", "why": "verify gave nothing to compare with", **said}
    apart = {key: verified[key][0] / plain[key] - 1 for key in plain}
    close = abs(apart["ms"]) < 0.2 and abs(apart["memory_mb"]) < 0.05
    return {"status": "ok" if close else "failed", "apart": apart, **said}


def _ran(command: list[str], limit_s: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        timeout=limit_s,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )


def machine() -> dict[str, Any]:
    """What the checks ran on."""
    import torch

    from torchlint.version import __version__

    free, memory = torch.cuda.mem_get_info()
    return {
        "gpu": torch.cuda.get_device_name(),
        "capability": ".".join(map(str, torch.cuda.get_device_capability())),
        "memory_mb": memory >> 20,
        "free_mb": free >> 20,
        "cuda": torch.version.cuda,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "torchlint": __version__,
    }


def main() -> int:
    """0 if every check is ok."""
    written = Path(sys.argv[1])
    found: dict[str, dict[str, Any]] = {}
    begun = time.monotonic()
    facts = machine()
    try:
        run(checks(found), found)
    finally:
        seconds = round(time.monotonic() - begun, 1)
        text = json.dumps({"machine": facts, "seconds": seconds, "checks": found}, indent=1)
        written.write_text(text + "\n", encoding="utf-8")
        print(text)
    return int(any(said["status"] != "ok" for said in found.values()))


if __name__ == "__main__":
    sys.exit(main())
