from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from torchlint.finding import Diagnostic, Finding, Position, Related, Tier
from torchlint.report.formats import junit

if TYPE_CHECKING:
    import xmlschema

MakeFinding = Callable[..., Finding]
Suite = ElementTree.Element


@pytest.fixture
def suite_of(junit_schema: xmlschema.XMLSchema) -> Callable[..., Suite]:
    """The only suite of a valid document."""

    def rendered(findings: list[Finding], diagnostics: list[Diagnostic] | None = None) -> Suite:
        text = "\n".join(junit.render(findings, diagnostics or []))
        assert text.isascii()
        root = ElementTree.fromstring(text.encode())
        junit_schema.validate(text)
        (suite,) = root
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == int(root.attrib["tests"]) == len(cases)
        for total, outcome in (("failures", "failure"), ("errors", "error"), ("skipped",) * 2):
            assert int(suite.attrib[total]) == len(suite.findall(f"testcase/{outcome}"))
        # Of two cases with one name GitLab reads the first.
        assert len({(case.attrib["classname"], case.attrib["name"]) for case in cases}) == len(
            cases
        )
        return suite

    return rendered


def test_nothing_found_is_one_case_that_passes(suite_of: Callable[..., Suite]) -> None:
    (case,) = suite_of([])
    assert list(case) == []


def test_a_problem_is_a_failure_with_its_place(
    suite_of: Callable[..., Suite], make_finding: MakeFinding
) -> None:
    finding = make_finding(
        path="src/train.py",
        message="It waits.",
        scope="Trainer.step",
        withheld="it is compared",
        related=(Related("main.py", Position(40, 9), "the loop"),),
    )
    ((failure,),) = suite_of([finding])
    assert failure.attrib == {"type": "TL201", "message": "3:5: It waits."}
    assert failure.text == (
        "src/train.py:3:5: It waits.\n"
        "see main.py:40:9: the loop\n"
        "no fix: it is compared\n"
        "TL201 item-in-step-loop: torchlint rule TL201"
    )


def test_names_stay_when_lines_move(
    suite_of: Callable[..., Suite], make_finding: MakeFinding
) -> None:
    def names(*rows: int) -> list[tuple[str, str]]:
        findings = [make_finding(row=row, path="src/a.py", scope="f") for row in rows]
        findings.append(make_finding(path="src/a.py"))
        return [(case.attrib["classname"], case.attrib["name"]) for case in suite_of(findings)]

    assert (
        names(3, 9)
        == names(30, 90)
        == [
            ("src/a", "TL201 item-in-step-loop in f"),
            ("src/a", "TL201 item-in-step-loop in f (2)"),
            ("src/a", "TL201 item-in-step-loop"),
        ]
    )


def test_a_hint_fails_nothing_and_a_pedantic_finding_does(
    suite_of: Callable[..., Suite], make_finding: MakeFinding
) -> None:
    suite = suite_of([make_finding(tier=Tier.HINT), make_finding(tier=Tier.PEDANTIC)])
    assert [outcome.tag for (outcome,) in suite] == ["skipped", "failure"]


def test_what_could_not_be_done_is_an_error(suite_of: Callable[..., Suite]) -> None:
    diagnostics = [
        Diagnostic("bad.py", "Not Python.", Position(2, 7), "syntax"),
        Diagnostic("gone.py", "Gone."),
    ]
    (first,), (second,) = suite_of([], diagnostics)
    assert (first.tag, first.attrib["type"]) == ("error", "syntax")
    assert first.text == "bad.py:2:7: Not Python."
    assert second.text == "gone.py: Gone."


def test_a_place_in_a_notebook_names_the_cell(
    suite_of: Callable[..., Suite], make_finding: MakeFinding
) -> None:
    finding = make_finding(path="a.ipynb", message="It waits.")
    ((failure,),) = suite_of([finding._replace(start=Position(5, 9, 3), end=Position(5, 12, 3))])
    assert failure.attrib["message"] == "cell 3, line 5: It waits."
    assert failure.text is not None
    assert failure.text.startswith("a.ipynb:cell 3:5:9: It waits.\n")


def test_hostile_text_stays_text(
    suite_of: Callable[..., Suite], make_finding: MakeFinding, hostile: str
) -> None:
    finding = make_finding(path=f"{hostile}.py", message=hostile, scope=hostile, withheld=hostile)
    suite = suite_of([finding], [Diagnostic(hostile, hostile)])
    assert [outcome.tag for (outcome,) in suite] == ["failure", "error"]
    assert [list(outcome) for (outcome,) in suite] == [[], []]
    ((failure,), _error) = suite
    assert failure.text is not None
    # The place, the reason and the rule: nothing of the text broke a line.
    assert failure.text.count("\n") == 2
    assert "::error" not in {line[:7] for line in failure.text.split("\n")}
