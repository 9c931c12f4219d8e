from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.notebook_files import notebook
from torchlint.finding import (
    Applicability,
    Edit,
    Effect,
    Finding,
    Fix,
    Position,
    Related,
    Tier,
)
from torchlint.report.formats import text
from torchlint.report.terminal.excerpt import Excerpts
from torchlint.report.terminal.look import Look
from torchlint.report.terminal.safe_text import Paint
from torchlint.silence.tiers import Shown

MakeFinding = Callable[..., Finding]
SOURCE = b"for x in loader:\n    y = f(x)\n    loss.item()\n"


def report(
    *findings: Finding, hidden: tuple[tuple[str, int], ...] = (), paint: bool = False
) -> str:
    texts = {finding.path: SOURCE for finding in findings}
    look = Look(Paint(on=paint))
    return "\n".join(text.render(Shown(findings, hidden), Excerpts(texts), look))


def test_a_finding_has_its_place_message_source_and_caret(make_finding: MakeFinding) -> None:
    assert report(make_finding(message="It waits.", end=(3, 16))) == (
        "train.py:3:5: TL201 item-in-step-loop\n"
        "    It waits.\n"
        "    3 |     loss.item()\n"
        "      |     ^^^^^^^^^^^\n"
    )


@pytest.mark.parametrize(
    ("applicability", "tag"),
    [("safe", "[safe fix]"), ("unsafe", "[unsafe fix]"), ("suggest", "[suggested fix]")],
)
def test_the_first_line_says_whether_a_fix_exists(
    make_finding: MakeFinding, applicability: str, tag: str
) -> None:
    first = report(make_finding(fix=Applicability(applicability))).split("\n")[0]
    assert first == f"train.py:3:5: TL201 item-in-step-loop {tag}"


def test_a_withheld_fix_has_its_reason(make_finding: MakeFinding) -> None:
    assert "\n    no fix: the value is compared" in report(
        make_finding(withheld="the value is compared")
    )


def test_a_hint_is_marked(make_finding: MakeFinding) -> None:
    first = report(make_finding(tier=Tier.HINT)).split("\n")[0]
    assert first == "train.py:3:5: TL201 item-in-step-loop hint"


def test_the_way_from_the_loop_is_shown(make_finding: MakeFinding) -> None:
    loop = Related("main.py", Position(40, 9), "the loop over batches")
    assert "\n    see main.py:40: the loop over batches" in report(make_finding(related=(loop,)))


def test_findings_of_one_loop_are_folded_at_the_first(make_finding: MakeFinding) -> None:
    shown = report(
        make_finding(row=1, column=1, group="a", fix=Applicability.UNSAFE),
        make_finding(row=2, column=5, group="b"),
        make_finding(row=2, column=9, group="a", fix=Applicability.UNSAFE),
        make_finding(row=3, column=5, group="a"),
        make_finding(row=3, column=7, group="a", code="TL202"),
        make_finding(row=3, column=7, group="a", path="other.py"),
        make_finding(row=3, column=9),
        make_finding(row=3, column=9),
    )
    places = [line.split(" ")[0] for line in shown.split("\n") if line[:1].strip()]
    assert places == [
        "train.py:1:1:",
        "train.py:2:5:",
        "train.py:3:7:",
        "other.py:3:7:",
        "train.py:3:9:",
        "train.py:3:9:",
    ]
    assert "\n    also at 2:9, 3:5 [no fix]\n" in shown
    assert shown.count("also at") == 1


def test_hints_of_one_rule_in_one_file_are_folded(make_finding: MakeFinding) -> None:
    shown = report(
        make_finding(row=1, column=1, group="a"),
        make_finding(row=2, column=5, group="a", tier=Tier.HINT),
        make_finding(row=2, column=9, tier=Tier.HINT),
        make_finding(row=3, column=5, group="b", tier=Tier.HINT),
        make_finding(row=3, column=7, tier=Tier.HINT, code="TL202"),
        make_finding(row=3, column=7, tier=Tier.HINT, path="other.py"),
    )
    places = [line.split(" ")[0] for line in shown.split("\n") if line[:1].strip()]
    assert places == ["train.py:1:1:", "train.py:2:5:", "train.py:3:7:", "other.py:3:7:"]
    assert "\n    also at 2:9, 3:5\n" in shown


def test_folded_findings_keep_their_reasons(make_finding: MakeFinding) -> None:
    shown = report(
        make_finding(row=1, column=1, group="a", withheld="it is compared"),
        make_finding(row=2, column=2, group="a", withheld="it is\x1bprinted"),
        make_finding(row=2, column=3, group="a", withheld="it is compared"),
        make_finding(row=3, column=4, group="a", withheld="it is\x1bprinted"),
        make_finding(row=3, column=5, group="a", fix=Applicability.SAFE),
    )
    assert shown.split("\n")[4:] == [
        "    no fix: it is compared",
        "    also at 2:2, 2:3, 3:4, 3:5 [safe fix]",
        "    no fix at 2:2, 3:4: it is\\x1bprinted",
        "",
    ]


def test_hidden_hints_take_one_line() -> None:
    assert (
        report(hidden=(("a.py", 1), ("b.py", 2)))
        == "at least 3 hints in 2 files (--hints shows all)\n"
    )
    assert report(hidden=(("a.py", 1),)) == "at least 1 hint in 1 file (--hints shows all)\n"


def test_nothing_from_a_checked_file_reaches_the_terminal_raw(make_finding: MakeFinding) -> None:
    evil = "\x1b[2J\n[red]\u202e"
    shown = report(
        make_finding(
            path=f"{evil}.py",
            message=evil,
            withheld=evil,
            related=(Related(evil, Position(1, 1), evil),),
        ),
    )
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert shown.count("\\x1b[2J\\n[red]\\u202e") == 5


def test_colour_changes_only_colour(make_finding: MakeFinding) -> None:
    import re

    finding = make_finding(fix=Applicability.SAFE)
    painted = report(finding, paint=True)
    assert painted != report(finding)
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == report(finding)


def narrow(finding: Finding, width: int, source: bytes = SOURCE) -> list[str]:
    look = Look(Paint(), width)
    return list(text.render(Shown((finding,)), Excerpts({"train.py": source}), look))


def test_a_terminal_gets_messages_in_its_width(make_finding: MakeFinding) -> None:
    finding = make_finding(
        message="It waits for the GPU on each and every step.", withheld="b " * 9
    )
    assert narrow(finding, 30)[1:] == [
        "    It waits for the GPU",
        "    on each and every",
        "    step.",
        "    3 |     loss.item()",
        "      |     ^^^^",
        "    no fix: b b b b b b b",
        "      b b",
        "",
    ]
    assert narrow(finding, 200) == report(finding).split("\n")


@pytest.mark.parametrize("message", ["word " * 60, "模型 " * 60, "x" * 300])
def test_no_line_is_wider_than_the_terminal(make_finding: MakeFinding, message: str) -> None:
    from rich.cells import cell_len

    related = Related("main.py", Position(40, 9), message)
    finding = make_finding(message=message, withheld=message, related=(related,), column=150)
    source = b"\n\n" + b"y = 1;" * 60
    for width in (40, 80, 120):
        assert max(map(cell_len, narrow(finding, width, source))) <= width


def test_the_fix_is_under_its_finding(make_finding: MakeFinding) -> None:
    look = Look(Paint(), fixes=True)
    finding = make_finding(row=2, fix=Applicability.SAFE)
    lines = list(text.render(Shown((finding,)), Excerpts({"train.py": SOURCE}), look))
    assert lines[4:] == [
        "    fix: Read it after the loop",
        "    @@ -1,3 +1,3 @@",
        "     for x in loader:",
        "    -    y = f(x)",
        "    +    lossf(x)",
        "         loss.item()",
        "",
    ]


def test_fixes_of_folded_findings_are_shown_together(make_finding: MakeFinding) -> None:
    findings = (
        make_finding(row=1, column=1, group="a", fix=Applicability.SAFE),
        make_finding(row=3, column=5, group="a", fix=Applicability.SAFE),
    )
    look = Look(Paint(on=True), fixes=True)
    text_shown = "\n".join(text.render(Shown(findings), Excerpts({"train.py": SOURCE}), look))
    assert text_shown.count("fix: Read it after the loop") == 1
    assert "\x1b[32m+lossx in loader:\x1b[0m" in text_shown


def test_a_fix_in_two_cells_is_shown_in_both(make_finding: MakeFinding) -> None:
    data = notebook("a = 1", "b = 2")
    edits = tuple(Edit(Position(1, 1, cell), Position(1, 2, cell), "c" * cell) for cell in (1, 2))
    finding = make_finding(path="a.ipynb")._replace(fix=Fix(Applicability.SAFE, "Do", edits))
    look = Look(Paint(), fixes=True)
    lines = list(text.render(Shown((finding,)), Excerpts({"a.ipynb": data}), look))
    start = lines.index("    fix: Do")
    shown = [line for line in lines[start:] if "@@" not in line and "No newline" not in line]
    assert shown == [
        "    fix: Do",
        "    cell 1:",
        "    -a = 1",
        "    +c = 1",
        "    cell 2:",
        "    -b = 2",
        "    +cc = 2",
        "",
    ]


def test_the_largest_cost_comes_first_and_among_those_what_is_certain(
    make_finding: MakeFinding,
) -> None:
    def at(row: int, effect: Effect, **more: object) -> Finding:
        return make_finding(f"{row}.py", 3, **more)._replace(effect=effect)

    lines = report(
        at(1, Effect.TINY),
        at(2, Effect.SMALL),
        at(3, Effect.LARGE, tier=Tier.HINT),
        at(4, Effect.LARGE),
        at(5, Effect.NONE),
    ).splitlines()
    assert [line for line in lines if ".py:3:5" in line] == [
        "4.py:3:5: TL201 item-in-step-loop large",
        "3.py:3:5: TL201 item-in-step-loop large hint",
        "2.py:3:5: TL201 item-in-step-loop",
        "1.py:3:5: TL201 item-in-step-loop",
        "5.py:3:5: TL201 item-in-step-loop",
    ]
