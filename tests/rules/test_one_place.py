"""No place is reported twice: not by one rule, and not by two whose advice contradicts."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.case_files import read_cases
from torchlint.config.settings import NEWEST_TORCH, Selection
from torchlint.engine.check import check
from torchlint.project.target import Target
from torchlint.ruleapi.registry import all_rules
from torchlint.silence.tiers import Wanted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.finding import Finding

CASES = sorted((Path(__file__).parent / "cases").glob("*.py"))
FIXTURES = sorted(each for each in (Path(__file__).parents[2] / "fixtures").iterdir())
EVERYTHING = Wanted(hints=True, pedantic=True)
CONTRADICTING = [
    {"TL105", "TL106"},  # an array shares its memory, a list of arrays has none to share
    {"TL201", "TL202"},  # a read of one number, and a copy of a tensor
]
NAMES = {all_rules()[code].name.replace("-", "_") for pair in CONTRADICTING for code in pair}
OF_PAIRS = [file for file in CASES if file.stem in NAMES]


def found_in(programs: Iterable[dict[str, str]]) -> list[list[Finding]]:
    """What all rules find in each program."""
    return [
        list(check(EVERYTHING.asked_of(targets)).findings)
        for program in programs
        if (targets := tuple(target(path, text) for path, text in program.items()))
    ]


def target(path: str, text: str) -> Target:
    return Target(path, Selection(select=("ALL",)), NEWEST_TORCH, text.encode())


def twice(findings: list[Finding]) -> list[str]:
    places = Counter((each.code, each.path, each.start, each.end) for each in findings)
    return [f"{code} {path}:{start.row}" for (code, path, start, _), n in places.items() if n > 1]


def contradicting(findings: list[Finding]) -> list[str]:
    codes = defaultdict(set)
    for each in findings:
        codes[each.path, each.start, each.end].add(each.code)
    return [
        f"{sorted(pair)} {path}:{start.row}"
        for (path, start, _), found in codes.items()
        for pair in CONTRADICTING
        if pair <= found
    ]


@pytest.mark.parametrize("file", OF_PAIRS, ids=lambda file: file.stem)
def test_no_place_of_a_case_of_these_rules_is_reported_twice(file: Path) -> None:
    """By any rule; that a rule reports no place of its own cases twice is asked of each case."""
    ask(file)


@pytest.mark.runs
@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_no_place_of_a_case_is_reported_twice(file: Path) -> None:
    ask(file)


def ask(file: Path) -> None:
    for findings in found_in(case.texts() for case in read_cases(file)):
        assert twice(findings) == []
        assert contradicting(findings) == []


@pytest.mark.parametrize("folder", FIXTURES, ids=lambda folder: folder.name)
def test_no_place_of_a_fixture_is_reported_twice(folder: Path) -> None:
    programs = ({file.name: file.read_text(encoding="utf-8")} for file in folder.glob("*.py"))
    for findings in found_in(programs):
        assert twice(findings) == []
        assert contradicting(findings) == []
