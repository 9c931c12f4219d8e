"""One check: the engine run over a plan, and what to report of its findings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from torchlint.cli.reports import Checked
from torchlint.cli.resources import connected_pool
from torchlint.library import check_plan
from torchlint.report.terminal.file_counter import FileCounter

if TYPE_CHECKING:
    from torchlint.cli.options import Options
    from torchlint.engine.targets import Plan
    from torchlint.memory.store import Store


def check(plan: Plan, options: Options, store: Store, what: str = "files") -> Checked:
    """The findings to show and all that went wrong, in a notebook by cell and row.

    Args:
        what: how the progress names the files.

    Raises:
        click.ClickException: the cluster that the options name cannot be used.
    """
    quiet = options.quiet
    with (
        FileCounter(sys.stderr, what=what, hidden=quiet) as progress,
        connected_pool(options) as pool,
    ):
        result = check_plan(plan, options.wanted, pool=pool, progress=progress, store=store)
    return Checked(result, plan.targets, quiet=quiet)
