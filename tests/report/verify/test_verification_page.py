from __future__ import annotations

from tests.report.strict_page import Page
from tests.report.verify.sample_results import (
    comparison,
    fix,
    lanes,
    numerics,
    result,
    rich,
    strips,
)
from torchlint.report.verify import verification_page as verification_page
from torchlint.runtime.sandbox.side_effects import SideEffect
from torchlint.verify.result import Agreement, Comparison, Result, Verdict


def page(found: Result) -> Page:
    return Page(verification_page.render(found))


def test_a_large_verification_stays_below_a_megabyte() -> None:
    numbers = numerics(Agreement.ROUNDING, apart=1e-7)
    fixes = tuple(
        fix(number, after=1.1, alone=comparison(numerics=numbers)) for number in range(1, 9)
    )
    large = result(
        total=comparison(numerics=numbers),
        fixes=fixes,
        strips=strips(pairs=16),
        lanes=lanes(steps=2000),
        side_effects=tuple(SideEffect("create", f"a/{n}.pt", kept=False) for n in range(500)),
        diff="+x = 1\n" * 20_000,
    )
    assert len(verification_page.render(large).encode()) < 1_000_000


def of_many(fixes: int) -> Result:
    """One fix was measured, and so many were not."""
    why = "none of its lines ran"
    idle = Comparison(Verdict.NOT_EXERCISED, why=why)
    paths = [f"models/part{number}.py" for number in range(fixes)]
    others = [fix(9, Verdict.NOT_EXERCISED, None, path=path, alone=idle) for path in paths]
    notes = tuple(f"The fix of TL103 at {path}:3 overlaps another fix." for path in paths)
    whole = "".join(each.diff for each in others)
    return result(fixes=(fix(1), *others), notes=notes, diff=whole)


def test_fixes_that_were_not_measured_are_lines_behind_one_reason() -> None:
    shown = page(of_many(20))
    assert [tag for tag, _ in shown.elements].count("article") == 1
    assert "NOT EXERCISED 20 fixes · none of its lines ran" in shown.text()
    assert shown.text().count("dataloader-no-workers (unsafe) models/part") == 20
    assert "TL109 in part11.py and 8 more): none of its lines ran" in shown.text()
    opened = [attrs for tag, attrs in shown.elements if tag == "details" and "open" in attrs]
    assert len(opened) == 1


def test_what_is_shown_of_them_is_bounded_and_the_rest_is_counted() -> None:
    def shown(found: Result) -> str:
        return verification_page.render(found).partition('<script type="application/json"')[0]

    many, more = shown(of_many(700)), shown(of_many(1400))
    assert abs(len(more) - len(many)) < 100
    assert "1300 more are in the JSON." in more
    assert "1340 more notes are in the JSON." in more
    page_of_many = page(of_many(700))
    assert {link[1:] for link in page_of_many.values("href")} <= set(page_of_many.values("id"))


# what it shows -----------------------------------------------------------------------------


def test_every_verdict_and_agreement_is_said_in_its_own_word() -> None:
    for verdict in Verdict:
        shown = page(result(total=None, fixes=(fix(1, verdict, 1.0),)))
        marked = [
            attrs for _, attrs in shown.elements if (attrs.get("class") or "").startswith("chip ")
        ]
        colour = f"chip {verdict.name.lower().replace('_', '-')}"
        assert sum(attrs["class"] == colour for attrs in marked) == 2
        assert f"TL101 dataloader-no-workers {verdict.value}" in shown.text()
    for agreement in Agreement:
        alone = comparison(numerics=numerics(agreement))
        shown = page(result(total=None, fixes=(fix(alone=alone),)))
        assert f"The numbers: {agreement.value}" in shown.text()


def test_the_charts_are_named_for_those_who_do_not_see_them() -> None:
    shown = page(rich())
    charts = [attrs for tag, attrs in shown.elements if attrs.get("role") == "img"]
    labels = [attrs["aria-label"] or "" for attrs in charts]
    assert "data 49%, forward 12%, backward 28%, optimizer 8%, other 3%" in labels
    assert sum(label.startswith("Loss of the original") for label in labels) == 8
    assert sum(label.startswith("Time of a step in each block of pair") for label in labels) == 4
    assert all(labels)
    loose = [
        attrs for tag, attrs in shown.elements
        if tag == "svg" and not {"role", "aria-hidden"} & set(attrs)
    ]  # fmt: skip
    hidden = [attrs for _, attrs in shown.elements if "plot" in (attrs.get("class") or "").split()]
    assert len(loose) == len(hidden)
    assert all(attrs.get("aria-hidden") == "true" or "axis" for attrs in hidden)


def test_what_scrolls_can_be_reached_by_keyboard() -> None:
    shown = page(rich())
    diffs = [attrs for tag, attrs in shown.elements if attrs.get("class") == "diff"]
    assert len(diffs) == 8  # of 7 measured fixes and of all together
    assert all(attrs["tabindex"] == "0" and attrs["aria-label"] for attrs in diffs)


def test_a_diff_has_its_lines_by_kind() -> None:
    lines, more = verification_page.diff_lines("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\tx\r\n+y\n same\n")
    assert lines == [
        ("file", "--- a/x"),
        ("file", "+++ b/x"),
        ("hunk", "@@ -1 +1 @@"),
        ("removed", "-   x"),
        ("added", "+y"),
        ("same", " same"),
    ]
    assert more == 0


def test_a_line_that_looks_like_a_file_name_is_a_change() -> None:
    end = "\\ No newline at end of file\n"
    hunk = f"@@ -1,2 +1,2 @@\n--- x\n+++ y\n same\n{end}"
    lines, _ = verification_page.diff_lines(f"--- a/x\n+++ b/x\n{hunk}--- a/y\n+++ b/y\n{hunk}")
    expected = ["file", "file", "hunk", "removed", "added", "same", "note"]
    assert [kind for kind, _ in lines] == expected * 2


def test_an_endless_diff_is_cut_and_counted() -> None:
    lines, more = verification_page.diff_lines("+x\n" * 1000)
    assert (len(lines), more) == (600, 400)
    shown = page(result(fixes=(), diff="+x\n" * 1000)).text()
    assert "400 more lines are in the JSON." in shown


def test_the_whole_diff_is_shown_where_there_are_no_fixes() -> None:
    assert "num_workers=2" in page(result(fixes=())).text()


def test_what_got_through_stands_out() -> None:
    shown = page(rich()).text()
    assert "connect 127.0.0.1:6006 1 let through" in shown
    assert "wandb.init 3 held back" in shown


def test_the_headline_says_why_rather_than_what_the_word_means() -> None:
    noisy = comparison(Verdict.UNRESOLVED, 1.3, why="not beyond the machine's own noise")
    shown = page(result(total=noisy, fixes=(), aa=None)).text()
    headline = shown.partition("confirmed")[0]
    assert "not beyond the machine's own noise" in headline
    assert "more pairs would tell" not in headline


def test_one_fix_is_the_whole_change() -> None:
    shown = page(result(strips=strips()))
    assert shown.text().count("[1.745, 1.809]") == 3
    dots = [attrs for tag, attrs in shown.elements if attrs.get("class") == "dot"]
    assert len(dots) == 9
