"""What a rehearsal says to people: text and page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.report.profile.sample_profiles import finding, rehearsal, rehearsed, static
from tests.report.strict_page import Page
from torchlint.report.profile import profile_annotations, profile_page, rehearsal_page
from torchlint.report.profile.rehearsal_text import render
from torchlint.report.terminal.safe_text import Paint

if TYPE_CHECKING:
    from torchlint.profile.profile_result import Profile


def text(found: Profile, **more: bool) -> str:
    """On one line."""
    lines = render(found, Paint(on=False), 100, **more)
    assert len(lines) <= 40 or more
    assert max(map(len, lines)) <= 100
    return " ".join(" ".join(lines).split())


def test_a_step_is_told_in_counts_and_in_no_times() -> None:
    said = text(rehearsed())
    assert "10 steps after 2 · played: NVIDIA A100-SXM4-80GB" in said
    assert "Counts are exact, per step; nothing was timed." in said
    assert (
        "the host waits 3 times (1 before backward), and 0.5 more find an empty queue while those "
        "come first (train.py:89); 2 copies to the GPU (2.4 kB), 1 of which it waits for; 312 "
        "operations, 40% on fewer than 4,096 elements"
    ) in said
    assert "bound arithmetic, at least 13.5 ms a step on this card" in said
    assert "12 GiB of tensors at most (parameters 1 GiB, gradients 1 GiB, optimizer 2 GiB" in said
    assert "most at net.py:33; fits into 80 GiB" in said


def test_findings_have_counts_and_the_rules_that_they_confirm() -> None:
    said = text(rehearsed())
    assert "1 train.py:88 TR201 host-read 2 reads a step (`item`), before backward" in said
    assert "(TL201, fix available)" in said
    assert "check 1 finding confirmed, 1 contradicted" in said
    assert "contradicted TL201 train.py:99" in said
    assert "next torchlint verify train.py --select TL201" in said


def test_what_does_not_fit_is_told() -> None:
    full = {**rehearsal().memory, "peak": 100 << 30}
    said = text(rehearsed(rehearsal=rehearsal(memory=full)))
    assert "does NOT fit into 80 GiB" in said


def test_a_step_that_waits_for_nothing() -> None:
    calm = rehearsal(waits=0.0, before_backward=0.0, copies=0.0)
    said = text(rehearsed(findings=(), static=(), rehearsal=calm))
    assert "a step the host waits for nothing; 312 operations" in said
    assert "No finding: in the counted steps, no line makes the host wait." in said


def test_a_script_that_does_not_use_the_gpu_is_told_so_and_nothing_else() -> None:
    said = text(rehearsed(rehearsal=rehearsal(used=False)))
    assert "The script does not use the GPU" in said
    assert "operations" not in said


def test_what_waits_in_one_step_alone_is_named_and_is_no_finding() -> None:
    said = text(rehearsed(findings=()))
    assert "No finding: in the counted steps, no line makes the host wait in more than one" in said
    assert (
        "waits in one of the counted steps: train.py:88 (2 a step), train.py:84 (1 a step)" in said
    )
    assert "waits in one" not in text(rehearsed(findings=(), suppressed=1))


def test_a_script_that_failed() -> None:
    failed = replace(rehearsed(), rehearsal=None, findings=(), exit=4, summary="It failed.\nline")
    assert "It failed. line" in text(failed)


def test_many_findings_fit_on_a_page_and_details_shows_them() -> None:
    many = tuple(replace(rehearsed().findings[0], row=row) for row in range(1, 60))
    said = text(rehearsed(findings=many))
    assert "more, --details shows them" in said
    assert "train.py:59" in text(rehearsed(findings=many), details=True)


def test_what_was_counted_is_no_hint_to_a_reviewer() -> None:
    (found,) = profile_annotations.as_findings(rehearsed())
    assert found.tier.value == "default"


# the page --------------------------------------------------------------------------------------


def test_the_strip_is_a_step_from_left_to_right() -> None:
    pieces = rehearsal_page.strip(rehearsal().strip)
    assert [each.what for each in pieces] == ["copy", "launch", "wait", "launch"]
    assert pieces[0].start == 0
    ends = [each.start + each.width for each in pieces]
    assert [round(each.start, 6) for each in pieces[1:]] == [round(end, 6) for end in ends[:-1]]
    assert round(ends[-1], 6) == 1


def test_the_memory_is_a_line_below_it() -> None:
    points = rehearsal_page.memory(rehearsal().strip)
    lowest, highest = max(y for _, y in points), min(y for _, y in points)
    assert (points[0], highest) == ((0.0, lowest), 0.0)
    assert rehearsal_page.memory(()) == []


def test_a_page_shows_findings_lines_and_what_they_confirm() -> None:
    shown = Page(profile_page.render(rehearsed())).text()
    assert "torchlint rehearse train.py" in shown
    assert "2 reads a step ( item ), before backward" in shown
    assert "A step, from left to right" in shown
    assert "net.py:33 0 0 40" in shown


def test_a_hostile_name_is_shown_and_does_nothing() -> None:
    bad = "<script>alert(1)</script>\u202e"
    each = finding(None, path=bad, fact=bad, static=(static(path=bad),))
    page = Page(profile_page.render(rehearsed(findings=(each,), argv=(bad,))))
    assert sum(tag == "script" for tag, _ in page.elements) == 1
    assert "\u202e" not in page.text()
