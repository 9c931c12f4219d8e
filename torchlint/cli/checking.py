"""One check: the engine run over a plan, and what to report of its findings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from torchlint.cli.reports import Checked
from torchlint.cli.resources import connected_pool
from torchlint.engine import check as engine
from torchlint.engine.tiers import choose
from torchlint.report.terminal.progress import Progress

if TYPE_CHECKING:
    from torchlint.cli.options import Options
    from torchlint.engine.targets import Plan
    from torchlint.memory.store import Store


def check(plan: Plan, options: Options, store: Store) -> Checked:
    """The findings to show and all that went wrong, in a notebook by cell and row.

    Raises:
        click.ClickException: the cluster that the options name cannot be used.
    """
    with Progress(sys.stderr) as progress, connected_pool(options) as pool:
        report = engine.check(plan.targets, pool=pool, progress=progress, store=store)
    shown = choose(report.findings, plan.targets, options.wanted)
    diagnostics = report.diagnostics
    if report.borders:
        from torchlint.notebooks.module import diagnosed_in_cells, in_cells

        shown.findings = tuple(in_cells(each, report.borders) for each in shown.findings)
        diagnostics = tuple(diagnosed_in_cells(each, report.borders) for each in diagnostics)
    wrong = sorted({*plan.diagnostics, *diagnostics}, key=lambda each: each.sort_key)
    return Checked(shown, wrong, plan.targets, report.files)
