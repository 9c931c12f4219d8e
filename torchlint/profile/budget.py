"""A budget for CI: which findings of a profile are allowed, where, why and until when.

A TOML file, `torchlint-budget.toml`, that lies in the repository: what it allows passes, anything
else fails, and so does an entry that nothing needs any more. Paths are relative to the folder of
the file, with slashes. People write it, so whatever is wrong with it becomes a `ConfigError` that
names the entry and the key.
"""

from __future__ import annotations

import math
import os
import posixpath
import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Final

from torchlint.config.settings import ConfigError, nearest, read_toml, shortened
from torchlint.profile.budget_uses import Uses
from torchlint.profile.profile_result import Broken, Budgeted
from torchlint.silence.until import parse_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from torchlint.profile.budget_uses import Use
    from torchlint.profile.profile_result import Profile, RunFinding

NAME: Final = "torchlint-budget.toml"
_MOST: Final = 10_000
_LONGEST: Final = 1_000
_ROUNDING: Final = 0.05
"""Of a read a step: a window may begin between two reads of one step."""
_CODE: Final = re.compile(r"TR\d{3}", re.ASCII)
_TOP: Final = ("codes", "allow")
_KEYS: Final = ("code", "path", "function", "kind", "most", "reason", "until")


@dataclass(frozen=True, slots=True)
class Entry:
    """What is allowed.

    Args:
        code: of the finding, `TR201`.
        path: relative to the folder of the budget, with slashes.
        reason: why; it is there for people.
        function: `Trainer.step`, or `<module>`; None: anywhere in the file.
        kind: of read: `item`; None: any.
        most: per step; None: as many as there are.
        until: the last day; None: no end.
    """

    code: str
    path: str
    reason: str
    function: str | None = None
    kind: str | None = None
    most: float | None = None
    until: date | None = None

    def has_expired(self, today: date) -> bool:
        return self.until is not None and self.until < today

    def is_for(self, use: Use) -> bool:
        """Whether it is about such a use, which may be more than it allows."""
        return (
            (self.code, posixpath.normpath(self.path)) == (use.code, use.path)
            and self.function in (None, use.function)
            and self.kind in (None, use.kind)
        )

    def allows(self, use: Use) -> bool:
        """Whether a use that it is for happens no more often than it says."""
        if self.most is None:
            return True
        return use.per_step is not None and use.per_step <= self.most + _ROUNDING

    @property
    def words(self) -> str:
        """`TR201 item in Trainer.step of train.py`."""
        kind = f" {self.kind}" if self.kind else ""
        function = f"{self.function} of " if self.function else ""
        return f"{self.code}{kind} in {function}{self.path}"


@dataclass(frozen=True, slots=True)
class Budget:
    """The entries of a file, and the codes that it is about: empty for all."""

    path: str
    entries: tuple[Entry, ...] = ()
    codes: tuple[str, ...] = ()


def read(path: str) -> Budget:
    """The budget in a file.

    Raises:
        ConfigError: it cannot be read, or is no budget.
    """
    table = read_toml(path)
    try:
        return _budget(table, path)
    except ConfigError as error:
        raise ConfigError(error.message, path) from None


def judge(budget: Budget, result: Profile, today: date) -> Budgeted:
    """What in a profile the budget does not allow, and which of its entries no longer hold.

    A finding below the cut needs no entry, and keeps the one that it has from being stale: its
    share changes from run to run.
    """
    uses = Uses(os.path.dirname(os.path.abspath(budget.path)))
    file = os.path.basename(budget.path)
    about: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in budget.entries:
        about[entry.code, posixpath.normpath(entry.path)].append(entry)
    needed: set[Entry] = set()
    broken: list[Broken] = []
    allowed = 0
    for use in uses.of(_covered(budget, (*result.findings, *result.census))):
        entries = [each for each in about[use.code, use.path] if each.is_for(use)]
        needed.update(entries)
        current = [each for each in entries if not each.has_expired(today)]
        if any(each.allows(use) for each in current):
            allowed += 1
        elif current or not entries:
            broken.append(_too_much(use, current, file))
    for use in uses.of(_covered(budget, result.below)):
        needed.update(each for each in about[use.code, use.path] if each.is_for(use))
    watched = [each for each in budget.entries if each.code in result.watched]
    broken += [_stale(each) for each in watched if each not in needed]
    broken += [_expired(each) for each in watched if each in needed and each.has_expired(today)]
    broken += _unwatched(budget, result)
    return Budgeted(budget.path, allowed, tuple(broken))


def _covered(budget: Budget, findings: Iterable[RunFinding]) -> Iterator[RunFinding]:
    """The findings that the budget is about."""
    return (each for each in findings if not budget.codes or each.code in budget.codes)


def _too_much(use: Use, entries: list[Entry], file: str) -> Broken:
    """A use that no entry allows, or `entries` not so often."""
    if not entries:
        said = f"is new; remove it, or allow it in {file} with a reason"
        return Broken("new", use.code, use.shown, use.row, f"{use.words}, {said}")
    said = f"is more than the {max(each.most or 0.0 for each in entries):.3g} allowed"
    if use.per_step is None:
        said = "is not counted by this kind of finding, so `most` cannot hold; delete that key"
        return Broken("grown", use.code, use.shown, use.row, f"{use.words}, {said}")
    return Broken("grown", use.code, use.shown, use.row, f"{use.words}, {said}; remove the others")


def _stale(entry: Entry) -> Broken:
    said = f"{entry.words} is allowed and nothing needs it; delete the entry"
    return Broken("stale", entry.code, entry.path, 0, said)


def _expired(entry: Entry) -> Broken:
    said = f"{entry.words} was allowed until {entry.until}; fix it, or give it another date"
    return Broken("expired", entry.code, entry.path, 0, said)


def _unwatched(budget: Budget, result: Profile) -> Iterator[Broken]:
    """The codes of which the profile cannot tell whether they keep to the budget."""
    asked = {*budget.codes, *(each.code for each in budget.entries)}
    failed = {each for each in result.unwatched if not budget.codes or each in budget.codes}
    for code in sorted((asked | failed) - set(result.watched)):
        said = f"{code} was not watched in this run; drop --only, and see what was not measured"
        yield Broken("unwatched", code, "", 0, said)


# writing -----------------------------------------------------------------------------------


def text(result: Profile, path: str, codes: Iterable[str] = ()) -> str:
    """A budget that allows what a profile shows, each reason left to be filled in.

    Args:
        path: of the file that it will be.
        codes: that it is to be about; all if there are none.
    """
    uses = Uses(os.path.dirname(os.path.abspath(path)))
    needed: dict[tuple[str, str, str, str], float | None] = {}
    for use in uses.of((*result.findings, *result.census)):
        key = (use.path, use.code, use.function or "", use.kind or "")
        counts = [each for each in (needed.get(key), use.per_step) if each is not None]
        needed[key] = max(counts, default=None)
    head = f"# What `torchlint profile --budget {os.path.basename(path)}` allows and why.\n"
    if codes:
        head += f"codes = [{', '.join(map(_quoted, sorted(codes)))}]\n"
    return head + "".join(_written(key, needed[key]) for key in sorted(needed))


def _written(key: tuple[str, str, str, str], per_step: float | None) -> str:
    """An entry. A read that some steps have and others not counts as one in each."""
    path, code, function, kind = key
    values = {"code": code, "path": path, "function": function, "kind": kind}
    lines = [f"{name} = {_quoted(value)}" for name, value in values.items() if value]
    if per_step is not None:
        lines.append(f"most = {max(1, math.ceil(per_step - _ROUNDING))}")
    return "\n".join(["", "[[allow]]", *lines, 'reason = ""', ""])


def _quoted(value: str) -> str:
    return '"' + "".join(_sign(each) for each in value) + '"'


def _sign(sign: str) -> str:
    if sign in '"\\':
        return f"\\{sign}"
    return sign if sign.isprintable() else f"\\U{ord(sign):08x}"


# reading -----------------------------------------------------------------------------------


def _budget(table: Mapping[str, object], path: str) -> Budget:
    for key in table:
        if key not in _TOP:
            raise ConfigError(f"Unknown key `{shortened(key)}`{nearest(key, _TOP)}.")
    codes = table.get("codes", [])
    if not isinstance(codes, list) or not all(_is_code(each) for each in codes):
        raise ConfigError('`codes` must be a list of codes, such as codes = ["TR201"].')
    listed = table.get("allow", [])
    if not isinstance(listed, list) or len(listed) > _MOST:
        raise ConfigError(f"`allow` must be a list of at most {_MOST:,} tables, `[[allow]]`.")
    entries: dict[tuple[object, ...], Entry] = {}
    for number, each in enumerate(listed, start=1):
        entry = _entry(each, number, codes)
        same = (entry.code, entry.path, entry.function, entry.kind)
        if same in entries:
            raise ConfigError(f"{_named(each, number)} repeats another; keep one of the two.")
        entries[same] = entry
    return Budget(path, tuple(entries.values()), tuple(codes))


def _entry(values: object, number: int, codes: Iterable[str]) -> Entry:
    if not isinstance(values, dict):
        raise ConfigError(f"Entry {number} of `allow` must be a table; write `[[allow]]`.")
    here = _named(values, number)
    for name in values:
        if name not in _KEYS:
            raise ConfigError(
                f"{here} has an unknown key `{shortened(name)}`{nearest(name, _KEYS)}."
            )
    code, path, reason = (
        _text(values.get(name), name, here) for name in ("code", "path", "reason")
    )
    if not _is_code(code):
        raise ConfigError(f'{here}: `code` must be one of profile, such as "TR201".')
    if codes and code not in codes:
        raise ConfigError(f"{here}: `code` is not among `codes`, so add it there.")
    if os.path.isabs(path):
        raise ConfigError(f"{here}: `path` must be relative to this file, with slashes.")
    reason = _text(values.get("reason"), "reason", here)
    function, kind = (
        None if name not in values else _text(values[name], name, here)
        for name in ("function", "kind")
    )
    most = _count(values.get("most"), here)
    return Entry(code, path, reason, function, kind, most, _day(values.get("until"), here))


def _is_code(value: object) -> bool:
    return isinstance(value, str) and _CODE.fullmatch(value) is not None


def _text(value: object, name: str, here: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST:
        if name == "reason" and isinstance(value, str) and not value.strip():
            raise ConfigError(f"{here}: `reason` is empty; say why this is allowed.")
        raise ConfigError(f"{here}: `{name}` must be a text of 1 to {_LONGEST:,} characters.")
    return value


def _count(value: object, here: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        raise ConfigError(f"{here}: `most` must be a number of reads a step, such as 2.")
    return float(value)


def _day(value: object, here: str) -> date | None:
    if value is None:
        return None
    day = parse_date(value) if isinstance(value, str) else value
    if not isinstance(day, date) or isinstance(day, datetime):
        raise ConfigError(f"{here}: `until` must be a date such as 2027-01-31.")
    return day


def _named(values: Mapping[str, object], number: int) -> str:
    """`Entry 7 (TR201 in src/train.py)`."""
    code, path = values.get("code"), values.get("path")
    if not isinstance(code, str) or not isinstance(path, str):
        return f"Entry {number}"
    return f"Entry {number} ({shortened(code)} in {shortened(path)})"
