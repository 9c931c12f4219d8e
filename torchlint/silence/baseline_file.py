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
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from torchlint.config.settings import ConfigError, nearest, read_capped, shortened
from torchlint.files.writing import write_whole
from torchlint.finding import Tier
from torchlint.silence.known_findings import OF_A_RUN, BaselineEntry, EntryKey
from torchlint.silence.until import parse_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import date

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
_LONGEST: Final = 1_000


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
    if key.is_of_a_run:
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
        document = json.loads(data.decode("utf-8-sig"), parse_int=_number)
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"This is not valid JSON: {shortened(str(error))}; fix it, or restore it from git."
        ) from None
    if not isinstance(document, dict) or "version" not in document:
        raise ConfigError("This is not a baseline; `torchlint baseline write` makes one.")
    if document["version"] != VERSION:
        raise ConfigError(
            f"The version of this baseline is not {VERSION}, which this torchlint reads; "
            "use the torchlint that wrote it, or a newer one."
        )
    for key in document:
        if key not in _TOP:
            raise ConfigError(f"Unknown key `{shortened(key)}`{nearest(key, _TOP)}.")
    listed = document.get("entries")
    if not isinstance(listed, list):
        raise ConfigError("`entries` must be a list.")
    entries: dict[EntryKey, BaselineEntry] = {}
    for number, values in enumerate(listed, start=1):
        entry = _entry(values, number)
        if entry.key in entries:
            raise ConfigError(
                f"{_Fields(values, number).name} repeats another; keep one of the two."
            )
        entries[entry.key] = entry
    return tuple(entries.values())


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
            rows[_entry(values, row).key] = row
        except (ValueError, RecursionError, ConfigError):
            continue
    return rows


def _number(text: str) -> int:
    # In older versions of Python the time to read a number grows with the square of its digits.
    return int(text) if len(text) < 10 else -1


# entries ----------------------------------------------------------------------------------


@contextmanager
def in_file(path: str) -> Iterator[None]:
    """Adds the path of the file to an error about what it says."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(error.message, path) from None


class _Fields:
    """The values of an entry; each is checked when it is asked for.

    Args:
        values: as the file has them.
        number: of the entry, from 1.
    """

    def __init__(self, values: object, number: int) -> None:
        if not isinstance(values, dict):
            raise ConfigError(f"Entry {number} must be an object, such as {{...}}.")
        self.values: Mapping[str, Any] = values
        self._number = number

    @property
    def name(self) -> str:
        """`Entry 7 (TL201 in src/train.py)`."""
        rule, path = self.values.get("rule"), self.values.get("path")
        if not isinstance(rule, str) or not isinstance(path, str):
            return f"Entry {self._number}"
        return f"Entry {self._number} ({shortened(rule)} in {shortened(path)})"

    def fault(self, said: str) -> ConfigError:
        return ConfigError(f"{self.name}: {said}")

    def text(self, key: str, missing: str | None = None) -> str:
        """A text; `missing` if there is none."""
        value = self.values.get(key, missing)
        if not isinstance(value, str) or len(value) > _LONGEST:
            raise self.fault(f"`{key}` must be a text of at most {_LONGEST:,} characters.")
        return value

    def note(self, key: str) -> str | None:
        """A text that may be missing."""
        return None if self.values.get(key) is None else self.text(key)

    def count(self) -> int:
        count: int = self.values.get("count", 0)
        if type(count) is int and 0 < count <= _MOST:
            return count
        raise self.fault(f"`count` must be a whole number from 1 to {_MOST:,}.")

    def most(self) -> float | None:
        """How often a step may have what the entry is about; None: as often as it likes."""
        most: float | None = self.values.get("most")
        if most is None or (type(most) in (int, float) and 0 < most < 1e9):
            return most
        raise self.fault("`most` must be a number of reads a step, such as 2.")

    def expires(self) -> date | None:
        """The last day of the entry; None: it has no end."""
        value = self.values.get("expires")
        day = parse_date(value) if isinstance(value, str) else None
        if value is None or day is not None:
            return day
        raise self.fault("`expires` must be a date such as 2027-01-31.")


def _entry(values: object, number: int) -> BaselineEntry:
    fields = _Fields(values, number)
    of_a_run = OF_A_RUN.fullmatch(str(fields.values.get("rule"))) is not None
    keys = _KEYS_OF_A_RUN if of_a_run else _KEYS
    for key in fields.values:
        if key not in keys:
            hint = nearest(key, keys)
            raise ConfigError(f"{fields.name} has an unknown key `{shortened(key)}`{hint}.")
    path, rule = map(fields.text, keys[:2])
    scope, code = (fields.text(name, "" if of_a_run else None) for name in keys[2:4])
    tier = fields.values.get("tier", Tier.DEFAULT.value)
    if tier not in _TIERS:
        raise fields.fault(f"`tier` must be one of {', '.join(_TIERS)}.")
    return BaselineEntry(
        EntryKey(path, rule, scope, code, tier),
        0 if of_a_run else fields.count(),
        fields.note("owner"),
        fields.note("reason"),
        fields.expires(),
        fields.most() if of_a_run else None,
    )
