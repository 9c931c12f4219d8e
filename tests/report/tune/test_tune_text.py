"""What the report of a search says in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.report.tune.sample_tunings import change, tuning
from torchlint.report.terminal.safe_text import Paint
from torchlint.report.tune import tune_text
from torchlint.tune.fate import Fate

if TYPE_CHECKING:
    from torchlint.tune.tune_result import TuneResult


def lines(result: TuneResult, width: int = 100) -> list[str]:
    return tune_text.render(result, Paint(), width)


def test_a_long_reason_is_cut_and_not_the_names() -> None:
    failed = change("compile-model default", Fate.FAILED, why="The script raised " + "x" * 200)
    slower = change("flush-subnormals", Fate.SLOWER, alone=0.9)
    said = lines(tuning(changes=(failed, slower)))
    assert "flush-subnormals       slower (\N{MULTIPLICATION SIGN}0.90)" in said
    (line,) = (each for each in said if each.startswith("compile-model default"))
    assert line.endswith("…")


def test_of_several_changes_none_has_the_worth_that_it_had_alone() -> None:
    one = change("a", Fate.KEPT, alone=1.5, message="Do one")
    other = change("b", Fate.KEPT, alone=1.7, adds=1.6, message="Do another")
    assert [each for each in lines(tuning(changes=(one,))) if "Do one" in each] == [
        "\N{MULTIPLICATION SIGN}1.50  train.py:7  Do one"
    ]
    (line,) = (each for each in lines(tuning(changes=(other, one))) if "Do one" in each)
    assert "\N{MULTIPLICATION SIGN}" not in line


def test_what_a_long_change_does_is_cut_before_the_name_of_its_file() -> None:
    long = change("a", Fate.KEPT, alone=1.5, message="Share " + "x" * 90, path="images/train.py")
    said = lines(tuning(changes=(long,)))
    (line,) = (each for each in said if "images/train.py:7  Share xxx" in each)
    assert line.endswith("…")
    assert len(line) <= 100


def test_a_long_path_leaves_room_for_what_the_change_does() -> None:
    deep = change("a", Fate.KEPT, alone=1.5, message="Share " + "x" * 90, path="p/" * 50 + "a.py")
    (line,) = (each for each in lines(tuning(changes=(deep,))) if "p/a.py:7" in each)
    assert line.count("x") > 40
