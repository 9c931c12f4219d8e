"""The driver of the case files: a case fails where the rule and its comments differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import case_judge
from tests.case_files import MalformedCaseError, parse_cases
from tests.case_judge import problems_of
from torchlint.engine.check import Report, check
from torchlint.ruleapi.registry import all_rules

if TYPE_CHECKING:
    from torchlint.project.target import Target

HEAD = """\
# every program:
import torch

# head: a training loop
total = 0.0
for x in loader:
    loss = model(x.cuda())
    loss.backward()
"""
SUM = "# case: a sum\n    total += loss.item()"


def problems(text: str, code: str = "TL201") -> list[str]:
    return [
        problem
        for case in parse_cases(HEAD + text, "cases.py")
        for problem in problems_of(case, all_rules()[code])
    ]


def test_a_case_begins_with_the_heads_alone() -> None:
    first, second = parse_cases(f"{HEAD}{SUM}\n# case: another\n    pass\n", "cases.py")
    assert first.texts()["train.py"].endswith("    total += loss.item()\n")
    assert second.texts()["train.py"].endswith("loss.backward()\n    pass\n")


def test_a_bare_case_begins_with_nothing_and_a_bare_head_with_itself() -> None:
    text = "# every program:\na\n# head: b [bare]\nb\n# case: c\nc\n# case: d [bare]\nd\n"
    cases = parse_cases(text, "cases.py")
    assert [case.texts()["train.py"] for case in cases] == ["b\nc\n", "d\n"]


def test_each_file_of_a_case_has_its_path() -> None:
    text = "# head: a [path=a.py]\na\n# file: b.py\nb\n# case: c\nc\n# file: b.py\nd\n"
    (case,) = parse_cases(text, "cases.py")
    assert case.texts() == {"a.py": "a\nc\n", "b.py": "b\nd\n"}


def test_lines_of_the_fix_become_the_fixed_file() -> None:
    text = "# case: a\nx\n# becomes: y\n# added: z\nw\n# removed\nv\n"
    (case,) = parse_cases(text, "cases.py")
    assert case.fixed() == {"train.py": "y\nz\nv\n"}


def test_a_finding_without_fix_needs_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(targets: list[Target]) -> Report:
        report = check(targets)
        return report._replace(findings=[each._replace(withheld=None) for each in report.findings])

    monkeypatch.setattr(case_judge, "check", silent)
    found = problems("# case: a\n    print(loss.item())  # TL201\n")
    assert found == ["cases.py:10: nothing says why there is no fix"]


FAILING = {
    "a finding without a comment": (
        "# case: a\n    print(loss.item())\n",
        "cases.py:10: not expected: TL201 default: `.item()` makes the host wait",
    ),
    "a finding in the head without a comment": (
        "# case: a\n    print(loss.item())  # TL201\n# head: b\nfor x in loader:\n"
        "    loss = model(x.cuda())\n    loss.backward()\n    loss.item()\n    # case: b\n    f()\n",
        "cases.py:15: not expected: TL201",
    ),
    "a comment without a finding": (
        "# case: a\n    note(loss)  # TL201\n",
        "cases.py:10: expected TL201 default, found nothing",
    ),
    "one finding for two comments": (
        "# case: a\n    print(loss.item())  # TL201 # TL201\n",
        "cases.py:10: expected TL201 default, found nothing",
    ),
    "another tier": (
        "# case: a\n    print(loss.item())  # TL201 hint\n",
        "cases.py:10: expected TL201 hint, found TL201 default",
    ),
    "another rule": (
        "# case: a\n    print(loss.item())  # TL202\n",
        "cases.py:10: expected TL202 default, found TL201 default",
    ),
    "another applicability": (f"{SUM}  # TL201 safe\n", "cases.py:10: the fix is not safe but"),
    "a fix where none is expected": (f"{SUM}  # TL201 | no fix\n", "cases.py:10: there is a fix"),
    "another reason to withhold the fix": (
        "# case: a\n    print(loss.item())  # TL201 | no fix: it rains\n",
        "cases.py:10: no fix: `only you know how often it is needed",
    ),
    "another message": (
        "# case: a\n    print(loss.item())  # TL201 | says: a word\n",
        "cases.py:10: says: `",
    ),
    "another place in the line": (
        "# case: a\n    print(loss.item())  # TL201 | marks: print\n",
        "cases.py:10: marks: `loss.item()`",
    ),
    "another group": (
        "# case: a\n    f(loss.item())  # TL201 | group: a\n    f(loss.sum().item())"
        "  # TL201 | group: b\n",
        "cases.py:9: groups with different words are one",
    ),
    "another fix": (
        f"{SUM}  # TL201\n    # becomes: total += loss\n",
        "cases.py:9: the fix makes\n# train.py\n",
    ),
    "no fix at all": (
        "# case: a\n    note(loss)\n    # becomes: pass\n",
        "cases.py:9: there is nothing to fix",
    ),
    "a program that is parsed": ("# case: a [unread]\n    f()\n", "cases.py:9: train.py is parsed"),
    "a program that does not parse": (
        "# head: b\nif x.backward():\n    # case: in the block\n    y = 1\n# case: out of it\nz = 1\n",
        "cases.py:13: train.py: ",
    ),
}


@pytest.mark.parametrize(("text", "problem"), FAILING.values(), ids=FAILING)
def test_a_case_fails_for(text: str, problem: str) -> None:
    assert problems(text)[0].startswith(problem)


MALFORMED = {
    "code without a section": ("x = 1\n", "a.py:1: code needs a `# case:`"),
    "a case without title": ("# case:\nx\n", "a.py:1: a case needs a title"),
    "a case without program": ("# case: a\n\n# case: b\nx\n", "a.py:1: there is no program"),
    "one title twice": ("# case: a\nx\n# case: a\ny\n", "a.py:3: a.py:1 has the same title"),
    "an unknown option": ("# case: a [tourch=1]\nx\n", "a.py:1: `tourch` is not an option"),
    "an unknown word": ("# case: a\nx  # TL201 unsave\n", "a.py:2: `TL201 unsave` is not"),
    "two tiers": ("# case: a\nx  # TL201 hint default\n", "a.py:2: `TL201 hint default` is not"),
    "an unknown detail": ("# case: a\nx  # TL201 | say: x\n", "a.py:2: `say: x` is not one of"),
    "a detail without words": ("# case: a\nx  # TL201 | says\n", "a.py:2: `says` is not one of"),
    "a finding on a line of its own": ("# case: a\nx\n# TL201\n", "a.py:3: an expected finding"),
    "a fix of nothing": ("# case: a\n# becomes: y\n", "a.py:2: `becomes` needs a line"),
    "two fixes of one line": (
        "# case: a\nx\n# becomes: y\n# removed\n",
        "a.py:4: the line above already changes",
    ),
    "a file of no case": ("# file: a.py\nx = 1\n", "a.py:1: a further file needs a case"),
    "no Python": ("# case: a\nx =\n", "a.py:2: invalid syntax"),
}


@pytest.mark.parametrize(("text", "problem"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_file_is_refused_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(MalformedCaseError) as error:
        parse_cases(text, "a.py")
    assert str(error.value).startswith(problem)
