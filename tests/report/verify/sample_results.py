"""Results of verifications as the reports get them, without running anything."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from torchlint.experiment.intervals import Estimate
from torchlint.experiment.machine import Environment
from torchlint.experiment.plan import DeclaredPlan
from torchlint.experiment.rounds import BlockStrip
from torchlint.runtime.probe.messages import Lanes
from torchlint.runtime.sandbox.side_effects import SideEffect
from torchlint.verify.result import (
    Agreement,
    Clocks,
    Comparison,
    Counters,
    FixMeasurement,
    FixPlace,
    Given,
    Noise,
    Numerics,
    Required,
    Result,
    Verdict,
)

DIFF = """\
--- a/train.py
+++ b/train.py
@@ -28,7 +28,7 @@ def main() -> None:
     data = Cells(root, crop=64)
     model = Net().to(device)
     optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
-    loader = DataLoader(data, batch_size=64, shuffle=True)
+    loader = DataLoader(data, batch_size=64, shuffle=True, num_workers=2, persistent_workers=True)
     for epoch in range(epochs):
         for images, labels in loader:
             images, labels = images.to(device), labels.to(device)
"""


def estimate(
    ratio: float, half: float = 0.012, *, before: float = 16.6, **changes: object
) -> Estimate:
    """An interval of ± `half` in the logarithm around a ratio."""
    known = Estimate(
        ratio=ratio,
        ci=(ratio * math.exp(-half), ratio * math.exp(half)),
        strict=(ratio * math.exp(-1.5 * half), ratio * math.exp(1.5 * half)),
        pairs=4,
        blocks=40,
        sd_between=half / 1.6,
        sd_within=0.04,
        ms=(before, before / ratio),
        cpu_ratio=1 + (ratio - 1) * 0.2,
        memory_mb=(812.4, 806.1),
    )
    return replace(known, **changes)  # type: ignore[arg-type]


def numerics(
    agreement: Agreement = Agreement.BITWISE, *, steps: int = 30, apart: float = 0.0, why: str = ""
) -> Numerics:
    """Losses that fall, `apart` growing from step 4 on, and an envelope around the original."""
    draw = random.Random(7)
    losses, envelope = [], []
    for step in range(steps):
        loss = 2.3 * math.exp(-step / 18) + 0.12 * draw.random() + 0.3
        gap = apart * math.exp(step / 6) if step >= 4 else 0.0
        spread = 4e-8 * math.exp(step / 4)
        losses.append((loss, loss * (1 + gap)))
        envelope.append((loss * (1 - spread), loss * (1 + 0.7 * spread)))
    differs = apart > 0
    return Numerics(
        agreement=agreement,
        why=why,
        steps=steps,
        level=3 if differs else 0,
        first_step=4 if differs else None,
        largest=apart * math.exp((steps - 1) / 6) if differs else 0.0,
        envelope_ratio=0.4 if differs else None,
        losses=tuple(losses),
        envelope=tuple(envelope),
    )


def counters(**changes: object) -> Counters:
    """Of a step on a GPU, all that can be counted."""
    known = Counters(10, 3, 412.5, 300, 4096, 2, 0, 120, 1, 6.2e9)
    return replace(known, **changes)  # type: ignore[arg-type]


def comparison(
    verdict: Verdict = Verdict.CONFIRMED, ratio: float | None = 1.2, **changes: object
) -> Comparison:
    """A comparison with this verdict; a ratio of None was not measured."""
    measured = None if ratio is None else estimate(ratio)
    known = Comparison(verdict, measured, numerics() if measured else None)
    return replace(known, **changes)  # type: ignore[arg-type]


def fix(
    number: int = 1,
    verdict: Verdict = Verdict.CONFIRMED,
    ratio: float | None = 1.2,
    *,
    after: float | None = None,
    path: str = "train.py",
    **changes: object,
) -> FixMeasurement:
    """A fix at ten lines further on than the last one."""
    code = str(changes.pop("code", f"TL{100 + number}"))
    known = FixMeasurement(
        id=f"{code}:{path}",
        code=code,
        name="dataloader-no-workers",
        applicability="unsafe",
        message="Load batches in worker processes",
        places=(FixPlace(path, 10 * number + 1, verdict is not Verdict.NOT_EXERCISED),),
        alone=comparison(verdict, ratio),
        after=None if after is None else comparison(verdict, after),
        diff=DIFF.replace("train.py", path),
    )
    return replace(known, **changes)  # type: ignore[arg-type]


def environment(**changes: object) -> Environment:
    """A small machine without a GPU."""
    known = Environment(
        torch="2.13.0+cpu",
        python="3.11.7",
        device="cpu",
        threads=1,
        processors=2,
        load=(0.41, 0.38, 0.3),
        sandbox="overlayfs",
        processor="A processor",
        settings={"MALLOC_TOP_PAD_": "268435456"},
    )
    return replace(known, **changes)  # type: ignore[arg-type]


def declared(**changes: object) -> DeclaredPlan:
    """The usual plan."""
    known = DeclaredPlan(
        looks=(4, 8, 16),
        alpha=0.05,
        margin=0.02,
        blocks=10,
        steps=5,
        warmup=10,
        settle=1,
        seed=0,
        step="AdamW.step (optimizer 1 of 1)",
        variants=("original", "original again", "changed"),
        numeric_steps=30,
        budget_s=600.0,
    )
    return replace(known, **changes)  # type: ignore[arg-type]


def strips(pairs: int = 4, blocks: int = 10, ratio: float = 1.777) -> tuple[BlockStrip, ...]:
    """Blocks that drift a little within a pair, and pairs that differ a little."""
    draw = random.Random(3)
    found = []
    for pair in range(pairs):
        base = 16.6e-3 * math.exp(draw.gauss(0, 0.015))
        seconds: dict[str, list[float]] = {"original": [], "original again": [], "changed": []}
        for block in range(blocks):
            drift = base * (1 + 0.004 * block)
            seconds["original"].append(drift * math.exp(draw.gauss(0, 0.02)))
            seconds["original again"].append(drift * math.exp(draw.gauss(0, 0.02)))
            seconds["changed"].append(drift / ratio * math.exp(draw.gauss(0, 0.02)))
        found.append(BlockStrip(pair, {name: tuple(each) for name, each in seconds.items()}))
    return tuple(found)


def lanes(steps: int = 30) -> Lanes:
    """A step that waits for data, with a slow first one."""
    draw = random.Random(5)

    def lane(seconds: float) -> tuple[float, ...]:
        slow = [8.0] + [1.0] * (steps - 1)
        return tuple(seconds * factor * math.exp(draw.gauss(0, 0.12)) for factor in slow)

    return Lanes(lane(8.2e-3), lane(2.1e-3), lane(4.4e-3), lane(1.3e-3), lane(0.5e-3))


def result(**changes: object) -> Result:
    """A verification of one confirmed fix."""
    whole = comparison(Verdict.CONFIRMED, 1.777)
    known = Result(
        argv=("train.py",),
        environment=environment(),
        plan=declared(),
        aa=Noise(estimate(1.004), 0.012, fit=True, numerics=numerics()),
        total=whole,
        fixes=(fix(alone=whole),),
        exit=0,
        summary="1 of 1 fixes confirmed.",
        diff=DIFF,
        seconds=48.3,
    )
    return replace(known, **changes)  # type: ignore[arg-type]


def full() -> Result:
    """A small verification in which no field is None or empty."""
    measured = estimate(1.3, pairs_needed=7)
    numbers = numerics(Agreement.ROUNDING, steps=6, apart=1e-7, why="inside the envelope")
    both = Comparison(
        Verdict.UNRESOLVED,
        measured,
        numbers,
        "too few pairs",
        counters(reads=0.1, missing={"kernels": "torch's profiler could not be used"}),
        "1 → 0.5 batches a step",
    )
    return result(
        argv=("-m", "pkg.train", "--epochs", "1"),
        environment=environment(
            device="cuda", gpu={"name": "A GPU"}, processes=2, nodes=("a", "b")
        ),
        aa=Noise(measured, 0.012, True, "quiet", numbers, Clocks((1950, 1980), 0.02, 0.001, "-")),
        total=both,
        fixes=(fix(1, alone=both, after=2.0, hidden_by="data loading"),),
        counters=counters(missing={"bytes": "there is no GPU"}),
        required=(Required("reads<=0", 0.1, held=False, why="a reason"),),
        notes=("A note.",),
        unreached=("evaluation (train.py:40)",),
        sources={"train.py": "ab" * 32},
        side_effects=(SideEffect("write", "out.txt", kept=False, count=2),),
        strips=strips(pairs=1, blocks=2),
        lanes=lanes(steps=3),
        given=Given(("--hints",), ("--budget", "90"), others=True, json="verify.json"),
    )


def rich() -> Result:
    """A verification in which every verdict and every agreement occurs."""
    rounding = numerics(Agreement.ROUNDING, apart=2e-8)
    declared_ = numerics(
        Agreement.DECLARED,
        apart=1e-4,
        why="random numbers are drawn in other processes, so augmentations differ",
    )
    wrong = numerics(Agreement.DIFFERS, apart=3e-4, why="the losses leave the envelope")
    no_gpu = "it avoids waiting for a GPU, and this run has none"
    fixes = (
        fix(1, after=1.481, alone=comparison(ratio=1.769, numerics=declared_)),
        fix(2, after=1.014, alone=comparison(ratio=1.197, numerics=rounding),
            hidden_by="data loading", path="cells/models/residual.py",
            code="TL301", name="conv-bias-before-norm"),
        fix(3, Verdict.NEUTRAL, 1.008, after=0.998, code="TL401", name="manual-grad-zeroing"),
        fix(4, Verdict.SLOWER, 0.912, after=0.934, code="TL304", name="zero-grad-keeps-tensors",
            alone=comparison(Verdict.SLOWER, 0.912, numerics=wrong)),
        fix(5, Verdict.UNRESOLVED, 1.019, code="TL105", name="tensor-copies-numpy",
            alone=comparison(Verdict.UNRESOLVED, 1.019,
                             estimate=estimate(1.019, 0.024, pairs=16, blocks=160,
                                               pairs_needed=23))),
        fix(6, Verdict.NOT_EXERCISED, None, path="cells/evaluate.py",
            code="TL601", name="data-parallel"),
        fix(7, Verdict.NOT_MEASURABLE, 1.002, after=1.0, code="TL201", name="item-in-step-loop",
            alone=comparison(Verdict.NOT_MEASURABLE, 1.002, why=no_gpu)),
        fix(8, Verdict.NOT_MEASURABLE, 0.999, after=1.001, code="TL202",
            name="host-copy-in-step-loop",
            alone=comparison(Verdict.NOT_MEASURABLE, 0.999, why=no_gpu)),
    )  # fmt: skip
    return result(
        argv=("train.py", "--epochs", "1"),
        total=comparison(ratio=1.777, numerics=declared_),
        fixes=fixes,
        exit=1,
        summary="1 of 8 fixes is worth applying; TL304 is SLOWER and its numbers DIFFER.",
        notes=("The fix of TL103 at cells/data.py:40 overlaps another fix; apply that one first.",),
        side_effects=(
            SideEffect("create", "runs/2026-11-20/checkpoint.pt", kept=False, count=9),
            SideEffect("mkdir", "runs/2026-11-20", kept=False, count=9),
            SideEffect("connect", "127.0.0.1:6006", kept=True),
            SideEffect("upload", "wandb.init", kept=False, count=3),
        ),
        strips=strips(),
        lanes=lanes(),
        seconds=108.4,
    )


def many(count: int, *, verdict: Verdict = Verdict.NEUTRAL) -> Result:
    fixes = tuple(fix(number + 1, verdict, 1.001) for number in range(count))
    return result(fixes=fixes)


def crowded() -> Result:
    """More of everything than fits."""
    long = "a sentence that goes on and on " * 30
    fixes = tuple(
        fix(
            number,
            after=1.1,
            path=f"{'deep/' * 30}{number}.py",
            alone=comparison(Verdict.SLOWER, 0.9, why=f"{long}{number}"),
            hidden_by=long,
        )
        for number in range(1, 30)
    )
    return result(
        argv=("train.py", *["--word"] * 400),
        environment=environment(settings={f"NAME_{number}": "1" for number in range(90)}),
        plan=declared(step=long),
        aa=Noise(estimate(1.1), 0.2, fit=False, why=long, numerics=numerics()),
        fixes=(*fixes, fix(30)),
        summary=f"{long}\n" * 40,
        notes=(long,) * 40,
        side_effects=tuple(
            SideEffect("write", f"{'deep/' * 30}{kept}", kept) for kept in (True, False) * 20
        ),
    )
