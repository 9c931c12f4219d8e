"""The reports of a check: formats and destinations. A format is imported when it is used."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Final

import click

from torchlint.cli.options import output_format
from torchlint.cli.printing import must_be_writable, paint_for, print_lines, write_report
from torchlint.report.terminal.look import Look
from torchlint.report.terminal.safe_text import Paint, width_of
from torchlint.silence.tiers import Shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torchlint.finding import Finding
    from torchlint.library import CheckResult
    from torchlint.project.target import Target
    from torchlint.report.terminal.excerpt import Excerpts

    Function = Callable[..., None]

FORMATS: Final = (
    "text", "concise", "grouped", "json", "github", "gitlab", "sarif", "junit", "rdjson", "html",
    "agent",
)  # fmt: skip
"""Each is a module of `report/formats`."""
_CLOSED: Final = ("text", "grouped", "agent")
"""Formats that end with what was not looked at."""
_COUNTED: Final = ("text", "concise", "grouped", "json", "github")
"""Formats that `--statistics` goes with."""


class Checked:
    """The outcome of a check, as far as it is reported.

    Args:
        quiet: print only findings.
    """

    def __init__(
        self, result: CheckResult, targets: Sequence[Target], *, quiet: bool = False
    ) -> None:
        self.shown = Shown(result.findings, () if quiet else result.hidden_hints)
        self.diagnostics = result.diagnostics
        self.files = result.files
        self.targets = targets
        self.quiet = quiet
        self._stepless = result.stepless

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.shown.findings

    @property
    def excerpts(self) -> Excerpts:
        """The lines of the files."""
        from torchlint.report.terminal.excerpt import Excerpts

        texts = {each.path: each.data for each in self.targets if each.data is not None}
        return Excerpts(texts)

    @property
    def sentence(self) -> str:
        """What happened."""
        from torchlint.report import check_summary as summary

        return summary.sentence(self.findings, self.files, len(self.diagnostics))

    @property
    def closing(self) -> list[str]:
        """The lines that end a report on a terminal: what happened, and what was not looked at."""
        return [] if self.quiet else [self.sentence, *self.not_seen()]

    def not_seen(self) -> Iterator[str]:
        """Sentences about what was not looked at, so that silence is not taken for an all-clear."""
        if self._stepless:
            from torchlint.report.check_summary import STEPLESS

            yield STEPLESS
        if any(target.named for target in self.targets):
            from torchlint.project.unchecked import unchecked

            left_out = unchecked(self.targets)
            if left_out is not None:
                from torchlint.report.check_summary import not_checked

                yield not_checked(*left_out)


def report_options(command: Function) -> Function:
    """Adds the options that say how and where to report; `report` takes them."""
    command = click.option(
        "--output-file",
        metavar="FILE",
        help="Write the report to FILE; the terminal shows the summary and errors. FILE is "
        "replaced in one step, and stays as it is if the check fails.",
    )(command)
    return output_format(*FORMATS)(command)


def destination(
    output_file: str | None, targets: Sequence[Target], chosen: str, *, statistics: bool = False
) -> str | None:
    """The file to write, or None for standard output, once it is clear that it can be written.

    Raises:
        click.ClickException: it cannot be written, or the options contradict each other; raised
            before the check, which may take a while.
    """
    if statistics and chosen not in _COUNTED:
        raise click.UsageError(
            f"--statistics counts in text or json; drop it, or `--output-format {chosen}`."
        )
    if output_file is None or output_file == "-":
        return None
    must_be_writable(output_file)
    real = os.path.realpath(output_file)
    if any(os.path.realpath(target.path) == real for target in targets):
        raise click.ClickException(f"{output_file} is being checked; name another file to write.")
    return output_file


def report(
    checked: Checked,
    chosen: str,
    output_file: str | None,
    *,
    statistics: bool = False,
    fixes: bool = False,
) -> None:
    """Print or write the report.

    Args:
        fixes: whether to show what each fix would do, in the text for people.

    Raises:
        click.ClickException: the file cannot be written.
    """
    look = Look(Paint(), fixes=fixes)
    if output_file is None:
        look = Look(paint_for(sys.stdout), width_of(sys.stdout), fixes)
    lines = _statistics(checked, chosen) if statistics else _lines(checked, chosen, look)
    if output_file is None:
        print_lines(lines)
        if not checked.quiet and chosen not in (("text",) if statistics else _CLOSED):
            print_lines(checked.not_seen(), err=True)
        return
    write_report(output_file, "".join(f"{line}\n" for line in lines))
    print_lines(checked.closing)


def _statistics(checked: Checked, chosen: str) -> Iterator[str]:
    from torchlint.report.formats import statistics

    if chosen == "json":
        yield statistics.render_json(checked.findings)
        return
    yield from statistics.render(checked.findings)
    if chosen == "text":
        yield from checked.closing


def _lines(checked: Checked, chosen: str, look: Look) -> Iterator[str]:
    # Without findings, the common case, no renderer is imported.
    if chosen != "text" or checked.findings or checked.shown.hidden_hints:
        render = import_module(f"torchlint.report.formats.{chosen}").render
        offered = _offered(checked, look)
        yield from render(**{name: offered[name]() for name in signature(render).parameters})
    if chosen == "agent" and not checked.quiet:
        from torchlint.report.formats import agent

        yield agent.closing(checked.shown, " ".join([*_costliest(checked), *checked.closing]))
    elif chosen in _CLOSED:
        yield from () if checked.quiet else _costliest(checked)
        yield from checked.closing


def _costliest(checked: Checked) -> Iterator[str]:
    from torchlint.report import check_summary as summary

    if sentence := summary.costliest(checked.findings):
        yield sentence


def _offered(checked: Checked, look: Look) -> dict[str, Callable[[], object]]:
    """What the `render` of a format may ask for, by the name of its parameter."""

    def root() -> str:
        from torchlint.report.formats.locations import repository_root

        return repository_root()

    def rules() -> object:
        from torchlint.ruleapi.registry import all_rules

        return all_rules()

    return {
        "shown": lambda: checked.shown,
        "findings": lambda: checked.findings,
        "diagnostics": lambda: checked.diagnostics,
        "excerpts": lambda: checked.excerpts,
        "sentence": lambda: checked.sentence,
        "look": lambda: look,
        "paint": lambda: look.paint,
        "root": root,
        "rules": rules,
    }
