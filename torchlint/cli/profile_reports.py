"""The reports of a profile: formats and files. A format is imported when it is used."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from torchlint.cli.options import output_format
from torchlint.cli.printing import must_be_writable, paint_for, print_lines, write_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from torchlint.profile.result import Profile

    Function = Callable[..., None]


def profile_report_options(command: Function) -> Function:
    """Adds the options that `require_writable` and `report` take."""
    options = (
        click.option("--details", is_flag=True, help="Print all findings, counts and layers."),
        click.option(
            "--json", "json_file", metavar="FILE", help="Write everything to FILE as JSON."
        ),
        click.option(
            "--html", "html_file", metavar="FILE", help="Write a page with charts to FILE."
        ),
        click.option(
            "--trace",
            "trace_file",
            metavar="FILE",
            help="Write the first steps to FILE as a trace for Perfetto or chrome://tracing.",
        ),
        output_format(*_RENDERERS),
    )
    for option in reversed(options):
        command = option(command)
    return command


def require_writable(given: Mapping[str, Any]) -> None:
    """Checked before the script runs.

    Raises:
        click.ClickException: a report cannot be written where it is to be.
    """
    for place in (given["json_file"], given["html_file"], given["trace_file"]):
        if place is not None:
            must_be_writable(place)


def report(result: Profile, given: Mapping[str, Any]) -> None:
    """Print the report, and write those that files are given for.

    Raises:
        click.ClickException: a file cannot be written.
    """
    print_lines(_RENDERERS[given["output_format"]](result, given))
    if given["json_file"]:
        write_report(given["json_file"], "".join(f"{line}\n" for line in _json(result, given)))
    if given["html_file"]:
        from torchlint.report.profile.profile_page import render

        write_report(given["html_file"], render(result))
    if given["trace_file"]:
        from torchlint.report.profile import chrome_trace as trace

        write_report(given["trace_file"], trace.render(result))


def _text(result: Profile, given: Mapping[str, Any]) -> Iterable[str]:
    from torchlint.report.profile import profile_changes, profile_text

    width = shutil.get_terminal_size((100, 40)).columns
    paint = paint_for(sys.stdout)
    lines = profile_text.render(result, paint, width, details=given["details"])
    return [*lines, *profile_changes.render(result, paint, width)]


def _json(result: Profile, _given: Mapping[str, Any]) -> Iterable[str]:
    from torchlint.report.profile.profile_json import render

    return render(result).splitlines()


def _sarif(result: Profile, _given: Mapping[str, Any]) -> Iterable[str]:
    from torchlint.report.formats.locations import repository_root
    from torchlint.report.profile.profile_sarif import render

    return render(result, repository_root())


def _github(result: Profile, _given: Mapping[str, Any]) -> Iterable[str]:
    from torchlint.report.profile.profile_annotations import render

    return render(result)


_RENDERERS: Final = {"text": _text, "json": _json, "sarif": _sarif, "github": _github}
