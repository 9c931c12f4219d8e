"""A budget: what a profile may show, and which of its entries no longer hold."""

from __future__ import annotations

import os
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.results import profile, read_at
from tests.report.profile.sample_profiles import rehearsed
from torchlint.profile.budget import allowing, judge
from torchlint.profile.functions import MODULE, Functions
from torchlint.silence.baseline_file import NAME, decode, encode
from torchlint.silence.baselines import Baseline
from torchlint.silence.known_findings import BaselineEntry, EntryKey

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.profile.profile_result import Profile

TODAY = date(2026, 7, 26)
SCRIPT = """\
import torch


class Trainer:
    limit = 3

    def step(self, batch):
        loss = self.model(batch)
        self.total += loss.item()

    def log(self):
        def inner():
            return self.total.item()

        return inner()


print(torch.ones(1).item())
"""
ENTRY = BaselineEntry(EntryKey("train.py", "TR201", "Trainer.step", "item"), 0, most=1)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a script; the budget is there too."""
    (tmp_path / "train.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def baseline(*entries: BaselineEntry, path: str = NAME) -> Baseline:
    held = Baseline(path)
    held.entries = entries
    return held


def problems(result: Profile, *entries: BaselineEntry) -> list[tuple[str, str]]:
    """What breaks a budget of these entries."""
    found = judge(baseline(*entries), result, TODAY)
    return [(each.problem, each.text) for each in found.broken]


def test_a_read_is_named_with_its_function_and_what_to_do() -> None:
    assert problems(profile(read_at(row=9))) == [
        (
            "new",
            "train.py:9 TR201 item in Trainer.step, 1 a step, is new; remove it, or allow it in "
            "torchlint-baseline.json",
        )
    ]


def test_an_allowed_read_passes_wherever_in_its_function_it_is() -> None:
    for row in (7, 8, 9):
        assert problems(profile(read_at(row=row)), ENTRY) == []
    assert [each for each, _ in problems(profile(read_at(row=13)), ENTRY)] == ["new", "stale"]


@pytest.mark.parametrize(
    "other",
    [
        {"kind": "float"},
        {"path": "other.py"},
        {"row": 18},
    ],
    ids=lambda each: next(iter(each)),
)
def test_an_entry_is_for_its_own_read_only(other: dict[str, Any]) -> None:
    found = problems(profile(read_at(**{"row": 9, **other})), ENTRY)
    assert [each for each, _ in found] == ["new", "stale"]


def test_an_entry_without_function_and_kind_is_for_all_of_the_file() -> None:
    entry = BaselineEntry(EntryKey("./train.py", "TR201", "", ""), 0)
    assert problems(profile(read_at(row=9), read_at(row=18, kind="float")), entry) == []


def test_more_reads_than_allowed_fail() -> None:
    assert problems(profile(read_at(per_step=1.04)), ENTRY) == []
    ((problem, said),) = problems(profile(read_at(per_step=2)), ENTRY)
    assert problem == "grown"
    assert "2 a step, is more than the 1 allowed" in said


def test_kinds_of_one_line_count_apart() -> None:
    found = read_at(row=9)
    both = type(found)(
        found.code, found.name, found.path, found.row, found.fact, found.action, None,
        census=True, values={"kinds": {"item": 1, "float": 2}},
    )  # fmt: skip
    ((problem, said),) = problems(profile(both), ENTRY)
    assert (problem, "TR201 float in Trainer.step, 2 a step" in said) == ("new", True)


def test_an_entry_that_nothing_needs_is_stale() -> None:
    ((problem, said),) = problems(profile(), ENTRY)
    assert problem == "stale"
    assert said == (
        "TR201 item in Trainer.step of train.py is allowed and nothing needs it; delete the entry"
    )


def test_a_read_that_is_too_small_to_show_is_neither_new_nor_its_entry_stale() -> None:
    small = (read_at(row=9, share=0.01),)
    assert problems(profile(below=small), ENTRY) == []
    assert problems(profile(below=small)) == []


def test_an_entry_ends_after_its_last_day() -> None:
    result, ended = profile(read_at(row=9)), ENTRY._replace(expires=date(2026, 7, 25))
    assert problems(result, ENTRY._replace(expires=TODAY)) == []
    ((problem, said),) = problems(result, ended)
    assert problem == "expired"
    assert "was allowed until 2026-07-25; fix it, or give it another date" in said
    ((problem, _),) = problems(profile(), ended)
    assert problem == "stale"


def test_what_was_not_watched_is_not_judged_and_not_passed() -> None:
    assert problems(profile(watched=("TR101",)), ENTRY) == []
    ((problem, said),) = problems(profile(watched=("TR101",), unwatched=("TR201",)), ENTRY)
    assert (problem, said.startswith("TR201 was not watched")) == ("unwatched", True)


def test_entries_of_a_check_say_nothing_of_a_run() -> None:
    known = BaselineEntry(EntryKey("train.py", "TL201", "Trainer.step", "9b1c"), 1)
    assert problems(profile(read_at(row=9)), known, ENTRY) == []


def test_a_finding_without_a_line_needs_no_entry() -> None:
    assert problems(profile(read_at(path="", row=0))) == []


def test_paths_count_from_the_folder_of_the_budget() -> None:
    entry = ENTRY._replace(key=ENTRY.key._replace(path="../train.py"))
    held = baseline(entry, path=os.path.join("ci", NAME))
    assert judge(held, profile(read_at(row=9)), TODAY).broken == ()


def test_what_is_written_then_passes_and_keeps_what_people_wrote() -> None:
    odd = 'od"d\x7f\n\\é.py'
    result = profile(
        read_at(row=9, per_step=0.3),
        read_at(row=8, per_step=2.02),
        read_at(row=18, kind="float"),
        read_at(path=odd, row=3),
        read_at(path="", row=0),
    )
    stale = BaselineEntry(EntryKey("gone.py", "TR201", "", ""), 0)
    unwatched = BaselineEntry(EntryKey("train.py", "TR301", "", ""), 0)
    known = BaselineEntry(EntryKey("train.py", "TL201", "", "9b1c"), 1)
    old = (ENTRY._replace(reason="the schedule needs it"), stale, unwatched, known)
    written = decode(encode(allowing(result, baseline(*old))))
    read = {each.key: each for each in written}
    assert read[ENTRY.key] == ENTRY._replace(reason="the schedule needs it", most=2)
    assert read[EntryKey("train.py", "TR201", MODULE, "float")].most == 1
    assert EntryKey(odd, "TR201", "", "item") in read
    assert {unwatched, known} <= set(written)
    assert len(written) == 5
    assert problems(result, *written) == []


# functions ---------------------------------------------------------------------------------


def test_a_row_is_in_its_innermost_function() -> None:
    functions = Functions()
    rows = {1: MODULE, 5: "Trainer", 9: "Trainer.step", 13: "Trainer.log.inner", 15: "Trainer.log"}
    assert {row: functions.around("train.py", row) for row in rows} == rows


def test_a_file_that_is_not_a_program_has_no_functions(here: Path) -> None:
    (here / "bad.py").write_text("def f(:\n")
    (here / "nul.py").write_bytes(b"\0")
    (here / "deep.py").write_text("x = " + "(" * 5000)
    (here / "long.py").write_text("\n" * 50_001)
    for name in ("bad.py", "nul.py", "deep.py", "long.py", "missing.py"):
        assert Functions().around(name, 1) == ""


def test_a_warning_about_the_code_is_not_ours(here: Path) -> None:
    (here / "odd.py").write_text("def f():\n    return '\\d' is 3\n")
    assert Functions().around("odd.py", 2) == "f"


def test_one_more_line_that_reads_is_too_many_where_counts_are_exact() -> None:
    first, second = read_at(row=8, census=False), read_at(row=9, census=False)
    assert problems(profile(first, second), ENTRY) == []  # a window may begin between two reads
    before = rehearsed(findings=(first,))
    (entry,) = allowing(before, baseline())
    assert (entry.key, entry.most) == (ENTRY.key, 1)
    assert problems(before, entry) == []
    ((problem, said),) = problems(rehearsed(findings=(first, second)), entry)
    assert (problem, said) == (
        "grown",
        "train.py:9 TR201 item in Trainer.step, 2 a step, is more than the 1 allowed; remove the "
        "others",
    )
    (entry,) = allowing(rehearsed(findings=(first, second)), baseline())
    assert entry.most == 2
