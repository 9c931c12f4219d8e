"""Counts what a step does before and after a fix, several times, and says whether it is the same.

    python benchmarks/counted_fixes.py
    python benchmarks/counted_fixes.py --only item-in-step-loop --repeats 5

Each script of the fixtures runs with what its rule's fix changes, as `verify` counts it; nothing is
timed, so it does not matter what else the machine does. Two planted changes leave out work: half of
the batches, and every second training step. It prints one JSON object; the exit code is 1 if a
counter differs between the repeats, or if left-out work was not seen.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from torchlint.config.settings import Selection
from torchlint.experiment.jobs import Jobs
from torchlint.experiment.plan import declare
from torchlint.experiment.request import Request
from torchlint.experiment.subject import CHANGED, ORIGINAL, Variant
from torchlint.project.target import Target
from torchlint.ruleapi.registry import all_rules
from torchlint.runtime.probe.run_settings import SURVEY
from torchlint.runtime.program import script
from torchlint.runtime.sandbox import overlayfs
from torchlint.runtime.survey_reader import survey
from torchlint.runtime.workspace import Workspace
from torchlint.silence.tiers import Wanted
from torchlint.verify.compared.changes import Changes
from torchlint.verify.compared.measured_fixes import find_fixes
from torchlint.verify.counts.counting import CountedSteps, count
from torchlint.verify.counts.differences import fewer_and_more, less_work
from torchlint.verify.result import COUNTERS, Counters
from torchlint.workers.pool import processors

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
SCRIPT = "train.py"
FIXES = (
    "item-in-step-loop",
    "zero-grad-keeps-tensors",
    "optimizer-slow-path",
    "conv-bias-before-norm",
    "create-then-move",
    "attention-weights-discarded",
    "log-of-softmax",
    "python-loop-over-tensor",
    "polyak-loop",
    "target-without-no-grad",
)
TRAINS = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(4096, 64), torch.randint(0, 10, (4096,)))
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(1000):
    batches = iter(DataLoader(data, batch_size=32))
    for number, batch in enumerate(batches):
        images, labels = batch
        optimizer.zero_grad()
        for again in range(2):
            nn.functional.cross_entropy(model(images), labels).backward()
            images, labels = next(batches, batch)
        optimizer.step()
"""
PLANTED = {
    "half of the batches": ("next(batches, batch)", "batch"),
    "every second step": (
        "        for again in range(2):\n",
        "        for again in range(2 * (number % 2)):\n",
    ),
}
"""Changes that leave out work: what is replaced by what in `TRAINS`."""


def main() -> int:
    """Prints what was counted."""
    options = arguments()
    names = options.only or [*FIXES, *PLANTED]
    found = {}
    for name in names:
        found[name] = counted(name, options.repeats)
        print(name, found[name]["says"] or found[name]["less_work"], file=sys.stderr, flush=True)
    print(json.dumps(found, indent=1))
    wrong = [name for name, each in found.items() if not each["exact"]]
    unseen = [name for name, each in found.items() if name in PLANTED and not each["less_work"]]
    for name, why in ((wrong, "not the same each time"), (unseen, "left-out work was not seen")):
        if name:
            print(f"{', '.join(name)}: {why}", file=sys.stderr)
    return 1 if wrong or unseen else 0


def counted(name: str, repeats: int) -> dict[str, Any]:
    """What one change does, so many times."""
    with tempfile.TemporaryDirectory() as folder:
        here = os.getcwd()
        os.chdir(folder)
        try:
            return _counted(changes_of(name), repeats)
        finally:
            os.chdir(here)


def changes_of(name: str) -> Changes:
    """A script with a change, in the working directory."""
    if name in PLANTED:
        Path(SCRIPT).write_text(TRAINS, encoding="utf-8")
        Path("changed.py").write_text(TRAINS.replace(*PLANTED[name]), encoding="utf-8")
        return Changes(script(SCRIPT, ()), other=script("changed.py", ()))
    shutil.copy(FIXTURES / name / SCRIPT, SCRIPT)
    (code,) = (code for code, rule in all_rules().items() if rule.name == name)
    target = Target(SCRIPT, Selection((code,)), (2, 13))
    fixes = find_fixes([target], all_rules(), unsafe=True, wanted=Wanted(hints=True, pedantic=True))
    return Changes(script(SCRIPT, ()), fixes)


def _counted(changes: Changes, repeats: int) -> dict[str, Any]:
    request = Request(changes.program, device="cpu")
    with Workspace() as workspace:
        kept = overlayfs.available(request.program.root, workspace.root)
        jobs = Jobs(request, changes, workspace, kept)
        seen = survey(jobs.job(Variant(ORIGINAL), SURVEY), workspace, timeout_s=request.timeout_s)
        steps = CountedSteps.of(declare(request, seen, ()), seen)
        assert steps is not None
        assert changes.changed is not None
        runs = []
        for _ in range(repeats):
            found, failed = count(
                jobs,
                workspace,
                [changes.changed],
                steps,
                anchor=seen.anchor,
                at_once=processors(),
                timeout_s=request.timeout_s,
            )
            if failed:
                raise failed[0]
            runs.append((found[ORIGINAL], found[CHANGED]))
    before, after = runs[0]
    return {
        "fixes": list(changes.ids),
        "steps": before.steps,
        "before": known(before),
        "after": known(after),
        "says": fewer_and_more(before, after),
        "less_work": less_work(before, after, None),
        "missing": before.missing,
        "repeats": repeats,
        "exact": all(each == runs[0] for each in runs[1:]),
    }


def known(found: Counters) -> dict[str, float]:
    """What was counted."""
    values = {name: found.of(name) for name in COUNTERS}
    return {name: value for name, value in values.items() if value is not None}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="one change; repeat it")
    parser.add_argument("--repeats", type=int, default=3, help="default: 3")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
