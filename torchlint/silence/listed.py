"""Everything that silences findings, as `torchlint suppressions` lists it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchlint.finding import Position
from torchlint.silence.suppression_comments import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator

_OURS: Final = ("TL", "TR")


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
        count: how many findings it stands for at most; 0: any number.
        until: the last day on which it silences anything; empty: it has no end.
        invalid: it silences nothing, since it cannot be read.
        unused: the rules that it names and silences nothing of, as far as that is certain.
        used: whether it silences anything; None if that is not known.
        age_days: since its line was last changed; None if that is not known.
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
    ended: bool = False
    invalid: bool = False
    unused: tuple[str, ...] = ()
    used: bool | None = None
    age_days: int | None = None


def listed_comments(path: str, text: str) -> Iterator[Listed]:
    """The suppression comments of a file."""
    layout = Layout(text)
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
