"""What is particular to the JSON of `verify`; the rest is tested with that of `profile`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.report.measured.test_measured_json import told
from tests.report.verify.sample_results import (
    comparison,
    counters,
    declared,
    estimate,
    fix,
    full,
    numerics,
    result,
    rich,
)
from torchlint.experiment.rounds import BlockStrip
from torchlint.runtime.probe.messages import Lanes
from torchlint.verify.result import Noise, Numerics, Result, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[3] / "docs" / "verify-json.md"


def test_what_was_not_measured_has_the_same_keys() -> None:
    empty = comparison(Verdict.NOT_EXERCISED, None)
    nothing, known = told(result(total=empty, fixes=(fix(alone=empty, after=1.0),))), told(full())
    assert nothing["total"].keys() == known["total"].keys() == known["fixes"][0]["after"].keys()
    assert nothing["fixes"][0].keys() == known["fixes"][0].keys() > known["total"].keys()
    of_changes = {"counters", "less_work"}
    assert nothing["aa"].keys() == (known["total"].keys() - of_changes) | {"fit", "floor", "clocks"}
    assert (
        nothing["total"]["ratio"] is nothing["total"]["ci"] is nothing["total"]["numerics"] is None
    )


def test_the_keys_of_a_fix_are_about_the_fix_alone() -> None:
    found = told(rich())["fixes"][1]
    assert (found["id"], found["ratio"], found["after"]["ratio"]) == (
        "TL301:cells/models/residual.py",
        1.197,
        1.014,
    )
    assert (found["verdict"], found["numerics"]["agreement"]) == ("CONFIRMED", "equal to rounding")
    assert found["places"] == [{"path": "cells/models/residual.py", "row": 21, "exercised": True}]


@pytest.mark.parametrize(("fit", "verdict"), [(True, "NEUTRAL"), (False, "UNRESOLVED")])
def test_the_original_against_itself_is_never_faster(fit: bool, verdict: str) -> None:
    aa = told(result(aa=Noise(estimate(1.3), 0.1, fit=fit)))["aa"]
    assert (aa["verdict"], aa["fit"], aa["ratio"]) == (verdict, fit, 1.3)


def test_what_is_not_finite_is_null() -> None:
    nan = math.nan
    bad = estimate(nan, ci=(-math.inf, math.inf), strict=(nan, nan), ms=(nan, 1.0), cpu_ratio=nan)
    numbers = Numerics(
        numerics().agreement,
        largest=math.inf,
        envelope_ratio=nan,
        losses=((nan, 1.0),),
        envelope=((-math.inf, math.inf),),
    )
    found = told(
        result(
            aa=Noise(bad, nan, fit=False),
            total=comparison(estimate=bad, numerics=numbers),
            fixes=(),
            plan=declared(budget_s=None),
            strips=(BlockStrip(0, {"original": (nan, 0.1)}),),
            lanes=Lanes(data=(nan,)),
        )
    )
    assert found["total"]["ci"] == [None, None]
    assert found["total"]["numerics"]["losses"] == [[None, 1.0]]
    assert found["strips"] == [{"pair": 0, "seconds": {"original": [None, 0.1]}}]


def test_measured_numbers_are_short_and_losses_exact() -> None:
    third, loss = 1 / 3, 2.302585092994046
    numbers = Numerics(numerics().agreement, largest=third, losses=((loss, loss),))
    found = told(result(total=comparison(estimate=estimate(4 * third), numerics=numbers)))
    assert found["total"]["ratio"] == 1.33333
    assert found["total"]["numerics"]["largest"] == 0.333333
    assert found["total"]["numerics"]["losses"] == [[loss, loss]]


def test_what_was_counted_is_exact() -> None:
    found = told(result(counters=counters(flops=123456789, reads=1 / 3)))["counters"]
    assert (found["flops"], found["reads"], found["operations"]) == (123456789, 1 / 3, 412.5)


@pytest.mark.parametrize("found", [full(), rich()], ids=["full", "rich"])
def test_the_page_about_the_object_names_every_key(found: Result) -> None:
    named = {
        word
        for part in PAGE.read_text(encoding="utf-8").split("`")[1::2]
        for word in (part, *part.split())
    }

    def keys(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            for key, each in value.items():
                yield key
                yield from keys(each)
        elif isinstance(value, list):
            for each in value:
                yield from keys(each)

    assert set(keys(told(found))) - named == {"MALLOC_TOP_PAD_"}
