"""TL001: which comments are called unused, which never are, and what the fix leaves of a line."""

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
from torchlint.ruleapi.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module

LOOP = """\
import torch
for x in loader:
    loss = model(x.cuda())
    loss.backward()
    print(loss.item()){}
"""


def unused(text: str, path: str = "train.py", **selection: object) -> list[str]:
    """The messages of TL001 about one file, up to the semicolon."""
    target = Target(path, Selection(**selection), (2, 13), text.encode())  # type: ignore[arg-type]
    report = check([target])
    assert report.diagnostics == ()
    return [
        finding.message.partition(";")[0] for finding in report.findings if finding.code == "TL001"
    ]


def fixed(text: str) -> str:
    target = Target("train.py", Selection(), (2, 13), text.encode())
    report = fix_targets([target], unsafe=False)
    assert report.diagnostics == ()
    return report.files[0].after.decode() if report.files else text


USED = [
    "  # torchlint: ignore[TL201]",
    "  # torchlint: ignore[item-in-step-loop] -- by name",
    "  # torchlint: ignore",
    "  # torchlint: ignore[ALL]",
    "  # torchlint: ignore[TL201, item-in-step-loop]",
    "\n# torchlint: ignore-file[TL201]",
    "\n# torchlint: ignore-file",
]
UNUSED = [
    ("  # torchlint: ignore[TL202]", "`ignore` silences nothing here"),
    ("  # torchlint: ignore[TL202, TL101]", "`ignore` silences nothing here"),
    ("  # torchlint: ignore[]", "`ignore` silences nothing here"),
    ("  # torchlint: ignore[TL201, TL202]", "`TL202` in this comment silences nothing here"),
    (
        "  # torchlint: ignore[TL101, TL201, tensor-copies-numpy]",
        "`TL101`, `tensor-copies-numpy` in this comment silences nothing here",
    ),
    ("\n# torchlint: ignore-file[TL202]", "`ignore-file` silences nothing in this file"),
    ("\nx = 1  # torchlint: ignore", "`ignore` silences nothing here"),
    (
        "\n# torchlint: disable[TL201]\nx = 1\n# torchlint: enable[TL201]",
        "`disable` silences nothing in this block",
    ),
]


@pytest.mark.parametrize("comment", USED)
def test_a_comment_that_silences_something_is_used(comment: str) -> None:
    assert unused(LOOP.format(comment)) == []


@pytest.mark.parametrize(("comment", "message"), UNUSED)
def test_one_that_does_not_is_unused(comment: str, message: str) -> None:
    assert unused(LOOP.format(comment)) == [message]


def test_a_file_that_no_other_rule_reads_is_read_for_its_comments() -> None:
    assert unused("x = 1  # torchlint: ignore[TL201]\n") == ["`ignore` silences nothing here"]


def test_every_comment_that_covers_a_finding_is_used() -> None:
    text = LOOP.format("  # torchlint: ignore[TL201]")
    assert unused("# torchlint: ignore-file[TL201]\n" + text) == []


class TestNothingIsSaid:
    """Where not all is known."""

    IDLE = "import torch\nx = 1  # torchlint: ignore[TL201]\n"
    BARE = "import torch\nx = 1  # torchlint: ignore\n"

    def test_but_all_is_known_here(self) -> None:
        assert unused(self.IDLE)
        assert unused(self.BARE)

    def test_of_a_rule_that_is_off(self) -> None:
        assert unused(self.IDLE, ignore=("TL201",)) == []
        assert unused(self.IDLE, off=("TL2",)) == []
        assert unused(self.IDLE, select=("TL0", "TL1")) == []

    def test_of_a_comment_for_all_rules_if_one_is_off(self) -> None:
        assert unused(self.BARE, ignore=("TL601",)) == []

    def test_of_a_rule_that_is_silent_in_tests(self) -> None:
        quiet = [rule.code for rule in all_rules().values() if rule.off_in_tests]
        assert quiet
        text = f"import torch\nx = 1  # torchlint: ignore[{quiet[0]}]\n"
        assert unused(text)
        assert unused(text, "tests/test_x.py") == []
        assert unused(self.BARE, "tests/test_x.py") == []
        assert unused(self.IDLE, "tests/test_x.py")

    def test_of_a_finding_that_waits_for_other_files(self) -> None:
        text = (
            "import torch\nfrom torch import optim\n"
            "def note(value):\n    return value.item()  # torchlint: ignore[TL201]\n"
            "def step(loss):\n    loss.backward()\n"
        )
        assert unused(text) == []

    def test_of_a_hint_that_nobody_asked_for(self) -> None:
        text = LOOP.format("").replace("    print", "    if rank == 0:\n        print")
        (hint,) = check([Target("a.py", Selection(), (2, 13), text.encode())]).findings
        assert hint.tier == "hint"
        assert unused(text.rstrip() + "  # torchlint: ignore[TL201]\n") == []

    def test_where_a_rule_crashed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        broken = Rule("TL901", "broken", "test", "", triggers=("torch",))

        @broken.on(cst.Name)
        def crash(name: cst.Name, module: Module) -> None:
            raise ZeroDivisionError

        rules = {**all_rules(), "TL901": broken}
        for each in (mapping, run):
            monkeypatch.setattr(each, "all_rules", lambda: rules)
        report = check([Target("a.py", Selection(), (2, 13), self.IDLE.encode())])
        assert [each.kind for each in report.diagnostics] == ["rule"]
        assert report.findings == ()

    def test_of_comments_about_comments_and_of_other_tools_comments(self) -> None:
        assert unused("x = 1  # torchlint: ignore[TL001]\n") == []
        assert unused("x = 1  # noqa: TL201\n# torchlint: none\n") == []

    def test_of_a_comment_that_cannot_work_anyway(self) -> None:
        assert unused("x = 1  # torchlint: ignore[TL999]\n") == []
        assert unused("x = 1  # torchlint: ignore[TL201\n") == []


HELPER = "def note(value):\n    return value.item(){}\n"
CALLER = "from helper import note\n" + LOOP.format("").replace("print(loss.item())", "note(loss)")


def test_a_helper_is_judged_once_hot_code_is_known_to_lead_there(
    found_in: Callable[..., list[str]],
) -> None:
    """What wakes a rule is there, so a check of the helper alone cannot tell."""
    used = HELPER.format("  # torchlint: ignore[TL201]")
    idle = HELPER.format("") + "value = 1  # torchlint: ignore[TL201]\n"
    everything = ("ALL",)
    assert found_in({"helper.py": used}, everything) == []
    assert found_in({"helper.py": idle}, everything) == []
    assert found_in({"helper.py": used, "train.py": CALLER}, everything) == []
    assert found_in({"helper.py": idle, "train.py": CALLER}, everything) == [
        "helper.py:2 TL201",
        "helper.py:3 TL001",
    ]


@pytest.mark.parametrize(
    ("comment", "found"),
    [
        ("# torchlint: ignore[TL202]  # torchlint: ignore[TL001]", False),
        ("# torchlint: ignore[TL202, unused-suppression]", False),
        ("# noqa: TL001 # torchlint: ignore[TL202]", False),
        ("# torchlint: ignore", True),
        ("# torchlint: ignore[TL202]\n# torchlint: ignore-file", True),
    ],
)
def test_only_a_comment_that_names_the_rule_silences_it(comment: str, found: bool) -> None:
    assert bool(unused(f"import torch\nx = 1  {comment}\n")) is found


# the fix ------------------------------------------------------------------------------------

CHANGED = {
    "a comment behind code": ("x = 1  # torchlint: ignore[TL201]\ny\n", "x = 1\ny\n"),
    "with its reason": ("x = 1  # torchlint: ignore[TL201] -- see #1  \n", "x = 1\n"),
    "a comment alone": ("a\n    # torchlint: ignore[TL201]\nb\n", "a\nb\n"),
    "the first line": ("# torchlint: ignore-file[TL201]\nb\n", "b\n"),
    "the last line": ("a\n# torchlint: ignore[TL201]", "a\n"),
    "nothing but the comment": ("# torchlint: ignore[TL201]", ""),
    "Windows lines": ("a\r\n# torchlint: ignore[TL201]\r\nb\r\n", "a\r\nb\r\n"),
    "tabs in front": ("a\t\t# torchlint: ignore[TL201]\r\nb\r\n", "a\r\nb\r\n"),
    "a comment before it": ("x  # noqa: E501  # torchlint: ignore[TL201]\n", "x  # noqa: E501\n"),
    "a comment behind it": (
        "x  # torchlint: ignore[TL201]  # type: ignore\n",
        "x  # type: ignore\n",
    ),
    "comments around it": (
        "x  # type: ignore  # torchlint: ignore[TL201] -- why # noqa\n",
        "x  # type: ignore  # noqa\n",
    ),
    "words before it": ("# a word # torchlint: ignore[TL201]\nx\n", "# a word\nx\n"),
    "words behind it": ("x  # torchlint: ignore[TL201] a word\n", "x  # a word\n"),
    "two suppressions": ("x  # torchlint: ignore[TL201]  # torchlint: ignore[TL202]\n", "x\n"),
    "a block": (
        "# torchlint: disable[TL201] -- why\nx\n# torchlint: enable[TL201]\ny\n",
        "x\ny\n",
    ),
    "an unknown rule stays": (
        "x  # torchlint: ignore[TL201, TL999]\n",
        "x  # torchlint: ignore[TL999]\n",
    ),
    "between brackets": ("f(\n    1,  # torchlint: ignore[TL201]\n)\n", "f(\n    1,\n)\n"),
    "a form feed": ("a\n\f\n# torchlint: ignore[TL201]\nb\n", "a\n\f\nb\n"),
}


@pytest.mark.parametrize(("before", "after"), CHANGED.values(), ids=list(CHANGED))
def test_the_fix_takes_out(before: str, after: str) -> None:
    assert fixed(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("TL202, TL201", "TL201"),
        ("TL201, TL202", "TL201"),
        ("TL202,TL201,TL101", "TL201"),
        ("TL201 TL202 item-in-step-loop", "TL201 item-in-step-loop"),
        (" TL202 , TL201 ", " TL201 "),
    ],
)
def test_the_fix_leaves_the_rules_that_are_needed(before: str, after: str) -> None:
    text = LOOP.format("  # torchlint: ignore[{}] -- why  # noqa")
    assert fixed(text.format(before)) == text.format(after)


def test_the_fix_shortens_both_ends_of_a_block() -> None:
    text = "# torchlint: disable[{}]\n" + LOOP.format("") + "# torchlint: enable[{}]\n"
    assert fixed(text.format("TL101, TL201", "TL201, TL101")) == text.format("TL201", "TL201")


def test_bytes_around_the_fix_stay() -> None:
    data = "\ufeff# ünï\r\nx = 1 \t # torchlint: ignore[TL201]\r\ny = '\u2028'\n".encode()
    target = Target("train.py", Selection(), (2, 13), data)
    (file,) = fix_targets([target], unsafe=False).files
    assert file.after == data.replace(b" \t # torchlint: ignore[TL201]", b"")
