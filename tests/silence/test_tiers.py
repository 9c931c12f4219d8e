from __future__ import annotations

from collections.abc import Callable

import pytest

from torchlint.config.settings import Selection
from torchlint.finding import Finding, Tier
from torchlint.project.target import Target
from torchlint.silence.tiers import Wanted, choose

MakeFinding = Callable[..., Finding]
NAME = "item-in-step-loop"


@pytest.mark.parametrize(
    ("tier", "wanted", "select", "included"),
    [
        (Tier.DEFAULT, Wanted(), "ALL", True),
        (Tier.HINT, Wanted(), "TL201", False),
        (Tier.HINT, Wanted(hints=True), "ALL", True),
        (Tier.HINT, Wanted(pedantic=True), "ALL", False),
        (Tier.PEDANTIC, Wanted(), "ALL", False),
        (Tier.PEDANTIC, Wanted(), "TL2", False),
        (Tier.PEDANTIC, Wanted(), "TL201", True),
        (Tier.PEDANTIC, Wanted(), NAME, True),
        (Tier.PEDANTIC, Wanted(pedantic=True), "ALL", True),
        (Tier.PEDANTIC, Wanted(hints=True), "ALL", False),
    ],
)
def test_each_tier_is_shown_to_those_who_asked(
    make_finding: MakeFinding, tier: Tier, wanted: Wanted, select: str, included: bool
) -> None:
    targets = [Target("train.py", Selection((select,)), (2, 13))]
    shown = choose([make_finding(tier=tier)], targets, wanted)
    assert len(shown.findings) == included


def test_hidden_hints_are_counted_by_file_and_hidden_pedantry_is_not(
    make_finding: MakeFinding,
) -> None:
    findings = [
        make_finding(path="a.py"),
        make_finding(path="b.py", tier=Tier.HINT),
        make_finding(path="a.py", tier=Tier.HINT),
        make_finding(path="b.py", tier=Tier.HINT),
        make_finding(path="b.py", tier=Tier.PEDANTIC),
    ]
    shown = choose(findings, [], Wanted())
    assert shown.findings == (findings[0],)
    assert shown.hidden_hints == (("a.py", 1), ("b.py", 2))


def test_each_file_is_judged_by_its_own_selection(make_finding: MakeFinding) -> None:
    targets = [
        Target("a.py", Selection(("TL201",)), (2, 13)),
        Target("b.py", Selection(), (2, 13)),
    ]
    findings = [make_finding(path=path, tier=Tier.PEDANTIC) for path in ("a.py", "b.py")]
    assert choose(findings, targets, Wanted()).findings == (findings[0],)


def test_hints_are_no_problems(make_finding: MakeFinding) -> None:
    findings = [make_finding(), make_finding(tier=Tier.HINT), make_finding(tier=Tier.PEDANTIC)]
    assert choose(findings, [], Wanted(hints=True, pedantic=True)).problems == 2


def test_targets_that_are_asked_nothing_more_of_are_not_made_again() -> None:
    """There may be very many of them."""
    targets = (Target("a.py", Selection(), (2, 13)), Target("b.py", Selection(("TL2",)), (2, 13)))
    asked = Wanted().asked_of(targets)
    assert [each.selection[-2:] for each in asked] == [(False, False), (False, False)]
    assert Wanted().asked_of(asked) is asked
    assert Wanted(hints=True, pedantic=True).asked_of(targets) is targets
