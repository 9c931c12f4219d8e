"""TL002: which comments lack a reason, once reasons are required."""

from __future__ import annotations

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.project.target import Target

RULES = ("TL002",)


def found(text: str, *, required: bool = True) -> list[int]:
    """The rows in which a reason is missing."""
    selection = Selection(RULES, require_reason=required)
    report = check([Target("train.py", selection, (2, 13), text.encode())])
    assert report.diagnostics == ()
    return [finding.start.row for finding in report.findings]


@pytest.mark.parametrize(
    "comment",
    [
        "# torchlint: ignore[TL201]",
        "# torchlint: ignore",
        "# torchlint: ignore-file[TL201]",
        "# torchlint: disable[TL201]",
        "# torchlint: ignore[TL201] -- ",
        "# torchlint: ignore[TL201] the log needs it",
        "# torchlint: ignore[TL201]  # -- the log needs it",
    ],
)
def test_a_comment_without_a_reason_is_found(comment: str) -> None:
    assert found(f"x = 1\n{comment}\ny = 1\n") == [2]
    assert found(f"x = 1\n{comment}\ny = 1\n", required=False) == []


@pytest.mark.parametrize(
    "comment",
    [
        "# torchlint: ignore[TL201] -- the log needs it",
        "# torchlint: ignore-file -- generated",
        "# torchlint: ignore[TL201] -- why  # noqa",
        "# torchlint: enable[TL201]",
        "# noqa: TL201",
        "# torchlint: ignroe[TL201]",
        "# torchlint: reads this",
    ],
)
def test_a_reason_or_no_suppression_is_left_alone(comment: str) -> None:
    assert found(f"x = 1\n{comment}\ny = 1\n") == []


def test_words_without_dashes_are_pointed_out() -> None:
    text = b"x = 1  # torchlint: ignore[TL201] the log needs it\n"
    selection = Selection(RULES, require_reason=True)
    (finding,) = check([Target("a.py", selection, (2, 13), text)]).findings
    assert "in front of the reason" in finding.message
