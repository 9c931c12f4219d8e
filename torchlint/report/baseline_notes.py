"""Sentences about a baseline: what it covers, what is stale, and how it changed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from torchlint.report.terminal.safe_text import plural, visible, visible_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torchlint.silence.baselines import Baseline
    from torchlint.silence.known_findings import BaselineEntry, Coverage, EntryKey


def notes(compared: Iterable[tuple[Baseline, Coverage]], given: str | None = None) -> Iterator[str]:
    """Sentences after the summary of a check: what is known, expired, moved and stale.

    Args:
        given: the baseline that the command line names.
    """
    prune = visible("torchlint baseline prune" + (f" --baseline {given}" if given else ""))
    for baseline, coverage in compared:
        name, known = visible_path(baseline.name), len(coverage.known)
        if known:
            yield f"{plural(known, 'known finding')} {_is(known)} in {name}."
        yield from expired(coverage, name)
        if coverage.moved:
            moved = len({entry.key.path for entry, _ in coverage.moved})
            them = "it" if moved == 1 else "them"
            yield f"{plural(moved, 'file')} in {name} moved; `{prune}` follows {them}."
        if coverage.stale:
            stale = len(coverage.stale)
            yield f"{_entries(stale)} of {name} {_is(stale)} stale; run `{prune}`."


def expired(coverage: Coverage, name: str) -> Iterator[str]:
    """A sentence if entries have expired."""
    count = len(coverage.expired)
    if count:
        have = "has" if count == 1 else "have"
        of = visible_path(name)
        yield f"{_entries(count)} of {of} {have} expired; fix the code, or set a new date."


def stale(coverage: Coverage) -> Iterator[str]:
    """A line for each function that has fewer findings of a rule than its entries cover."""
    claimed: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    gone: set[str] = set()
    for each in coverage.stale:
        name = _named(each.entry.key)
        claimed[name] += each.entry.size
        counts[name] += each.found
        if each.gone:
            gone.add(name)
    for name, size in claimed.items():
        why = " (there is no such file)" if name in gone else ""
        yield f"{name}: {counts[name] or 'none'} of {size} left{why}"


def moved(coverage: Coverage) -> Iterator[str]:
    """A line for each file that has another name now."""
    for old, new in sorted({(entry.key.path, path) for entry, path in coverage.moved}):
        yield f"{visible_path(old)} is now {visible(new)}"


def change(name: str, before: Iterable[BaselineEntry], after: Iterable[BaselineEntry]) -> str:
    """`torchlint-baseline.json: 124 → 119 findings.`"""
    name = visible_path(name)
    old, new = total(before), total(after)
    if old == new:
        return f"{name}: {plural(new, 'finding')}, as before."
    return f"{name}: {old} → {plural(new, 'finding')}."


def made(name: str, entries: Sequence[BaselineEntry], *, configured: bool) -> Iterator[str]:
    """`Wrote torchlint-baseline.json: 124 findings in 31 files.` and what to do with it."""
    name = visible_path(name)
    files = len({entry.key.path for entry in entries})
    yield f"Wrote {name}: {plural(total(entries), 'finding')} in {plural(files, 'file')}."
    if not configured:
        yield (
            f'Commit it. With `baseline = "{name}"` in [tool.torchlint], '
            "`torchlint check` does not report what it covers."
        )


def beyond(name: str, count: int) -> str:
    name = visible_path(name)
    return f"{plural(count, 'finding')} {_is(count)} not in {name}; see `torchlint baseline check`."


def total(entries: Iterable[BaselineEntry]) -> int:
    """How many findings the entries cover."""
    return sum(entry.size for entry in entries)


def _named(key: EntryKey) -> str:
    scope = f" in {visible(key.scope)}" if key.scope else ""
    return f"{visible_path(key.path)}: {visible(key.rule)}{scope}"


def _entries(count: int) -> str:
    return plural(count, "entry", "entries")


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
