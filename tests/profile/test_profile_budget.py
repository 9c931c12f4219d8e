"""A budget: what a profile may show, and which of its entries no longer hold."""

from __future__ import annotations

import os
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.results import profile, read_at
from torchlint.config.settings import ConfigError
from torchlint.profile.budget import NAME, judge, read, text
from torchlint.profile.functions import MODULE, Functions

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
ENTRY = """
[[allow]]
code = "TR201"
path = "train.py"
function = "Trainer.step"
kind = "item"
most = 1
reason = "the schedule needs it"
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a script; the budget is there too."""
    (tmp_path / "train.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def problems(budget: str, result: Profile) -> list[tuple[str, str]]:
    """What breaks a budget."""
    with open(NAME, "w", encoding="utf-8") as file:
        file.write(budget)
    found = judge(read(NAME), result, TODAY)
    return [(each.problem, each.text) for each in found.broken]


def test_a_read_is_named_with_its_function_and_what_to_do() -> None:
    assert problems("", profile(read_at(row=9))) == [
        (
            "new",
            "train.py:9 TR201 item in Trainer.step, 1 a step, is new; remove it, or allow it in "
            "torchlint-budget.toml with a reason",
        )
    ]


def test_an_allowed_read_passes_wherever_in_its_function_it_is() -> None:
    for row in (7, 8, 9):
        assert problems(ENTRY, profile(read_at(row=row))) == []
    assert [each for each, _ in problems(ENTRY, profile(read_at(row=13)))] == ["new", "stale"]


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
    found = problems(ENTRY, profile(read_at(**{"row": 9, **other})))
    assert [each for each, _ in found] == ["new", "stale"]


def test_an_entry_without_function_and_kind_is_for_all_of_the_file() -> None:
    entry = '[[allow]]\ncode = "TR201"\npath = "./train.py"\nreason = "it is a test"\n'
    assert problems(entry, profile(read_at(row=9), read_at(row=18, kind="float"))) == []


def test_more_reads_than_allowed_fail() -> None:
    assert problems(ENTRY, profile(read_at(per_step=1.04))) == []
    ((problem, said),) = problems(ENTRY, profile(read_at(per_step=2)))
    assert problem == "grown"
    assert "2 a step, is more than the 1 allowed" in said


def test_kinds_of_one_line_count_apart() -> None:
    found = read_at(row=9)
    both = type(found)(
        found.code, found.name, found.path, found.row, found.fact, found.action, None,
        census=True, values={"kinds": {"item": 1, "float": 2}},
    )  # fmt: skip
    ((problem, said),) = problems(ENTRY, profile(both))
    assert (problem, "TR201 float in Trainer.step, 2 a step" in said) == ("new", True)


def test_an_entry_that_nothing_needs_is_stale() -> None:
    ((problem, said),) = problems(ENTRY, profile())
    assert problem == "stale"
    assert said == (
        "TR201 item in Trainer.step of train.py is allowed and nothing needs it; delete the entry"
    )


def test_a_read_that_is_too_small_to_show_is_neither_new_nor_its_entry_stale() -> None:
    small = (read_at(row=9, share=0.01),)
    assert problems(ENTRY, profile(below=small)) == []
    assert problems("", profile(below=small)) == []


def test_an_entry_ends_after_its_last_day() -> None:
    result = profile(read_at(row=9))
    assert problems(ENTRY + "until = 2026-07-26\n", result) == []
    ((problem, said),) = problems(ENTRY + "until = 2026-07-25\n", result)
    assert problem == "expired"
    assert "was allowed until 2026-07-25; fix it, or give it another date" in said
    ((problem, _),) = problems(ENTRY + 'until = "2026-07-25"\n', profile())
    assert problem == "stale"


def test_what_was_not_watched_is_not_judged_and_not_passed() -> None:
    by_choice = profile(watched=("TR101",))
    ((problem, said),) = problems(ENTRY, by_choice)
    assert (problem, said.startswith("TR201 was not watched")) == ("unwatched", True)
    assert problems("", by_choice) == []
    ((problem, _),) = problems("", profile(watched=("TR101",), unwatched=("TR201",)))
    assert problem == "unwatched"


def test_a_budget_may_be_about_some_codes_only() -> None:
    result = profile(read_at(row=9))
    assert problems('codes = ["TR101"]\n', result) == []
    assert [each for each, _ in problems('codes = ["TR201"]\n', result)] == ["new"]
    assert [each for each, _ in problems('codes = ["TR301"]\n', result)] == ["unwatched"]


def test_a_finding_without_a_line_needs_no_entry() -> None:
    assert problems("", profile(read_at(path="", row=0))) == []


def test_paths_count_from_the_folder_of_the_budget(here: Path) -> None:
    (here / "ci").mkdir()
    name = os.path.join("ci", NAME)
    with open(name, "w", encoding="utf-8") as file:
        file.write(ENTRY.replace("train.py", "../train.py"))
    assert judge(read(name), profile(read_at(row=9)), TODAY).broken == ()


# files -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("allow = 1", "`allow` must be a list"),
        ("allow = [1]", "Entry 1 of `allow` must be a table"),
        ("alow = 1", "Unknown key `alow`; the nearest known one is `allow`."),
        ('codes = ["TL201"]', "`codes` must be a list of codes"),
        (ENTRY.replace("reason", "resaon"), "has an unknown key `resaon`; the nearest"),
        (ENTRY.replace("the schedule needs it", " "), "`reason` is empty; say why"),
        (ENTRY.replace('reason = "the schedule needs it"', ""), "`reason` must be a text"),
        (ENTRY.replace("TR201", "TL201"), "`code` must be one of profile"),
        (ENTRY.replace("train.py", "/train.py"), "`path` must be relative to this file"),
        (ENTRY.replace("most = 1", "most = true"), "`most` must be a number of reads"),
        (ENTRY.replace("most = 1", "most = 0"), "`most` must be a number of reads"),
        (ENTRY.replace("most = 1", "most = nan"), "`most` must be a number of reads"),
        (ENTRY + "until = 3", "`until` must be a date such as"),
        (ENTRY + "until = 2026-07-26T10:00:00", "`until` must be a date such as"),
        (ENTRY + "until = \"soon\"", "`until` must be a date such as"),
        (ENTRY.replace('"item"', "3"), "`kind` must be a text of 1 to"),
        (ENTRY + ENTRY, "Entry 2 (TR201 in train.py) repeats another"),
        ('codes = ["TR101"]\n' + ENTRY, "`code` is not among `codes`"),
        ("[[allow", "This is not valid TOML"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_with_its_name_and_the_key(
    here: Path, wrong: str, said: str
) -> None:
    (here / NAME).write_text(wrong)
    with pytest.raises(ConfigError) as caught:
        read(NAME)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{NAME}: ")


def test_what_is_written_needs_its_reasons_and_then_passes(here: Path) -> None:
    odd = 'od"d\x7f\n\\é.py'
    result = profile(
        read_at(row=9, per_step=0.3),
        read_at(row=8, per_step=2.02),
        read_at(row=18, kind="float"),
        read_at(path=odd, row=3),
        read_at(path="", row=0),
    )
    new = text(result, NAME)
    (here / NAME).write_text(new)
    assert new.count("[[allow]]") == 3
    assert 'function = "Trainer.step"\nkind = "item"\nmost = 2\nreason = ""\n' in new
    assert f'function = "{MODULE}"\nkind = "float"\nmost = 1' in new
    with pytest.raises(ConfigError, match="`reason` is empty"):
        read(NAME)
    assert problems(new.replace('reason = ""', 'reason = "so"'), result) == []


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
