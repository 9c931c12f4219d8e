"""What a profile is compared with: an earlier one, and a budget."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from torchlint.cli.command import together
from torchlint.cli.duration import is_time
from torchlint.cli.printing import must_be_writable, print_lines, write_baseline
from torchlint.config.settings import ConfigError
from torchlint.report.terminal.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torchlint.profile.profile_result import Profile
    from torchlint.silence.baselines import Baseline

    Function = Callable[..., None]


held_against_options = together(
    click.option(
        "--compare",
        metavar="FILE",
        help="Say what has changed since an earlier profile, written by --json.",
    ),
    click.option(
        "--budget",
        "budget_file",
        metavar="FILE",
        help="Fail on findings that this baseline does not allow, and on entries of runs that no "
        "longer hold.",
    ),
    click.option(
        "--write-budget",
        metavar="FILE",
        help="Put entries into a baseline, new or not, that allow today's findings.",
    ),
)
"""Adds the options that `held_against` takes."""


def held_against(given: Mapping[str, Any]) -> Callable[[Profile], Profile]:
    """A function that adds to a profile what has changed and what breaks the budget, which changes
    its exit code to 1; it writes a budget if one is wanted. What it says, it says at the end of the
    command, below the report.

    Raises:
        click.ClickException: a file cannot be used; raised before the script runs.
    """
    from torchlint.profile import budget as budgets
    from torchlint.profile import earlier_profile
    from torchlint.silence.baselines import Baseline

    before = _read(earlier_profile.read, given["compare"])
    _must_be_no_time(given["budget_file"])
    budget = _read(_loaded, given["budget_file"])
    target = given["write_budget"]
    if target is not None:
        must_be_writable(target)
        written = _read(_loaded, target) if os.path.lexists(target) else Baseline(target)

    def hold(result: Profile) -> Profile:
        from torchlint.profile.before import compare
        from torchlint.silence.until import today

        if before is not None:
            result = replace(result, compared=compare(before, result))
        # A profile that ended early has not seen all that the budget is about.
        if result.exit:
            if budget is not None or target is not None:
                said = "The profile was not finished, so no budget is judged or written."
                _say_at_the_end(said)
            return result
        if target is not None:
            write_baseline(written, budgets.allowing(result, written))
            _say_at_the_end(f"Wrote {target}; say in it why its entries are allowed.")
        if budget is not None:
            judged = budgets.judge(budget, result, today())
            result = replace(result, budget=judged, exit=1 if judged.broken else 0)
        return result

    return hold


def _say_at_the_end(said: str) -> None:
    context = click.get_current_context()
    context.call_on_close(lambda: print_lines([visible(said)], err=True))


def _must_be_no_time(budget: str | None) -> None:
    if budget is not None and is_time(budget) and not os.path.lexists(budget):
        raise click.UsageError(
            f"--budget takes a file with allowed findings, and there is no {budget}; "
            f"--budget-time {budget} ends the profile after that time."
        )


def _loaded(path: str) -> Baseline:
    from torchlint.silence.baselines import Baseline

    baseline = Baseline(path)
    baseline.load()
    return baseline


def _read(read: Callable[[str], Any], path: str | None) -> Any:
    if path is None:
        return None
    try:
        return read(path)
    except ConfigError as error:
        raise click.ClickException(visible(str(error))) from None
