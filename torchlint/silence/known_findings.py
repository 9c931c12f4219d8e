"""A baseline: known findings that are not fixed yet, so that only new ones are reported.

An entry covers equal findings: same file, rule, scope and code, and shown to the same people.
It has no line numbers, so that it still matches when the code around it moves. Everything here
works on plain values; nothing is read, and the caller gives the date.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.finding import Tier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from torchlint.finding import Finding

OF_A_RUN: Final = re.compile(r"TR\d{3}", re.ASCII)
"""The codes of `torchlint profile`. A check never reports them, so it cannot say that a comment or
an entry about one is unknown or unused."""


class EntryKey(NamedTuple):
    """What the findings of an entry have in common.

    `path` is relative to the folder of the baseline, with slashes. Of a finding of a run, the
    fingerprint is the kind of read, such as `item`; there, an empty text means any.
    """

    path: str
    rule: str
    scope: str
    fingerprint: str
    tier: str = Tier.DEFAULT.value

    @property
    def is_of_a_run(self) -> bool:
        """Whether `torchlint profile` finds it, and not a check."""
        return OF_A_RUN.fullmatch(self.rule) is not None


class BaselineEntry(NamedTuple):
    """`size` equal findings. People edit the rest in the file: who fixes them, why they are not
    fixed yet, and the last day that they are covered.

    Findings of a run have no size; they may happen `most` times a step, None for any number.
    """

    key: EntryKey
    size: int
    owner: str | None = None
    reason: str | None = None
    expires: date | None = None
    most: float | None = None

    def has_expired(self, today: date) -> bool:
        return self.expires is not None and self.expires < today


class StaleEntry(NamedTuple):
    """An entry that claims more than the `found` findings there are; maybe its file is `gone`."""

    entry: BaselineEntry
    found: int
    gone: bool


class Coverage(NamedTuple):
    """What a baseline says about the findings of a run.

    `left` are the findings to report, in their order: the `new` ones, and those of entries that
    have `expired`; the `known` others are covered. `entries` are those that still hold, with what
    is stale taken away and what has `moved` at its new place, as (entry, path).
    """

    known: tuple[Finding, ...]
    left: tuple[Finding, ...]
    new: tuple[tuple[EntryKey, Finding], ...]
    entries: tuple[BaselineEntry, ...]
    stale: tuple[StaleEntry, ...]
    moved: tuple[tuple[BaselineEntry, str], ...]
    expired: tuple[BaselineEntry, ...]


def key_of(path: str, finding: Finding) -> EntryKey:
    """The key of a finding in a file that the baseline calls `path`."""
    return EntryKey(path, finding.code, finding.scope, finding.fingerprint, finding.tier.value)


def compare(
    entries: Iterable[BaselineEntry],
    findings: Sequence[tuple[EntryKey, Finding]],
    *,
    judged: Callable[[BaselineEntry], bool],
    gone: Callable[[str], bool],
    today: date,
    newer: Callable[[Finding], bool] = lambda _: False,
) -> Coverage:
    """Which findings are known, and which entries no longer hold.

    If an entry is exceeded, the last findings in the file are the new ones. An entry of a file
    that is gone covers equal findings in other files, as many as it had: the file has moved.

    Args:
        judged: whether this run would have found the findings of an entry; else it is kept as
            it is.
        gone: whether there is no longer a file of this name.
        newer: findings that are covered only by what equal ones leave over.
    """
    waiting = _Waiting(findings, newer)
    holders: dict[int, BaselineEntry] = {}
    kept: dict[EntryKey, BaselineEntry] = {}
    stale: list[StaleEntry] = []
    moved: list[tuple[BaselineEntry, str]] = []
    # Last the files that are gone: they take what the entries of other files leave over.
    for entry in sorted(entries, key=lambda each: (gone(each.key.path), each.key)):
        places_by_key = waiting.take(entry, elsewhere=gone(entry.key.path))
        holders.update((at, entry) for places in places_by_key.values() for at in places)
        if not judged(entry):
            _keep(kept, entry)
            continue
        for key, places in places_by_key.items():
            _keep(kept, entry._replace(key=key, size=len(places)))
            if key != entry.key:
                moved.append((entry, key.path))
        found = sum(len(places) for places in places_by_key.values())
        if found < entry.size:
            stale.append(StaleEntry(entry, found, gone(entry.key.path)))
    expired = {at: entry for at, entry in holders.items() if entry.has_expired(today)}
    return Coverage(
        known=tuple(findings[at][1] for at in sorted(holders.keys() - expired.keys())),
        left=_left(findings, holders, today),
        new=tuple(each for at, each in enumerate(findings) if at not in holders),
        entries=tuple(sorted(kept.values())),
        stale=tuple(stale),
        moved=tuple(moved),
        expired=tuple(sorted(set(expired.values()))),
    )


def grown(
    entries: Iterable[BaselineEntry],
    new: Iterable[tuple[EntryKey, Finding]],
    *,
    owner: str | None = None,
    reason: str | None = None,
    expires: date | None = None,
) -> tuple[BaselineEntry, ...]:
    """The entries with new findings among them; what is said about the new ones goes to those
    entries that were not there."""
    kept = {entry.key: entry for entry in entries}
    for key, more in Counter(key for key, _ in new).items():
        entry = kept.get(key, BaselineEntry(key, 0, owner, reason, expires))
        kept[key] = entry._replace(size=entry.size + more)
    return tuple(sorted(kept.values()))


class _Waiting:
    """The findings that no entry holds yet, by number; equal ones in the order of the file."""

    def __init__(
        self, findings: Sequence[tuple[EntryKey, Finding]], newer: Callable[[Finding], bool]
    ) -> None:
        self._at: dict[EntryKey, list[int]] = {}
        self._like: dict[tuple[str, ...], list[EntryKey]] = {}

        def order(at: int) -> tuple[bool, tuple[int, int, int]]:
            return newer(findings[at][1]), _place(findings[at][1])

        for at in sorted(range(len(findings)), key=order):
            self._at.setdefault(findings[at][0], []).append(at)
        for key in sorted(self._at, reverse=True):
            self._like.setdefault(key[1:], []).append(key)
            self._like.setdefault((_name(key), *key[1:]), []).append(key)

    def take(self, entry: BaselineEntry, *, elsewhere: bool) -> dict[EntryKey, list[int]]:
        """As many as the entry has, by their key; if `elsewhere`, from any file, those of the
        same name first."""
        taken: dict[EntryKey, list[int]] = {}
        left = entry.size
        for key in self._elsewhere(entry.key) if elsewhere else (entry.key,):
            waiting = self._at.get(key)
            if waiting:
                taken[key], waiting[:] = waiting[:left], waiting[left:]
                left -= len(taken[key])
            if not left:
                break
        return taken

    def _elsewhere(self, key: EntryKey) -> Iterator[EntryKey]:
        for like in ((_name(key), *key[1:]), key[1:]):
            queue = self._like.get(like, [])
            while queue:
                yield queue[-1]
                queue.pop()  # The caller asks again only after it has taken all of this key.


def _name(key: EntryKey) -> str:
    return key.path.rpartition("/")[2]


def _place(finding: Finding) -> tuple[int, int, int]:
    start = finding.start
    return (start.cell or 0, start.row, start.column)


def _keep(kept: dict[EntryKey, BaselineEntry], entry: BaselineEntry) -> None:
    """Adds an entry. Two meet where a file has moved into another: the sooner expiry holds."""
    here = kept.get(entry.key)
    if here is not None:
        entry = BaselineEntry(
            entry.key,
            here.size + entry.size,
            here.owner if here.owner is not None else entry.owner,
            here.reason if here.reason is not None else entry.reason,
            min((each for each in (here.expires, entry.expires) if each), default=None),
        )
    kept[entry.key] = entry


def _left(
    findings: Sequence[tuple[EntryKey, Finding]], holders: Mapping[int, BaselineEntry], today: date
) -> tuple[Finding, ...]:
    """The findings to report; their messages say what the baseline knows about them."""
    covered = Counter(
        findings[at][0] for at, entry in holders.items() if not entry.has_expired(today)
    )
    left = []
    for at, (key, finding) in enumerate(findings):
        entry = holders.get(at)
        if entry is None:
            left.append(_said(finding, _like_it(covered[key])))
        elif entry.has_expired(today):
            owner = f" (owner: {entry.owner})" if entry.owner else ""
            left.append(_said(finding, f"The baseline covered it until {entry.expires}{owner}."))
    return tuple(left)


def _like_it(known: int) -> str:
    if not known:
        return ""
    return f"{known} more like it {'is' if known == 1 else 'are'} in the baseline; this one is new."


def _said(finding: Finding, more: str) -> Finding:
    return finding._replace(message=f"{finding.message} {more}") if more else finding
