from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from tests.report.profile.sample_profiles import (
    SPANS,
    failed,
    finding,
    full,
    profile,
    read,
    rich,
    static,
    timing,
)
from tests.report.strict_page import Page
from tests.report.verify.sample_results import environment
from torchlint.experiment.figures import TIMES
from torchlint.profile.layer_table import Row
from torchlint.profile.profile_result import Profile, RunFact
from torchlint.report.profile import profile_page as profile_page


def page(found: Profile) -> Page:
    return Page(profile_page.render(found))


# what it shows -----------------------------------------------------------------------------


def widths(shown: Page) -> list[str]:
    return [each.removeprefix("width:").rstrip("%") for each in shown.values("style")]


def test_the_top_says_how_long_a_step_takes_and_what_it_waits_for() -> None:
    shown = page(profile()).text()
    top = shown.partition("Where a step goes")[0]
    assert (
        "torchlint profile train.py 41.2 ms a step, ± 1.8% Limit: processor: the script keeps 1.9 of 2"
        in top
    )


def test_a_step_is_a_bar_of_its_lanes_with_their_times() -> None:
    shown = page(profile())
    (bar,) = (attrs for _, attrs in shown.elements if attrs.get("role") == "img")
    assert bar["aria-label"] == "data 35%, forward 20%, backward 30%, optimizer 10%, other 5%"
    assert widths(shown) == ["35.0", "20.0", "30.0", "10.0", "5.0"]
    assert "data 14.4 ms 35%" in shown.text()
    assert "backward 12.4 ms 30%" in shown.text()


def test_lanes_that_do_not_add_up_fill_the_bar_all_the_same() -> None:
    lanes = profile_page.lanes(profile(lanes={"data": 1.0, "forward": 3.0, "unheard of": 9.0}))
    assert [(lane.name, lane.share) for lane in lanes if lane.share] == [
        ("data", 0.25),
        ("forward", 0.75),
    ]
    assert profile_page.lanes(profile(lanes={})) == []
    assert profile_page.lanes(profile(timing=None)) == []


def test_findings_have_their_place_fact_and_ceiling_in_their_order() -> None:
    shown = page(profile(findings=rich().findings, lanes={}))
    text = shown.text()
    parts = (
        "cells/data.py:31 TR101 input-wait 4 of 10 ms a step in next(loader) ; 0 workers, 16 cores",
        f"at most {TIMES}1.54 at most 35% of a step",
        "cells/models/residual.py:54 TR501 recomputed",
        "keep the activations if the memory is there TL509",
        f"at most {TIMES}1.25 at most 20% of a step",
        "do it every hundred steps TL204, fix available",
        "TR401 unused-gradient 4 parameter tensors",
        "the run cannot tell what it costs",
    )
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert widths(shown) == ["35.0", "20.0", "6.0"]


def test_reads_without_a_gpu_are_bars_of_their_number() -> None:
    shown = page(profile(census=rich().census, lanes={}))
    assert widths(shown) == ["100.0", "33.33", "6.67"]
    assert "On a GPU the host would wait here; this machine has none to wait for." in shown.text()
    assert "train.py:88 TR201 host-read · 3 reads a step ( item )" in shown.text()
    assert "Reads in a step" not in page(profile()).text()


def test_a_read_without_a_count_has_no_bar_and_no_zero() -> None:
    census = (read(values={}), read(values={"kind": "item", "per_step": 2}))
    shown = page(profile(census=census, lanes={}))
    assert widths(shown) == ["100.0"]
    assert " 2 reads a step" in shown.text()
    assert "0 reads a step" not in shown.text()


def test_a_step_is_a_line_from_left_to_right_with_reads_above() -> None:
    found = page(profile(typical=SPANS, lanes={}))
    parts = [(attrs["class"], attrs["style"]) for _, attrs in found.elements if "title" in attrs]
    assert parts == [
        ("data", "left:0.0%;width:10.0%"),
        ("forward", "left:20.0%;width:30.0%"),
        ("read mark", "left:40.0%;width:5.0%"),
        ("backward", "left:50.0%;width:50.0%"),
    ]
    assert "item net.py:30 500 µs" in found.values("title")
    shown = page(profile(typical=SPANS, lanes={})).text()
    assert "train.py:13 backward 5.00 ms of the step train.py:12 forward 3.00 ms" in shown
    assert "outside of these other 1.00 ms" in shown
    assert "A step, from left to right" not in page(profile()).text()


def test_layers_are_bars_of_their_share() -> None:
    shown = page(profile(layers=rich().layers, lanes={}))
    assert widths(shown) == ["100.0", "41.46", "9.76"]
    text = shown.text()
    assert "stem.conv Conv2d · 9,408 parameters · output 16, 64, 112, 112 41%" in text
    twice = profile(layers=(Row("", "Net", 0.3, 2.0, 1, ""),))
    assert "Net 1 parameter · 2 calls a step 30%" in page(twice).text()


def test_what_is_to_be_read_is_a_table() -> None:
    assert "What else the runs saw memory 12.5 of 79 GiB at most" in page(full()).text()
    assert "What else" not in page(profile()).text()


def test_memory_is_a_bar_for_each_part_against_the_largest() -> None:
    assert "forward 6.25 GiB at most backward 12.5 GiB at most" in page(full()).text()
    assert widths(page(full()))[-2:] == ["50.0", "100.0"]
    shown = page(full()).text()
    assert "Memory by part of a step" in shown
    assert "as torch's allocator counts them" in shown
    assert "Memory by part" not in page(profile()).text()


@pytest.mark.parametrize("phases", [None, 3, {}, {"forward": None}, {"forward": "x"}])
def test_memory_that_is_not_known_has_no_bar(phases: object) -> None:
    assert profile_page.memory((RunFact("TR503", "memory", "x", {"phases": phases}),)) == {}


def test_what_is_missing_and_what_it_cost_is_named() -> None:
    shown = page(rich()).text()
    for part in (
        "What was not measured recompiles (nothing is compiled) pauses (left out by --only)",
        f"reads, shapes, gradients a step took {TIMES}1.310 as long",
        "a step ends at AdamW.step",
        "not reached train.py:12 TL304 cudnn-benchmark-missing",
        "connect 127.0.0.1:6006 1 let through",
        "torchlint verify train.py --select TL204 --hints -- --epochs 1",
        "together at most",
        "torch 2.13.0+cpu",
    ):
        assert part in shown


def test_what_has_changed_and_what_breaks_the_budget_is_said() -> None:
    shown = page(full()).text()
    assert f"A step took 50.0 → 41.2 ms: {TIMES}1.210." in shown
    assert "gone cells/data.py:31 TR101 20% → 30% of a step" in shown
    assert "torchlint-baseline.json is broken in 1 place. It is new." in shown


def test_a_script_that_failed_says_why() -> None:
    shown = page(failed()).text()
    assert "The script failed: ValueError: no data line 0 of a traceback" in shown
    assert "How it was measured" not in shown
    assert "Nothing was measured." in page(Profile(("x.py",), 7, "", 1.0)).text()


def test_every_missing_part_leaves_a_page() -> None:
    known = rich()
    for timed, machine, findings, layers in product(*[(True, False)] * 4):
        shown = page(
            profile(
                timing=timing() if timed else None,
                environment=known.environment if machine else None,
                findings=known.findings if findings else (),
                layers=known.layers if layers else (),
            )
        ).text()
        assert ("41.2 ms" in shown) == timed
        assert ("MALLOC_TOP_PAD_" in shown) == machine
        assert ("recomputed" in shown) == (timed and findings)
        assert ("stem.conv" in shown) == layers
        assert ("No finding: of what was watched" in shown) == (timed and not findings)


def test_a_device_that_no_run_has_shown_is_left_out() -> None:
    assert "device cpu" in page(profile()).text()
    early = page(replace(failed(), environment=environment(device="unknown"))).text()
    assert "unknown" not in early
    assert "processor" in early


def test_a_long_list_of_static_findings_is_cut_and_counted() -> None:
    many = tuple(static(row=row, status="ran") for row in range(1, 251))
    late = static("TL999", 1, status="not reached")
    shown = page(profile(static=(*many, late))).text()
    assert (
        "251 findings, 1 in lines that the first steps did not reach not reached train.py:1 TL999"
        in shown
    )
    assert "51 more are in the JSON." in shown


def test_without_a_finding_nothing_explains_a_bar() -> None:
    assert "A bar is a whole step" not in page(profile(findings=(finding(None),))).text()
    assert "A bar is a whole step" in page(rich()).text()
