"""How long a step takes, and how sure that is."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from torchlint.experiment.rotation import Block
from torchlint.profile import timing
from torchlint.profile.timing import may_be_chance, saved_at_least, saved_at_most, timing_of


def blocks(*seconds: float, steps: int = 4) -> tuple[Block, ...]:
    """Blocks of a process whose steps take so long."""
    return tuple(
        Block(steps, each * steps, each * steps / 2, None, 300.0, None) for each in seconds
    )


def test_a_steady_script_has_little_noise() -> None:
    found = timing_of({"a": blocks(0.01, 0.0101, 0.0099, 0.01)}, 10)
    assert found.step_s == pytest.approx(0.01)
    assert found.cpu_s == pytest.approx(0.005)
    assert found.steps == 16
    assert found.noise < 0.02


def test_blocks_that_differ_are_noise() -> None:
    assert timing_of({"a": blocks(0.01, 0.013, 0.009, 0.012)}, 10).noise > 0.1


def test_processes_that_differ_are_noise_although_each_is_steady() -> None:
    one, other = blocks(*[0.01] * 9), blocks(*[0.0121] * 9)
    assert timing_of({"a": one, "b": one}, 10).noise < 0.001
    assert timing_of({"a": one, "b": other}, 10).noise == pytest.approx(0.1, abs=0.01)


def test_steps_that_grow_are_no_noise() -> None:
    grown = [0.01 * 1.05**at for at in range(10)]
    assert timing_of({"a": blocks(*grown), "b": blocks(*grown)}, 10).noise < 0.001
    shuffled = [grown[at] for at in (3, 0, 7, 9, 1, 5, 2, 8, 6, 4)]
    assert timing_of({"a": blocks(*shuffled), "b": blocks(*grown)}, 10).noise > 0.05


def test_a_single_block_says_nothing_about_noise() -> None:
    assert timing_of({"a": blocks(0.01)}, 10).noise == 1.0


def test_on_a_gpu_the_host_and_the_step_have_times_of_their_own() -> None:
    block = Block(10, 0.2, 0.2, 0.5, 300.0, None)
    found = timing_of({"a": (block, block)}, 10)
    assert (found.step_s, found.host_s) == (0.05, pytest.approx(0.02))


def test_what_is_saved_has_the_doubt_of_its_rounds_on_top() -> None:
    plain, steady = [0.01, 0.011, 0.012, 0.01], [0.005, 0.0055, 0.006, 0.005]
    assert saved_at_most(steady, plain) == pytest.approx(0.5)  # both slow down together
    shaky = [0.0051, 0.0053, 0.0062, 0.005]
    assert 0.5 < saved_at_most(shaky, plain) < 0.53
    wild = [0.003, 0.009, 0.006, 0.005]
    assert saved_at_most(wild, plain) == pytest.approx(1 - 0.5 / 1.1, abs=0.01)
    assert saved_at_most([0.005], [0.01]) == pytest.approx(1 - 0.5 / 1.1)


def test_what_nearly_all_rounds_show_is_saved_for_certain() -> None:
    plain, steady = [0.01, 0.011, 0.012, 0.01], [0.005, 0.0055, 0.006, 0.005]
    assert saved_at_least(steady, plain) == pytest.approx(0.5)
    assert saved_at_least([0.003, 0.009, 0.006, 0.005], plain) < 0.1
    assert saved_at_least([0.0102, 0.0099, 0.0105, 0.01], [0.01] * 4) < 0
    assert saved_at_least([0.005], [0.01]) < 0


def test_nothing_is_saved_by_what_takes_longer() -> None:
    assert saved_at_most([0.02] * 3, [0.01] * 3) == 0.0


def test_doubt_makes_no_finding_of_what_is_not_worth_a_line() -> None:
    wild = [0.0099, 0.0079, 0.0119]
    assert saved_at_most(wild, [0.01] * 3) == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("step_s", "blocks"), [(0.002, 10), (0.1, 10), (0.3, 5), (1.0, 3), (9.0, 3)]
)
def test_long_steps_have_fewer_rounds(step_s: float, blocks: int) -> None:
    declared = SimpleNamespace(blocks=10, steps=1, settle=1)
    assert timing.few_blocks(declared, step_s) == blocks  # type: ignore[arg-type]


def test_what_is_saved_may_be_chance() -> None:
    plain = [0.01] * 4
    assert may_be_chance([0.004, 0.009, 0.009, 0.012], plain)
    assert may_be_chance([0.005], [0.01])
    assert not may_be_chance([0.005, 0.0051, 0.0049, 0.005], plain)
    assert not may_be_chance([0.01, 0.01001, 0.00999, 0.01], plain), "nothing, for sure"


def test_growth_is_that_of_the_process_that_grows_least() -> None:
    grown, level = blocks(0.01, 0.02, 0.03, 0.04), blocks(0.01, 0.0101, 0.0099, 0.01)
    apart = grown[0].steps + 2
    assert timing_of({"a": grown}, 10, settle=2).growth_s == pytest.approx(0.01 / apart)
    assert timing_of({"a": grown, "b": level}, 10).growth_s == pytest.approx(0.0, abs=1e-5)
    assert timing_of({"a": grown[:2]}, 10).growth_s is None
