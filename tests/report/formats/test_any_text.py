"""Whatever a name or a message holds, the reports that programs read can be read back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torchlint.finding import (
    Applicability,
    Diagnostic,
    Edit,
    Finding,
    Fix,
    Position,
    Related,
    Tier,
)
from torchlint.report.formats import github, gitlab, junit, rdjson, sarif
from torchlint.report.terminal.excerpt import Excerpts
from torchlint.report.terminal.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable

TEXTS = st.text(st.characters(), max_size=40)
NAMES = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=40)
"""Of files; messages are not empty either."""
PLACES = st.builds(Position, st.integers(1, 4), st.integers(1, 9), st.none() | st.integers(1, 3))
FIXES = st.builds(
    lambda start, end, content: Fix(Applicability.SAFE, content, (Edit(start, end, content),)),
    PLACES,
    PLACES,
    TEXTS,
)
FINDINGS = st.builds(
    Finding,
    code=st.just("TL201"),
    name=st.just("item-in-step-loop"),
    tier=st.sampled_from(Tier),
    message=NAMES,
    path=NAMES,
    start=PLACES,
    end=PLACES,
    fix=st.none() | FIXES,
    withheld=st.none() | TEXTS,
    related=st.lists(st.builds(Related, NAMES, PLACES, TEXTS), max_size=2).map(tuple),
    scope=TEXTS,
    fingerprint=st.sampled_from(["", "0123456789abcdef"]),
)
DIAGNOSTICS = st.builds(
    Diagnostic, NAMES, NAMES, st.none() | PLACES, st.sampled_from(["syntax", "worker"])
)


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(FINDINGS, max_size=3), st.lists(DIAGNOSTICS, max_size=2, unique=True))
def test_a_report_is_what_its_readers_expect(
    read_json: Callable[..., Any],
    junit_schema: Any,
    findings: list[Finding],
    diagnostics: list[Diagnostic],
) -> None:
    excerpts = Excerpts({finding.path: b"one\n\xf0\x90\x90\x80 = 2\n" for finding in findings})
    log = read_json("sarif-schema-2.1.0.json", sarif.render(findings, diagnostics, {}, "/repo"))
    entries = read_json("gitlab-code-quality.json", gitlab.render(findings, diagnostics, "/repo"))
    review = read_json("DiagnosticResult.json", rdjson.render(findings, diagnostics, excerpts))
    cases = "\n".join(junit.render(findings, diagnostics))
    junit_schema.validate(cases)
    count = len(findings) + len(diagnostics)
    assert len(log["runs"][0]["results"]) == len(findings)
    assert len(entries) == len({entry["fingerprint"] for entry in entries}) == count
    assert len(review["diagnostics"]) == count
    assert len(ElementTree.fromstring(cases).findall(".//testcase")) == max(1, count)
    commands = list(github.render(findings, diagnostics))
    assert len(commands) == count
    assert all(line.startswith("::") and visible(line) == line for line in commands)
