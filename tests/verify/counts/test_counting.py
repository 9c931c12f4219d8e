"""What is read off the windows of counted steps, and which steps those are."""

from __future__ import annotations

from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest

from torchlint.experiment.subject import AGAIN, CHANGED, ORIGINAL, Variant
from torchlint.runtime.decoding import MalformedError
from torchlint.runtime.failures import ERROR, Failed
from torchlint.runtime.probe.instrument_messages import (
    CountsSeen,
    HostCall,
    ReadsSeen,
    RecompilesSeen,
)
from torchlint.runtime.probe.messages import CountedCall, Rehearsed, WindowSeen
from torchlint.verify.counts import counting
from torchlint.verify.counts.counting import CountedSteps, counters_of, with_copies
from torchlint.verify.result import COUNTERS

ON_GPU = CountsSeen("", True, True, 40, 30, 20, 4096, 8, 4, 1000)


def window(counts=ON_GPU, *, steps=4, reads=()):
    found = {
        "reads": ReadsSeen([HostCall(None, "item", None, each) for each in reads]),
        "recompiles": RecompilesSeen(frames=2),
        "counts": counts,
    }
    return WindowSeen(steps, 1.0, found={name: asdict(each) for name, each in found.items()})


def test_totals_become_counts_per_step():
    found = counters_of(window(reads=(4, 8)))
    assert {name: found.of(name) for name in COUNTERS} == {
        "reads": 3,
        "operations": 10,
        "kernels": 7.5,
        "bytes": 1024,
        "collectives": 2,
        "recompiles": 0.5,
        "allocations": 5,
        "batches": 1,
        "flops": 250,
    }
    assert (found.steps, found.missing) == (4, {})


@pytest.mark.parametrize(
    ("counts", "missing"),
    [
        (
            replace(ON_GPU, on_gpu=False, has_ranks=False, kernels=None),
            {
                "kernels": "no GPU is used",
                "bytes": "no GPU is used",
                "collectives": "there is one rank",
            },
        ),
        (
            replace(ON_GPU, kernels=None, allocations=None, flops=None),
            {
                "kernels": "torch's profiler could not be used",
                "allocations": "torch's allocator does not say",
                "flops": "those of an operation are not known",
            },
        ),
        (
            replace(ON_GPU, why="compiled regions are not seen"),
            dict.fromkeys(
                ("operations", "bytes", "collectives", "flops"), "compiled regions are not seen"
            ),
        ),
        (
            replace(ON_GPU, on_gpu=False, why="compiled", allocations=None, kernels=None),
            {
                "operations": "compiled",
                "kernels": "no GPU is used",
                "bytes": "no GPU is used",
                "collectives": "compiled",
                "allocations": "compiled",
                "flops": "compiled",
            },
        ),
    ],
    ids=["cpu", "gpu", "compiled", "compiled-cpu"],
)
def test_what_could_not_be_counted_is_null_with_its_reason(counts, missing):
    found = counters_of(window(counts))
    assert found.missing == missing
    assert list(found.missing) == [name for name in COUNTERS if name in missing]
    assert {name for name in COUNTERS if found.of(name) is None} == set(missing)


@pytest.mark.parametrize("bad", [window(steps=0), WindowSeen(3, 1.0, found={})])
def test_what_no_window_sends_is_malformed(bad):
    with pytest.raises(MalformedError):
        counters_of(bad)


PLAN = SimpleNamespace(warmup=10)


@pytest.mark.parametrize(
    ("step_s", "steps", "expected"),
    [
        (0.01, None, CountedSteps(10, 10)),
        (1.0, None, CountedSteps(10, 5)),
        (60.0, None, CountedSteps(10, 3)),
        (0.01, 16, CountedSteps(10, 5)),
        (0.01, 11, None),
    ],
    ids="fast slow slowest ends-soon ends-before".split(),
)
def test_few_steps_after_the_warm_up_are_counted(step_s, steps, expected):
    seen = SimpleNamespace(step_s=step_s, finished=steps is not None, steps=steps)
    assert CountedSteps.of(PLAN, seen) == expected


def test_the_time_is_that_of_all_programs():
    seen = SimpleNamespace(step_s=1.0, start_s=4.0, device="cuda")
    assert CountedSteps(10, 5).seconds(seen, 3, 2) == 2 * (4.0 + 10 + 20)
    seen.device = "cpu"  # and once more with a GPU that is played
    assert CountedSteps(10, 5).seconds(seen, 3, 2) == 4 * (4.0 + 10 + 20)


def counted(monkeypatch, **runs):
    """What `count` makes of runs whose counters, or failure, are given by variant."""

    def run(job, *_, **__):
        found = runs[job]
        if isinstance(found, Failed):
            raise found
        return found

    monkeypatch.setattr(counting, "counters_of_run", run)
    jobs = SimpleNamespace(job=lambda variant, *_, **__: variant.name.replace(" ", "_"))
    return counting.count(
        jobs,
        None,
        [Variant(CHANGED)],
        CountedSteps(10, 4),
        anchor=None,
        at_once=2,
        timeout_s=1.0,
    )


PLAIN = counters_of(window(reads=(4,)))


def test_the_programs_are_counted_side_by_side(monkeypatch):
    less = replace(PLAIN, reads=0)
    found, failed = counted(monkeypatch, original=PLAIN, original_again=PLAIN, changed=less)
    assert found == {ORIGINAL: PLAIN, CHANGED: less}
    assert AGAIN not in found
    assert failed == []


def test_what_differs_between_runs_of_the_original_is_nobodys(monkeypatch):
    again = replace(PLAIN, operations=11)
    found, _ = counted(monkeypatch, original=PLAIN, original_again=again, changed=PLAIN)
    for each in found.values():
        assert (each.operations, each.reads) == (None, 1)
        assert each.missing == {"operations": "the original differs from run to run"}


def test_a_run_that_fails_is_left_out(monkeypatch):
    failed = Failed(ERROR, "It broke.", name=CHANGED)
    found, told = counted(monkeypatch, original=PLAIN, original_again=PLAIN, changed=failed)
    assert (list(found), told) == ([ORIGINAL], [failed])
    found, told = counted(monkeypatch, original=PLAIN, original_again=failed, changed=PLAIN)
    assert (found, told) == ({}, [failed])


ON_CPU = counters_of(window(replace(ON_GPU, on_gpu=False, kernels=None)))


def rehearsed(*sizes, launches=9, steps=4):
    calls = [CountedCall("copy", "pageable", None, size=each) for each in sizes]
    calls.append(CountedCall("launch", "", None, size=1000))
    return SimpleNamespace(rehearsed=(Rehearsed(steps, 2, launches, calls),))


def test_without_a_gpu_copies_are_those_of_a_played_one():
    found = with_copies(ON_CPU, rehearsed(400, 8))
    assert found.bytes == 102
    assert found.missing == {"kernels": "no GPU is used"}
    assert with_copies(ON_CPU, rehearsed()).bytes == 0


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (Failed(ERROR, "It broke.", name=CHANGED), "does not run with one that is played"),
        (SimpleNamespace(rehearsed=()), "does not run with one that is played"),
        (rehearsed(steps=0), "does not run with one that is played"),
        (rehearsed(launches=0), "nor would one be"),
    ],
)
def test_where_none_can_be_played_the_copies_are_not_known(seen, why):
    found = with_copies(ON_CPU, seen)
    assert found.bytes is None
    assert found.missing["bytes"].startswith("no GPU is used")
    assert why in found.missing["bytes"]


@pytest.fixture
def played(monkeypatch):
    """The runs with a played GPU, which copies eight bytes; set `launches` to what it is asked."""
    found = SimpleNamespace(runs=[], launches=9)

    def survey(job, *_, **__):
        found.runs.append(job)
        return rehearsed(8, launches=found.launches)

    monkeypatch.setattr(counting, "survey", survey)
    monkeypatch.setattr(counting, "_with_a_gpu", lambda _jobs, variant, _steps: variant.name)
    return found


def test_one_is_played_where_none_is_used(monkeypatch, played):
    found, _ = counted(monkeypatch, original=ON_CPU, original_again=ON_CPU, changed=ON_CPU)
    assert sorted(played.runs) == [CHANGED, ORIGINAL, AGAIN]
    assert {name: each.bytes for name, each in found.items()} == {ORIGINAL: 2, CHANGED: 2}


def test_none_is_played_next_to_a_real_one(monkeypatch, played):
    counted(monkeypatch, original=PLAIN, original_again=PLAIN, changed=PLAIN)
    assert not played.runs


def test_of_a_script_that_would_use_none_the_changed_forms_are_not_tried(monkeypatch, played):
    played.launches = 0
    found, _ = counted(monkeypatch, original=ON_CPU, original_again=ON_CPU, changed=ON_CPU)
    assert sorted(played.runs) == [ORIGINAL, AGAIN]
    assert {each.missing["bytes"] for each in found.values()} == {
        "no GPU is used, nor would one be"
    }
