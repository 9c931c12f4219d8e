"""Results of searches to render."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.report.verify import sample_results as results
from torchlint.tune.fate import Fate
from torchlint.tune.tune_result import TriedChange, TuneResult
from torchlint.verify.result import Verdict

DIFF = """\
--- a/train.py
+++ b/train.py
@@ -1,2 +1,2 @@
-loader = DataLoader(data)
+loader = DataLoader(data, num_workers=2)
 train(loader)
"""


def change(name: str, fate: Fate, **more: Any) -> TriedChange:
    known = TriedChange(
        id=f"{name}:train.py",
        name=name,
        message=f"Do `{name}`",
        path="train.py",
        row=7,
        outcome=fate,
        may_change="sums are rounded in another order",
        numbers="equal to rounding",
        diff=DIFF,
    )
    return replace(known, **more)


def changes() -> tuple[TriedChange, ...]:
    return (
        change("loader-workers 2", Fate.KEPT, alone=1.7, adds=1.6, ceiling=2.5),
        change("fused-update", Fate.KEPT, alone=1.2, adds=1.1, ceiling=1.4),
        change("channels-last", Fate.SLOWER, alone=0.8, ceiling=3.0),
        change("compile-model default", Fate.FAILED, why="The script raised RuntimeError: no."),
        change("loader-workers 1", Fate.REPLACED, alone=1.4, ceiling=2.5),
        change("foreach-clipping", Fate.NOT_LIMITING, ceiling=1.01),
        change("torch-threads 1", Fate.NO_TIME),
    )


def tuning(**more: Any) -> TuneResult:
    """A script that became faster."""
    known = results.full()
    assert known.total is not None
    result = TuneResult(
        argv=("train.py", "--epochs", "2"),
        environment=known.environment,
        step="AdamW.step (optimizer)",
        total=replace(known.total, verdict=Verdict.CONFIRMED),
        noise=known.aa,
        changes=changes(),
        exit=0,
        parts=({"data": 0.02, "forward": 0.01}, {"data": 0.001, "forward": 0.01}),
        memory_mb=(300.0, 410.5),
        first_s=(2.5, 4.25),
        diff=DIFF,
        notes=("Numbers differ as declared: the mean loss moves by 1.0%.",),
        by_hand=("TL108 train.py:20  This reads a file for each sample.",),
        side_effects=known.side_effects,
        sources=known.sources,
        seconds=754.2,
        budget_s=900.0,
        given=("--tolerance", "0.02"),
    )
    return replace(result, **more)


def full() -> TuneResult:
    """With something in each field."""
    return tuning(
        summary="A sentence.",
        how=("--threads", "2"),
        written=("fast.patch",),
        patch="fast.patch",
    )


def nothing_helps() -> TuneResult:
    kept = (each for each in changes() if each.outcome is not Fate.KEPT)
    return tuning(
        total=None,
        noise=None,
        changes=tuple(kept),
        parts=({"data": 0.02, "forward": 0.01}, {}),
        diff="",
        notes=(),
        summary="Nothing that was tried makes this script faster.",
    )


def failed() -> TuneResult:
    return tuning(
        total=None,
        noise=None,
        changes=(),
        parts=({}, {}),
        memory_mb=None,
        first_s=None,
        diff="",
        by_hand=(),
        exit=4,
        summary="The script failed: it raised ValueError.\nTraceback\nValueError: x",
    )


def crowded(name: str) -> TuneResult:
    """With far more than fits, and names that are too long."""
    many = (
        change(f"{name}{number}", fate, path=name, why=name, alone=1.5, adds=1.5)
        for fate in Fate
        for number in range(9)
    )
    return tuning(changes=tuple(many), by_hand=(name,) * 9, notes=(name,) * 9, summary=name)
