"""torchlint from Python: the functions that the command line, flake8 and other programs call.

Nothing here executes the code that is checked, and only a store that `check_plan` is given writes
to disk. Rows and columns count from 1.
"""

# No postponed annotations here: named tuples would compile each one at start-up.

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from torchlint.engine.check import check
from torchlint.engine.targets import Plan, Wishes, plan, plan_text
from torchlint.files.reading import SourceError, with_text
from torchlint.finding import Diagnostic, Finding
from torchlint.memory.store import Store
from torchlint.silence.tiers import Wanted, choose
from torchlint.workers.pool import Pool

_T = TypeVar("_T")
AnyPath = str | bytes | os.PathLike[str] | os.PathLike[bytes]


class CheckResult(NamedTuple):
    """The outcome of a check.

    Args:
        findings: those of the tiers that were asked for, sorted by path and position.
        diagnostics: what could not be checked, and why; sorted likewise.
        files: how many files were checked.
        hidden_hints: the files with hints that were not asked for, and how many were seen: no file
            is parsed for hints alone.
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
    filename: AnyPath = "<string>",
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    target_torch: tuple[int, int] | None = None,
    config: AnyPath | None = None,
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
        TypeError, ValueError: an argument is of another type, or nothing that it can be.
    """
    if not isinstance(source, str | bytes):
        raise _wrong_type("source", "a str or bytes", source)
    wishes = _wishes(select, ignore, target_torch, config, isolated=isolated)
    wanted = _wanted(hints=hints, pedantic=pedantic)
    planned, _ = _planned(source, _name("filename", filename), wishes)
    return check_plan(planned, wanted)


def check_paths(
    paths: Iterable[AnyPath],
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    target_torch: tuple[int, int] | None = None,
    config: AnyPath | None = None,
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
        ConfigError, TypeError, ValueError: as for `check_source`.
    """
    if isinstance(paths, str | bytes | os.PathLike):
        raise TypeError("`paths` must be a list of paths, such as ['src'], not one path.")
    named = [_path("paths", each) for each in _all("paths", "paths, such as ['src']", paths)]
    if not isinstance(jobs, int) or isinstance(jobs, bool):
        raise _wrong_type("jobs", "a whole number", jobs)
    if jobs < 1:
        raise ValueError(f"`jobs` must be 1 or more, not {jobs}.")
    if progress is not None and not callable(progress):
        raise _wrong_type("progress", "a function of two numbers", progress)
    wishes = _wishes(select, ignore, target_torch, config, isolated=isolated)
    wanted = _wanted(hints=hints, pedantic=pedantic)
    return check_plan(plan(named, wishes), wanted, pool=Pool(jobs), progress=progress)


def fix_source(
    source: str,
    filename: AnyPath = "<string>",
    *,
    unsafe: bool = False,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    target_torch: tuple[int, int] | None = None,
    config: AnyPath | None = None,
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
        ConfigError, TypeError, ValueError: as for `check_source`.
    """
    from torchlint.fixes.fixer import fix_targets

    if not isinstance(source, str):
        raise _wrong_type("source", "a str", source)
    wishes = _wishes(select, ignore, target_torch, config, isolated=isolated)
    wanted = _wanted(hints=hints, pedantic=pedantic)
    planned, encoding = _planned(source, _name("filename", filename), wishes)
    report = fix_targets(planned.targets, unsafe=_flag("unsafe", unsafe), wanted=wanted)
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
    findings, diagnostics = report.in_cells(shown.findings, report.diagnostics)
    wrong = sorted({*planned.diagnostics, *diagnostics}, key=lambda each: each.sort_key)
    hidden = shown.hidden_hints
    return CheckResult(findings, tuple(wrong), report.files, hidden, report.stepless)


# arguments ------------------------------------------------------------------------------------


def _wishes(
    select: Iterable[str],
    ignore: Iterable[str],
    target_torch: tuple[int, int] | None,
    config: AnyPath | None,
    *,
    isolated: bool,
) -> Wishes:
    if _flag("isolated", isolated) and config is not None:
        raise ValueError("`config` and `isolated` exclude each other; give one of them.")
    return Wishes(
        _rules("select", select) or None,
        _rules("ignore", ignore),
        None if target_torch is None else _version(target_torch),
        None if config is None else _name("config", config),
        isolated=isolated,
    )


def _wanted(*, hints: bool, pedantic: bool) -> Wanted:
    return Wanted(hints=_flag("hints", hints), pedantic=_flag("pedantic", pedantic))


def _rules(argument: str, value: Iterable[str]) -> tuple[str, ...]:
    what = "rules, such as ['TL201']"
    if isinstance(value, str | bytes):
        raise _wrong_type(argument, f"a list of {what}", value)
    rules = _all(argument, what, value)
    for rule in rules:
        if not isinstance(rule, str):
            raise _wrong_type(argument, f"a list of {what}", rule)
    return rules


def _all(argument: str, what: str, value: Iterable[_T]) -> tuple[_T, ...]:
    if not isinstance(value, Iterable):
        raise _wrong_type(argument, f"a list of {what}", value)
    return tuple(value)


def _version(value: tuple[int, int]) -> tuple[int, int]:
    parts = value if isinstance(value, tuple | list) else (value,)
    wrong = [each for each in parts if not isinstance(each, int) or isinstance(each, bool)]
    if wrong or not isinstance(value, tuple | list):
        what = "two whole numbers, such as (2, 1)"
        raise _wrong_type("target_torch", what, wrong[0] if wrong else value)
    if len(value) != 2 or min(value) < 0:
        shown = ", ".join(map(str, value[:3]))
        raise ValueError(f"`target_torch` must be (major, minor), such as (2, 1), not ({shown}).")
    return value[0], value[1]


def _flag(argument: str, value: bool) -> bool:
    if not isinstance(value, bool):
        raise _wrong_type(argument, "True or False", value)
    return value


def _path(argument: str, value: AnyPath) -> str:
    if not isinstance(value, str | bytes | os.PathLike):
        raise _wrong_type(argument, "a str or a path, such as pathlib.Path", value)
    return os.fsdecode(value)


def _name(argument: str, value: AnyPath) -> str:
    """A path that may be asked for in the file system."""
    path = _path(argument, value)
    try:
        possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise ValueError(f"`{argument}` has a character that no name of a file has; leave it out.")
    return path


def _wrong_type(argument: str, wanted: str, value: object) -> TypeError:
    return TypeError(f"`{argument}` must be {wanted}, not of type {type(value).__name__}.")


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
