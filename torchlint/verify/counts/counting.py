"""Runs programs to count what their steps do. Nothing is timed here."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from torchlint.experiment.side_by_side import attempts
from torchlint.experiment.subject import AGAIN, ORIGINAL, Variant
from torchlint.runtime.decoding import MalformedError, converted
from torchlint.runtime.failures import Failed
from torchlint.runtime.probe.instrument_messages import CountsSeen, ReadsSeen, RecompilesSeen
from torchlint.runtime.probe.messages import WindowSeen
from torchlint.runtime.probe.played.cards import DEFAULT
from torchlint.runtime.probe.run_settings import SURVEY, WINDOW, PlayedDevice
from torchlint.runtime.run import Run
from torchlint.runtime.survey_reader import survey
from torchlint.verify.result import COUNTERS, Counters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torchlint.experiment.jobs import Jobs
    from torchlint.experiment.plan import DeclaredPlan
    from torchlint.runtime.probe.run_settings import Anchor
    from torchlint.runtime.run import Job
    from torchlint.runtime.survey_reader import Survey
    from torchlint.runtime.workspace import Workspace

_INSTRUMENTS: Final = ("reads", "recompiles", "counts")
_STEPS: Final = 10
_FEWEST: Final = 3
_STEPS_S: Final = 5.0
_COUNTING: Final = 4.0
"""Times its usual length takes a step that is counted."""
_NO_GPU: Final = "no GPU is used"
_NOT_PLAYED: Final = "no GPU is used, and the script does not run with one that is played"
_NOT_USED: Final = "no GPU is used, nor would one be"
_COPY: Final = "copy"
"""What a played GPU calls a copy."""
_BEFORE: Final = 2
"""Steps of a played GPU that it does not count."""
_UNSTEADY: Final = "the original differs from run to run"


@dataclass(frozen=True, slots=True)
class CountedSteps:
    """Which steps are counted: `steps`, after `skip` others."""

    skip: int
    steps: int

    @classmethod
    def of(cls, plan: DeclaredPlan, seen: Survey) -> CountedSteps | None:
        """Steps after the warm-up; None if the script ends before there is one."""
        affordable = int(_STEPS_S / max(seen.step_s, 1e-6))
        steps = max(_FEWEST, min(_STEPS, affordable))
        if seen.finished:
            steps = min(steps, seen.steps - 1 - plan.warmup)
        return cls(plan.warmup, steps) if steps > 0 else None

    def seconds(self, seen: Survey, programs: int, at_once: int) -> float:
        """How long it takes to count them in so many programs."""
        one = seen.start_s + (self.skip + _COUNTING * self.steps) * seen.step_s
        runs = 1 if seen.device == "cuda" else 2
        return runs * math.ceil(programs / at_once) * one


def count(
    jobs: Jobs,
    workspace: Workspace,
    variants: Sequence[Variant],
    steps: CountedSteps,
    *,
    anchor: Anchor | None,
    at_once: int,
    timeout_s: float,
) -> tuple[dict[str, Counters], list[Failed]]:
    """What a step of each variant does, and which runs failed. The original runs twice: what
    differs between its runs is nobody's."""

    def attempt(job: Job) -> Counters:
        return counters_of_run(job, workspace, timeout_s=timeout_s)

    wanted = (Variant(ORIGINAL), Variant(AGAIN), *variants)
    settings = {"skip": steps.skip, "steps": steps.steps, "instruments": _INSTRUMENTS}
    made = [jobs.job(each, WINDOW, anchor=anchor, **settings) for each in wanted]
    results = attempts(attempt, made, workspace, at_once=at_once)
    failed = [each for each in results if isinstance(each, Failed)]
    found = {
        variant.name: each
        for variant, each in zip(wanted, results, strict=True)
        if isinstance(each, Counters)
    }
    if ORIGINAL not in found or AGAIN not in found:
        return {}, failed
    if found[ORIGINAL].missing.get("bytes") == _NO_GPU:

        def ask(variants: Sequence[Variant]) -> list[Survey | Failed]:
            made = [_with_a_gpu(jobs, each, steps) for each in variants]
            return attempts(
                lambda job: survey(job, workspace, timeout_s=timeout_s),
                made,
                workspace,
                at_once=at_once,
            )

        found = _with_played_copies(found, [each for each in wanted if each.name in found], ask)
    original, again = found[ORIGINAL], found.pop(AGAIN)
    differing = [name for name in COUNTERS if original.of(name) != again.of(name)]
    return {name: without(each, differing) for name, each in found.items()}, failed


def _with_played_copies(
    found: Mapping[str, Counters],
    variants: Sequence[Variant],
    ask: Callable[[Sequence[Variant]], list[Survey | Failed]],
) -> dict[str, Counters]:
    """The counters with the bytes that a played GPU is asked to copy. If it is of no use to the
    original, the others are not tried."""
    originals, others = variants[:2], variants[2:]
    seen = ask(originals)
    first = with_copies(found[ORIGINAL], seen[0])
    if first.bytes is None:
        why = first.missing["bytes"]
        return {name: _without_bytes(each, why) for name, each in found.items()}
    seen += ask(others)
    return {
        each.name: with_copies(found[each.name], one)
        for each, one in zip(variants, seen, strict=True)
    }


def counters_of_run(job: Job, workspace: Workspace, *, timeout_s: float) -> Counters:
    """What the steps of a window do, of the first process that takes steps.

    Args:
        timeout_s: a run that sends nothing for this many seconds has failed.

    Raises:
        Failed: the script failed, or ended before a step of its window.
    """
    with Run(job, workspace) as run:
        run.greet(timeout_s)
        run.start()
        while True:
            peer, message = run.receive(timeout_s, "end its window of steps")
            if message.kind == "window" and peer.rank == 0:
                try:
                    return counters_of(message.read(WindowSeen))
                except MalformedError as error:
                    raise run.malformed(error) from error


def counters_of(window: WindowSeen) -> Counters:
    """Per step, and why what is missing is.

    Raises:
        MalformedError: it is not what these instruments send.
    """
    if window.steps < 1:
        raise MalformedError(f"a window of {window.steps} steps")
    found = window.found
    reads = converted(found.get("reads"), ReadsSeen, "reads")
    recompiles = converted(found.get("recompiles"), RecompilesSeen, "recompiles")
    counts = converted(found.get("counts"), CountsSeen, "counts")
    totals: dict[str, int | None] = {
        "reads": sum(each.calls for each in reads.reads),
        "recompiles": recompiles.frames,
        "kernels": counts.kernels,
        "allocations": counts.allocations,
        "batches": counts.batches,
        "operations": counts.operations,
        "bytes": counts.copied,
        "collectives": counts.collectives,
        "flops": counts.flops,
    }
    missing: dict[str, str] = {}
    if counts.why:
        missing = dict.fromkeys(("operations", "bytes", "collectives", "flops"), counts.why)
    if not counts.on_gpu:
        missing |= {"kernels": _NO_GPU, "bytes": _NO_GPU}
    elif counts.kernels is None:
        missing["kernels"] = "torch's profiler could not be used"
    if counts.allocations is None:
        missing["allocations"] = counts.why or "torch's allocator does not say"
    if not counts.has_ranks:
        missing["collectives"] = "there is one rank"
    if counts.flops is None:
        missing.setdefault("flops", "those of an operation are not known")
    per_step = {
        name: None if total is None or name in missing else total / window.steps
        for name, total in totals.items()
    }
    return Counters(steps=window.steps, missing=_ordered(missing), **per_step)


def with_copies(found: Counters, seen: Survey | Failed) -> Counters:
    """The same, with the bytes that a played GPU was asked to copy in a step."""
    if isinstance(seen, Failed) or not seen.rehearsed or seen.rehearsed[0].steps < 1:
        return _without_bytes(found, _NOT_PLAYED)
    rank = seen.rehearsed[0]
    if not rank.launches:
        return _without_bytes(found, _NOT_USED)
    size = sum(each.size for each in rank.calls if each.what == _COPY)
    missing = {name: why for name, why in found.missing.items() if name != "bytes"}
    return replace(found, bytes=size / rank.steps, missing=missing)


def _without_bytes(found: Counters, why: str) -> Counters:
    return replace(found, missing=_ordered(found.missing | {"bytes": why}))


def _with_a_gpu(jobs: Jobs, variant: Variant, steps: CountedSteps) -> Job:
    """A run with a GPU that is played. What is compiled runs as it is written, or would not be
    seen."""
    job = jobs.job(
        variant,
        SURVEY,
        played=PlayedDevice(DEFAULT),
        steps=steps.steps + _BEFORE,
        device="cpu",
    )
    return replace(job, environment={**job.environment, "TORCHDYNAMO_DISABLE": "1"})


def without(found: Counters, names: Sequence[str]) -> Counters:
    """The same, without those that differ between two runs of the original."""
    missing = found.missing | dict.fromkeys(names, _UNSTEADY)
    unknown: dict[str, Any] = dict.fromkeys(names)
    return replace(found, missing=_ordered(missing), **unknown)


def _ordered(missing: Mapping[str, str]) -> dict[str, str]:
    return {name: missing[name] for name in COUNTERS if name in missing}
