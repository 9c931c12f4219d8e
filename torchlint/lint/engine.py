"""MAP each file to what it says, REDUCE that to findings: the whole of `check` as a library."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from torchlint.lint.gate import mentions_torch
from torchlint.lint.store import Store
from torchlint.project.digests import blake2b
from torchlint.project.source import SourceError, TooLargeError, read_bytes
from torchlint.project.workers import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torchlint.config import Selection
    from torchlint.lint.finding import Diagnostic, Finding
    from torchlint.lint.joined import Joined
    from torchlint.lint.store import Said


class Target(NamedTuple):
    """One file to check.

    Args:
        path: the name shown to the user and used in findings.
        selection: which rules are on.
        torch: the oldest torch that the file must run with, as (major, minor).
        data: the content, if it does not come from disk.
        named: the user named this very file, so that it is an error if it is not Python; a file
            found in a folder is parsed only if its words concern a rule.
    """

    path: str
    selection: Selection
    torch: tuple[int, int]
    data: bytes | None = None
    named: bool = False

    def read(self) -> bytes:
        """The content.

        Raises:
            SourceError: the file cannot be read.
        """
        return read_bytes(self.path) if self.data is None else self.data


class Depth(str, Enum):
    """How far a file is looked into."""

    IMPORTS = "imports"
    """Only what it imports, off its lines."""
    RULES = "rules"
    """Parsed if a rule wants to see it."""
    WOKEN = "woken"
    """Parsed and summarized, since hot code of another file may lead here."""


class Known:
    """A target whose content was seen: a digest of it, its size in bytes, and whether any rule
    can have something to say about it."""

    __slots__ = ("digest", "relevant", "size", "target")

    def __init__(self, target: Target, digest: bytes, size: int, *, relevant: bool) -> None:
        self.target = target
        self.digest = digest
        self.size = size
        self.relevant = relevant


class Report(NamedTuple):
    """What a check found: findings of every tier and diagnostics, sorted by place.

    `digests` are those of the files with findings, by path: `digest_of` what was checked.
    """

    findings: tuple[Finding, ...]
    diagnostics: tuple[Diagnostic, ...]
    files: int
    digests: Mapping[str, bytes]


def check(
    targets: Sequence[Target],
    *,
    pool: Pool | None = None,
    progress: Callable[[int, int], None] | None = None,
    store: Store | None = None,
) -> Report:
    """Checks files as one project: helpers are hot if any of these files makes them so.

    A file that cannot be read or parsed, and a rule that crashes, become diagnostics; the other
    findings stay. A file that is too large is passed over in silence if it was found in a folder
    and does not begin like one that matters.

    Args:
        pool: the processes that share the parsing; by default this one alone.
        progress: called with the number of files done and of all.
        store: what files said before, so that only changed ones are parsed; by default nothing.
    """
    store = Store() if store is None else store
    diagnostics: list[Diagnostic] = []
    files: list[Known] = []
    for target in targets:
        try:
            files.append(_seen(target))
        except TooLargeError as error:
            if target.named or mentions_torch(error.head):
                diagnostics.append(error.diagnostic)
        except SourceError as error:
            diagnostics.append(error.diagnostic)
    # Without a file that matters there is nothing worth to remember.
    complete = not diagnostics and any(known.relevant for known in files)
    said = store.report(files) if complete else None
    if said is None:
        last = store.last(files) if complete else None
        (found, wrong), joined = _check(files, pool or Pool(), progress, store, last)
        findings = sorted(found, key=lambda finding: finding.sort_key)
        diagnostics = sorted({*diagnostics, *wrong}, key=lambda diagnostic: diagnostic.sort_key)
        said = tuple(findings), tuple(diagnostics)
        if complete:
            store.keep_report(files, said, joined)
    concerned = {finding.path for finding in said[0]}
    digests = {each.target.path: each.digest for each in files if each.target.path in concerned}
    return Report(*said, files=len(targets), digests=digests)


def digest_of(data: bytes) -> bytes:
    """What tells one content of a file from another."""
    return blake2b(data, digest_size=16).digest()


def _seen(target: Target) -> Known:
    """
    Raises:
        SourceError: the file cannot be read.
    """
    data = target.read()
    return Known(target, digest_of(data), len(data), relevant=mentions_torch(data))


def _check(
    files: Sequence[Known],
    pool: Pool,
    progress: Callable[[int, int], None] | None,
    store: Store,
    last: tuple[Said, Joined] | None,
) -> tuple[Said, Joined | None]:
    relevant = [known for known in files if known.relevant]
    if progress is not None:
        progress(len(files) - len(relevant), len(files))
    unsound = tuple(wrong for known in files for wrong in _unsound(known))
    if not relevant:
        return ((), unsound), None
    from torchlint.lint.again import findings_again
    from torchlint.lint.mapper import Mapper
    from torchlint.lint.run import findings_of

    def mapper() -> Mapper:
        return Mapper(files, pool=pool, progress=progress, store=store)

    again = None if last is None else findings_again(mapper(), *last)
    (findings, diagnostics), joined = again or findings_of(mapper())
    store.note_answers(files)
    store.save()
    return (findings, unsound + diagnostics), joined


def _unsound(known: Known) -> Sequence[Diagnostic]:
    """Why a file that the user named and that no rule concerns cannot be checked."""
    target = known.target
    if known.relevant or not target.named:
        return ()
    from torchlint.lint.soundness import what_is_wrong

    try:
        data = target.read()
    except SourceError as error:
        return (error.diagnostic,)
    wrong = what_is_wrong(target.path, data)
    return () if wrong is None else (wrong,)
