"""A search for programs: one JSON object, as `docs/tune-json.md` describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.report.measured import measured_json
from torchlint.report.measured.measured_json import Json, Shape, laid_out
from torchlint.report.verify import verification_json
from torchlint.tune.tune_result import SCHEMA, TuneResult

if TYPE_CHECKING:
    from collections.abc import Mapping


def render(result: TuneResult) -> str:
    """The object in ASCII, with a line end; the same result gives the same text."""
    return laid_out(document(result)) + "\n"


def document(result: TuneResult) -> Json:
    """The object itself."""
    return measured_json.document(result, SCHEMA, _SHAPES)


_SHAPES: Final[Mapping[type, Shape]] = verification_json.SHAPES
