from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from tests.report.profile.sample_profiles import (
    crowded,
    failed,
    finding,
    full,
    profile,
    read,
    rich,
    timing,
)
from tests.report.verify.sample_results import environment
from torchlint.profile import earlier_profile as written
from torchlint.profile.layers import Row
from torchlint.profile.result import SCHEMA, Profile, RunFinding
from torchlint.report.profile.profile_json import render
from torchlint.runtime.sandbox.side_effects import SideEffect
from torchlint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA_TEXT = json.loads(
    (Path(__file__).parents[3] / "docs" / "profile-schema.json").read_text(encoding="utf-8")
)


def closed(schema: Any) -> Any:
    """The schema without room for keys that it does not name."""
    if isinstance(schema, dict):
        found = {key: closed(value) for key, value in schema.items()}
        return found if "properties" not in found else {**found, "additionalProperties": False}
    return [closed(each) for each in schema] if isinstance(schema, list) else schema


STRICT = jsonschema.Draft202012Validator(closed(SCHEMA_TEXT))


def told(found: Profile) -> dict[str, Any]:
    """The object that a program reads."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    parsed: dict[str, Any] = json.loads(render(found), parse_constant=refuse)
    return parsed


def changes(value: Any) -> Iterator[Any]:
    """The value with one thing in it changed, for each thing in it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            for other in changes(getattr(value, field.name)):
                yield dataclasses.replace(value, **{field.name: other})
    elif isinstance(value, tuple):
        for at, each in enumerate(value):
            for other in changes(each):
                yield (*value[:at], other, *value[at + 1 :])
    elif isinstance(value, dict):
        for key, each in value.items():
            for other in changes(each):
                yield {**value, key: other}
            yield {("x" + name if name == key else name): it for name, it in value.items()}
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield value + 0.5 if isinstance(value, float) else value + 1
    elif value is not None:
        yield value + "x"


def test_every_field_of_a_profile_is_told() -> None:
    everything = dataclasses.replace(full(), trace=())  # in a file of its own
    before = render(everything)
    count = 0
    for other in changes(everything):
        assert render(other) != before, other
        count += 1
    assert count > 150


def test_no_field_of_the_full_sample_is_empty() -> None:
    def empties(value: Any, name: str) -> Iterator[str]:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            for field in dataclasses.fields(value):
                yield from empties(getattr(value, field.name), f"{name}.{field.name}")
        elif isinstance(value, tuple):
            for each in value:
                yield from empties(each, name)
        if value is None or value in ("", (), {}):
            yield name

    assert set(empties(full(), "")) == {
        ".census.share", ".census.made",
        ".typical.name", ".typical.path", ".trace.name", ".trace.path",
    }  # fmt: skip


@pytest.mark.parametrize(
    "found",
    [full(), rich(), profile(), failed(), crowded(), Profile(("x.py",), 7, "", 1.0)],
    ids=["full", "rich", "one", "failed", "crowded", "least"],
)
def test_the_object_is_what_the_schema_says(found: Profile) -> None:
    STRICT.validate(told(found))


def test_the_schema_is_one_and_allows_new_keys() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA_TEXT)
    loose = jsonschema.Draft202012Validator(SCHEMA_TEXT)
    loose.validate({**told(full()), "new": 1})
    for key in told(full()):
        with pytest.raises(jsonschema.ValidationError):
            loose.validate({name: each for name, each in told(full()).items() if name != key})


def test_the_order_of_keys_is_stable() -> None:
    assert render(rich()) == render(rich())
    found = told(rich())
    assert list(found)[:5] == ["schema", "tool", "version", "command", "argv"]
    assert [found[key] for key in list(found)[:4]] == [SCHEMA, "torchlint", __version__, "profile"]
    assert list(found["lanes"]) == ["data", "forward", "backward", "optimizer", "other"]


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
    STRICT.validate(told(found))
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


def test_the_text_is_ascii_lines_that_a_person_can_read() -> None:
    hostile = "日本\ud800\x1b[2J\u202e\n"
    found = profile(
        argv=(hostile,),
        findings=(finding(fact=hostile, path=hostile, values={hostile: hostile}),),
        side_effects=(SideEffect("write", hostile, kept=True),),
    )
    text = render(found)
    assert text.isascii()
    assert text.endswith("}\n")
    assert "\x1b" not in text
    assert told(found)["findings"][0]["values"] == {hostile: hostile}
    assert sum('"lanes": {"data"' in line for line in text.splitlines()) == 1


def test_a_later_run_can_read_it() -> None:
    found = written.decode(render(rich()).encode())
    assert found.step_s == 0.0412
    assert [each.code for each in found.findings][:2] == ["TR101", "TR501"]
    assert len(found.findings) == 7
