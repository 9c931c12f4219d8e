"""The driver of the case files: a case fails where the rule and its comments differ."""

from __future__ import annotations

import pytest

from tests.rules.case_files import MalformedCaseError, parse_cases
from tests.rules.case_judge import problems_of
from torchlint.ruleapi.registry import all_rules

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


FULFILLED = {
    "a finding": "# case: a\n    print(loss.item())  # TL201\n",
    "no finding": "# case: a\n    print(loss)\n",
    "each case begins with the head alone": (
        "# case: a\n    print(loss.item())  # TL201\n\n# case: b\n    pass\n"
    ),
    "what is said of a finding": (
        "# case: a\n    print(loss.item())"
        "  # TL201 default | says: on every step | no fix: a sum | marks: loss.item()\n"
    ),
    "several findings of a line": "# case: a\n    print(loss.item(), (2 * loss).item())  # TL201 # TL201\n",
    "a tier": "# case: a\n    if rank == 0:\n        print(loss.item())  # TL201 hint\n",
    "a fix that nothing is said of": f"{SUM}  # TL201 unsafe\n",
    "a fix": (
        f"{SUM}  # TL201 unsafe\n    # becomes: total += loss.detach().float()\n"
        "# added: total = float(total)\n"
    ),
    "lines that go": (
        "# head: none\n# case: a [select=TL402]\nmodel = torch.nn.Linear(2, 2)\n"
        "for p in model.parameters():  # TL402\n# becomes: model.zero_grad()\n"
        "    p.grad.zero_()\n    # removed\n"
    ),
    "a fix that depends on torch": (
        "# head: none [torch=1.10]\n# case: a [select=TL402]\nmodel = torch.nn.Linear(2, 2)\n"
        "for p in model.parameters():  # TL402\n"
        "# becomes: model.zero_grad(set_to_none=True)\n    p.grad.zero_()\n    # removed\n"
    ),
    "a file that is called like a test": (
        "# case: a [select=TL301, path=tests/test_x.py]\n    torch.nn.Conv2d(3, 3, 3)\n"
    ),
    "a program without head": "# case: a [bare]\nprint(loss.item())\n",
    "a further file": (
        "# case: a\n    note(loss)\nfrom helpers import note\n"
        "# file: helpers.py\ndef note(value):\n    value.item()  # TL201 | see: for x in\n"
    ),
    "a comment that belongs to the program": (
        "# case: a [select=TL003]\n    pass  # torchlint: ignroe  # TL003\n"
    ),
    "findings of two loops": (
        "# case: a\n    print(loss.item())  # TL201 | group: a\n    f(loss.item())"
        "  # TL201 | group: a\nfor x in loader:\n    loss = model(x.cuda())\n"
        "    loss.backward()\n    print(loss.item())  # TL201 | group: b\n"
    ),
}


@pytest.mark.parametrize("text", FULFILLED.values(), ids=FULFILLED)
def test_a_case_passes_that_expects(text: str) -> None:
    assert problems(text) == []


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
        "# case: a\n    print(loss)  # TL201\n",
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
        "cases.py:10: no fix: `the number goes elsewhere",
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
        "# case: a\n    f(loss.item())  # TL201 | group: a\n    f(loss.item())"
        "  # TL201 | group: b\n",
        "cases.py:9: groups with different words are one",
    ),
    "another fix": (
        f"{SUM}  # TL201\n    # becomes: total += loss\n",
        "cases.py:9: the fix makes\n# train.py\n",
    ),
    "no fix at all": (
        "# case: a\n    print(loss)\n    # becomes: pass\n",
        "cases.py:9: there is nothing to fix",
    ),
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
