"""Where commands print: findings on standard output, everything else on standard error."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from torchlint.report.terminal.safe_text import Paint, wants_colour

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

    from torchlint.finding import Diagnostic
    from torchlint.fixes.fixer import FixedFile
    from torchlint.silence.baselines import Baseline
    from torchlint.silence.known_findings import BaselineEntry


def asked_colour() -> bool | None:
    """The value of `--color`; None if that is `auto`."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.color


def paint_for(stream: TextIO) -> Paint:
    """Colour if the user, or else this stream, wants it."""
    return Paint(on=wants_colour(stream, asked_colour()))


def print_lines(lines: Iterable[str], *, err: bool = False) -> None:
    """Writes whole lines in one go."""
    text = "".join(f"{line}\n" for line in lines)
    if text:
        # The lines have the colours that they should have; click must not remove them.
        click.echo(text, nl=False, err=err, color=True)


def must_be_writable(output_file: str) -> None:
    """Checked before work that takes a while and would be lost.

    Raises:
        click.ClickException: no report can be written there.
    """
    if output_file == "-":
        raise click.ClickException(
            "`-` is not a file; leave the option out to write to standard output."
        )
    folder = os.path.dirname(output_file)
    if folder and not os.path.isdir(folder):
        raise click.ClickException(f"There is no folder {folder} for {output_file}; make it first.")
    if not os.path.basename(output_file) or os.path.isdir(output_file):
        raise click.ClickException(f"`{output_file}` is not a file; name one to write.")
    from torchlint.files import writing

    why = writing.why_not(output_file)
    if why:
        raise click.ClickException(f"{output_file}: {why}")


def write_baseline(baseline: Baseline, entries: tuple[BaselineEntry, ...]) -> None:
    """Replace the entries of a baseline, or make its file; nothing is written if they are the same.

    Raises:
        click.ClickException: the file cannot be written.
    """
    from torchlint.files.reading import SourceError
    from torchlint.silence import baseline_file

    if baseline.exists and tuple(sorted(baseline.entries)) == entries:
        return
    try:
        baseline_file.write(baseline.path, entries)
    except SourceError as error:
        raise click.ClickException(f"{baseline.name}: {error.message}") from None


def write_report(output_file: str, text: str | bytes) -> None:
    """Write a report into a file, in one step.

    Raises:
        click.ClickException: the file cannot be written.
    """
    from torchlint.files import writing
    from torchlint.files.reading import SourceError

    try:
        data = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
        writing.write_report(output_file, data)
    except SourceError as error:
        raise click.ClickException(f"{output_file}: {error.message}") from None


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """`path:row:column: error: message` for each, in order, on standard error."""
    distinct = sorted(set(diagnostics), key=lambda each: each.sort_key)
    if distinct:
        told_of().update(distinct)
        from torchlint.report.formats.concise import diagnostic_line

        paint = paint_for(sys.stderr)
        print_lines((diagnostic_line(each, paint) for each in distinct), err=True)


def told_of() -> set[Diagnostic]:
    """What this command has printed of what went wrong."""
    context = click.get_current_context(silent=True)
    meta = {} if context is None else context.meta  # shared with the contexts around it
    told: set[Diagnostic] = meta.setdefault("torchlint.told", set())
    return told


def print_troubles() -> bool:
    """Print what is wrong with plugins whose rules were loaded, unless this command has done so;
    whether there is anything."""
    registry = sys.modules.get("torchlint.ruleapi.registry")
    wrong = () if registry is None else registry.troubles_so_far()
    left = {each.diagnostic for each in wrong} - told_of()
    print_diagnostics(left)
    return bool(wrong)


def print_diff(files: Iterable[FixedFile]) -> None:
    """A diff for a person on a terminal, else the bytes that `git apply` takes."""
    from torchlint.fixes.fixer import unified_diff

    if sys.stdout.isatty() or asked_colour():
        from torchlint.report.terminal import diff

        paint = paint_for(sys.stdout)
        for file in files:
            print_lines(diff.render(unified_diff(file), paint))
        return
    stream = sys.stdout.buffer
    for file in files:
        stream.write(unified_diff(file))
    stream.flush()


def print_made(files: Iterable[FixedFile], *, apply: bool) -> None:
    """On standard error, what was fixed or would be, file by file."""
    from torchlint.report import fixes

    print_lines(fixes.made(files, paint_for(sys.stderr), apply=apply), err=True)


def written(files: Iterable[FixedFile], diagnostics: Iterable[Diagnostic]) -> list[FixedFile]:
    """The files without those that could not be written."""
    failed = {each.path for each in diagnostics if each.kind == "write"}
    return [file for file in files if file.path not in failed]
