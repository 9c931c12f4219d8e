"""Profiles as the reports get them, without running anything."""

from __future__ import annotations

from dataclasses import replace

from tests.report.verify.sample_results import environment
from torchlint.profile.evidence import Timing
from torchlint.profile.layer_table import Row
from torchlint.profile.profile_result import (
    Broken,
    Budgeted,
    Change,
    Compared,
    Line,
    Profile,
    Rehearsal,
    RehearsedLine,
    RehearsedPart,
    RunFact,
    RunFinding,
    Static,
)
from torchlint.profile.ranks import Rank
from torchlint.profile.step_timeline import Span
from torchlint.profile.sweep import Sweep, Tried
from torchlint.runtime.sandbox.side_effects import SideEffect

SPANS = (
    Span("step", "", 0.0, 0.01),
    Span("data", "", 0.0, 0.001, "train.py", 10),
    Span("forward", "", 0.002, 0.003, "train.py", 12),
    Span("read", "item", 0.004, 0.0005, "net.py", 30),
    Span("backward", "", 0.005, 0.005, "train.py", 13),
)
LANES = {"data": 0.35, "forward": 0.2, "backward": 0.3, "optimizer": 0.1, "other": 0.05}


def timing(**changes: object) -> Timing:
    known = Timing(
        step_s=0.0412,
        noise=0.018,
        steps=30,
        warmup=12,
        cpu_s=0.05,
        host_s=0.0389,
        growth_s=1e-5,
    )
    return replace(known, **changes)  # type: ignore[arg-type]


def static(code: str = "TL201", row: int = 88, **changes: object) -> Static:
    known = Static(code, "item-in-step-loop", "train.py", row, "default", "confirmed", has_fix=True)
    return replace(known, **changes)  # type: ignore[arg-type]


def finding(share: float | None = 0.1, **changes: object) -> RunFinding:
    known = RunFinding(
        code="TR101",
        name="input-wait",
        path="cells/data.py",
        row=31,
        fact="4 of 10 ms a step in `next(loader)`; 0 workers, 16 cores",
        action="let workers load (`--sweep workers`)",
        share=share,
        census=False,
        values={"wait_ms": 4.0, "workers": 0},
    )
    return replace(known, **changes)  # type: ignore[arg-type]


def read(row: int = 88, per_step: float = 3.0, **changes: object) -> RunFinding:
    """A read of the census."""
    known = finding(
        None,
        code="TR201",
        name="host-read",
        path="train.py",
        row=row,
        fact=f"{per_step:g} read{'' if per_step == 1 else 's'} a step (`item`)",
        action="keep the value on the device, and read it every hundred steps",
        census=True,
        values={"kinds": {"item": per_step}},
    )
    return replace(known, **changes)


def profile(**changes: object) -> Profile:
    """A script without a finding, on a small machine."""
    known = Profile(
        argv=("train.py",),
        exit=0,
        summary="",
        seconds=31.2,
        environment=environment(),
        timing=timing(),
        step="AdamW.step",
        limit="processor: the script keeps 1.9 of 2 processors busy (data 35%, backward 30%, forward 20%)",
        cut=0.03,
        costs={"reads, shapes, gradients": 1.31, "layers": 1.08},
        lanes=LANES,
    )
    return replace(known, **changes)  # type: ignore[arg-type]


def rich() -> Profile:
    """A profile with something in every part of a report."""
    return profile(
        argv=("train.py", "--epochs", "1"),
        findings=(
            finding(0.35),
            finding(
                0.2,
                code="TR501",
                name="recomputed",
                path="cells/models/residual.py",
                row=54,
                fact="blocks.* run again in the backward pass, 9.2 ms a step",
                action="keep the activations if the memory is there",
                static=(static("TL509", 54, path="cells/models/residual.py", has_fix=False),),
            ),
            finding(
                0.06,
                code="TR702",
                name="python-residue",
                path="train.py",
                row=91,
                fact="print takes 2.5 ms a step",
                action="do it every hundred steps",
                static=(static("TL204", 91, tier="hint"),),
            ),
            finding(
                None,
                code="TR401",
                name="unused-gradient",
                path="",
                row=0,
                fact="4 parameter tensors (8,192 values) never get a gradient: head",
                action="freeze them, or leave them out",
            ),
        ),
        census=(
            read(88, 3.0, static=(static(),)),
            read(95, 1.0),
            read(17, 0.2, path="cells/metrics.py", fact="1 read in 5 steps (`float`)"),
        ),
        small=4,
        suppressed=1,
        together=2.13,
        not_measured=("recompiles (nothing is compiled)", "pauses (left out by --only)"),
        layers=(
            Row("stem.conv", "Conv2d", 0.41, 1.0, 9_408, "16, 64, 112, 112"),
            Row("encoder.blocks.0.attention", "MultiheadAttention", 0.17, 1.0, 1_050_624, ""),
            Row("head", "Linear", 0.04, 1.0, 513_000, "16, 1000"),
        ),
        static=(
            static(row=88, status="ran"),
            static(
                "TL304", 12, name="cudnn-benchmark-missing", status="not reached", has_fix=False
            ),
        ),
        side_effects=(
            SideEffect("create", "runs/checkpoint.pt", kept=False, count=9),
            SideEffect("connect", "127.0.0.1:6006", kept=True),
        ),
        notes=("The script draws its batches at random.",),
    )


def rehearsal(**changes: object) -> Rehearsal:
    known = Rehearsal(
        card="NVIDIA A100-SXM4-80GB",
        devices=1,
        steps=10,
        skipped=2,
        waits=3.0,
        before_backward=1.0,
        idle=0.5,
        copies=2.0,
        copied=2400.0,
        awaited_copies=1.0,
        launches=312.0,
        small=0.4,
        flops={"bfloat16": 4200.0},
        traffic=8000.0,
        exchanged=1000.0,
        bounds={"arithmetic": 0.0135, "memory": 0.004, "launches": 0.0016},
        memory={
            "peak": 12 << 30,
            "parameters": 1 << 30,
            "gradients": 1 << 30,
            "optimizer": 2 << 30,
            "rest": 8 << 30,
            "card": 80 << 30,
        },
        fullest=Line("net.py", 33),
        lines=(
            RehearsedLine("net.py", 33, 40.0, 0.0, 0.0, 0.0, 0.0),
            RehearsedLine("train.py", 84, 2.0, 1.0, 2.0, 2400.0, 0.0),
            RehearsedLine("train.py", 88, 1.0, 2.0, 0.0, 0.0, 0.0),
            RehearsedLine("train.py", 89, 0.0, 0.0, 0.0, 0.0, 0.5),
        ),
        ran={"train.py": (80, 84, 88)},
        files={"train.py": "0" * 64},
        used=True,
        strip=(
            RehearsedPart("copy", "train.py", 84, 2, 0),
            RehearsedPart("launch", "net.py", 33, 40, 6 << 30),
            RehearsedPart("wait", "train.py", 88, 1, 0),
            RehearsedPart("launch", "train.py", 90, 80, 12 << 30),
        ),
    )
    return replace(known, **changes)  # type: ignore[arg-type]


def rehearsed(**changes: object) -> Profile:
    """What a rehearsal has found."""
    known = Profile(
        argv=("train.py",),
        exit=0,
        summary="",
        seconds=6.0,
        findings=(
            finding(
                None,
                code="TR201",
                name="host-read",
                path="train.py",
                row=88,
                fact="2 reads a step (`item`), before backward, with 120 operations in the queue",
                action="keep the value on the device, and read it every hundred steps",
                values={"kinds": {"item": 2.0}, "before_backward": 2.0, "queued": 240.0},
                static=(static(),),
                rules=("TL201",),
            ),
        ),
        static=(static(), static(row=99, status="contradicted")),
        command="rehearse",
        rehearsal=rehearsal(),
        date="2026-07-01",
        watched=("TR201", "TR202"),
    )
    return replace(known, **changes)  # type: ignore[arg-type]


def full() -> Profile:
    """A profile in which no field is empty."""
    made = Line("cells/train.py", 12)
    loader = static("TL101", 12, path="cells/train.py")
    both = finding(0.35, static=(loader,), rules=("TL101",), made=made)
    change = Change("TR101", "cells/data.py", 31, before=0.2, now=0.3)
    return replace(
        rich(),
        options=("--nproc-per-node", "2"),
        environment=environment(
            device="cuda", gpu={"name": "A GPU"}, processes=2, nodes=("a", "b")
        ),
        timing=timing(ranks=(0.04, 0.041)),
        ranks=(Rank(1, "b", 0.041, 0.004, 0.003, 0.034, 2.0),),
        summary="Stopped; this is what was known until then.",
        exit=130,
        findings=(both,),
        census=(read(static=(static(),), rules=("TL201",)),),
        below=(replace(both, share=0.01),),
        static=(static(),),
        typical=SPANS,
        trace=SPANS,
        facts=(
            RunFact(
                "TR503",
                "memory",
                "12.5 of 79 GiB at most, in `backward`",
                {"phases": {"forward": 6400.0, "backward": 12800.0}},
            ),
        ),
        layers=(Row("stem", "Conv2d", 0.4, 1.0, 9_408, "16, 64", 1500.0, "net.py", 9),),
        date="2026-07-01",
        sweep=Sweep("--batch-size", (Tried(32, 0.02, 0.01), Tried(64, 0.03, 0.01)), 64),
        watched=("TR101", "TR201"),
        unwatched=("TR301",),
        compared=Compared(
            "2026-06-01", 0.05, 0.02, 1.21, True, ("torch 2.12.0, now 2.13.0",), ("TR301",),
            (change,), (change,), (change,), (3.0, 2.0),
        ),
        budget=Budgeted(
            "torchlint-baseline.json", 3, (Broken("new", "TR201", "train.py", 88, "It is new."),)
        ),
        rehearsal=rehearsal(),
    )  # fmt: skip


def failed() -> Profile:
    """A script that failed before its step was timed."""
    trace = "\n".join(f"line {number} of a traceback" for number in range(20))
    return Profile(
        argv=("train.py",),
        exit=4,
        summary=f"The script failed: ValueError: no data\n{trace}",
        seconds=2.0,
    )


def crowded() -> Profile:
    """More of everything than fits."""
    long = "a sentence that goes on and on " * 30
    deep = "deep/" * 30
    findings = tuple(
        finding(0.9 / number, fact=long, action=long, path=f"{deep}{number}.py", static=(static(),))
        for number in range(1, 30)
    )
    return replace(
        rich(),
        argv=("train.py", *["--word"] * 400),
        summary=f"{long}\n" * 40,
        limit=long,
        findings=findings,
        census=tuple(read(row, path=f"{deep}train.py", fact=long) for row in range(1, 30)),
        not_measured=(long,) * 9,
        facts=(RunFact("TR303", "kernels", long),) * 4,
        layers=tuple(Row(f"{deep}{n}", "C" * 90, 0.1, 1.0, 10**12, "1, " * 90) for n in range(30)),
        static=tuple(
            static(row=row, status="not reached", path=f"{deep}x.py") for row in range(1, 41)
        ),
        costs={long: 1.4},
        side_effects=tuple(SideEffect("write", f"{deep}{n}", kept=True) for n in range(40)),
        notes=(long,) * 9,
    )
