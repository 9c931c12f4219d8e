"""The file of a baseline: JSON with one entry on each line, sorted, so that a diff reads well.

    {"version": 1, "entries": [
      {"path": "train.py", "rule": "TL201", "scope": "fit", "fingerprint": "9b1cf20c3c0b7a55",
       "tier": "hint", "count": 2, "owner": "vision", "reason": "slow", "expires": "2027-01-31"},
      {"path": "train.py", "rule": "TR201", "scope": "fit", "kind": "item", "most": 2}]}

`tier` (by default `default`), `owner`, `reason` and `expires` may be missing. Entries with a rule
of a run, such as TR201, have a `kind` of read and the `most` that may happen a step instead of
`fingerprint`, `tier` and `count`; without a scope, a kind or a number, any counts. A check keeps
these as they are.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from torchlint.config.settings import ConfigError, read_capped, shortened
from torchlint.files.writing import write_whole
from torchlint.finding import Tier
from torchlint.silence.entries import Fields, distinct, in_file, only_keys
from torchlint.silence.known_findings import OF_A_RUN, BaselineEntry, EntryKey

if TYPE_CHECKING:
    from collections.abc import Iterable

NAME: Final = "torchlint-baseline.json"
VERSION: Final = 1
_MAX_BYTES: Final = 16 << 20
_MOST: Final = 1_000_000
_TEXTS: Final = ("path", "rule", "scope", "fingerprint")
_TIERS: Final = tuple(tier.value for tier in Tier)
_NOTES: Final = ("owner", "reason", "expires")
_KEYS: Final = (*_TEXTS, "tier", "count", *_NOTES)
_KEYS_OF_A_RUN: Final = (*_TEXTS[:3], "kind", "most", *_NOTES)
_TOP: Final = ("version", "entries")
_SHAPE: Final = " must be an object, such as {...}"


def read(path: str) -> tuple[BaselineEntry, ...]:
    """The entries of a baseline.

    Raises:
        ConfigError: it cannot be read, or is not a baseline.
    """
    with in_file(path):
        return decode(read_capped(path, _MAX_BYTES))


def write(path: str, entries: Iterable[BaselineEntry]) -> None:
    """Replaces or makes the file.

    Raises:
        SourceError: of kind `write`; an old file is as it was.
    """
    write_whole(path, encode(entries))


def encode(entries: Iterable[BaselineEntry]) -> bytes:
    """The bytes of the file, the same for the same entries."""
    lines = [_line(entry) for entry in sorted(entries)]
    listed = "[\n    " + ",\n    ".join(lines) + "\n  ]" if lines else "[]"
    return f'{{\n  "version": {VERSION},\n  "entries": {listed}\n}}\n'.encode()


def _line(entry: BaselineEntry) -> str:
    key = entry.key
    values: dict[str, object] = {"path": key.path, "rule": key.rule, "scope": key.scope}
    if OF_A_RUN.fullmatch(key.rule):
        values |= {"scope": key.scope or None, "kind": key.fingerprint or None, "most": entry.most}
    else:
        values["fingerprint"] = key.fingerprint
        values["tier"] = None if key.tier == Tier.DEFAULT.value else key.tier
        values["count"] = entry.size
    expires = None if entry.expires is None else entry.expires.isoformat()
    values |= {"owner": entry.owner, "reason": entry.reason, "expires": expires}
    values = {name: value for name, value in values.items() if value is not None}
    text = json.dumps(values, ensure_ascii=False)
    # Control characters and lone surrogates are escaped; é stays é.
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in text)


def decode(data: bytes) -> tuple[BaselineEntry, ...]:
    """The entries in the bytes of a baseline.

    Raises:
        ConfigError: with a sentence on what is wrong.
    """
    try:
        found = json.loads(data.decode("utf-8-sig"), parse_int=_number)
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"This is not valid JSON: {shortened(str(error))}; fix it, or restore it from git."
        ) from None
    if not isinstance(found, dict) or "version" not in found:
        raise ConfigError("This is not a baseline; `torchlint baseline write` makes one.")
    if found["version"] != VERSION:
        raise ConfigError(
            f"The version of this baseline is not {VERSION}, which this torchlint reads; "
            "use the torchlint that wrote it, or a newer one."
        )
    only_keys(found, _TOP)
    listed = found.get("entries")
    if not isinstance(listed, list):
        raise ConfigError("`entries` must be a list.")
    return distinct(listed, _SHAPE, _entry)


def rows_of(path: str) -> dict[EntryKey, int]:
    """The rows of the entries that are on a line of their own, as they are written here.

    Raises:
        ConfigError: the file cannot be read.
    """
    rows: dict[EntryKey, int] = {}
    lines = read_capped(path, _MAX_BYTES).decode("utf-8-sig", "replace").split("\n")
    for row, line in enumerate(lines, 1):
        try:
            values = json.loads(line.strip().rstrip(","), parse_int=_number)
            rows[_entry(Fields(values, row, _SHAPE)).key] = row
        except (ValueError, RecursionError, ConfigError):
            continue
    return rows


def _entry(fields: Fields) -> BaselineEntry:
    of_a_run = OF_A_RUN.fullmatch(str(fields.values.get("rule"))) is not None
    keys = _KEYS_OF_A_RUN if of_a_run else _KEYS
    fields.only(keys)
    path, rule = map(fields.text, keys[:2])
    scope, code = (fields.text(name, "" if of_a_run else None) for name in keys[2:4])
    tier = fields.values.get("tier", Tier.DEFAULT.value)
    if tier not in _TIERS:
        raise fields.fault(f"`tier` must be one of {', '.join(_TIERS)}.")
    count: int = 0 if of_a_run else fields.values.get("count", 0)
    if not of_a_run and (type(count) is not int or not 0 < count <= _MOST):
        raise fields.fault(f"`count` must be a whole number from 1 to {_MOST:,}.")
    owner, reason, _ = map(fields.note, _NOTES)
    key = EntryKey(path, rule, scope, code, tier)
    most = fields.most() if of_a_run else None
    return BaselineEntry(key, count, owner, reason, fields.day("expires"), most)


def _number(text: str) -> int:
    # In older versions of Python the time to read a number grows with the square of its digits.
    return int(text) if len(text) < 10 else -1
