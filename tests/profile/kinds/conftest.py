"""What the tests of kinds share: evidence made by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from tests.profile.conftest import survey, timing
from torchlint.profile.evidence import Evidence, Window
from torchlint.runtime.decoding import Message

if TYPE_CHECKING:
    from collections.abc import Mapping


class MakeEvidence(Protocol):
    def __call__(self, found: Mapping[str, Mapping[str, Any]], **more: Any) -> Evidence: ...


@pytest.fixture
def evidence() -> MakeEvidence:
    """`evidence({"reads": {…}}, step_s={"reads": 0.02}, device="cuda", processors=4)`.

    What an instrument found goes through JSON, as from a run. Windows are of 100 steps, which take
    as long as those of the timing run, 10 ms, unless `step_s` says otherwise for an instrument.
    Other keywords are those of `Evidence`, and `device`.
    """

    def make(
        found: Mapping[str, Mapping[str, Any]],
        *,
        step_s: Mapping[str, float] | None = None,
        device: str = "cpu",
        **more: Any,
    ) -> Evidence:
        clock = more.pop("timing", timing())
        seconds = {name: 100 * (step_s or {}).get(name, clock.step_s) for name in found}
        windows = {
            name: Window(100, seconds[name], Message(name, json.loads(json.dumps(each))))
            for name, each in found.items()
        }
        return Evidence(survey(device=device), clock, windows, **more)

    return make
