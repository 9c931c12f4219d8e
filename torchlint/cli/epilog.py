"""What comes below the options of a `--help`: examples, exit codes and some prose.

A command writes it as plain text. It is laid out for the terminal, as click does with options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import click

_VERBATIM: Final = "\b\n"
"""Begins a paragraph whose lines are not rewrapped, as in click."""


def write(epilog: str, formatter: click.HelpFormatter) -> None:
    """Write the paragraphs of an epilog.

    A paragraph is prose, and below it rows that are indented by two spaces: a term, two spaces or
    more, and what it means. That may continue in lines that are indented further.
    """
    for paragraph in epilog.strip().split("\n\n"):
        formatter.write_paragraph()
        with formatter.indentation():
            if paragraph.startswith(_VERBATIM):
                formatter.write_text(paragraph)
            else:
                _write_paragraph(paragraph.split("\n"), formatter)


def _write_paragraph(lines: list[str], formatter: click.HelpFormatter) -> None:
    rows: list[tuple[str, str]] = []
    prose = [line for line in lines if not line.startswith(" ")]
    for line in lines[len(prose) :]:
        if line.startswith("   "):
            term, text = rows.pop()
            rows.append((term, f"{text} {line.strip()}".strip()))
        else:
            term, _, text = line.strip().partition("  ")
            rows.append((term, text.strip()))
    formatter.write_text(" ".join(prose))
    if rows:
        with formatter.indentation():
            formatter.write_dl(rows, col_max=formatter.width // 2)
