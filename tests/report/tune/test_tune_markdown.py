"""A search as a comment on a pull request."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.report.tune.sample_tunings import failed, nothing_helps, tuning
from torchlint.report.tune.tune_markdown import render


def test_the_answer_is_a_line_and_a_table() -> None:
    lines = render(tuning()).split("\n")
    assert lines[0].startswith("**\N{MULTIPLICATION SIGN}1.300 [1.277, 1.324] · 16.6")
    assert lines[2:5] == [
        "| slower without it | place | change |",
        "| --- | --- | --- |",
        "| \N{MULTIPLICATION SIGN}1.60 | `train.py:7` | Do \\`loader-workers 2\\` |",
    ]
    assert "| channels-last | slower \\(\N{MULTIPLICATION SIGN}0.80\\) |" in lines


def test_what_failed_or_did_not_help_is_a_sentence() -> None:
    assert render(failed()).startswith("The script failed: it raised ValueError.\n")
    assert render(nothing_helps()).startswith("Nothing that was tried makes this script faster.\n")


def test_nothing_of_the_program_is_markup() -> None:
    """No link, no mention, no cell of its own, no end of the code."""
    bad = "`|[x](http://y) <img> @team \x1b[2J\n| new"
    kept = tuning().kept[0]
    shown = render(
        replace(tuning(), argv=(bad,), changes=(replace(kept, path=bad, message=bad, name=bad),))
    )
    assert "\x1b" not in shown
    plain = re.sub("`[^`]*`", "", shown.replace("\\`", ""))
    assert not re.search(r"(?<!\\)[@<\[](?:team|img|x)", plain)
    rows = [line for line in shown.split("\n") if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} == {4}
