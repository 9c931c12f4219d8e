"""A verification for programs: one JSON object, as `docs/verify-json.md` describes it."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from torchlint.report.measured.measured_json import Json, laid_out, rounded
from torchlint.verify.result import SCHEMA, Verdict
from torchlint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.experiment.intervals import Estimate
    from torchlint.experiment.machine import Environment
    from torchlint.experiment.rounds import BlockStrip
    from torchlint.verify.result import Comparison, FixResult, Noise, Numerics, Result

_MEASURED: Final = (
    "ratio",
    "ci",
    "strict",
    "pairs",
    "blocks",
    "pairs_needed",
    "sd_between",
    "sd_within",
    "ms",
    "cpu_ratio",
    "memory_mb",
)


def render(result: Result) -> str:
    """The object in ASCII, with a line end; the same result gives the same text."""
    return laid_out(document(result)) + "\n"


def document(result: Result) -> Json:
    """The object itself: nothing in it but dicts, lists, strings, numbers, booleans and None.

    Measured numbers have six significant digits, losses all of theirs; what is not a finite
    number is None.
    """
    return {
        "schema": SCHEMA,
        "tool": "torchlint",
        "version": __version__,
        "argv": list(result.argv),
        "given": None if result.given is None else _lists(asdict(result.given)),
        "exit": result.exit,
        "summary": result.summary,
        "seconds": rounded(result.seconds),
        "environment": _environment(result.environment),
        "plan": None if result.plan is None else _lists(asdict(result.plan)),
        "aa": None if result.aa is None else _noise(result.aa),
        "total": None if result.total is None else _comparison(result.total),
        "fixes": [_fix(fix) for fix in result.fixes],
        "notes": list(result.notes),
        "unreached": list(result.unreached),
        "side_effects": [asdict(effect) for effect in result.side_effects],
        "lanes": {lane: _numbers(times) for lane, times in asdict(result.lanes).items()},
        "strips": [_strip(strip) for strip in result.strips],
        "diff": result.diff,
        "sources": dict(sorted(result.sources.items())),
    }


# parts -------------------------------------------------------------------------------------


def _environment(environment: Environment) -> Json:
    return {
        "torch": environment.torch,
        "python": environment.python,
        "device": environment.device,
        "threads": environment.threads,
        "processors": environment.processors,
        "nodes": list(environment.nodes),
        "processor": environment.processor,
        "processes": environment.processes,
        "load": _numbers(environment.load),
        "sandbox": environment.sandbox,
        "settings": dict(sorted(environment.settings.items())),
        "gpu": None if environment.gpu is None else dict(sorted(environment.gpu.items())),
    }


def _noise(noise: Noise) -> Json:
    verdict = Verdict.NEUTRAL if noise.fit else Verdict.UNRESOLVED
    return _judged(noise, verdict, {"fit": bool(noise.fit), "floor": rounded(noise.floor)})


def _comparison(comparison: Comparison) -> Json:
    return _judged(comparison, comparison.verdict, {})


def _judged(found: Noise | Comparison, verdict: Verdict, more: Json) -> Json:
    estimate = _estimate(found.estimate)
    return {
        "ratio": estimate.pop("ratio"),
        "ci": estimate.pop("ci"),
        "verdict": verdict.value,
        "why": found.why,
        **more,
        **estimate,
        "numerics": None if found.numerics is None else _numerics(found.numerics),
    }


def _fix(fix: FixResult) -> Json:
    return {
        "id": fix.id,
        "code": fix.code,
        "name": fix.name,
        "applicability": fix.applicability,
        "message": fix.message,
        "places": [asdict(place) for place in fix.places],
        **_comparison(fix.alone),
        "after": None if fix.after is None else _comparison(fix.after),
        "hidden_by": fix.hidden_by,
        "diff": fix.diff,
    }


def _estimate(estimate: Estimate | None) -> Json:
    """The same keys whether anything was measured or not."""
    if estimate is None:
        return dict.fromkeys(_MEASURED)
    return {name: _measured(getattr(estimate, name)) for name in _MEASURED}


def _numerics(numerics: Numerics) -> Json:
    return {
        "agreement": numerics.agreement.value,
        "why": numerics.why,
        "steps": numerics.steps,
        "first": numerics.first,
        "level": numerics.level,
        "first_step": numerics.first_step,
        "largest": rounded(numerics.largest),
        "envelope_ratio": rounded(numerics.envelope_ratio),
        "losses": [[_finite(loss) for loss in pair] for pair in numerics.losses],
        "envelope": [[_finite(end) for end in ends] for ends in numerics.envelope],
    }


def _strip(strip: BlockStrip) -> Json:
    seconds = {name: _numbers(values) for name, values in strip.seconds.items()}
    return {"pair": strip.pair, "seconds": seconds}


# numbers -----------------------------------------------------------------------------------


def _lists(values: Json) -> Json:
    return {key: list(each) if isinstance(each, tuple) else each for key, each in values.items()}


def _measured(value: float | tuple[float, ...] | None) -> object:
    if isinstance(value, tuple):
        return _numbers(value)
    return value if isinstance(value, int) else rounded(value)


def _numbers(values: Iterable[float]) -> list[float | None]:
    return [rounded(value) for value in values]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
