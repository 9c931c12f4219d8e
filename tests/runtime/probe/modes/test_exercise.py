"""A changed line that ran is told from one that did not, in whatever process it runs."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.runtime.probe.run_settings import FixLines
from torchlint.runtime.probe.wrapping.executed_lines import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.runtime.probe.conftest import RunProbe, Write

HERE = os.path.realpath(__file__)


def rows(function: Callable[..., Any], first: int, last: int | None = None) -> tuple[int, int]:
    """Rows of a function in this file, counted from its `def`."""
    start = function.__code__.co_firstlineno
    return start + first, start + (first if last is None else last)


def branches(flag: bool) -> int:
    if flag:
        return 1
    return sum(
        number
        for number in range(3)
    )  # fmt: skip


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Callable[..., Watch]]:
    """`watch(name=(first, last), …)` watches places of this file."""
    before, made = sys.gettrace(), []

    def begin(path: str = HERE, **places: tuple[int, int]) -> Watch:
        those = [FixLines(name, *lines) for name, lines in places.items()]
        made.append(Watch({path: those}, str(tmp_path / "exercised")))
        made[-1].begin()
        return made[-1]

    yield begin
    for each in made:
        each.end()
    sys.settrace(before)


def test_a_place_is_seen_when_one_of_its_lines_runs(watch: Callable[..., Watch]) -> None:
    seen = watch(early=rows(branches, 2), late=rows(branches, 4, 6))
    branches(True)
    assert seen.seen == {"early"}
    branches(False)
    assert seen.seen == {"early", "late"}


def test_places_may_share_lines(watch: Callable[..., Watch]) -> None:
    seen = watch(one=rows(branches, 1, 2), other=rows(branches, 2, 4))
    branches(True)
    assert seen.seen == {"one", "other"}


def test_what_was_seen_is_written_once(watch: Callable[..., Watch], tmp_path: Path) -> None:
    watch(early=rows(branches, 2), late=rows(branches, 3))
    for _ in range(3):
        branches(True)
    assert (tmp_path / "exercised").read_text() == "early\n"


def test_a_file_is_known_by_its_real_path(watch: Callable[..., Watch], tmp_path: Path) -> None:
    (tmp_path / "real.py").write_text("def f():\n    return 1\n")
    (tmp_path / "link.py").symlink_to(tmp_path / "real.py")
    seen = watch(os.path.realpath(tmp_path / "real.py"), body=(2, 2))
    names: dict[str, Any] = {}
    exec(compile((tmp_path / "real.py").read_text(), str(tmp_path / "link.py"), "exec"), names)
    assert seen.seen == set()
    names["f"]()
    assert seen.seen == {"body"}


@pytest.mark.parametrize("name", ["<string>", ""])
def test_code_without_a_file_is_left_alone(watch: Callable[..., Watch], name: str) -> None:
    seen = watch(early=rows(branches, 2))
    eval(compile("(lambda: 1)()", name, "eval"))
    assert seen.seen == set()
    assert seen.complete


def test_once_everything_was_seen_nothing_is_traced(watch: Callable[..., Watch]) -> None:
    seen = watch(early=rows(branches, 2))
    branches(True)
    assert sys.gettrace() != seen.called
    assert threading.gettrace() != seen.called
    assert seen.complete


def test_threads_are_watched(watch: Callable[..., Watch]) -> None:
    seen = watch(early=rows(branches, 2))
    thread = threading.Thread(target=branches, args=(True,))
    thread.start()
    thread.join()
    assert seen.seen == {"early"}


def test_where_another_tracer_took_over_nothing_is_claimed(watch: Callable[..., Watch]) -> None:
    seen = watch(early=rows(branches, 2))
    assert seen.complete
    sys.settrace(None)
    assert not seen.complete


def test_a_journal_that_cannot_be_written_disturbs_nobody() -> None:
    seen = Watch({HERE: [FixLines("early", *rows(branches, 2))]}, "/nowhere/exercised")
    seen.begin()
    assert branches(True) == 1
    assert seen.seen == {"early"}


def test_without_places_nothing_is_traced() -> None:
    before = sys.gettrace()
    seen = Watch({HERE: []}, "/nowhere/exercised")
    seen.begin()
    assert sys.gettrace() is before
    assert seen.complete


# Real scripts --------------------------------------------------------------------------------

TRAIN = """\
import torch

class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 12
    def __getitem__(self, index):
        x = torch.nn.Parameter(torch.ones(4))
        if index < 0:
            x = x * 2
        x.sum().backward()
        torch.optim.SGD([x], lr=0.1).step()
        return x.detach()

if __name__ == "__main__":
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(Data(), num_workers=1, multiprocessing_context="HOW")
    for batch in loader:
        model(batch).sum().backward()
        optimizer.step()
"""
ROWS = {"worker": 7, "never": 9, "made": 17, "loop": 19}


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_workers_of_a_loader_are_watched_and_say_nothing(
    run_probe: RunProbe, write: Write, how: str
) -> None:
    root = write({"train.py": TRAIN.replace("HOW", how)})
    places = tuple(FixLines(name, row, row) for name, row in ROWS.items())
    outcome = run_probe(
        "train.py", mode="survey", steps=5, places={os.path.realpath(root / "train.py"): places}
    )
    [seen] = outcome.of("survey")
    assert seen["exercised"] == ["loop", "made"]
    assert outcome.listed("exercised") == ["loop", "made", "worker"]
    assert seen["exercise_known"]
    assert len(outcome.of("hello")) == 1
