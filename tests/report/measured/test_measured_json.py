"""The JSON of `verify`, `profile` and `tune` keeps to its schema; what each says beside is in its room."""

from __future__ import annotations

import dataclasses
import json
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from tests.report.profile import sample_profiles as profiles
from tests.report.tune import sample_tunings as tunings
from tests.report.verify import sample_results as results
from torchlint.profile.profile_result import Profile
from torchlint.report.profile import profile_json
from torchlint.report.tune import tune_json
from torchlint.report.verify import verification_json
from torchlint.runtime.sandbox.side_effects import SideEffect
from torchlint.tune.tune_result import TuneResult
from torchlint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).parents[3] / "docs"
SAMPLES: dict[str, list[Any]] = {
    "verify": [results.full(), results.rich(), results.result()],
    "profile": [
        profiles.full(), profiles.rich(), profiles.profile(), profiles.failed(),
        profiles.crowded(), profiles.rehearsed(), Profile(("x.py",), 7, "", 1.0),
    ],
    "tune": [tunings.full(), tunings.tuning(), tunings.nothing_helps(), tunings.failed()],
}  # fmt: skip
RENDERERS: dict[str, Any] = {
    "verify": verification_json.render,
    "profile": profile_json.render,
    "tune": tune_json.render,
}
EMPTY = {
    "verify": {".fixes.after.why", ".fixes.after.estimate.pairs_needed",
               ".fixes.after.numerics.why", ".fixes.after.numerics.first_step",
               ".fixes.after.numerics.envelope_ratio", ".fixes.after.counters",
               ".fixes.after.less_work"},
    "profile": {".census.share", ".census.made", ".typical.name", ".typical.path", ".trace.name",
                ".trace.path"},
    "tune": {".changes.why", ".changes.alone", ".changes.adds", ".changes.ceiling"},
}  # fmt: skip
COMMANDS = pytest.mark.parametrize("command", SAMPLES)


def schema_of(command: str) -> Any:
    return json.loads((DOCS / f"{command}-schema.json").read_text(encoding="utf-8"))


def exact(schema: Any) -> Any:
    """The schema with all keys that it names, and no others."""
    if isinstance(schema, list):
        return [exact(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: exact(value) for key, value in schema.items()}
    if "properties" in found:
        found |= {"additionalProperties": False, "required": [*found["properties"]]}
    return found


def told(result: Any) -> dict[str, Any]:
    """The object that a program reads."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    names = {Profile: "profile", TuneResult: "tune"}
    text = RENDERERS[names.get(type(result), "verify")](result)
    parsed: dict[str, Any] = json.loads(text, parse_constant=refuse)
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
    elif isinstance(value, Enum):
        yield next(each for each in type(value) if each is not value)
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield value + (1 if isinstance(value, int) else 0.5)
    elif value is not None:
        yield value + "x"


@COMMANDS
def test_every_field_is_told(command: str) -> None:
    everything = SAMPLES[command][0]
    if command == "profile":
        everything = dataclasses.replace(everything, trace=())  # in a file of its own
    before = RENDERERS[command](everything)
    count = 0
    for other in changes(everything):
        if command == "verify" and other.given.stdin:  # only for the command that is running
            continue
        assert RENDERERS[command](other) != before, other
        count += 1
    assert count > 150


@COMMANDS
def test_no_field_of_the_full_sample_is_empty(command: str) -> None:
    def empties(value: Any, name: str) -> Iterator[str]:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            for field in dataclasses.fields(value):
                yield from empties(getattr(value, field.name), f"{name}.{field.name}")
        elif isinstance(value, tuple):
            for each in value:
                yield from empties(each, name)
        if value is None or value in ("", (), {}):
            yield name

    assert set(empties(SAMPLES[command][0], "")) == EMPTY[command]


@pytest.mark.parametrize(
    ("command", "result"),
    [(command, each) for command, samples in SAMPLES.items() for each in samples],
)
def test_the_object_has_exactly_the_keys_of_the_schema(command: str, result: Any) -> None:
    jsonschema.Draft202012Validator(exact(schema_of(command))).validate(told(result))


@COMMANDS
def test_the_schema_is_one_and_allows_new_keys(command: str) -> None:
    schema, known = schema_of(command), told(SAMPLES[command][0])
    jsonschema.Draft202012Validator.check_schema(schema)
    loose = jsonschema.Draft202012Validator(schema)
    loose.validate({**known, "new": 1})
    for key in known:
        with pytest.raises(jsonschema.ValidationError):
            loose.validate({name: each for name, each in known.items() if name != key})


@COMMANDS
def test_the_text_begins_with_its_schema_and_is_stable(command: str) -> None:
    result = SAMPLES[command][1]
    assert RENDERERS[command](result) == RENDERERS[command](result)
    head = [(key, each) for key, each in told(result).items() if key != "command"][:3]
    assert head == [("schema", 1), ("tool", "torchlint"), ("version", __version__)]


@COMMANDS
def test_the_text_is_ascii_lines_that_a_person_can_read(command: str) -> None:
    hostile = "日本\ud800\x1b[2J\u202e\n"
    effects = (SideEffect("write", hostile, kept=True),)
    lanes: dict[str, Any] = {
        "verify": {"lanes": results.lanes(30)},
        "profile": {"lanes": profiles.LANES},
    }
    result = dataclasses.replace(
        SAMPLES[command][2],
        argv=(hostile,),
        notes=(hostile,),
        side_effects=effects,
        **lanes.get(command, {}),
    )
    text = RENDERERS[command](result)
    assert text.isascii()
    assert text.endswith("}\n")
    assert "\x1b" not in text
    assert told(result)["argv"] == told(result)["notes"] == [hostile]
    if command in lanes:
        (lane,) = (line for line in text.splitlines() if '"data": ' in line)
        assert lane.count(",") == (30 if command == "verify" else 5)
