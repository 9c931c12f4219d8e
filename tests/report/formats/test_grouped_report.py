from __future__ import annotations

import re
from collections.abc import Callable

from torchlint.finding import Applicability, Finding, Position, Tier
from torchlint.report.formats import grouped
from torchlint.report.terminal.safe_text import Paint
from torchlint.silence.tiers import Shown

MakeFinding = Callable[..., Finding]


def report(*findings: Finding, hidden: tuple[tuple[str, int], ...] = (), on: bool = False) -> str:
    return "\n".join(grouped.render(Shown(findings, hidden), Paint(on=on)))


def test_findings_are_in_columns_under_their_file(make_finding: MakeFinding) -> None:
    notebook = make_finding(path="c.ipynb", message="It waits.")
    assert report(
        make_finding(path="a.py", row=3, column=5, message="It waits.", fix=Applicability.SAFE),
        make_finding(path="a.py", row=104, column=15, message="Maybe.", tier=Tier.HINT),
        make_finding(path="b.py", code="TL2010", message="It waits."),
        notebook._replace(start=Position(5, 9, 3)),
        hidden=(("d.py", 2),),
    ).split("\n") == [
        "a.py:",
        "     3:5  TL201  It waits. [safe fix]",
        "  104:15  TL201  hint: Maybe.",
        "",
        "b.py:",
        "  3:5  TL2010  It waits.",
        "",
        "c.ipynb:",
        "  cell 3:5:9  TL201  It waits.",
        "",
        "at least 2 hints in 1 file (--hints shows all)",
        "",
    ]


def test_nothing_found_is_nothing() -> None:
    assert report() == ""


def test_colour_changes_only_colour(make_finding: MakeFinding) -> None:
    findings = [
        make_finding(fix=Applicability.SAFE),
        make_finding(code="TL2010", tier=Tier.HINT, row=10),
    ]
    painted = report(*findings, on=True)
    assert painted != report(*findings)
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == report(*findings)


def test_hostile_text_stays_on_its_line(make_finding: MakeFinding, hostile: str) -> None:
    shown = report(make_finding(path=hostile, message=hostile))
    assert len(shown.split("\n")) == 3
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e\u2066\ud800-\udfff]", shown)
    assert not shown.startswith(("::", "##"))
