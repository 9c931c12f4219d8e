"""Schemas of the formats that other programs read, and text that would break a careless one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest
import xmlschema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SCHEMAS = Path(__file__).parent / "schemas"

HOSTILE = {
    "commands": "a\nb\r\n::error file=x::y%0A##[error]",
    "markup": "</script><!-- ]]> &amp; &#0; <![CDATA[ <img src=x onerror=y>",
    "controls": "\x00\x01\x1b[2J\x07\x7f\x85\u2028",
    "undecodable": "caf\udce9 \ud800",
    "directions": "\u202e\u2066rtl\u200f\u061c",
    "quotes": '"\'`\\`"',
    "noncharacters": "\ufffe\uffff\ufdd0",
    "links": "[x](javascript:1) ![y](z) {0} {{1}} %SRCROOT%",
    "wide": "损失 𐐀 e\u0301",
    "long": "x" * 20_000,
    "blank": " ",
    "dots": "../../etc/passwd",
}


@pytest.fixture(params=HOSTILE.values(), ids=HOSTILE.keys())
def hostile(request: pytest.FixtureRequest) -> str:
    """Text as a file name or a message may hold it."""
    text = request.param
    assert isinstance(text, str)
    return text


@pytest.fixture(scope="session")
def read_json() -> Callable[[str, Iterable[str]], object]:
    """What lines of JSON hold, once they keep to a schema of this folder."""
    validators: dict[str, jsonschema.protocols.Validator] = {}

    def read(name: str, lines: Iterable[str]) -> object:
        if name not in validators:
            schema = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
            validators[name] = jsonschema.validators.validator_for(schema)(schema)
        text = "\n".join(lines)
        assert text.isascii()
        found = json.loads(text, object_pairs_hook=without_doubles)
        # No parser of UTF-8 takes a lone surrogate.
        json.dumps(found, ensure_ascii=False).encode()
        validators[name].validate(found)
        return found

    return read


def without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    assert len(found) == len(pairs)
    return found


@pytest.fixture(scope="session")
def junit_schema() -> xmlschema.XMLSchema:
    """What Jenkins' xUnit plugin takes."""
    return xmlschema.XMLSchema(str(SCHEMAS / "junit-10.xsd"))
