"""Files that fixes changed, as they are printed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from torchlint.cli.printing import asked_colour, paint_for, print_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torchlint.finding import Diagnostic
    from torchlint.fixes.fixer import FixedFile


def print_diff(files: Sequence[FixedFile]) -> None:
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
