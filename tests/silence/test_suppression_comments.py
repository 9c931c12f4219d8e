"""What is read off suppression comments, and where others could be put."""

from __future__ import annotations

import pytest

from torchlint.silence.suppression_comments import Comment, CommentLayout


def only(text: str) -> Comment:
    (comment,) = CommentLayout(text).comments
    return comment


@pytest.mark.parametrize(
    ("comment", "reason"),
    [
        ("# torchlint: ignore[TL201] -- the log needs it", "the log needs it"),
        ("# torchlint: ignore[TL201]--the log", "the log"),
        ("# torchlint: ignore[TL201] ---  the log  ", "the log"),
        ("# torchlint: ignore -- all of it", "all of it"),
        ("# torchlint: ignore-file[TL201] -- generated -- by us", "generated -- by us"),
        ("# torchlint: disable[TL201] -- see #12, and # 13", "see #12, and # 13"),
        ("# torchlint: ignore[TL201] -- the log  # noqa: E501", "the log"),
        ("# torchlint: ignore[TL201] -- ", ""),
        ("# torchlint: ignore[TL201] the log needs it", ""),
        ("# torchlint: ignore[TL201] # -- the log", ""),
    ],
)
def test_a_reason_follows_two_dashes(comment: str, reason: str) -> None:
    assert only(comment).reason == reason


@pytest.mark.parametrize(
    ("comment", "own"),
    [
        ("# torchlint: ignore[TL201]", "# torchlint: ignore[TL201]"),
        ("# torchlint: ignore[TL201] -- why  ", "# torchlint: ignore[TL201] -- why"),
        ("# a # torchlint: ignore[TL201] -- b # noqa", "# torchlint: ignore[TL201] -- b"),
        ("# torchlint: ignore[TL201] prose", "# torchlint: ignore[TL201]"),
        ("# torchlint: ignore  # type: ignore", "# torchlint: ignore"),
    ],
)
def test_a_suppression_is_a_part_of_its_comment(comment: str, own: str) -> None:
    text = f"x = 'é'\ny = 2  {comment}\n"
    found = only(text)
    assert text[found.start : found.end] == own
    assert text[found.begins : found.stops] == comment


def test_names_are_read_with_their_places() -> None:
    text = "x = 1  # torchlint: ignore[ TL201,item-in-step-loop  TL3 ]\n"
    names = only(text).names
    assert names is not None
    assert [name.text for name in names] == ["TL201", "item-in-step-loop", "TL3"]
    assert [text[name.start : name.end] for name in names] == [name.text for name in names]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("# torchlint: ignore[TL201]", [None]),
        ("# torchlint: ignroe[TL201]", ["word"]),
        ("# torchlint: ignore[TL201", ["bracket"]),
        ("x = 1  # torchlint: disable[A1]", ["place"]),
        ("f(\n# torchlint: disable[A1]\n)", ["place"]),
        ("if x:\n  # torchlint: disable[A1]\n    y", ["indent"]),
        ("if x:\n    y\n  # torchlint: disable[A1]\nz", ["indent"]),
        ("if x:\n    y\nif x:\n  y\n    # torchlint: disable[A1]\nz", ["indent"]),
        ("# torchlint: disable[A1]\nx", ["unclosed"]),
        ("x\n# torchlint: enable[A1]", ["unopened"]),
        ("# torchlint: disable[A1]\nx\n# torchlint: enable[A1]", [None, None]),
        ("# torchlint: disable[A1]\nx\n# torchlint: enable[B1]", ["unclosed", "unopened"]),
        ("# torchlint: disable[A1]\nx\n# torchlint: enable", ["unclosed", "unopened"]),
        (
            "# torchlint: disable[A1]\nif x:\n    y\n    # torchlint: enable[A1]",
            ["unclosed", "unopened"],
        ),
        (
            "if x:\n    # torchlint: disable[A1]\n    y\nif x:\n    z\n    # torchlint: enable[A1]",
            ["unclosed", "unopened"],
        ),
    ],
)
def test_what_is_wrong_with_a_comment_is_known(text: str, faults: list[str | None]) -> None:
    assert [comment.fault for comment in CommentLayout(text).comments] == faults


def test_blocks_may_be_in_one_another_or_overlap() -> None:
    rows = ["disable[A1]", "disable[B1]", "disable[A1]", "enable[B1]", "enable[A1]", "enable[A1]"]
    layout = CommentLayout("".join(f"# torchlint: {row}\nx\n" for row in rows))
    assert [comment.fault for comment in layout.comments] == [None] * 6
    assert [comment.last for comment in layout.comments[:3]] == [11, 7, 9]


@pytest.mark.parametrize(
    ("text", "row", "expected"),
    [
        ("x = 1\ny = 2", 1, 1),
        ("x = 1 + \\\n    2", 1, 2),
        ("x = 1  # why \\\ny = 2", 1, 1),
        ("x = '''a\nb\n'''", 1, 3),
        ("x = '''a\nb\n''' + \\\n    y", 1, 4),
        ("x = 'a\\\nb'", 1, 2),
        ("f(x,\n  y)", 1, 1),
        ("x = f'''a\n{y}\n'''", 2, 3),
    ],
)
def test_a_comment_fits_where_neither_a_string_nor_a_line_goes_on(
    text: str, row: int, expected: int
) -> None:
    assert CommentLayout(text).open_row(row, 9) == expected


@pytest.mark.parametrize(
    ("comment", "until", "reason"),
    [
        ("# torchlint: ignore[TL201] until=2027-01-31 -- the log", "2027-01-31", "the log"),
        ("# torchlint: ignore[TL201] until=2027-01-31", "2027-01-31", ""),
        ("# torchlint: ignore until=2027-01-31 # noqa", "2027-01-31", ""),
        ("# torchlint: ignore-file[TL201] until=2027-01-31 prose", "2027-01-31", ""),
        ("# torchlint: ignore[TL201] until the log moves", None, ""),
        ("# torchlint: ignore[TL201] -- until 2027-01-31", None, "until 2027-01-31"),
    ],
)
def test_an_end_comes_before_the_reason(comment: str, until: str | None, reason: str) -> None:
    read = only(comment)
    assert (read.until and read.until.isoformat(), read.reason) == (until, reason)
    assert read.fault is None
    assert read.effective


@pytest.mark.parametrize(
    "rest",
    [
        "[TL201] until=2027-02-30",
        "[TL201] until=20270131",
        "[TL201] until=31.1.2027",
        "[TL201] until=2027-01-31, the log",
        "[TL201] until=",
        "[TL201] until = 2027-01-31",
        "[TL201] until: 2027-01-31",
        "[TL201] until 2027-01-31 -- the log",
        "[TL201] UNTIL=2027-01-31",
        "[TL201] -- the log until=2027-01-31",
        "[TL201] the log until=2027-01-31",
        " until=2027-01-31 [TL201]",
        " until=2027-01-31[TL201]",
        "[TL201] until=2027-01-31 until=2028-01-31",
    ],
)
def test_an_end_that_cannot_be_read_is_a_fault(rest: str) -> None:
    comment = only(f"# torchlint: ignore{rest}")
    assert comment.fault == "until"
    assert not comment.effective


def test_a_block_whose_end_cannot_be_read_is_still_a_block() -> None:
    text = "# torchlint: disable[TL201] until=x\ny\n# torchlint: enable[TL201]\nz\n"
    assert [comment.fault for comment in CommentLayout(text).comments] == ["until", None]
    text = "# torchlint: disable[TL201]\ny\n# torchlint: enable[TL201] until=2027-01-31\nz\n"
    assert [comment.fault for comment in CommentLayout(text).comments] == [None, "until"]
    assert CommentLayout(text).comments[0].last == 3


def test_a_file_has_a_bounded_number_of_ends() -> None:
    text = "".join(f"# torchlint: ignore until={year}-01-31\n" for year in range(2000, 2102))
    faults = [comment.fault for comment in CommentLayout(2 * text).comments]
    assert faults == [*[None] * 100, "days", "days"] * 2
