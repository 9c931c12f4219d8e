"""What a change does fewer of, and when that is less work."""

from __future__ import annotations

from dataclasses import replace

import pytest

from torchlint.verify.counts.differences import fewer_and_more, less_work, with_counters
from torchlint.verify.result import Agreement, Comparison, Counters, Numerics, Verdict

BEFORE = Counters(
    10, reads=3, operations=412, recompiles=0, allocations=120, batches=1, flops=6.2e9,
    missing={"kernels": "there is no GPU", "bytes": "there is no GPU"},
)  # fmt: skip
NO_READS = replace(BEFORE, reads=0)
HALF = replace(BEFORE, batches=0.5, operations=210, flops=3.1e9)


def test_what_differs_is_said_in_counts_per_step():
    assert fewer_and_more(BEFORE, NO_READS) == "does fewer: 3 → 0 reads a step"
    now = replace(BEFORE, reads=0.25, operations=420, allocations=100)
    assert fewer_and_more(BEFORE, now) == (
        "does fewer: 3 → 0.25 reads, 120 → 100 allocations a step; "
        "does more: 412 → 420 operations a step"
    )


def test_what_is_equal_or_not_known_of_both_is_not():
    assert fewer_and_more(BEFORE, BEFORE) == ""
    assert fewer_and_more(replace(BEFORE, kernels=3), replace(BEFORE, collectives=2)) == ""
    assert fewer_and_more(replace(BEFORE, reads=1 / 3), replace(BEFORE, reads=4 / 12)) == ""


@pytest.mark.parametrize("verdict", Verdict)
def test_only_where_the_ratio_says_nothing_it_is_the_reason(verdict):
    found = with_counters(Comparison(verdict, why="too noisy"), BEFORE, NO_READS)
    is_open = verdict in (Verdict.UNRESOLVED, Verdict.NOT_MEASURABLE)
    assert found.verdict is verdict
    assert found.why == ("does fewer: 3 → 0 reads a step; too noisy" if is_open else "too noisy")
    assert found.counters == NO_READS


def test_without_counts_nothing_is_said():
    plain = Comparison(Verdict.UNRESOLVED, why="too noisy")
    assert with_counters(plain, BEFORE, None) == plain
    assert with_counters(plain, None, NO_READS) == plain


@pytest.mark.parametrize(
    ("agreement", "said"),
    [
        (None, "1 → 0.5 batches, 6.2 G → 3.1 G FLOP of products a step"),
        (Agreement.UNKNOWN, "1 → 0.5 batches, 6.2 G → 3.1 G FLOP of products a step"),
        (Agreement.DIFFERS, "1 → 0.5 batches, 6.2 G → 3.1 G FLOP of products a step"),
        (Agreement.DECLARED, "1 → 0.5 batches a step"),
        (Agreement.ROUNDING, ""),
        (Agreement.BITWISE, ""),
    ],
)
def test_work_is_missing_unless_the_numbers_are_right_without_it(agreement, said):
    assert less_work(BEFORE, HALF, agreement) == said
    numbers = None if agreement is None else Numerics(agreement)
    found = with_counters(Comparison(Verdict.UNRESOLVED, numerics=numbers), BEFORE, HALF)
    assert found.less_work == said
    # What it saves is no merit of it then.
    assert ("fewer" in found.why) is not bool(said)


def test_fewer_operations_for_the_same_products_are_not_less_work():
    assert less_work(BEFORE, replace(BEFORE, operations=100, flops=6.19e9), None) == ""
    assert less_work(BEFORE, replace(BEFORE, flops=None, batches=None), None) == ""


def test_a_program_that_ends_earlier_does_less_work():
    assert (
        less_work(BEFORE, replace(BEFORE, steps=7), None) == "it ends after 7 of 10 counted steps"
    )
