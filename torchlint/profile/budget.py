"""What a baseline says of a profile: which findings it allows, where, why and until when.

What its entries about a run allow passes, anything else fails, and so does an entry that nothing
needs any more. The scope of such an entry is a function, and its fingerprint a kind of read; both
are empty for any.
"""

from __future__ import annotations

import math
import os
import posixpath
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.profile.functions import Functions
from torchlint.profile.profile_result import Broken, Budgeted
from torchlint.silence.known_findings import BaselineEntry, EntryKey

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from torchlint.profile.profile_result import Profile, RunFinding
    from torchlint.silence.baselines import Baseline

_ROUNDING: Final = 0.05
"""Of a read a step: a window may begin between two reads of one step."""


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


def _seen(result: Profile, baseline: Baseline, functions: Functions) -> Iterable[Use]:
    """What entries have to allow. Counts of a rehearsal are the same in each run, so all of a kind
    in a function are added up, at the last of their lines: one more line that reads is too many."""
    uses = _uses((*result.findings, *result.census), baseline, functions)
    if result.rehearsal is None:
        return uses
    together: dict[EntryKey, Use] = {}
    for use in uses:
        before = together.get(use.key)
        if before is not None and before.per_step is not None and use.per_step is not None:
            use = use._replace(
                row=max(before.row, use.row), per_step=before.per_step + use.per_step
            )
        together[use.key] = use
    return together.values()


def _uses(
    findings: Iterable[RunFinding], baseline: Baseline, functions: Functions
) -> Iterator[Use]:
    """What entries have to allow: each kind of read of each finding that has a line."""
    for each in findings:
        if not each.path:
            continue
        path = baseline.called(os.path.realpath(each.path))
        function = functions.around(each.path, each.row)
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


def judge(baseline: Baseline, result: Profile, today: date) -> Budgeted:
    """What in a profile a baseline does not allow, and which of its entries no longer hold.

    A finding below the cut needs no entry, and keeps the one that it has from being stale: its
    share changes from run to run.
    """
    about: dict[tuple[str, str], list[BaselineEntry]] = defaultdict(list)
    for entry in baseline.entries:
        about[entry.key.rule, posixpath.normpath(entry.key.path)].append(entry)

    def entries_for(use: Use) -> list[BaselineEntry]:
        return [each for each in about[use.key.rule, use.key.path] if _is_for(each.key, use.key)]

    functions = Functions()
    needed: set[BaselineEntry] = set()
    broken: list[Broken] = []
    allowed = 0
    for use in _seen(result, baseline, functions):
        entries = entries_for(use)
        needed.update(entries)
        current = [each for each in entries if not each.has_expired(today)]
        if any(_allows(each, use) for each in current):
            allowed += 1
        elif current or not entries:
            broken.append(_too_much(use, current, os.path.basename(baseline.path)))
    for use in _uses(result.below, baseline, functions):
        needed.update(entries_for(use))
    watched = [each for each in baseline.entries if each.key.rule in result.watched]
    broken += [_stale(each) for each in watched if each not in needed]
    broken += [_expired(each) for each in watched if each in needed and each.has_expired(today)]
    broken += map(_unwatched, sorted(result.unwatched))
    return Budgeted(baseline.name, allowed, tuple(broken))


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
        return use.broken("new", f"is new; remove it, or allow it in {file}")
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


def _unwatched(code: str) -> Broken:
    said = f"{code} was not watched in this run; see what was not measured"
    return Broken("unwatched", code, "", 0, said)


def allowing(result: Profile, baseline: Baseline) -> tuple[BaselineEntry, ...]:
    """The entries of a baseline that then allow what a profile shows, and nothing else of what it
    watched. A read that some steps have and others not counts as one in each."""
    needed: dict[EntryKey, float | None] = {}
    for use in _seen(result, baseline, Functions()):
        counts = [each for each in (needed.get(use.key), use.per_step) if each is not None]
        needed[use.key] = max(counts, default=None)
    before = {entry.key: entry for entry in baseline.entries}
    entries = [each for each in baseline.entries if each.key.rule not in result.watched]
    for key, per_step in needed.items():
        most = None if per_step is None else float(max(1, math.ceil(per_step - _ROUNDING)))
        entries.append(before.get(key, BaselineEntry(key, 0))._replace(most=most))
    return tuple(sorted(entries, key=lambda entry: entry.key))
