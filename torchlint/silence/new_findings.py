"""Which findings of a project are new, compared with an earlier state of it.

The earlier findings are known ones: they are compared by content as those of a baseline are, with
their count. What that leaves over may still be old code at a new place.
"""

from __future__ import annotations

import os
from collections import Counter
from datetime import date
from typing import TYPE_CHECKING, Final

from torchlint.finding import Tier
from torchlint.silence.known_findings import BaselineEntry, EntryKey, compare, key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from torchlint.finding import Finding


def new_findings(
    before: Iterable[Finding],
    after: Sequence[Finding],
    *,
    moved: Mapping[str, str],
    gone: Callable[[str], bool],
    touched: Callable[[Finding], bool],
) -> list[Finding]:
    """The findings of `after` that are not in `before`, in their order.

    Of equal findings that have become more, those that a change touched are the new ones, else the
    last ones in the file.

    Args:
        moved: the new paths of files that git knows to be renamed.
        gone: whether there is no longer a file of this name.
        touched: whether the lines of a finding changed.
    """
    old = [_key(moved.get(each.path, each.path), each) for each in before]
    new = list(after)
    for like, like_now in _PASSES:
        compared = compare(
            [BaselineEntry(key, count) for key, count in Counter(map(like, old)).items()],
            [(like_now(_key(each.path, each)), each) for each in new],
            judged=lambda _: True,
            # Without its function, code of a file that is gone is too little to be recognized.
            gone=gone if like is _same else lambda _: False,
            today=date.min,
            newer=touched,
        )
        left = Counter({each.entry.key: each.entry.size - each.found for each in compared.stale})
        old = [key for key in old if _take(left, like(key))]
        new = [finding for _, finding in compared.new]
    return new


def _same(key: EntryKey) -> EntryKey:
    return key


def _other_function(key: EntryKey) -> EntryKey:
    """The function was renamed, or the code went into another function of the file."""
    return key._replace(scope="")


def _other_file(key: EntryKey) -> EntryKey:
    """The function went into another file, which may have been there before."""
    return key._replace(path="")


def _less_certain(key: EntryKey) -> EntryKey:
    """What was a problem is only a hint now. The other way round it is new."""
    return key._replace(tier=Tier.HINT.value)


_PASSES: Final = (
    (_same, _same),
    (_other_function, _other_function),
    (_other_file, _other_file),
    (_less_certain, _same),
)
"""What an old finding and a new one are compared by; each pass has what the one above left over."""


def _key(path: str, finding: Finding) -> EntryKey:
    return key_of(path.replace(os.sep, "/"), finding)


def _take(left: Counter[EntryKey], key: EntryKey) -> bool:
    """Whether there is one more of these, which is then taken."""
    left[key] -= 1
    return left[key] >= 0
