"""From what the runs saw to findings with ceilings."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.conftest import survey, timing
from torchlint.finding import Finding, Position, Tier
from torchlint.profile import run_findings
from torchlint.profile.evidence import Evidence, Window
from torchlint.profile.kind import FindingKind, Observed, Told
from torchlint.profile.profile_result import Line, RunFact
from torchlint.profile.run_findings import all_kinds, facts_of, judge, unjudged

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Kinds = Callable[..., None]


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> Kinds:
    """Puts other kinds in the place of all: each gives the findings that it is given."""

    def given(*findings: Observed, census: bool = False, **more: Any) -> None:
        kind = FindingKind(code="TR999", name="odd", summary="", census=census, **more)
        kind.judges(lambda _: findings)
        monkeypatch.setattr(run_findings, "all_kinds", lambda: MappingProxyType({"TR999": kind}))

    return given


def seen(share: float | None, row: int = 1, **more: Any) -> Observed:
    place = (os.path.realpath("train.py"), row)
    return Observed(place, "it waits", "do not", share, **more)


def evidence(**more: Any) -> Evidence:
    return Evidence(survey(), timing(**more))


def test_the_worst_comes_first_and_the_small_is_counted(kinds: Kinds) -> None:
    kinds(seen(0.05, 1), seen(0.2, 2), seen(0.029, 3), seen(None, 4))
    found = judge(evidence(), ())
    assert [each.row for each in found.findings] == [2, 1, 4]
    assert found.findings[0].ceiling == pytest.approx(1.25)
    assert found.findings[2].ceiling is None
    assert found.small == 1


def test_nothing_is_said_below_the_noise(kinds: Kinds) -> None:
    kinds(seen(0.05))
    assert judge(evidence(noise=0.06), ()).findings == ()
    assert judge(evidence(noise=0.04), ()).findings != ()


def test_what_is_tested_against_chance_is_said_all_the_same(kinds: Kinds) -> None:
    kinds(seen(0.05, 1, certain=True), seen(0.02, 2, certain=True), seen(0.05, 3))
    assert [each.row for each in judge(evidence(noise=0.06), ()).findings] == [1]


def test_ceilings_are_joined_and_never_added(kinds: Kinds) -> None:
    kinds(seen(0.5, 1), seen(0.3, 2))
    assert judge(evidence(), ()).together == pytest.approx(5.0)
    kinds(seen(0.9, 1), seen(0.9, 2))
    assert judge(evidence(), ()).together is None  # a whole step and more bounds nothing
    kinds(seen(0.5))
    assert judge(evidence(), ()).together is None


def test_counts_without_a_gpu_are_listed_apart(kinds: Kinds) -> None:
    kinds(seen(None), census=True)
    found = judge(evidence(), ())
    assert (found.findings, len(found.census)) == ((), 1)
    on_gpu = Evidence(survey(device="cuda"), timing())
    assert len(judge(on_gpu, ()).findings) == 1


def test_a_kind_whose_instrument_saw_nothing_is_not_asked(kinds: Kinds) -> None:
    kinds(seen(0.5), instruments=("reads",))
    assert judge(evidence(), ()).findings == ()
    window = Window(10, 1.0, None)
    known = Evidence(survey(), timing(), {"reads": window})
    assert len(judge(known, ()).findings) == 1


def finding(code: str, row: int, last: int) -> Finding:
    return Finding(
        code, "item-in-step-loop", Tier.HINT, "", "train.py", Position(row, 1), Position(last, 9)
    )


def test_a_line_that_check_names_too_is_confirmed(kinds: Kinds) -> None:
    kinds(seen(0.5, 4, rules=("TL201",)))
    static = [finding("TL201", 3, 5), finding("TL201", 5, 5), finding("TL101", 4, 4)]
    (found,) = judge(evidence(), static).findings
    assert [(each.code, each.row, each.status) for each in found.static] == [
        ("TL201", 3, "confirmed")
    ]


def test_a_rule_confirmed_where_the_thing_was_made_counts_too(kinds: Kinds) -> None:
    kinds(seen(0.5, 4, rules=("TL101",), made=(os.path.abspath("train.py"), 2)))
    (found,) = judge(evidence(), [finding("TL101", 2, 2), finding("TL101", 6, 6)]).findings
    assert [(each.code, each.row, each.status) for each in found.static] == [
        ("TL101", 2, "confirmed")
    ]
    assert found.made == Line("train.py", 2)


def test_a_rule_that_covers_both_places_is_told_once(kinds: Kinds) -> None:
    kinds(seen(0.5, 4, rules=("TL101",), made=(os.path.abspath("train.py"), 4)))
    (found,) = judge(evidence(), [finding("TL101", 3, 5)]).findings
    assert [(each.code, each.row) for each in found.static] == [("TL101", 3)]


def test_what_a_comment_silences_is_counted_if_it_is_worth_a_line(
    kinds: Kinds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("a()  # torchlint: ignore[TR999]\n" * 3 + "b()\n")
    kinds(seen(0.5, 1), seen(None, 2), seen(0.01, 3), seen(0.1, 4), seen(0.02, 5))
    found = judge(evidence(), ())
    assert [each.row for each in found.findings] == [4]
    assert [each.row for each in found.below] == [5]
    assert (found.suppressed, found.small, found.together) == (2, 1, None)


def test_it_is_known_which_kinds_were_asked_and_which_should_have_been(kinds: Kinds) -> None:
    kinds(seen(0.5), instruments=("reads",))
    found = judge(evidence(), ())
    assert found.watched == ()
    assert unjudged(found, {"reads", "shapes"}) == ("TR999",)
    assert unjudged(found, {"shapes"}) == ()
    window = Window(10, 1.0, None)
    found = judge(Evidence(survey(), timing(), {"reads": window}), ())
    assert (found.watched, unjudged(found, {"reads"})) == (("TR999",), ())


def test_what_a_kind_tells_is_not_a_finding_and_needs_its_instruments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind = FindingKind(code="TR998", name="memory", summary="", instruments=("memory",))
    kind.tells(lambda seen: [Told("memory", f"{seen.windows['memory'].steps} GiB", {"gib": 3})])
    monkeypatch.setattr(run_findings, "all_kinds", lambda: MappingProxyType({"TR998": kind}))
    window = Window(3, 1.0, None)
    seen = Evidence(survey(), timing(), {"memory": window})
    assert facts_of(seen) == (RunFact("TR998", "memory", "3 GiB", {"gib": 3}),)
    assert facts_of(evidence()) == ()
    assert judge(seen, ()).findings == ()


def test_a_share_is_that_of_the_undisturbed_step_where_it_matters() -> None:
    """Of a window of 10 steps, each of which takes twice as long as an undisturbed one."""
    seen, window = evidence(step_s=0.01), Window(10, 0.2, None)
    assert seen.at_most(0.02, window) == pytest.approx(0.2)
    assert seen.at_most(0.004, window) == pytest.approx(0.02)  # no finding by the window
    fast = evidence(step_s=0.001)
    assert fast.at_most(0.02, window) == pytest.approx(0.1)  # the machine was busy
    slow = evidence(step_s=0.04)
    assert slow.at_most(0.02, window) == pytest.approx(0.1)


def test_the_step_its_layers_kernels_and_memory_are_never_findings() -> None:
    told = [kind.code for kind in all_kinds().values() if kind.judge is None]
    assert told == ["TR001", "TR301", "TR303", "TR503"]
