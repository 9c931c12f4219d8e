"""What is particular to the JSON of `profile`; the rest is tested with that of `verify`."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING

from tests.report.measured.test_measured_json import told
from tests.report.profile.sample_profiles import (
    failed,
    finding,
    full,
    profile,
    read,
    rich,
    timing,
)
from tests.report.verify.sample_results import environment
from torchlint.profile import earlier_profile
from torchlint.profile.layer_table import Row
from torchlint.report.profile.profile_json import render

if TYPE_CHECKING:
    from torchlint.profile.profile_result import RunFinding


def test_a_finding_has_its_ceiling() -> None:
    first, *_, last = told(rich())["findings"]
    assert (first["share"], first["ceiling"]) == (0.35, 1.53846)
    assert (last["share"], last["ceiling"], last["path"], last["row"]) == (None, None, "", 0)
    assert told(full())["below"][0]["ceiling"] == 1.0101
    assert told(rich())["census"][0]["ceiling"] is None


def test_what_is_not_known_without_a_timed_step_is_null_and_not_zero() -> None:
    found = told(failed())
    for key in ("timing", "step", "limit", "small", "cut", "suppressed", "together"):
        assert found[key] is None, key
    assert (found["findings"], found["lanes"]) == ([], {})
    known = told(profile())
    assert (known["small"], known["suppressed"], known["together"]) == (0, 0, None)


def test_what_is_not_finite_is_null() -> None:
    nan, infinity = math.nan, math.inf
    found = profile(
        timing=timing(noise=nan, host_s=infinity),
        cut=nan,
        together=-infinity,
        seconds=infinity,
        costs={"layers": nan},
        lanes={"data": nan},
        layers=(Row("a", "B", nan, infinity, 1, ""),),
        environment=environment(load=(nan,)),
        findings=(finding(nan, values={"deep": [{"x": infinity}, (nan,)]}),),
    )
    parsed = told(found)
    assert parsed["timing"]["noise"] is parsed["timing"]["host_s"] is parsed["cut"] is None
    assert parsed["findings"][0]["share"] is parsed["findings"][0]["ceiling"] is None
    assert parsed["findings"][0]["values"] == {"deep": [{"x": None}, [None]]}


def test_measured_numbers_have_six_figures() -> None:
    third = 1 / 3
    parsed = told(
        profile(timing=timing(step_s=third / 100), findings=(finding(third, values={"x": third}),))
    )
    assert parsed["timing"]["step_s"] == 0.00333333
    assert parsed["findings"][0]["share"] == parsed["findings"][0]["values"]["x"] == 0.333333


def test_values_of_any_sort_are_plain_json() -> None:
    odd: RunFinding = read(values=MappingProxyType({1: {"a"}, "b": MappingProxyType({"c": True})}))
    assert told(profile(census=(odd,)))["census"][0]["values"] == {"1": "{'a'}", "b": {"c": True}}


def test_a_later_run_can_read_it() -> None:
    found = earlier_profile.decode(render(rich()).encode())
    assert found.timing.step_s == 0.0412
    assert [each.code for each in found.findings][:2] == ["TR101", "TR501"]
    assert len(found.findings) + len(found.census) == 7
