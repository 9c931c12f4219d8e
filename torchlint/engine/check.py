"""Checks files as one project: maps each file to a result and reduces the results to findings."""

# No postponed annotations here: named tuples would compile each one at start-up.

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from torchlint.files.reading import SourceError, UnconcernedError
from torchlint.finding import Diagnostic, Finding, Results
from torchlint.memory.store import Store
from torchlint.project.target import Known, Target, known_of, mentions_torch
from torchlint.workers.pool import Pool

if TYPE_CHECKING:
    from torchlint.memory.kept_join import KeptJoin
    from torchlint.notebooks.cells import Borders


class Report(NamedTuple):
    """What a check found: findings of every tier, with those that a comment silences up to a day,
    and diagnostics, sorted by place.

    `digests` has the digests of the files with findings, by path. Positions in a notebook are
    positions in the module made of its cells; `borders` has the borders of the cells, by path.
    `stepless`: rules about code that runs on each step were asked, and no training step was seen.
    """

    findings: tuple[Finding, ...]
    diagnostics: tuple[Diagnostic, ...]
    files: int
    digests: Mapping[str, bytes]
    borders: Mapping[str, "Borders"] = {}
    stepless: bool = False

    def in_cells(
        self, findings: Iterable[Finding], diagnostics: Iterable[Diagnostic]
    ) -> tuple[tuple[Finding, ...], tuple[Diagnostic, ...]]:
        """Findings and diagnostics of these files with places in notebooks by cell and row."""
        if not self.borders:
            return tuple(findings), tuple(diagnostics)
        from torchlint.notebooks.notebook_module import diagnosed_in_cells, in_cells

        return (
            tuple(in_cells(each, self.borders) for each in findings),
            tuple(diagnosed_in_cells(each, self.borders) for each in diagnostics),
        )


def check(
    targets: Sequence[Target],
    *,
    pool: Pool | None = None,
    progress: Callable[[int, int], None] | None = None,
    store: Store | None = None,
) -> Report:
    """Check files as one project: a helper is hot if any of these files calls it on each step.

    Files that cannot be read or parsed and rules that crash become diagnostics; the other
    findings stay. A file that is too large is skipped without a diagnostic if it was found in a
    folder and its beginning does not mention torch.

    Args:
        pool: the processes that parse files; by default only this one.
        progress: called with the number of files done and the total.
        store: cached results, so that only changed files are parsed; by default empty.
    """
    store = Store() if store is None else store
    files, diagnostics = read(targets)
    # Without a file that mentions torch there is nothing worth caching.
    complete = not diagnostics and any(known.relevant for known in files)
    results = store.report(files) if complete else None
    if results is None:
        last = store.last(files) if complete else None
        new, joined = _check(files, pool or Pool(), progress, store, last)
        all_wrong = {*diagnostics, *new.diagnostics}
        results = new._replace(
            findings=tuple(sorted(new.findings, key=lambda finding: finding.sort_key)),
            diagnostics=tuple(sorted(all_wrong, key=lambda diagnostic: diagnostic.sort_key)),
        )
        if complete:
            store.keep_report(files, results, joined)
    concerned = {finding.path for finding in results.findings}
    digests = {each.target.path: each.digest for each in files if each.target.path in concerned}
    borders = {each.target.path: each.borders for each in files if each.borders is not None}
    findings, wrong, stepless = results
    if stepless:
        unread = {each.path for each in wrong}
        stepless = any(each.path not in unread for each in targets)
    return Report(findings, wrong, len(targets), digests, borders, stepless)


def read(targets: Iterable[Target]) -> tuple[list[Known], list[Diagnostic]]:
    """The files that can be read, and what is wrong with the others."""
    diagnostics: list[Diagnostic] = []
    files: list[Known] = []
    for target in targets:
        try:
            files.append(known_of(target, target.read()))
        except UnconcernedError as error:
            if target.named or mentions_torch(error.head):
                diagnostics.append(error.diagnostic)
        except SourceError as error:
            diagnostics.append(error.diagnostic)
    return files, diagnostics


def _check(
    files: Sequence[Known],
    pool: Pool,
    progress: Callable[[int, int], None] | None,
    store: Store,
    last: "tuple[Results, KeptJoin] | None",
) -> "tuple[Results, KeptJoin | None]":
    relevant = [known for known in files if known.relevant]
    if progress is not None:
        progress(len(files) - len(relevant), len(files))
    unsound = tuple(wrong for known in files for wrong in (*_unread(known), *_unsound(known)))
    if not relevant:
        return Results(diagnostics=unsound), None
    from torchlint.engine.large_trees import results_of
    from torchlint.engine.map_project import Mapper

    def mapper() -> Mapper:
        return Mapper(files, pool=pool, progress=progress, store=store)

    results, joined = results_of(mapper, last)
    store.note_answers(files)
    store.save()
    return results._replace(diagnostics=unsound + results.diagnostics), joined


def _unread(known: Known) -> Iterable[Diagnostic]:
    """The cells of a notebook that were skipped."""
    if known.borders is None:
        return ()
    from torchlint.notebooks.notebook_module import unread_cells

    return unread_cells(known.target.path, known.borders)


def _unsound(known: Known) -> Sequence[Diagnostic]:
    """Why a file that the user named cannot be checked, if no rule wants it anyway."""
    target = known.target
    if known.relevant or not target.named:
        return ()
    from torchlint.source.syntax_errors import what_is_wrong

    try:
        data = target.read()
    except SourceError as error:
        return (error.diagnostic,)
    wrong = what_is_wrong(target.path, data)
    return () if wrong is None else (wrong,)
