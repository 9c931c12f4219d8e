"""The reports of `verify`, `profile`, `rehearse` and `tune`: formats and files. A format is
imported when it is used."""

from __future__ import annotations

import os
import shutil
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from torchlint.cli.command import together
from torchlint.cli.options import output_format
from torchlint.cli.printing import must_be_writable, paint_for, print_lines, write_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from torchlint.profile.profile_result import Profile
    from torchlint.tune.tune_result import TuneResult
    from torchlint.verify.result import Result

    Function = Callable[..., Any]
    Render = Callable[[Any, Mapping[str, Any]], Iterable[str]]

_OF_FILES: Final = ("html", "trace")


def report_options(
    renderers: Mapping[str, Render], *, details: str, json: str, html: str
) -> Callable[[Function], Function]:
    """Adds the options that `report` takes, with these texts of help."""

    return together(
        click.option("--details", is_flag=True, help=details),
        click.option("--json", "json_file", metavar="FILE", help=json),
        click.option("--html", "html_file", metavar="FILE", help=html),
        output_format(*(name for name in renderers if name not in _OF_FILES)),
    )


def refuse_unwritable(given: Mapping[str, Any], script: str) -> None:
    """Look before anything is run.

    Args:
        script: what is run, which no report may replace.

    Raises:
        click.ClickException: a file for a report cannot be written, or is needed for something
            else.
    """
    taken = {os.path.realpath(script): "the script"}
    for name in ("json", *_OF_FILES, "patch"):
        file = given.get(f"{name}_file")
        if file is None:
            continue
        must_be_writable(file)
        real = os.path.realpath(file)
        if real in taken:
            raise click.ClickException(f"--{name} {file} is {taken[real]}; give another file.")
        if not os.path.exists(file) or os.path.isfile(file):
            taken[real] = f"the file of --{name}"


def report(result: object, given: Mapping[str, Any], renderers: Mapping[str, Render]) -> None:
    """Print the report, and write those that files are given for.

    Raises:
        click.ClickException: a file cannot be written.
    """
    print_lines(renderers[given["output_format"]](result, given))
    for name in ("json", *_OF_FILES):
        file = given.get(f"{name}_file")
        if file:
            write_report(file, "".join(f"{line}\n" for line in renderers[name](result, given)))


def columns() -> int:
    """Of the terminal, or of a page."""
    return shutil.get_terminal_size((100, 40)).columns


def _lines_of(module: str) -> Render:
    def render(result: object, _given: Mapping[str, Any]) -> Iterable[str]:
        text: str = import_module(f"torchlint.report.{module}").render(result)
        return text.removesuffix("\n").split("\n")

    return render


def _verification_text(result: Result, given: Mapping[str, Any]) -> Iterable[str]:
    from torchlint.report.verify.verification_text import render

    return render(result, paint_for(sys.stdout), columns(), details=given["details"])


def _profile_text(result: Profile, given: Mapping[str, Any]) -> Iterable[str]:
    from torchlint.report.profile.profile_text import held_against, render

    paint = paint_for(sys.stdout)
    lines = render(result, paint, columns(), details=given["details"])
    return [*lines, *held_against(result, paint, columns())]


def _sarif(result: Profile, _given: Mapping[str, Any]) -> Iterable[str]:
    from torchlint.report.formats.locations import repository_root
    from torchlint.report.profile.profile_annotations import as_sarif

    return as_sarif(result, repository_root())


def _github(result: Profile, _given: Mapping[str, Any]) -> Iterable[str]:
    from torchlint.report.profile.profile_annotations import as_commands

    return as_commands(result)


def _rehearsal_text(result: Profile, given: Mapping[str, Any]) -> Iterable[str]:
    from torchlint.report.profile.profile_text import held_against
    from torchlint.report.profile.rehearsal_text import render

    paint = paint_for(sys.stdout)
    lines = render(result, paint, columns(), details=given["details"])
    return [*lines, *held_against(result, paint, columns())]


def _tune_text(result: TuneResult, given: Mapping[str, Any]) -> Iterable[str]:
    from torchlint.report.tune.tune_text import render

    return render(result, paint_for(sys.stdout), columns(), details=given["details"])


OF_VERIFICATION: Final = {
    "text": _verification_text,
    "json": _lines_of("verify.verification_json"),
    "html": _lines_of("verify.verification_page"),
}
OF_PROFILE: Final = {
    "text": _profile_text,
    "json": _lines_of("profile.profile_json"),
    "sarif": _sarif,
    "github": _github,
    "html": _lines_of("profile.profile_page"),
    "trace": _lines_of("profile.chrome_trace"),
}
OF_REHEARSAL: Final = {
    **{name: render for name, render in OF_PROFILE.items() if name != "trace"},
    "text": _rehearsal_text,
}
OF_TUNING: Final = {
    "text": _tune_text,
    "json": _lines_of("tune.tune_json"),
    "markdown": _lines_of("tune.tune_markdown"),
    "html": _lines_of("tune.tune_page"),
}
