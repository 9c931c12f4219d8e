from __future__ import annotations

import dataclasses
import json
import math
from enum import Enum
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from tests.report.verify.sample_results import (
    comparison,
    declared,
    environment,
    estimate,
    fix,
    full,
    lanes,
    numerics,
    result,
    rich,
)
from torchlint.experiment.rounds import BlockStrip
from torchlint.report.verify import verification_json as verify_json
from torchlint.runtime.sandbox.side_effects import SideEffect
from torchlint.runtime.survey import Lanes
from torchlint.verify.result import SCHEMA, Noise, Numerics, Result, Verdict
from torchlint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).parents[3] / "docs"
MEASURED = {
    "ratio", "ci", "verdict", "why", "numerics", "strict", "pairs", "blocks", "pairs_needed",
    "sd_between", "sd_within", "ms", "cpu_ratio", "memory_mb",
}  # fmt: skip


def closed(schema: Any) -> Any:
    """The schema without room for keys that it does not name."""
    if isinstance(schema, dict):
        found = {key: closed(value) for key, value in schema.items()}
        return found if "properties" not in found else {**found, "additionalProperties": False}
    return [closed(each) for each in schema] if isinstance(schema, list) else schema


SCHEMA_TEXT = json.loads((DOCS / "verify-schema.json").read_text(encoding="utf-8"))
STRICT = jsonschema.Draft202012Validator(closed(SCHEMA_TEXT))


def told(found: Result) -> dict[str, Any]:
    """The object that a program reads."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    parsed: dict[str, Any] = json.loads(verify_json.render(found), parse_constant=refuse)
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
        yield value + 1
    elif value is not None:
        yield value + "x"


def test_every_field_of_a_result_is_told() -> None:
    everything = full()
    before = verify_json.render(everything)
    count = 0
    for other in changes(everything):
        assert verify_json.render(other) != before, other
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

    # The nested comparison of `after` is the same class as that of `total`.
    assert {each for each in empties(full(), "") if not each.startswith(".fixes.after.")} == set()


@pytest.mark.parametrize("found", [full(), rich(), result()], ids=["full", "rich", "one"])
def test_the_object_is_what_the_schema_says(found: Result) -> None:
    STRICT.validate(told(found))


def test_the_schema_is_one_and_allows_new_keys() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA_TEXT)
    loose = jsonschema.Draft202012Validator(SCHEMA_TEXT)
    loose.validate({**told(full()), "new": 1})
    with pytest.raises(jsonschema.ValidationError):
        STRICT.validate({**told(full()), "new": 1})
    with pytest.raises(jsonschema.ValidationError):
        loose.validate({key: each for key, each in told(full()).items() if key != "aa"})


def test_every_missing_part_is_null_and_fits_the_schema() -> None:
    known = full()
    for plan, aa, total, fixes in product(*[(True, False)] * 4):
        found = told(
            result(
                plan=known.plan if plan else None,
                aa=known.aa if aa else None,
                total=known.total if total else None,
                fixes=known.fixes if fixes else (),
            )
        )
        STRICT.validate(found)
        assert (found["plan"] is not None, found["aa"] is not None) == (plan, aa)
        assert (found["total"] is not None, bool(found["fixes"])) == (total, fixes)


def test_what_was_not_measured_has_the_same_keys() -> None:
    empty = comparison(Verdict.NOT_EXERCISED, None)
    found = told(result(total=empty, fixes=(fix(alone=empty, after=1.0),)))
    assert set(found["total"]) == MEASURED
    assert found["total"]["ratio"] is found["total"]["ci"] is found["total"]["numerics"] is None
    assert set(found["fixes"][0]) > MEASURED
    assert set(found["fixes"][0]["after"]) == MEASURED
    assert set(found["aa"]) == MEASURED | {"fit", "floor"}
    STRICT.validate(found)


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


def test_the_order_of_keys_is_stable() -> None:
    text = verify_json.render(rich())
    assert text == verify_json.render(rich())
    found = told(rich())
    assert list(found)[:4] == ["schema", "tool", "version", "argv"]
    assert [found["schema"], found["tool"], found["version"]] == [SCHEMA, "torchlint", __version__]
    one = told(result(environment=environment(settings={"B": "1", "A": "2"})))
    assert list(one["environment"]["settings"]) == ["A", "B"]


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
    STRICT.validate(found)
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


def test_the_text_is_ascii_lines_that_a_person_can_read() -> None:
    hostile = "日本\ud800\x1b[2J\u202e\n"
    found = result(
        argv=(hostile,),
        notes=(hostile,),
        side_effects=(SideEffect("write", hostile, kept=True),),
        lanes=lanes(30),
    )
    text = verify_json.render(found)
    assert text.isascii()
    assert text.endswith("}\n")
    assert "\x1b" not in text
    assert told(found)["argv"] == [hostile]
    lines = text.splitlines()
    assert sum('"data": [' in line for line in lines) == 1
    assert next(line for line in lines if '"data": [' in line).count(",") == 30


@pytest.mark.parametrize("found", [full(), rich()], ids=["full", "rich"])
def test_the_page_about_the_object_names_every_key(found: Result) -> None:
    page = (DOCS / "verify-json.md").read_text(encoding="utf-8")
    named = {word for part in page.split("`")[1::2] for word in (part, *part.split())}

    def keys(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            for key, each in value.items():
                yield key
                yield from keys(each)
        elif isinstance(value, list):
            for each in value:
                yield from keys(each)

    assert set(keys(told(found))) - named == {"MALLOC_TOP_PAD_"}
