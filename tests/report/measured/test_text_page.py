"""The pages of text of `verify`, `profile` and `tune`; what they say is tested in their rooms."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from tests.report.measured.test_measured_json import SAMPLES
from tests.report.measured.test_measured_page import POISONED
from tests.report.profile import sample_profiles as profiles
from tests.report.tune import sample_tunings as tunings
from tests.report.verify import sample_results as results
from torchlint.report.measured.text_page import LINES, Passage, fitted
from torchlint.report.profile import profile_text
from torchlint.report.terminal.columns import taken
from torchlint.report.terminal.safe_text import Paint
from torchlint.report.tune import tune_text
from torchlint.report.verify import verification_text

RENDER: dict[str, Any] = {
    "verify": verification_text.render,
    "profile": profile_text.render,
    "tune": tune_text.render,
}
MOST_LINES = {"tune": 30}
WIDE = "损失" * 60
MORE: dict[str, list[Any]] = {
    "verify": [results.crowded(), results.many(1), results.many(9), results.many(60)],
    "profile": [
        profiles.profile(
            argv=(WIDE,),
            findings=(profiles.finding(0.4, name="a-long-name" * 9, path=WIDE, fact=WIDE),),
            census=(profiles.read(path=WIDE, fact=WIDE),),
        )
    ],
    "tune": [tunings.crowded(WIDE)],
}
ALL = [
    (command, each)
    for command, samples in SAMPLES.items()
    for each in (*samples, *MORE[command], POISONED[command])
]
CODES = re.compile(r"\x1b\[[\d;]*m")


@pytest.mark.parametrize("width", [20, 72, 80, 100, 140, 400])
@pytest.mark.parametrize(("command", "result"), ALL, ids=lambda _: "")
def test_a_page_never_takes_more_than_forty_lines_nor_more_than_its_width(
    command: str, result: Any, width: int
) -> None:
    lines = RENDER[command](result, Paint(), width)
    assert len(lines) <= MOST_LINES.get(command, LINES) <= LINES == 40
    for details in (False, True):
        lines = RENDER[command](result, Paint(), width, details=details)
        others = [
            line
            for line in lines
            if not re.match("(next|apply|verify|  ) +(torchlint|git apply)", line)
        ]
        assert max(map(taken, others)) <= max(72, min(width, 140))
        assert all(line.isprintable() for line in lines)
        assert not any(line.lstrip().startswith(("::", "##")) for line in lines)


@pytest.mark.parametrize("width", [72, 100, 140])
@pytest.mark.parametrize(("command", "result"), ALL, ids=lambda _: "")
def test_paint_changes_only_colours(command: str, result: Any, width: int) -> None:
    painted = RENDER[command](result, Paint(on=True), width)
    plain = RENDER[command](result, Paint(), width)
    assert painted != plain
    assert [CODES.sub("", line) for line in painted] == plain


@pytest.mark.parametrize("command", RENDER)
def test_hidden_characters_are_written_out(command: str) -> None:
    bad = "a\x1b[2J\u202eb\nc"
    odd = replace(SAMPLES[command][1], argv=(bad,), summary=f"{bad}\n{bad}", notes=(bad,))
    assert "\\x1b[2J\\u202eb" in "\n".join(RENDER[command](odd, Paint(), 100))


def blocks(most: int | None) -> list[Passage]:
    """Items of so many lines, of which the second is the least."""
    items = [[f"{name}{line}" for line in range(9 * (most or 4))] for name in "abc"]
    return [
        Passage(["head"], items, lambda more: [f"{more} more"], ranks=[0, 2, 1], least=1),
        Passage(["end"]),
    ]


def test_what_is_left_out_is_the_least_and_is_counted() -> None:
    lines = fitted(blocks, details=False)
    assert [line for line in lines if not line[1:].isdigit()] == ["head", "2 more", "end"]
    assert {line[0] for line in lines if line[1:].isdigit()} == {"a"}
    assert len(fitted(blocks, details=True)) == 3 * 36 + 3


def test_sentences_are_cut_where_leaving_out_is_not_enough() -> None:
    lines = fitted(lambda most: [Passage(["line"] * 15 * (most or 4))], details=False)
    assert len(lines) == 30
