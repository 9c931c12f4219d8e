"""What `--sweep` asks for, and which value it names."""

from __future__ import annotations

import pytest

from torchlint.profile.sweep import Sweep, Tried, best_of, with_option
from torchlint.profile.wish import Wish, wish


@pytest.mark.parametrize(
    ("text", "processors", "found"),
    [
        ("workers", 2, Wish("", (0, 1, 2))),
        ("workers", 6, Wish("", (0, 1, 2, 4, 6))),
        ("workers", 200, Wish("", (0, 1, 2, 4, 8, 16))),
        ("workers:4,0", 2, Wish("", (0, 4))),
        ("batch-size=--bs:64,32", 2, Wish("--bs", (32, 64))),
    ],
)
def test_it_is_read(text: str, processors: int, found: Wish) -> None:
    assert wish(text, processors) == found


@pytest.mark.parametrize(
    "text",
    ["threads", "workers:a", "workers:1,1", "batch-size", "batch-size=--bs:32", "batch-size=--b:0,1",
     "workers:" + ",".join(map(str, range(9)))],
)  # fmt: skip
def test_what_it_does_not_know_it_says(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        wish(text, 2)


def test_the_option_of_the_script_gets_the_value() -> None:
    wished = Wish("--bs", (32, 64))
    assert with_option(("--lr", "1", "--bs", "8"), wished, 64) == ("--lr", "1", "--bs", "64")
    assert with_option(("--bs=8",), wished, 64) == ("--bs=64",)
    assert with_option(("--lr", "1"), wished, 64) == ("--lr", "1", "--bs", "64")


def tried(*seconds: float, values: tuple[int, ...]) -> list[Tried]:
    return [Tried(value, each, 0.01) for value, each in zip(values, seconds, strict=True)]


def test_more_workers_have_to_pay() -> None:
    values = (0, 1, 2, 4)
    assert best_of(Wish("", values), tried(9.0, 5.0, 4.9, 4.8, values=values)) == 1
    assert best_of(Wish("", values), tried(9.0, 5.0, 4.0, 3.5, values=values)) == 4
    assert best_of(Wish("", values), tried(3.0, 5.0, 4.0, 3.5, values=values)) == 0


def test_the_batch_size_with_the_most_samples_a_second_counts() -> None:
    values = (32, 64, 128)
    assert best_of(Wish("--bs", values), tried(1.0, 1.5, 4.0, values=values)) == 64


def test_nothing_is_chosen_by_noise() -> None:
    quiet, loud = Tried(0, 1.0, 0.05), Tried(1, 0.5, 0.3)
    assert Sweep("", (quiet,), 0).is_certain
    assert not Sweep("", (quiet, loud), 1).is_certain
