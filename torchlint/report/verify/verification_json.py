"""A verification for programs: one JSON object, as `docs/verify-json.md` describes it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from torchlint.experiment.intervals import Estimate
from torchlint.report.measured import measured_json
from torchlint.report.measured.measured_json import Json, Shape, laid_out, spliced
from torchlint.verify.result import (
    COUNTERS,
    SCHEMA,
    Comparison,
    Counters,
    FixMeasurement,
    Given,
    Noise,
    Numerics,
    Result,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def render(result: Result) -> str:
    """The object in ASCII, with a line end; the same result gives the same text."""
    return laid_out(document(result)) + "\n"


def document(result: Result) -> Json:
    """The object itself; losses have all of their digits."""
    return measured_json.document(result, SCHEMA, SHAPES)


def _noise(noise: Noise, keys: Json) -> Json:
    verdict = Verdict.NEUTRAL if noise.fit else Verdict.UNRESOLVED
    return {**spliced(keys, "estimate", Estimate), "verdict": verdict.value}


def _numerics(numerics: Numerics, keys: Json) -> Json:
    exact = {"losses": numerics.losses, "envelope": numerics.envelope}
    return {**keys, **{name: [_finite(pair) for pair in each] for name, each in exact.items()}}


def _finite(values: Sequence[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]


def _counters(counters: Counters, keys: Json) -> Json:
    """What was counted is exact."""
    return {**keys, **{name: _whole(counters.of(name)) for name in COUNTERS}}


def _whole(value: float | None) -> float | None:
    return int(value) if value is not None and float(value).is_integer() else value


def _given(_: Given, keys: Json) -> Json:
    """Without what only the command reads that is running."""
    return {name: value for name, value in keys.items() if name != "stdin"}


SHAPES: Final[Mapping[type, Shape]] = {
    Counters: _counters,
    Given: _given,
    Comparison: lambda _, keys: spliced(keys, "estimate", Estimate),
    Noise: _noise,
    Numerics: _numerics,
    FixMeasurement: lambda _, keys: spliced(keys, "alone", Comparison),
}
