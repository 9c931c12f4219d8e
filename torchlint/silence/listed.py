"""Everything that silences findings, as `torchlint suppressions` lists it: comments,
`per-file-ignores` and the entries of baselines."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from torchlint.config.settings import ConfigError, read_capped
from torchlint.files.discover import shown_path
from torchlint.files.reading import SourceError, decode
from torchlint.finding import Position
from torchlint.silence import until
from torchlint.silence.baseline_file import rows_of
from torchlint.silence.per_file_ignores import off_for
from torchlint.silence.suppression_comments import CommentLayout, may_suppress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torchlint.config.folders import Configs
    from torchlint.config.settings import Settings
    from torchlint.finding import Finding
    from torchlint.project.target import Target
    from torchlint.silence.baselines import Baseline
    from torchlint.silence.known_findings import Coverage

_OURS: Final = ("TL", "TR")
_UNUSED: Final = "unused-suppression"
_RULE: Final = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Listed:
    """One suppression.

    Args:
        kind: `ignore`, `ignore-file` or `disable` for a comment, `noqa`, `per-file-ignores` or
            `baseline`.
        path: the file that it is in.
        start: where; None if that is not known.
        rules: what it silences; empty: all rules.
        covers: which file or files, if not the one that it is in.
        count: how many findings it covers at most; 0: any number.
        until: the last day on which it silences anything; empty: it has no end.
        invalid: it silences nothing, since it cannot be read.
        unused: the rules that it names and silences nothing of, as far as that is certain.
        used: whether it silences anything; None if that is not known.
    """

    kind: str
    path: str
    start: Position | None
    rules: tuple[str, ...] = ()
    reason: str = ""
    owner: str = ""
    covers: str = ""
    count: int = 0
    until: str = ""
    invalid: bool = False
    unused: tuple[str, ...] = ()
    used: bool | None = None

    @property
    def ended(self) -> bool:
        return until.has_ended(self.until, until.today())

    @property
    def place(self) -> tuple[str, int, int, int]:
        start = self.start or Position(0, 0)
        return (self.path, start.cell or 0, start.row, start.column)


def listed_comments(targets: Iterable[Target], findings: Sequence[Finding]) -> Iterator[Listed]:
    """The suppression comments of files that can be read, with what the rule about unused ones
    says of them in these findings; what cannot be read is a finding of the check."""
    unused = {(each.path, each.start): each for each in findings if each.name == _UNUSED}
    for target in targets:
        try:
            content = target.content()
            if not may_suppress(content):
                continue
            data = target.read()
            text = decode(target.path, data).text
        except SourceError:
            continue
        borders = target.borders(data)
        for listed in _comments(target.path, text):
            start = listed.start or Position(0, 0)
            if borders is not None:
                listed = replace(listed, start=(start := borders.located(start)))
            yield _judged(listed, unused.get((listed.path, start)))


def _comments(path: str, text: str) -> Iterator[Listed]:
    layout = CommentLayout(text)
    for comment in layout.comments:
        if comment.word == "enable" or comment.fault == "word":
            continue
        yield Listed(
            comment.word,
            path,
            layout.position(comment.start),
            tuple(name.text for name in comment.names or ()),
            comment.reason,
            until="" if comment.until is None else comment.until.isoformat(),
            invalid=not comment.effective,
        )
    for row, codes in layout.noqa:
        ours = sorted(code for code in codes if code.startswith(_OURS))
        if ours:
            yield Listed("noqa", path, Position(row, 1), tuple(ours))


def _judged(listed: Listed, unused: Finding | None) -> Listed:
    if listed.invalid:
        return replace(listed, used=False)
    if unused is None or unused.fix is None:
        return listed
    rules = tuple(_RULE.findall(unused.fix.message))
    return replace(listed, unused=rules) if rules else replace(listed, used=False)


def listed_settings(
    targets: Sequence[Target], configs: Configs, paths: Iterable[str]
) -> Iterator[Listed]:
    """The patterns of `per-file-ignores`. One that matches nothing is unused if its whole project
    was asked about.

    Args:
        paths: the files and folders that were asked about.
    """
    folders = tuple(os.path.join(os.path.abspath(each), "") for each in paths)
    files: dict[Settings, list[str]] = defaultdict(list)
    for target in targets:
        absolute = os.path.abspath(target.path)
        files[configs.for_folder(os.path.dirname(absolute))].append(absolute)
    for settings, here in files.items():
        whole = os.path.join(settings.root, "").startswith(folders)
        for entry in settings.per_file_ignores:
            alone = settings._replace(per_file_ignores=(entry,))
            matches = any(off_for(path, alone) for path in here)
            source = settings.source or settings.root
            yield Listed(
                "per-file-ignores",
                shown_path(source),
                _row_of(source, entry[0]),
                entry[1],
                covers=entry[0],
                used=False if whole and not matches else None,
            )


def _row_of(source: str, pattern: str) -> Position | None:
    """The first row with the pattern in quotes."""
    try:
        lines = read_capped(source).decode("utf-8", "replace").split("\n")
    except ConfigError:
        return None
    quoted = re.compile(f"([\"']){re.escape(pattern)}\\1")
    rows = (row for row, line in enumerate(lines, 1) if quoted.search(line))
    row = next(rows, None)
    return None if row is None else Position(row, 1)


def listed_entries(baseline: Baseline, coverage: Coverage) -> Iterator[Listed]:
    """The entries of a baseline.

    Args:
        coverage: what it says about the findings of a check, hints included.
    """
    left = {each.entry.key: each.found for each in coverage.stale}
    rows = rows_of(baseline.path)
    for entry in baseline.entries:
        key = entry.key
        yield Listed(
            "baseline",
            baseline.name,
            Position(rows[key], 1) if key in rows else None,
            (key.rule,),
            entry.reason or "",
            entry.owner or "",
            key.path + (f" in {key.scope}" if key.scope else ""),
            entry.size,
            "" if entry.expires is None else entry.expires.isoformat(),
            used=False if left.get(key) == 0 else None,
        )
