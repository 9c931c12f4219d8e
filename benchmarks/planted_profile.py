"""What profile says of scripts whose costs are known, and of scripts that have none.

    python benchmarks/planted_profile.py                    every script once
    python benchmarks/planted_profile.py --runs 10          ten profiles of each
    python benchmarks/planted_profile.py --verify           what fixing them gives, by verify
    python benchmarks/planted_profile.py --only clean_mlp,padded

The scripts are those of `tests/profile/scripts`. A profile holds if it has exactly the planted
findings, at their lines, with the right numbers; of a clean script, if it has none. With
`--verify` each planted cost is removed once, and a ceiling holds if the speed-up that verify
measured, less the half width of its interval, is not above it. Printed as lines of JSON, and
at the end one line for each script. Exit code 1 if one held in less than nine tenths of its runs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

SCRIPTS = Path(__file__).parents[1] / "tests" / "profile" / "scripts"
LEAST = 0.9
"""Of the runs of a script that have to hold."""

Number = Callable[[dict[str, Any]], bool]


@dataclass(frozen=True)
class Planted:
    """One finding: its code, a part of its line (None: it has no line), and what is known of its
    values."""

    code: str
    line: str | None
    right: Number


@dataclass(frozen=True)
class Case:
    """A script with what was planted in it, and the text that takes it out again. `layer` is the
    costliest one, a part of its line, and its share of the forward time. It is left out without
    the package that it `needs`, and where `nothing` says that its cost is none on this machine."""

    script: str
    planted: tuple[Planted, ...] = ()
    fix: tuple[str, str] | None = None
    layer: tuple[str, str, float] | None = None
    options: tuple[str, ...] = ()
    needs: str = ""
    nothing: Callable[[], str] = lambda: ""


def about(key: str, value: float, within: float) -> Number:
    return lambda values: abs(values[key] - value) <= within


def ratio(key: str, other: str, value: float) -> Number:
    return lambda values: abs(values[key] / values[other] - value) < 0.01


def subnormals_are_quick() -> str:
    """Whether this processor computes with numbers below 1.2e-38 as quickly as with others."""
    script = "import torch; torch.set_num_threads(1); x = torch.full((1 << 18,), {}); "
    timer = "import timeit; print(min(timeit.repeat(lambda: x * 0.999, number=20)))"
    times = [
        float(
            subprocess.run(
                [sys.executable, "-c", script.format(value) + timer],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for value in ("1e-38", "1.0")
    ]
    return "" if times[0] > 1.5 * times[1] else "subnormal numbers are as quick as others here"


def _reads(kind: str, times: float) -> Number:
    return lambda values: values["kinds"] == {kind: times}


_RANKS = ("--nproc-per-node", "2")
CASES = (
    Case(
        "slow_loader",
        (
            Planted("TR101", "# waits", about("samples_ms", 2.0, 0.3)),
            Planted("TR703", "while time", lambda values: values["function"] == "__getitem__"),
        ),
        ("SAMPLE_S = 0.002 / BATCH", "SAMPLE_S = 0.0"),
    ),
    Case(
        "reads",
        (
            Planted("TR201", "one bool a step", _reads("bool", 1)),
            Planted("TR201", "one float a step", _reads("float", 1)),
            Planted("TR201", "two items a step", _reads("item", 2)),
        ),
    ),
    Case(
        "reads_callback",
        (Planted("TR201", "one item a step", _reads("item", 1)),),
        needs="pytorch_lightning",
    ),
    Case(
        "padded",
        (Planted("TR103", "# padded", ratio("padded", "positions", 0.6)),),
        ("[0] * (LENGTH - len(sample))", "[0] * (max(map(len, samples)) - len(sample))"),
    ),
    Case(
        "drifting_shapes",
        (Planted("TR302", "planted", lambda values: values["modules"] == ["stem", "body"]),),
    ),
    Case(
        "recompiles",
        (Planted("TR502", "def decayed", lambda values: values["frames"] > 20),),
        ("dynamic=False", "dynamic=True"),
        # Each step compiles longer than the last; verify would warm up for many more of them.
        options=("--warmup", "30"),
    ),
    Case("heavy_layer", layer=("wide", "self.wide(", 0.86)),
    Case(
        "recomputed",
        (Planted("TR501", "checkpoint(block", lambda values: values["modules"] == 2),),
        ("checkpoint(block, hidden, use_reentrant=False)", "block(hidden)"),
    ),
    Case(
        "unused_gradients",
        (
            Planted("TR401", "optimizer.step()", lambda values: values["values"] == 2_056),
            Planted("TR401", "optimizer.step()", lambda values: values["values"] == 197_376),
        ),
    ),
    Case(
        "graph_in_evaluation",
        (Planted("TR701", "scores = net", lambda values: values["unused"] >= 10),),
    ),
    Case(
        "collects_garbage",
        (
            Planted("TR702", None, lambda values: values["collections"] > 100),
            Planted("TR703", "        Sample(index)", lambda values: not values["operations"]),
        ),
        ("kept = []\n", "kept = []\nimport gc\ngc.freeze()\ngc.set_threshold(50_000)\n"),
    ),
    Case(
        "logs_much",
        (Planted("TR702", "log.info", lambda values: values["what"] == "logging"),),
        ("for name in range(50):", "for name in range(0):"),
    ),
    Case(
        "subnormals",
        (Planted("TR306", "# subnormal", lambda values: values["subnormal"] > 100_000),),
        ("1e-38", "1.0"),
        nothing=subnormals_are_quick,
    ),
    Case(
        "many_workers",
        (
            Planted("TR101", "# waits", lambda values: values["dataset"] == "Slow"),
            Planted("TR102", "# waits", lambda values: values["workers"] > values["processors"]),
            Planted("TR703", "while time", lambda values: values["function"] == "__getitem__"),
        ),
    ),
    Case(
        "ranks_accumulate",
        (Planted("TR601", "backward()", lambda values: values["superfluous"] > 0),),
        ('"no_sync" in sys.argv', "True"),
        options=_RANKS,
    ),
    Case(
        "ranks_straggle",
        (Planted("TR601", None, lambda values: values["rank"] == 1),),
        ("48 if", "16 if"),
        options=_RANKS,
    ),
    Case("ranks_clean", options=_RANKS),
    Case(
        "ranks_buffers",
        (Planted("TR604", "# planted", lambda values: values["bytes"] % 2**22 == 0),),
        ("options = {", 'options = {"broadcast_buffers": False} or {'),
        options=_RANKS,
    ),
    Case(
        "sliced_calls",
        (
            Planted("TR304", "planted: cell", lambda values: values["kind"] == "LSTMCell"),
            Planted("TR304", "planted: head", lambda values: values["kind"] == "Linear"),
        ),
        ("[self.head(each) for each in hidden.unbind(1)]", "self.head(hidden).unbind(1)"),
    ),
    Case(
        "dense_embedding",
        (Planted("TR305", "# planted", lambda values: values["rows"] == 50_000),),
        ("optimizer.step()", "net.items.weight.grad = None; optimizer.step()"),
    ),
    Case(
        "torch_warns",
        (Planted("TR803", "# planted", lambda values: values["ran"] == 5),),
        ("torch.tensor(rows)", "torch.from_numpy(np.stack(rows))"),
    ),
    Case(
        "float_bytes",
        (
            Planted("TR101", "# takes", lambda values: values["dataset"] == "Images"),
            Planted("TR104", "# takes", lambda values: values["width"] == 4),
            Planted("TR703", "# planted", lambda values: values["function"] == "__getitem__"),
        ),
    ),
    Case("clean_mlp"),
    Case("clean_cnn"),
    Case("clean_transformer"),
    Case("clean_inference"),
    Case("clean_gan"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1, help="Profiles of each script.")
    parser.add_argument("--verify", action="store_true", help="Measure what the fixes give, too.")
    parser.add_argument("--only", default="", metavar="NAMES", help="Scripts, separated by commas.")
    given = parser.parse_args()
    wanted = set(filter(None, given.only.split(",")))
    cases = [case for case in CASES if not wanted or case.script in wanted]
    missing = {
        case.script: f"{case.needs} is not installed"
        for case in cases
        if case.needs and not find_spec(case.needs)
    }
    missing |= {case.script: why for case in cases if (why := case.nothing())}
    for script, why in missing.items():
        print(f"{script} is left out: {why}", file=sys.stderr)
    cases = [case for case in cases if case.script not in missing]
    results = [judged(case, given.runs, with_verify=given.verify) for case in cases]
    print("| script | held | ceilings | verify |\n|---|---|---|---|")
    for each in results:
        print(f"| {' | '.join(str(each[key]) for key in ('script', 'held', 'ceilings', 'gain'))} |")
    return int(any(each["share"] < LEAST for each in results))


def judged(case: Case, runs: int, *, with_verify: bool) -> dict[str, Any]:
    """All runs of a case. `held` counts those in which the planted findings are there and no
    others, and, if verify has measured the fix, the ceiling is not below it."""
    text = (SCRIPTS / f"{case.script}.py").read_text(encoding="utf-8")
    gain = _gain(text, case.fix, case.options) if with_verify and case.fix else None
    held, ceilings = 0, []
    for _ in range(runs):
        found = _profile(text, case.options)
        wrong = problems(found, case, text)
        ceiling = max((each["ceiling"] or 0 for each in found["findings"]), default=None)
        ceilings.append(ceiling or None)
        if gain and ceiling is not None and gain["low"] > ceiling:
            wrong.append(f"verify measured {gain}, above at most {ceiling}")
        held += not wrong
        step = (found["timing"] or {}).get("step_s")
        line = {"script": case.script, "wrong": wrong, "ceiling": ceiling, "step_s": step}
        print(json.dumps({**line, "seconds": found["seconds"]}), flush=True)
    known = sorted(each for each in ceilings if each)
    return {
        "script": case.script,
        "share": held / runs,
        "held": f"{held} of {runs}",
        "ceilings": f"{known[0]:.3g} to {known[-1]:.3g}" if known else "",
        "gain": f"{gain['ratio']:.3f} ({gain['low']:.3f} to {gain['high']:.3f})" if gain else "",
    }


def problems(found: dict[str, Any], case: Case, text: str) -> list[str]:
    """What a profile says wrongly of a script."""
    if found["exit"] or found["timing"] is None:
        return [f"exit {found['exit']}: {found['summary']}"]
    left = [*found["findings"], *found["census"]]
    wrong = []
    for planted in case.planted:
        fits = [each for each in left if each["code"] == planted.code and _at(each, planted, text)]
        right = [each for each in fits if planted.right(each["values"])]
        if right:
            left.remove(right[0])
        elif fits:
            wrong.append(f"{planted.code}: {fits[0]['values']}")
        else:
            wrong.append(f"no {planted.code} at {planted.line}")
    if case.layer is not None:
        name, words, share = case.layer
        first, lines = found["layers"][0], text.splitlines()
        if first["name"] != name or abs(first["share"] - share) > 0.05:
            wrong.append(f"{first['name']} takes {first['share']}")
        elif words not in lines[first["row"] - 1]:
            wrong.append(f"{name} in row {first['row']}")
    wrong += [f"{each['code']} in row {each['row']}: {each['fact']}" for each in left]
    return wrong


def _at(each: dict[str, Any], planted: Planted, text: str) -> bool:
    if planted.line is None:
        return each["path"] == ""
    rows = [row for row, line in enumerate(text.splitlines(), 1) if planted.line in line]
    return each["row"] in rows


def _profile(text: str, options: tuple[str, ...]) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(text, encoding="utf-8")
        return _told("profile", "train.py", *options, folder=folder)


def _gain(text: str, fix: tuple[str, str], options: tuple[str, ...]) -> dict[str, float] | None:
    """How many times as fast a step is without what was planted, with its interval."""
    assert text.count(fix[0]) >= 1, fix
    with TemporaryDirectory() as folder:
        Path(folder, "before.py").write_text(text, encoding="utf-8")
        Path(folder, "after.py").write_text(text.replace(*fix), encoding="utf-8")
        found = _told("verify", "before.py", "--against", "after.py", *options, folder=folder)
    total = found["total"]
    if not total or not total["ci"]:
        print(json.dumps({"verify": found["summary"]}), flush=True)
        return None
    low, high = total["ci"]
    gain = {"ratio": total["ratio"], "low": low, "high": high}
    print(json.dumps({"verify": gain, "verdict": total["verdict"]}), flush=True)
    return gain


def _told(command: str, *words: str, folder: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "torchlint", command, *words, "--yes", "--output-format", "json"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
    )
    if not done.stdout:
        sys.exit(f"{command} {words}: {done.stderr.strip()}")
    told: dict[str, Any] = json.loads(done.stdout)
    return told


if __name__ == "__main__":
    sys.exit(main())
