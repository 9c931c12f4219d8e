"""The file of a baseline: what is written reads well in a diff, and anything may be read."""

from __future__ import annotations

import contextlib
import json
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.config.settings import ConfigError
from torchlint.silence.baseline_file import decode, encode, read, write
from torchlint.silence.known_findings import BaselineEntry, EntryKey
from torchlint.silence.until import parse_date

if TYPE_CHECKING:
    from pathlib import Path

KEY = EntryKey("src/train.py", "TL201", "Trainer.step", "9b1cf20c3c0b7a55")
PLAIN = BaselineEntry(KEY, 2)
NOTED = BaselineEntry(
    KEY._replace(path="z.py", tier="hint"), 1, "vision", "später", date(2027, 1, 31)
)


def changed(**values: object) -> bytes:
    """A baseline of one entry with these keys changed; None takes one out."""
    whole: dict[str, Any] = {**json.loads(encode([PLAIN]))["entries"][0], **values}
    entry = {name: value for name, value in whole.items() if value is not None}
    return json.dumps({"version": 1, "entries": [entry]}).encode()


def refusal(data: bytes) -> str:
    with pytest.raises(ConfigError) as caught:
        decode(data)
    return caught.value.message


def test_one_entry_is_one_line_in_the_order_of_files() -> None:
    assert encode([NOTED, PLAIN]).decode() == (
        "{\n"
        '  "version": 1,\n'
        '  "entries": [\n'
        '    {"path": "src/train.py", "rule": "TL201", "scope": "Trainer.step", '
        '"fingerprint": "9b1cf20c3c0b7a55", "count": 2},\n'
        '    {"path": "z.py", "rule": "TL201", "scope": "Trainer.step", '
        '"fingerprint": "9b1cf20c3c0b7a55", "tier": "hint", "count": 1, '
        '"owner": "vision", "reason": "später", "expires": "2027-01-31"}\n'
        "  ]\n"
        "}\n"
    )


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    of_a_run = BaselineEntry(EntryKey("z.py", "TR201", "", "item"), 0, reason="log", most=0.5)
    for entries in ((), (PLAIN, NOTED), (PLAIN, of_a_run)):
        write(str(path), entries)
        assert read(str(path)) == entries


@pytest.mark.parametrize(
    "name",
    [
        "",
        'a"b\\c',
        "tab\there\nand",
        "é漢字",
        "\x1b[31m",
        "\u202egpj",
        "\u2028",
        "\udcff",
        "\U000e0041",
    ],
    ids=ascii,
)
def test_any_name_survives_and_hides_nothing_in_a_diff(name: str) -> None:
    entry = BaselineEntry(EntryKey(name, "TL201", name, "f"), 1, name)
    data = encode([entry])
    assert decode(data) == (entry,)
    assert all(line.isprintable() for line in data.decode().split("\n"))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"ownr": "me"}, "Entry 1 (TL201 in src/train.py) has an unknown key `ownr`; "
                         "the nearest known one is `owner`."),
        ({"count": 0}, "Entry 1 (TL201 in src/train.py): `count` must be a whole number"),
        ({"count": True}, "`count` must be"),
        ({"count": 1.0}, "`count` must be"),
        ({"count": 10**8}, "`count` must be"),
        ({"path": None}, "Entry 1: `path` must be a text"),
        ({"rule": ["TL201"]}, "Entry 1: `rule` must be a text"),
        ({"scope": 3}, "`scope` must be a text"),
        ({"owner": "x" * 1001}, "`owner` must be a text of at most 1,000 characters."),
        ({"tier": "loud"}, "`tier` must be one of default, hint, pedantic."),
        ({"tier": {}}, "`tier` must be one of"),
        ({"expires": "soon"}, "`expires` must be a date such as 2027-01-31."),
        ({"expires": "20270131"}, "`expires` must be a date"),
        ({"expires": 20270131}, "`expires` must be a date"),
        ({"rule": "TR201"}, "has an unknown key `fingerprint`"),
        ({"rule": "TR201", "fingerprint": None, "count": None, "most": 0}, "`most` must be a num"),
    ],
)  # fmt: skip
def test_a_wrong_entry_is_named(values: dict[str, object], expected: str) -> None:
    assert expected in refusal(changed(**values))


def test_a_number_of_many_digits_is_not_worked_out() -> None:
    data = changed(count=7).replace(b": 7", b": " + b"7" * 5_000)
    assert "`count` must be a whole number" in refusal(data)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "This is not valid JSON: "),
        (b"<<<<<<< HEAD\n", "This is not valid JSON: "),
        (b"\xff\xfe", "This is not valid JSON: "),
        (b"[" * 200_000, "This is not valid JSON: "),
        (b'{"version": 1, "entries": [' + b'{"path":' * 100_000, "This is not valid JSON: "),
        (b"[]", "This is not a baseline"),
        (b"{}", "This is not a baseline"),
        (b'{"version": 2, "later": []}', "The version of this baseline is not 1"),
        (b'{"version": {}}', "The version of this baseline is not 1"),
        (b'{"version": 1}', "`entries` must be a list."),
        (b'{"version": 1, "entrys": []}', "Unknown key `entrys`; the nearest known one is"),
        (b'{"version": 1, "entries": [7]}', "Entry 1 must be an object"),
    ],
)
def test_what_is_not_a_baseline_is_refused_with_a_short_sentence(
    data: bytes, expected: str
) -> None:
    said = refusal(data)
    assert said.startswith(expected)
    assert len(said) < 500


def test_the_same_entry_twice_is_refused() -> None:
    one = changed()
    line = json.dumps(json.loads(one)["entries"][0]).encode()
    twice = one.replace(b"[", b"[" + line + b",")
    assert refusal(twice).startswith("Entry 2 (TL201 in src/train.py) repeats another")


ODD = [None, True, 0, -1, 1.5, float("nan"), 10**30, "", "\0", "x" * 2000, [], [[]], {}, {"a": {}}]


@pytest.mark.parametrize("value", ODD, ids=lambda value: ascii(value)[:9])
@pytest.mark.parametrize("key", ["path", "rule", "scope", "fingerprint", "tier", "count",
                                 "owner", "reason", "expires"])  # fmt: skip
def test_no_value_breaks_the_reader(key: str, value: object) -> None:
    entry = {**json.loads(encode([NOTED]))["entries"][0], key: value}
    data = json.dumps({"version": 1, "entries": [entry]}).encode()
    with contextlib.suppress(ConfigError):
        decode(data)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate((16 << 20) + 1)
    with pytest.raises(ConfigError, match="over 16 MiB"):
        read(str(path))


@pytest.mark.parametrize("text", ["20270131", "2027-W05-1", "2027-1-31", "31.1.2027", ""])
def test_a_date_has_one_form(text: str) -> None:
    assert parse_date(text) is None
    assert parse_date("2027-01-31") == date(2027, 1, 31)
