"""What is compared with the original: our fixes, a user's patch, or another script."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.subject import AGAIN, CHANGED, ORIGINAL, Variant
from torchlint.files.diffs import unified
from torchlint.files.reading import SourceError, read_bytes
from torchlint.verify.compared.fix_lines import places_after, places_before, places_of_pair
from torchlint.verify.fix_variants import only, variants_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from torchlint.experiment.subject import Watched
    from torchlint.runtime.program import Program
    from torchlint.verify.compared.measured_fixes import Fixes


@dataclass(frozen=True, slots=True)
class Changes:
    """The changed program, and the ways to take it apart.

    Either `fixes` is given, or `patched` (real path → bytes before and after), or `other`. `more`
    gives the fixes with those of files that a run has loaded, by their real paths and the time
    until which it may take.
    """

    program: Program
    fixes: Fixes | None = None
    patched: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    other: Program | None = None
    more: Callable[[Collection[str], float | None], Fixes] | None = None
    more_words = "the fixes of what it loads"

    @property
    def ids(self) -> tuple[str, ...]:
        return self.fixes.ids if self.fixes else ()

    @property
    def changed(self) -> Variant | None:
        """The program with the whole change; None: there is no fix."""
        return None if self.fixes is not None and not self.ids else Variant(CHANGED, self.ids)

    def parts(self) -> dict[str, Variant]:
        """Each fix alone."""
        fixes = self.fixes.fixes if self.fixes else ()
        return {f"{fix.code} in {fix.path}": Variant(only(fix.id), (fix.id,)) for fix in fixes}

    def with_loaded(self, files: Collection[str], deadline: float | None) -> Changes:
        """With the fixes of files that a run has loaded; see `Subject`."""
        return self if self.more is None else replace(self, fixes=self.more(files, deadline))

    def of(self, ids: Collection[str]) -> Changes:
        """With these fixes only."""
        return replace(self, fixes=self.fixes.only(ids) if self.fixes else None)

    def variants(self, *, per_fix: bool) -> tuple[Variant, ...]:
        """The forms of the program to run."""
        return variants_of(self.ids, per_fix=per_fix)

    def program_of(self, variant: Variant) -> Program:
        """Which program this variant starts."""
        changed = variant.name not in (ORIGINAL, AGAIN)
        return self.other if self.other is not None and changed else self.program

    def served(self, variant: Variant) -> dict[str, bytes]:
        """Real path → the bytes that this variant sees in its place."""
        if variant.name in (ORIGINAL, AGAIN):
            return {}
        if self.fixes is not None:
            return self.fixes.served(variant.fixes)
        return {path: after for path, (_, after) in self.patched.items()}

    def may_change(self, variant: Variant) -> str:
        """What the rules behind this variant's fixes declare to change in the numbers."""
        if self.fixes is None:
            return ""
        declared = [fix.may_change for fix in self.fixes.fixes if fix.id in variant.fixes]
        return "; ".join(dict.fromkeys(each for each in declared if each))

    def places(self) -> tuple[Watched, Watched]:
        """The lines to watch in the original and in the changed program."""
        if self.fixes is not None:
            return places_before(self.fixes), places_after(self.fixes)
        before: Watched = {}
        after: Watched = {}
        for (path, other), pair in self._pairs().items():
            before[path], after[other] = places_of_pair(os.path.relpath(other), *pair)
        return before, after

    def where(self) -> dict[str, str]:
        """Id of a place → where it is, as `train.py:31`."""
        if self.fixes is None:
            ids = [place.id for each in self.places() for those in each.values() for place in those]
            return dict(zip(ids, ids, strict=True))
        return {
            f"{fix.id}:{number}": f"{finding.path}:{finding.start.row}"
            for fix in self.fixes.fixes
            for number, finding in enumerate(fix.findings)
        }

    def diff(self) -> str:
        """The whole change, for a reader."""
        if self.fixes is not None:
            return self.fixes.diff(self.ids)
        pairs = sorted(self._pairs().items())
        parts = [unified(os.path.relpath(path), *pair) for (path, _), pair in pairs]
        return b"".join(parts).decode("utf-8", "replace")

    def _pairs(self) -> dict[tuple[str, str], tuple[bytes, bytes]]:
        """Real paths of a file before and after the change → its bytes, without fixes."""
        if self.other is not None:
            files = self.program.file, self.other.file
            return {files: (_read(files[0]), _read(files[1]))}
        return {(path, path): pair for path, pair in self.patched.items()}


def _read(path: str) -> bytes:
    try:
        return read_bytes(path)
    except SourceError as error:
        raise ExperimentError(f"{path}: {error.message}") from None
