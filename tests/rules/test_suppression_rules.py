"""What case files cannot say of the rules about comments: settings, places, and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
import pytest

from torchlint.config.settings import Selection
from torchlint.engine import map_file as mapping
from torchlint.engine import project_findings as run
from torchlint.engine.check import check
from torchlint.fixes.fixer import fix_targets
from torchlint.project.target import Target
from torchlint.ruleapi.registry import all_rules
from torchlint.ruleapi.rule_definition import Rule

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

IDLE = b"import torch\nx = 1  # torchlint: ignore[TL201]\n"
BARE = b"import torch\nx = 1  # torchlint: ignore\n"


@pytest.mark.parametrize(
    ("text", "selection", "unused"),
    [
        (IDLE, Selection(), True),
        (BARE, Selection(), True),
        (IDLE, Selection(ignore=("TL201",)), False),
        (IDLE, Selection(off=("TL2",)), False),
        (IDLE, Selection(select=("TL0", "TL1")), False),
        (BARE, Selection(ignore=("TL601",)), False),
    ],
)
def test_a_comment_is_unused_only_if_its_rules_are_on(
    text: bytes, selection: Selection, unused: bool
) -> None:
    report = check([Target("train.py", selection, (2, 13), text)])
    assert report.diagnostics == ()
    assert [finding.code for finding in report.findings] == ["TL001"] * unused


def test_no_comment_is_unused_where_a_rule_crashed(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Rule(code="TL901", name="broken", family="test", summary="", triggers=("torch",))

    @broken.on(cst.Name)
    def crash(name: cst.Name, module: Module) -> None:
        raise ZeroDivisionError

    rules = {**all_rules(), "TL901": broken}
    for each in (mapping, run):
        monkeypatch.setattr(each, "all_rules", lambda: rules)
    report = check([Target("a.py", Selection(), (2, 13), IDLE)])
    assert [each.kind for each in report.diagnostics] == ["rule"]
    assert report.findings == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\n    # torchlint: ignore[TL201]\nb\n", "a\nb\n"),
        ("a\n# torchlint: ignore[TL201]", "a\n"),
        ("# torchlint: ignore[TL201]", ""),
        ("a\r\n# torchlint: ignore[TL201]\r\nb\r\n", "a\r\nb\r\n"),
        ("a\t\t# torchlint: ignore[TL201]\r\nb\r\n", "a\r\nb\r\n"),
        ("a\n\f\n# torchlint: ignore[TL201]\nb\n", "a\n\f\nb\n"),
        ("x = 1  # torchlint: ignore[TL201] -- see #1  \n", "x = 1\n"),
        (
            "\ufeff# ünï\r\nx = 1 \t # torchlint: ignore[TL201]\r\ny = '\u2028'\n",
            "\ufeff# ünï\r\nx = 1\r\ny = '\u2028'\n",
        ),
    ],
)
def test_bytes_around_an_unused_comment_stay(before: str, after: str) -> None:
    target = Target("train.py", Selection(), (2, 13), before.encode())
    (file,) = fix_targets([target], unsafe=False).files
    assert file.after == after.encode()


def test_a_finding_about_a_comment_knows_where_it_is() -> None:
    text = (
        "class A:\n    def f(self):\n        x  # torchlint: ignore[TL998]\n"
        "    y = 1  # torchlint: ignore[TL998]\nz = 1  # torchlint: ignore[TL999]\n"
    )
    target = Target("train.py", Selection(("TL003",)), (2, 13), text.encode())
    found = check([target]).findings
    assert [finding.scope for finding in found] == ["A.f", "A", ""]
    assert found[0].fingerprint == found[1].fingerprint != found[2].fingerprint
    assert (found[0].start, found[0].end) == ((3, 12, None), (3, 38, None))
