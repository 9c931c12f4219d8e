"""TL003: comments that cannot do what they say."""

from __future__ import annotations

import re

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.project.target import Target


def messages(text: str) -> list[str]:
    target = Target("train.py", Selection(("TL003",)), (2, 13), text.encode())
    report = check([target])
    assert report.diagnostics == ()
    return [finding.message for finding in report.findings]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x  # torchlint: ignore[TL21]", "`TL21` is not a rule, so it silences nothing; .*`TL201`"),
        ("x  # torchlint: ignore[tl201]", "`tl201` is not a rule.*`TL201`"),
        ("x  # torchlint: ignore[TL201, TL2]", "`TL2` is not a rule"),
        ("x  # torchlint: ignore[item-in-steploop]", "nearest known one is `item-in-step-loop`"),
        ("x  # torchlint: ignore-file[E501]", "`E501` is not a rule"),
        ("x  # torchlint: ignore[TL201", "not closed.*`ignore.TL201.`"),
        ("x  # torchlint: ignroe[TL201]", "did you mean `ignore`"),
        ("x  # torchlint: ignroe", "did you mean `ignore`"),
        ("x  # torchlint: Ignore", "did you mean `ignore`"),
        ("x  # torchlint: silence[TL201]", "use `ignore`, `ignore-file`, `disable` or `enable`"),
        ("x  # torchlint: disable[TL201]", "a line of its own between statements"),
        ("f(\n# torchlint: disable[TL201]\n)", "a line of its own between statements"),
        ("if x:\n  # torchlint: disable[TL201]\n    y", "at this indentation"),
        ("# torchlint: disable[TL201]\nx", "No `enable` with the same rules"),
        ("x\n# torchlint: enable[TL201]", "No `disable` with the same rules"),
    ],
)
def test_a_comment_is_found_that_does_not_do_what_it_says(text: str, words: str) -> None:
    (message,) = messages(text + "\n")
    assert re.search(words, message)


@pytest.mark.parametrize(
    "text",
    [
        "x  # torchlint: ignore",
        "x  # torchlint: ignore[ALL]",
        "x  # torchlint: ignore[TL201, item-in-step-loop] TL999",
        "x  # torchlint: see the page of TL201",
        "x  # torchlint: none",
        "x  # noqa: TL999",
        "x = '# torchlint: ignore[TL999]'",
        "# torchlint: disable[TL201]\nx\n# torchlint: enable[TL201]",
    ],
)
def test_other_comments_are_left_alone(text: str) -> None:
    assert messages(text + "\n") == []


def test_each_unknown_name_is_named() -> None:
    assert len(messages("x  # torchlint: ignore[TL998, TL999]\n")) == 2


def test_the_finding_knows_where_it_stands() -> None:
    text = (
        "class A:\n    def f(self):\n        x  # torchlint: ignore[TL998]\n"
        "    y = 1  # torchlint: ignore[TL998]\nz = 1  # torchlint: ignore[TL999]\n"
    )
    target = Target("train.py", Selection(("TL003",)), (2, 13), text.encode())
    found = check([target]).findings
    assert [finding.scope for finding in found] == ["A.f", "A", ""]
    assert found[0].fingerprint == found[1].fingerprint != found[2].fingerprint
    assert (found[0].start, found[0].end) == ((3, 12, None), (3, 38, None))
