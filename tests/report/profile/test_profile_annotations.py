"""Findings of a profile as SARIF and as annotations of GitHub."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.report.profile.sample_profiles import (
    failed,
    finding,
    full,
    profile,
    read,
    rich,
    static,
)
from torchlint.experiment.figures import TIMES
from torchlint.finding import Position, Tier
from torchlint.profile.catalogue import all_kinds
from torchlint.profile.kind import FindingKind
from torchlint.profile.profile_result import Line
from torchlint.report.profile.profile_annotations import as_commands, as_findings, as_sarif

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torchlint.profile.profile_result import Profile

KINDS = {
    "TR101": FindingKind(
        code="TR101", summary="a step waits", name="input-wait", page="Wait less.\n\nA."
    ),
    "TR201": FindingKind(
        code="TR201", summary="reads", name="host-read", page="Read.\n", census=True
    ),
}


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlint.report.profile.profile_annotations.all_kinds", lambda: KINDS)


@pytest.fixture
def run_of(read_json: Callable[..., Any], tmp_path: Path) -> Callable[[Profile], dict[str, Any]]:
    """The only run of a valid log."""

    def rendered(found: Profile) -> dict[str, Any]:
        log = read_json("sarif-schema-2.1.0.json", as_sarif(found, str(tmp_path)))
        (run,) = log["runs"]
        assert isinstance(run, dict)
        return run

    return rendered


# the findings ------------------------------------------------------------------------------


def test_the_costly_ones_come_first_and_what_has_no_line_is_at_the_first() -> None:
    assert [(each.code, each.path, each.start.row) for each in as_findings(rich())] == [
        ("TR101", "cells/data.py", 31),
        ("TR501", "cells/models/residual.py", 54),
        ("TR702", "train.py", 91),
        ("TR401", "train.py", 1),
        ("TR201", "train.py", 88),
        ("TR201", "train.py", 95),
        ("TR201", "cells/metrics.py", 17),
    ]


def test_only_what_has_a_line_in_a_module_is_told() -> None:
    found = as_findings(replace(rich(), argv=("-m", "cells.train")))
    assert [each.code for each in found] == ["TR101", "TR501", "TR702", "TR201", "TR201", "TR201"]


def test_what_has_no_known_cost_is_a_hint() -> None:
    found = as_findings(profile(findings=(finding(0.1), finding(None)), census=(read(),)))
    assert [each.tier for each in found] == [Tier.DEFAULT, Tier.HINT, Tier.HINT]


def test_a_message_is_the_fact_with_its_ceiling_and_the_action() -> None:
    one = finding(0.1, fact="it waits 4 ms", action="wait less")
    both = replace(one, static=(static(),))
    counted = read(per_step=3.0, action="keep it there")
    unknown = replace(one, share=None)
    loader = static("TL101", 12, path="cells/train.py", has_fix=False)
    waits = replace(one, static=(loader,), made=Line("cells/train.py", 12))
    shown = profile(findings=(one, both, unknown, waits))
    messages = [each.message for each in as_findings(shown)]
    assert messages == [
        f"it waits 4 ms (at most {TIMES}1.11); wait less.",
        f"it waits 4 ms (at most {TIMES}1.11); wait less. `check` reports TL201, fix available.",
        "it waits 4 ms; wait less.",
        f"it waits 4 ms (at most {TIMES}1.11); wait less. `check` reports TL101 at train.py:12.",
    ]
    assert [each.message for each in as_findings(profile(census=(counted,)))] == [
        "3 reads a step (`item`); keep it there. On a GPU the host would wait here; this machine "
        "has none to wait for."
    ]


def test_a_finding_covers_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("for x in y:\n    loss.item()  \n")
    seen, gone = as_findings(
        profile(findings=(finding(path="train.py", row=2), finding(path="gone.py", row=3)))
    )
    assert (seen.start, seen.end) == (Position(2, 5), Position(2, 16))
    assert (gone.start, gone.end) == (Position(3, 1), Position(3, 1))


def test_a_finding_is_the_same_when_its_line_moves_and_its_times_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "train.py"
    script.write_text("loss.item()\n")
    (before,) = as_findings(profile(findings=(finding(path="train.py", row=1),)))
    script.write_text("\nif x:\n    loss.item()\nother()\n")
    moved = finding(path="train.py", row=3, fact="9 ms a step")
    after, other = as_findings(profile(findings=(moved, replace(moved, row=4))))
    assert before.fingerprint == after.fingerprint != other.fingerprint
    gone = as_findings(profile(findings=(finding(path="x.py", row=3), finding(path="x.py", row=4))))
    assert len({each.fingerprint for each in gone}) == 2


# SARIF -------------------------------------------------------------------------------------


def test_a_level_follows_from_what_is_known_of_the_cost(
    run_of: Callable[[Profile], dict[str, Any]],
) -> None:
    results = run_of(rich())["results"]
    assert [(each["ruleId"], each["level"]) for each in results] == [
        ("TR101", "warning"),
        ("TR501", "warning"),
        ("TR702", "warning"),
        ("TR401", "note"),
        ("TR201", "note"),
        ("TR201", "note"),
        ("TR201", "note"),
    ]
    place = results[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("cells/data.py")
    assert place["region"]["startLine"] == 31


def test_kinds_are_described_by_their_pages(
    run_of: Callable[[Profile], dict[str, Any]],
) -> None:
    known = profile(findings=(finding(),), census=(read(), read(code="TR999", name="unheard-of")))
    first, second, unknown = run_of(known)["tool"]["driver"]["rules"]
    assert first["shortDescription"] == {"text": "a step waits"}
    assert first["help"]["markdown"] == "# input-wait (TR101)\n\nWait less.\n\nA.\n"
    assert "helpUri" not in first
    assert first["defaultConfiguration"] == {"level": "warning"}
    assert first["properties"]["tags"] == ["performance", "profile"]
    assert second["defaultConfiguration"] == {"level": "note"}
    assert unknown["shortDescription"] == {"text": "TR999 unheard-of"}


def test_every_kind_there_is_can_be_described(
    run_of: Callable[[Profile], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torchlint.report.profile.profile_annotations.all_kinds", all_kinds)
    found = tuple(finding(code=kind.code, name=kind.name) for kind in all_kinds().values())
    rules = run_of(profile(findings=found))["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(all_kinds())
    for rule in rules:
        assert rule["help"]["markdown"].startswith(f"# {rule['name']} ({rule['id']})\n\n")
        assert "## What it does" in rule["help"]["markdown"]


def test_a_profile_that_ended_early_says_so(run_of: Callable[[Profile], dict[str, Any]]) -> None:
    run = run_of(failed())
    assert run["results"] == []
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    (note,) = invocation["toolExecutionNotifications"]
    assert note["message"] == {"text": "The script failed: ValueError: no data"}
    assert run_of(profile())["invocations"][0]["executionSuccessful"] is True


def test_hostile_text_stays_text_in_a_log(
    run_of: Callable[[Profile], dict[str, Any]], hostile: str
) -> None:
    path = hostile.replace("\0", "")
    odd = finding(fact=hostile, action=hostile, path=path)
    run = run_of(profile(findings=(odd,), exit=4, summary=hostile, argv=("-m", hostile)))
    (result,) = run["results"]
    text = result["message"]["text"]
    assert not re.findall(r"(?<!\\)\]\((.*?)\)", text)
    assert "\n" not in text


# GitHub ------------------------------------------------------------------------------------


def test_each_finding_is_a_command_with_its_file_and_line() -> None:
    lines = list(as_commands(rich()))
    assert lines[0] == (
        "::warning file=cells/data.py,line=31,col=1,endLine=31,endColumn=1,"
        "title=TR101 input-wait::4 of 10 ms a step in `next(loader)`; 0 workers, 16 cores "
        f"(at most {TIMES}1.54); let workers load (`--sweep workers`)."
    )
    assert [line.split(" ")[0] for line in lines] == ["::warning"] * 3 + ["::notice"] * 4


def test_what_breaks_a_budget_or_ended_the_profile_is_an_error() -> None:
    *lines, changes = as_commands(full())
    assert changes.startswith("::notice title=torchlint profile::since ")
    assert lines[-2:] == [
        "::error file=train.py,line=88,col=1,title=torchlint::It is new.",
        "::error file=train.py,title=torchlint::Stopped; this is what was known until then.",
    ]
    assert list(as_commands(failed())) == [
        "::error file=train.py,title=torchlint::The script failed: ValueError: no data"
    ]
    module = replace(failed(), argv=("-m", "pkg.train"))
    assert next(iter(as_commands(module))).startswith("::error file=.,title=torchlint::")
    assert list(as_commands(profile())) == []


def test_hostile_text_is_one_command(hostile: str) -> None:
    odd = finding(fact=hostile, action=hostile, path=hostile)
    (line,) = as_commands(profile(findings=(odd,)))
    assert line.startswith("::warning file=")
    assert not re.search("[\x00-\x1f]", line)
