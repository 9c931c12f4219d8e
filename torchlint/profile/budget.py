"""A budget for CI: which findings of a profile are allowed, where, why and until when.

A TOML file, `torchlint-budget.toml`, that is in the repository: what it allows passes, anything
else fails, and so does an entry that nothing needs any more. Its entries are those of a baseline
that are about a run: the scope is a function, and the fingerprint a kind of read, both empty for
any. Paths are relative to the folder of the file, with slashes.
"""

from __future__ import annotations

import math
import os
import posixpath
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.config.settings import ConfigError, read_toml
from torchlint.profile.functions import Functions
from torchlint.profile.profile_result import Broken, Budgeted
from torchlint.silence.baselines import Baseline
from torchlint.silence.entries import Fields, distinct, in_file, only_keys
from torchlint.silence.known_findings import OF_A_RUN, BaselineEntry, EntryKey

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from torchlint.profile.profile_result import Profile, RunFinding

NAME: Final = "torchlint-budget.toml"
_MOST: Final = 10_000
_ROUNDING: Final = 0.05
"""Of a read a step: a window may begin between two reads of one step."""
_TOP: Final = ("codes", "allow")
_KEYS: Final = ("code", "path", "function", "kind", "most", "reason", "until")
_SHAPE: Final = " of `allow` must be a table; write `[[allow]]`"


@dataclass(frozen=True, slots=True)
class Budget:
    """The entries of a file, and the codes that it is about: empty for all."""

    path: str
    entries: tuple[BaselineEntry, ...] = ()
    codes: tuple[str, ...] = ()

    def covers(self, finding: RunFinding) -> bool:
        return not self.codes or finding.code in self.codes


class Use(NamedTuple):
    """One thing that happens at one place.

    Args:
        key: that of the entry which allows it and nothing else. No function if the file cannot be
            parsed, no kind if the finding has none.
        shown: its path as the report has it.
        per_step: how often; None if nothing was counted.
    """

    key: EntryKey
    shown: str
    row: int
    per_step: float | None

    @property
    def words(self) -> str:
        """`train.py:88 TR201 item in Trainer.step, 3 a step`."""
        function = f" in {self.key.scope}" if self.key.scope else ""
        count = f", {self.per_step:.3g} a step" if self.per_step is not None else ""
        return f"{self.shown}:{self.row} {_what(self.key)}{function}{count}"

    def broken(self, problem: str, said: str) -> Broken:
        return Broken(problem, self.key.rule, self.shown, self.row, f"{self.words}, {said}")


class Uses:
    """What a budget has to allow: the findings of a profile that have a line, one by one.

    Args:
        path: of the budget.
    """

    def __init__(self, path: str) -> None:
        self._named = Baseline(path).called
        self._functions = Functions()

    def of(self, findings: Iterable[RunFinding]) -> Iterator[Use]:
        """One for each kind of read of each finding, in their order."""
        for each in findings:
            if not each.path:
                continue
            path = self._named(os.path.realpath(each.path))
            function = self._functions.around(each.path, each.row)
            for kind, per_step in _kinds(each.values):
                yield Use(EntryKey(path, each.code, function, kind), each.path, each.row, per_step)


def _kinds(values: Mapping[str, object]) -> Iterator[tuple[str, float | None]]:
    """The kinds of read of a finding, and how often a step has each: kinds of findings that count
    say it under `kinds`."""
    kinds = values.get("kinds")
    if not isinstance(kinds, Mapping) or not kinds:
        yield "", None
        return
    for kind, count in kinds.items():
        yield str(kind), float(count) if isinstance(count, int | float) else None


# judging -----------------------------------------------------------------------------------


def judge(budget: Budget, result: Profile, today: date) -> Budgeted:
    """What in a profile the budget does not allow, and which of its entries no longer hold.

    A finding below the cut needs no entry, and keeps the one that it has from being stale: its
    share changes from run to run.
    """
    uses, file = Uses(budget.path), os.path.basename(budget.path)
    about: dict[tuple[str, str], list[BaselineEntry]] = defaultdict(list)
    for entry in budget.entries:
        about[entry.key.rule, posixpath.normpath(entry.key.path)].append(entry)

    def entries_for(use: Use) -> list[BaselineEntry]:
        return [each for each in about[use.key.rule, use.key.path] if _is_for(each.key, use.key)]

    needed: set[BaselineEntry] = set()
    broken: list[Broken] = []
    allowed = 0
    for use in uses.of(filter(budget.covers, (*result.findings, *result.census))):
        entries = entries_for(use)
        needed.update(entries)
        current = [each for each in entries if not each.has_expired(today)]
        if any(_allows(each, use) for each in current):
            allowed += 1
        elif current or not entries:
            broken.append(_too_much(use, current, file))
    for use in uses.of(filter(budget.covers, result.below)):
        needed.update(entries_for(use))
    watched = [each for each in budget.entries if each.key.rule in result.watched]
    broken += [_stale(each) for each in watched if each not in needed]
    broken += [_expired(each) for each in watched if each in needed and each.has_expired(today)]
    broken += _unwatched(budget, result)
    return Budgeted(budget.path, allowed, tuple(broken))


def _is_for(key: EntryKey, use: EntryKey) -> bool:
    """Whether an entry of the same file and code is about such a use, which may be more than it
    allows."""
    return key.scope in ("", use.scope) and key.fingerprint in ("", use.fingerprint)


def _allows(entry: BaselineEntry, use: Use) -> bool:
    """Whether a use that it is for happens no more often than it says."""
    if entry.most is None:
        return True
    return use.per_step is not None and use.per_step <= entry.most + _ROUNDING


def _too_much(use: Use, entries: list[BaselineEntry], file: str) -> Broken:
    """A use that no entry allows, or `entries` not so often."""
    if not entries:
        return use.broken("new", f"is new; remove it, or allow it in {file} with a reason")
    if use.per_step is None:
        said = "is not counted by this kind of finding, so `most` cannot hold; delete that key"
        return use.broken("grown", said)
    most = max(each.most or 0.0 for each in entries)
    return use.broken("grown", f"is more than the {most:.3g} allowed; remove the others")


def _stale(entry: BaselineEntry) -> Broken:
    return _about(entry, "stale", "is allowed and nothing needs it; delete the entry")


def _expired(entry: BaselineEntry) -> Broken:
    said = f"was allowed until {entry.expires}; fix it, or give it another date"
    return _about(entry, "expired", said)


def _about(entry: BaselineEntry, problem: str, said: str) -> Broken:
    """`TR201 item in Trainer.step of train.py …`."""
    key = entry.key
    function = f"{key.scope} of " if key.scope else ""
    said = f"{_what(key)} in {function}{key.path} {said}"
    return Broken(problem, key.rule, key.path, 0, said)


def _what(key: EntryKey) -> str:
    return f"{key.rule} {key.fingerprint}".rstrip()


def _unwatched(budget: Budget, result: Profile) -> Iterator[Broken]:
    """The codes for which the profile cannot tell whether they keep to the budget."""
    asked = {*budget.codes, *(each.key.rule for each in budget.entries)}
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
    needed: dict[EntryKey, float | None] = {}
    for use in Uses(path).of((*result.findings, *result.census)):
        counts = [each for each in (needed.get(use.key), use.per_step) if each is not None]
        needed[use.key] = max(counts, default=None)
    head = f"# What `torchlint profile --budget {os.path.basename(path)}` allows and why.\n"
    if codes:
        head += f"codes = [{', '.join(map(_quoted, sorted(codes)))}]\n"
    return head + "".join(_written(key, needed[key]) for key in sorted(needed))


def _written(key: EntryKey, per_step: float | None) -> str:
    """An entry. A read that some steps have and others not counts as one in each."""
    values = {"code": key.rule, "path": key.path, "function": key.scope, "kind": key.fingerprint}
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


def read(path: str) -> Budget:
    """The budget in a file.

    Raises:
        ConfigError: it cannot be read, or is not a budget.
    """
    table = read_toml(path)
    with in_file(path):
        only_keys(table, _TOP)
        codes = table.get("codes", [])
        if not isinstance(codes, list) or not all(map(_is_code, codes)):
            raise ConfigError('`codes` must be a list of codes, such as codes = ["TR201"].')
        listed = table.get("allow", [])
        if not isinstance(listed, list) or len(listed) > _MOST:
            raise ConfigError(f"`allow` must be a list of at most {_MOST:,} tables, `[[allow]]`.")
        entries = distinct(listed, _SHAPE, lambda fields: _entry(fields, codes))
    return Budget(path, entries, tuple(codes))


def _entry(fields: Fields, codes: Iterable[str]) -> BaselineEntry:
    fields.only(_KEYS)
    code, path = (fields.text(key, least=1) for key in ("code", "path"))
    if not _is_code(code):
        raise fields.fault('`code` must be one of profile, such as "TR201".')
    if codes and code not in codes:
        raise fields.fault("`code` is not among `codes`, so add it there.")
    if os.path.isabs(path):
        raise fields.fault("`path` must be relative to this file, with slashes.")
    if not str(fields.values.get("reason", "missing")).strip():
        raise fields.fault("`reason` is empty; say why this is allowed.")
    reason = fields.text("reason", least=1)
    function, kind = (fields.text(key, "", least=1) for key in ("function", "kind"))
    key = EntryKey(path, code, function, kind)
    return BaselineEntry(key, 0, None, reason, fields.day("until"), fields.most())


def _is_code(value: object) -> bool:
    return isinstance(value, str) and OF_A_RUN.fullmatch(value) is not None
