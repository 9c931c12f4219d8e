"""torchlint from Python: the functions that the command line, flake8 and other programs call.

Nothing here executes the code that is checked, and only a store that `check_plan` is given writes
to disk. Rows and columns count from 1.
"""

# No postponed annotations here: named tuples would compile each one at start-up.

from collections.abc import Callable, Sequence
from typing import NamedTuple

from torchlint.engine.check import check
from torchlint.engine.targets import Plan, Wishes, plan, plan_text
from torchlint.engine.tiers import Wanted, choose
from torchlint.files.reading import SourceError, with_text
from torchlint.finding import Diagnostic, Finding
from torchlint.memory.store import Store
from torchlint.workers.pool import Pool


class CheckResult(NamedTuple):
    """The outcome of a check.

    Args:
        findings: those of the tiers that were asked for, sorted by path and position.
        diagnostics: what could not be checked, and why; sorted likewise.
        files: how many files were checked.
        hidden_hints: the files with hints that were not asked for, and how many.
        stepless: rules about code that runs on each step were asked, and no training step was seen.
    """

    findings: tuple[Finding, ...]
    diagnostics: tuple[Diagnostic, ...]
    files: int
    hidden_hints: tuple[tuple[str, int], ...] = ()
    stepless: bool = False


class FixResult(NamedTuple):
    """The outcome of fixing.

    Args:
        source: the fixed text; the text that was given if there was nothing to fix.
        remaining: the findings that are left in it.
        diagnostics: what could not be checked or fixed, and why.
    """

    source: str
    remaining: tuple[Finding, ...]
    diagnostics: tuple[Diagnostic, ...]


def check_source(
    source: str | bytes,
    filename: str = "<string>",
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    target_torch: tuple[int, int] | None = None,
    config: str | None = None,
    isolated: bool = False,
    hints: bool = False,
    pedantic: bool = False,
) -> CheckResult:
    """Check the text of one file.

    A function is known to run on every training step only if this text shows it; `check_paths`
    sees who calls it from other files.

    Args:
        source: Python, or the JSON of a notebook if `filename` ends in `.ipynb`.
        filename: decides which configuration applies, and is shown; it need not exist.
        select: codes, families, names or `ALL`; by default what the configuration selects.
        ignore: the same, on top of what the configuration ignores.
        target_torch: the oldest torch that the code must work with, as (major, minor); by default
            from the project's requirements, else the newest.
        config: a configuration file, instead of the one that is found.
        isolated: use no configuration file.
        hints: also return findings whose cost is likely but not certain.
        pedantic: also return findings with a small or rare gain.

    Raises:
        ConfigError: a rule that does not exist is named, or the configuration cannot be used.
    """
    wishes = Wishes(tuple(select) or None, tuple(ignore), target_torch, config, isolated=isolated)
    planned, _ = _planned(source, filename, wishes)
    return check_plan(planned, Wanted(hints=hints, pedantic=pedantic))


def check_paths(
    paths: Sequence[str],
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    target_torch: tuple[int, int] | None = None,
    config: str | None = None,
    isolated: bool = False,
    hints: bool = False,
    pedantic: bool = False,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> CheckResult:
    """Check files and folders as one project.

    Args:
        paths: files, and folders to search for `*.py` and `*.ipynb`.
        jobs: how many processes read the files.
        progress: called with the number of files done and of all.

    The other arguments are those of `check_source`. A path that does not exist, and a file that
    cannot be read or parsed, becomes a diagnostic.

    Raises:
        ConfigError: as for `check_source`.
    """
    wishes = Wishes(tuple(select) or None, tuple(ignore), target_torch, config, isolated=isolated)
    wanted = Wanted(hints=hints, pedantic=pedantic)
    return check_plan(plan(paths, wishes), wanted, pool=Pool(jobs), progress=progress)


def fix_source(
    source: str,
    filename: str = "<string>",
    *,
    unsafe: bool = False,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    target_torch: tuple[int, int] | None = None,
    config: str | None = None,
    isolated: bool = False,
    hints: bool = False,
    pedantic: bool = False,
) -> FixResult:
    """Fix the text of one file until there is nothing left to fix.

    Args:
        unsafe: also make fixes that may change results or memory.

    The other arguments are those of `check_source`; findings of the tiers that they name are
    fixed and returned.

    Raises:
        ConfigError: as for `check_source`.
    """
    from torchlint.fixes.fixer import fix_targets

    wishes = Wishes(tuple(select) or None, tuple(ignore), target_torch, config, isolated=isolated)
    planned, encoding = _planned(source, filename, wishes)
    wanted = Wanted(hints=hints, pedantic=pedantic)
    report = fix_targets(planned.targets, unsafe=unsafe, wanted=wanted)
    fixed = report.files[0].after.decode(encoding) if report.files else source
    return FixResult(fixed, report.remaining, (*planned.diagnostics, *report.diagnostics))


def check_plan(
    planned: Plan,
    wanted: Wanted,
    *,
    pool: Pool | None = None,
    progress: Callable[[int, int], None] | None = None,
    store: Store | None = None,
) -> CheckResult:
    """Check the files of a plan; findings in a notebook count by cell and row.

    Args:
        wanted: the tiers to return.
        pool, progress, store: as for `torchlint.engine.check.check`.
    """
    targets = wanted.asked_of(planned.targets)
    report = check(targets, pool=pool, progress=progress, store=store)
    shown = choose(report.findings, targets, wanted)
    findings, diagnostics = shown.findings, report.diagnostics
    if report.borders:
        from torchlint.notebooks.module import diagnosed_in_cells, in_cells

        findings = tuple(in_cells(each, report.borders) for each in findings)
        diagnostics = tuple(diagnosed_in_cells(each, report.borders) for each in diagnostics)
    wrong = sorted({*planned.diagnostics, *diagnostics}, key=lambda each: each.sort_key)
    hidden = shown.hidden_hints
    return CheckResult(findings, tuple(wrong), report.files, hidden, report.stepless)


def _planned(source: str | bytes, filename: str, wishes: Wishes) -> tuple[Plan, str]:
    """The check of a text, and the encoding of its bytes. A text that the encoding it names cannot
    hold is a diagnostic.

    Raises:
        ConfigError: as for `check_source`.
    """
    if isinstance(source, bytes):
        return plan_text(source, filename, wishes), ""
    try:
        file = with_text(filename, source)
    except SourceError as error:
        planned = plan_text(b"", filename, wishes)
        return Plan((), (*planned.diagnostics, error.diagnostic)), ""
    return plan_text(file.data, filename, wishes), file.encoding
