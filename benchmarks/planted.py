"""What verify says of changes whose worth is known: gains, no-ops, slow-downs and wrong numbers.

    python benchmarks/planted.py                      every case once
    python benchmarks/planted.py --runs 3 --beside    three times, while another process computes
    python benchmarks/planted.py --only gain

A case is two scripts that differ in a line; verify measures the second against the first with its
default budget. Wrong is CONFIRMED or SLOWER where nothing or the contrary was planted, and numbers
that are called equal though they differ, unless the report names the part of the script, beyond the
compared steps, in which they do.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

SCRIPT = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
ITEMS = [float(each) for each in range(4000)]
inputs, targets = torch.rand(6400, 64), torch.rand(6400, 1)
loader = DataLoader(TensorDataset(inputs, targets), 32, shuffle=True)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
square = torch.rand(256, 256)
drop = nn.Identity()
step = 0


def work(times):
    for _ in range(times):
        torch.mm(square, square)


for epoch in range(40):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(drop(x)), y)
        loss.backward()
        work(20)
        optimizer.step()
        step += 1
        if step == 150:
            optimizer.param_groups[0]["weight_decay"] = 0.0
    scheduler.step()
"""


@dataclass(frozen=True)
class Case:
    """One line of the script, and what the first and the second program have in its place."""

    kind: str
    name: str
    line: str
    before: str
    after: str


def _work(kind: str, name: str, before: int, after: int) -> Case:
    return Case(kind, name, "work(20)", f"work({before})", f"work({after})")


def _changed(kind: str, name: str, line: str, after: str) -> Case:
    return Case(kind, name, line, line, after)


_TWICE = "loss.backward()"
_COUNT = "step += 1"
_SUM = "step += 1; sum(map(abs, ITEMS * 8))"
_BUSY = """
import torch
while True:
    torch.rand(300, 300).mm(torch.rand(300, 300))
"""
CASES = (
    _work("gain", "a tenth less work", 40, 36),
    _work("gain", "a quarter less work", 40, 30),
    _work("gain", "half of the work", 40, 16),
    Case("gain", "no second forward", _TWICE, f"{_TWICE}; model(x); work(8)", _TWICE),
    Case("gain", "no loop in Python", _COUNT, _SUM, _COUNT),
    _changed("no-op", "identical", "step = 0", "step = 0"),
    _changed("no-op", "a comment", "step = 0", "step = 0  # of the training"),
    _changed("no-op", "another name", "ITEMS = [", "OTHERS = ITEMS = ["),
    _changed("no-op", "an assertion", "step += 1", "step += 1; assert step"),
    _changed("no-op", "an unused layer", "drop = nn.Identity()", "drop = nn.Sequential()"),
    _work("slow-down", "a tenth more work", 36, 40),
    _work("slow-down", "a third more work", 30, 40),
    _work("slow-down", "twice the work", 16, 40),
    Case("slow-down", "a second forward", _TWICE, _TWICE, f"{_TWICE}; model(x); work(8)"),
    Case(
        "slow-down", "a loop in Python", "step += 1", "step += 1", "step += 1; sum(map(abs, ITEMS))"
    ),
    _changed("wrong", "another rate", "lr=0.01", "lr=0.011"),
    _changed("wrong", "dropout", "nn.Identity()", "nn.Dropout(0.1)"),
    _changed("wrong", "gradients add up", "optimizer.zero_grad()", "pass"),
    _changed("wrong", "another loss", "mse_loss", "l1_loss"),
    _changed("wrong", "half precision", "model(drop(x))", "model(drop(x.bfloat16().float()))"),
    _changed("later", "another schedule", "gamma=0.5", "gamma=0.9"),
    _changed("later", "decay from step 150 on", '"weight_decay"] = 0.0', '"weight_decay"] = 0.1'),
)
GAINS = {"gain": "CONFIRMED", "slow-down": "SLOWER"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1, help="Verifications of each case.")
    parser.add_argument("--beside", action="store_true", help="While another process computes.")
    parser.add_argument("--only", metavar="KIND", help="gain, no-op, slow-down, wrong or later.")
    parser.add_argument("--budget", default="10m", help="Of one verification, as verify takes it.")
    given = parser.parse_args()
    other = subprocess.Popen([sys.executable, "-c", _BUSY]) if given.beside else None
    print("| planted | case | said | ratio | numbers | held |\n|---|---|---|---|---|---|")
    try:
        rows = [
            row(case, given.budget)
            for case in CASES
            if given.only in (None, case.kind)
            for _ in range(given.runs)
        ]
    finally:
        if other is not None:
            other.kill()
    print(
        f"\nfalse: {rows.count('FALSE')}, missed: {rows.count('missed')}, held: {rows.count('yes')}"
    )


def row(case: Case, budget: str) -> str:
    """Verify a case once and print its line; `yes`, `missed`, or `FALSE`."""
    assert SCRIPT.count(case.line) == 1, case
    with TemporaryDirectory() as folder:
        for name, text in (("before.py", case.before), ("after.py", case.after)):
            Path(folder, name).write_text(SCRIPT.replace(case.line, text))
        command = [
            sys.executable,
            "-m",
            "torchlint",
            "verify",
            "before.py",
            "--against",
            "after.py",
        ]
        if case.kind in ("wrong", "later"):
            command += ["--pairs", "2"]  # the numbers are the question, not the speed
        done = subprocess.run(
            [*command, "--yes", "--budget", budget, "--output-format", "json"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    found = json.loads(done.stdout)
    total = found["total"] or {"verdict": found["summary"], "ratio": None, "numerics": None}
    numbers = (total["numerics"] or {}).get("agreement", "not compared")
    held = judged(case.kind, total["verdict"], numbers, found["unreached"])
    ratio = "-" if total["ratio"] is None else f"{total['ratio']:.3f}"
    unreached = f" (not reached: {'; '.join(found['unreached'])})" if found["unreached"] else ""
    cells = (case.kind, case.name, total["verdict"], ratio, numbers + unreached, held)
    print(f"| {' | '.join(cells)} |", flush=True)
    return held


def judged(kind: str, verdict: str, numbers: str, unreached: list[str]) -> str:
    """`yes`, `missed` where nothing false was said but the truth neither, or `FALSE`."""
    equal = numbers in ("bitwise equal", "equal to rounding")
    if kind in ("wrong", "later"):
        return "FALSE" if equal and not (kind == "later" and unreached) else "yes"
    if numbers == "DIFFERS" or verdict in {"CONFIRMED", "SLOWER"} - {GAINS.get(kind)}:
        return "FALSE"
    return "yes" if kind == "no-op" or verdict == GAINS[kind] else "missed"


if __name__ == "__main__":
    main()
