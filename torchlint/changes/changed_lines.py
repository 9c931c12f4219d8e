"""Which lines changed since a commit: in commits, in the working tree, and in new files.

Files are read from the disk as they are and compared here. If git compared them, it would run the
filters that the repository asks for.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.changes.git import Entry, Repository
from torchlint.files.reading import NOTEBOOK, SourceError, most_bytes, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torchlint.finding import Position

_DEEPEST: Final = 32
"""How often a part of a file is split at its unique lines. Hostile files could go on forever; the
rest counts as changed."""
_FILES: Final = (b"100644", b"100755", b"100664")


class ChangedLines(NamedTuple):
    """What changed in a file.

    Args:
        lines: the lines as they are now, without their ends; of a notebook those of its code
            cells, one cell after the other.
        rows: those that are new or different, from 1.
        cuts: rows below which something was taken out.
        cells: how many lines come before each code cell of a notebook.
    """

    lines: Sequence[bytes] = ()
    rows: frozenset[int] = frozenset()
    cuts: frozenset[int] = frozenset()
    cells: Sequence[int] = ()

    def touch(self, start: Position, end: Position) -> bool:
        """Whether anything in these rows changed, both included, or was taken out of them."""
        first, last = self._row(start), self._row(end)
        return any(row in self.rows for row in range(first, last + 1)) or any(
            row in self.cuts for row in range(first, last)
        )

    def below(self, place: Position) -> Iterator[bytes]:
        """The changed lines of the block that the line here opens, by its indentation."""
        row = self._row(place)
        depth = _indentation(self.lines[row - 1]) if row <= len(self.lines) else 0
        for number, line in enumerate(self.lines[row:], row + 1):
            words = line.strip()
            # A closing bracket may end the opening line.
            if words and _indentation(line) <= depth and words[:1] not in b")]}#":
                return
            if number in self.rows:
                yield words

    def _row(self, place: Position) -> int:
        within = place.cell is not None and place.cell <= len(self.cells)
        return place.row + (self.cells[place.cell - 1] if within and place.cell else 0)


class Changes:
    """What changed in a working tree since it parted from a revision.

    Args:
        revision: a branch, a tag or a commit. What counts is the merge base of it and HEAD, as in
            a pull request, so that later changes by others on that branch do not count. Before
            the first commit, as in the hook that checks it, all of the tree is new.
        folder: a folder of the working tree.

    Raises:
        GitError: there is no git, no repository, no such revision, or no merge base.
    """

    def __init__(self, revision: str, folder: str = ".") -> None:
        self.repository = repository = Repository(folder)
        head = repository.head()
        if head is None and revision == "HEAD":
            self.base = repository.empty_tree()
        else:
            commit = repository.commit(revision)
            self.base = commit if head is None else repository.merge_base(commit, head)

    def lines(self, files: Mapping[str, bytes | None]) -> dict[str, ChangedLines]:
        """What changed in these files.

        A file that the base does not have is new in every line, unless it was renamed. A file of
        another repository inside this one, such as a submodule, has no lines of this one.

        Args:
            files: paths, with their content where it does not come from the disk.

        Raises:
            GitError: a file is outside of the repository, or an object is missing.
        """
        names = {path: self.repository.name_of(path) for path in files}
        tree = self.repository.tree(self.base)
        own = {path: name for path, name in names.items() if not self.is_foreign(name)}
        if any(name not in tree for name in own.values()):
            renames = self.repository.renames(self.base)
            own = {path: renames.get(name, name) for path, name in own.items()}
        before = {path: object_of(tree.get(name)) for path, name in own.items()}
        largest = max(map(most_bytes, files), default=0)
        blobs = self.repository.blobs({each for each in before.values() if each}, largest)
        nothing = ChangedLines()
        return {
            path: compared(blobs.get(before[path], b""), _content(path, data), path)
            if path in own
            else nothing
            for path, data in files.items()
        }

    def is_foreign(self, name: bytes) -> bool:
        """Whether a file belongs to a repository inside this one, such as a submodule."""
        top = os.fsencode(self.repository.top)
        return any(os.path.lexists(os.path.join(top, above, b".git")) for above in _above(name))


def compared(before: bytes, after: bytes, path: str = "") -> ChangedLines:
    """What changed between two contents of a file; how its lines end does not matter."""
    lines, cells = _lines(path, after)
    partner = partners(_lines(path, before)[0], lines)
    rows = frozenset(row for row, old in enumerate(partner, 1) if old < 0)
    pairs = pairwise(partner)
    cuts = (row for row, (old, below) in enumerate(pairs, 1) if 0 <= old < below - 1)
    return ChangedLines(lines, rows, frozenset(cuts), cells)


def _lines(path: str, data: bytes) -> tuple[list[bytes], list[int]]:
    """The lines of a file; of a notebook those of its code cells, and where each cell begins."""
    if not path.endswith(NOTEBOOK):
        return data.splitlines(), []
    from torchlint.notebooks.document import Notebook

    lines: list[bytes] = []
    cells: list[int] = []
    try:
        for cell in Notebook(path, data).cells:
            cells.append(len(lines))
            lines += cell.source.encode("utf-8", "surrogatepass").splitlines()
    except SourceError:
        return [], []  # nothing was found in it, or it was none before
    return lines, cells


def partners(before: Sequence[bytes], after: Sequence[bytes]) -> list[int]:
    """For each line of `after` where it stood before, or -1 if it is new.

    This is the patience diff: lines that both texts have just once hold it in place. difflib
    would take the cube of the number of lines for texts that are made for it.
    """
    partner = [-1] * len(after)
    gaps = [(0, len(before), 0, len(after), 0)]
    while gaps:
        i, i_end, j, j_end, depth = gaps.pop()
        while i < i_end and j < j_end and before[i] == after[j]:
            partner[j] = i
            i, j = i + 1, j + 1
        while i < i_end and j < j_end and before[i_end - 1] == after[j_end - 1]:
            i_end, j_end = i_end - 1, j_end - 1
            partner[j_end] = i_end
        anchors = _anchors(before[i:i_end], after[j:j_end]) if depth < _DEEPEST else []
        if anchors:
            starts = [(i, j), *((i + a, j + b) for a, b in anchors)]
            ends = [*starts[1:], (i_end, j_end)]
            for (a, b), (a_end, b_end) in zip(starts, ends, strict=True):
                gaps.append((a, a_end, b, b_end, depth + 1))
    return partner


def _anchors(before: Sequence[bytes], after: Sequence[bytes]) -> list[tuple[int, int]]:
    """The most lines that both have once and in the same order, as pairs of places."""
    once = _once(after)
    pairs = [(i, once[line]) for line, i in _once(before).items() if line in once]
    # The longest increasing sequence: for each length the pair that it best ends with.
    tops: list[int] = []
    ends: list[int] = []
    above: list[int] = []
    for at, (_, j) in enumerate(pairs):
        length = bisect_left(tops, j)
        above.append(ends[length - 1] if length else -1)
        tops[length : length + 1] = [j]
        ends[length : length + 1] = [at]
    chosen: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = above[at]
    return chosen[::-1]


def _once(lines: Sequence[bytes]) -> dict[bytes, int]:
    """The lines that occur just once, with their places, in order."""
    places: dict[bytes, int] = {}
    for at, line in enumerate(lines):
        places[line] = -1 if line in places else at
    return {line: at for line, at in places.items() if at >= 0}


def _above(name: bytes) -> Iterator[bytes]:
    """The folders on the way to a file, from the top."""
    at = name.find(b"/")
    while at >= 0:
        yield name[:at]
        at = name.find(b"/", at + 1)


def _indentation(line: bytes) -> int:
    return len(line.expandtabs(8)) - len(line.expandtabs(8).lstrip())


def object_of(entry: Entry | None) -> bytes:
    """The object of a file, or nothing: a link or a folder that became a file is new."""
    return entry.object if entry is not None and entry.mode in _FILES else b""


def _content(path: str, data: bytes | None) -> bytes:
    if data is not None:
        return data
    try:
        return read_bytes(path)
    except SourceError:
        return b""
