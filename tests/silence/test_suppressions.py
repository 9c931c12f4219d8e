"""Comments that silence findings, and comments that only look like it."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import libcst as cst
import pytest

from torchlint.finding import Finding, Tier
from torchlint.silence.suppressions import Suppressions

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module


def covered(module: Module, code: str = "TL201", name: str = "item-in-step-loop") -> list[bool]:
    """For each `bad()` of a module, whether the finding on it is silenced."""
    suppressions = Suppressions(module)
    found = []
    for call in module.nodes(cst.Call):
        if isinstance(call.func, cst.Name) and call.func.value == "bad":
            start, end = module.span(call)
            finding = Finding(code, name, Tier.DEFAULT, "Bad.", module.path, start, end)
            found.append(suppressions.until(finding) == "")
    return found


SILENT = {
    "by code": "bad()  # torchlint: ignore[TL201]",
    "by name": "bad()  # torchlint: ignore[item-in-step-loop]",
    "among other codes": "bad()  # torchlint: ignore[TL101, TL201]",
    "without a list, all of them": "bad()  # torchlint: ignore",
    "ALL": "bad()  # torchlint: ignore[ALL]",
    "without blanks": "bad()#torchlint:ignore[TL201]",
    "with words before": "bad()  # read for the log; torchlint: ignore[TL201]".replace(
        "; ", "  # "
    ),
    "with words behind": "bad()  # torchlint: ignore[TL201] the log needs it",
    "noqa with the code": "bad()  # noqa: TL201",
    "noqa with other codes": "bad()  # noqa: E501,TL201",
    "noqa with other codes and blanks": "bad()  # NOQA: E501, TL201",
    "noqa with a reason": "bad()  # noqa: TL201 needed",
    "alone above": "# torchlint: ignore[TL201]\nbad()",
    "alone above, indented": "if x:\n    # torchlint: ignore[TL201]\n    bad()",
    "alone above a blank line": "# torchlint: ignore[TL201]\n\nbad()",
    "alone above other comments": "# torchlint: ignore[TL201]\n# why\nbad()",
    "two alone above each other": ("# torchlint: ignore[TL201]\n# torchlint: ignore[TL101]\nbad()"),
    "alone above a statement of several lines": (
        "# torchlint: ignore[TL201]\nf(\n    1,\n    bad(),\n)"
    ),
    "alone above one of several statements on a line": "# torchlint: ignore[TL201]\nx = 1; bad()",
    "on the first line of what is reported": "f(bad(  # torchlint: ignore[TL201]\n    1))",
    "on the last line of what is reported": "f(bad(\n    1))  # torchlint: ignore[TL201]",
    "on a line between": "bad(\n    1,  # torchlint: ignore[TL201]\n    2)",
    "alone inside what is reported": "bad(\n    # torchlint: ignore[TL201]\n    2)",
    "on the header of a compound statement": (
        "for x in bad():  # torchlint: ignore[TL201]\n    pass"
    ),
    "above the header of `for`": "# torchlint: ignore[TL201]\nfor x in bad():\n    pass",
    "above the header of `while`": "# torchlint: ignore[TL201]\nwhile bad():\n    pass",
    "above the header of `if`": "# torchlint: ignore[TL201]\nif bad():\n    pass",
    "above the header of `with`": "# torchlint: ignore[TL201]\nwith bad():\n    pass",
    "above a header of several lines": (
        "# torchlint: ignore[TL201]\nfor x in f(\n    1,\n    bad(),\n):\n    pass"
    ),
    "above the header of `def`, for its defaults": (
        "# torchlint: ignore[TL201]\ndef f(x=bad()):\n    pass"
    ),
    "above the header of `class`": "# torchlint: ignore[TL201]\nclass A(bad()):\n    pass",
    "above a decorator": "# torchlint: ignore[TL201]\n@bad()\ndef f():\n    pass",
    "above several decorators": ("# torchlint: ignore[TL201]\n@first\n@bad()\nclass A:\n    pass"),
    "above a decorator, for the header": (
        "# torchlint: ignore[TL201]\n@first\ndef f(x=bad()):\n    pass"
    ),
    "between a decorator and the header": (
        "@first\n# torchlint: ignore[TL201]\ndef f(x=bad()):\n    pass"
    ),
    "above an `elif`": "if x:\n    pass\n# torchlint: ignore[TL201]\nelif bad():\n    pass",
    "above `match`": "# torchlint: ignore[TL201]\nmatch bad():\n    case 1: pass",
    "in a body on the header's line": "# torchlint: ignore[TL201]\nif x: bad()",
    "the whole file": "bad()\n# torchlint: ignore-file[TL201]",
    "the whole file by name": "# torchlint: ignore-file[item-in-step-loop]\n\nbad()",
    "the whole file, all of them": "# torchlint: ignore-file\nx = 1\nbad()",
    "the whole file, behind code": "x = 1  # torchlint: ignore-file[TL201]\nbad()",
    "with Windows lines": "x = 1\r\n# torchlint: ignore[TL201]\r\nbad()\r\n",
    "after a form feed": "x = 1\n\f\nbad()  # torchlint: ignore[TL201]",
    "without a final newline": "bad()  # torchlint: ignore[TL201]",
    "with a reason": "bad()  # torchlint: ignore[TL201] -- the log needs it",
    "without a list, with a reason": "bad()  # torchlint: ignore -- the log needs it",
    "the whole file, with a reason": "bad()\n# torchlint: ignore-file[TL201] -- generated",
    "before another tool's comment": "bad()  # torchlint: ignore[TL201]  # noqa: E501",
    "behind another tool's comment": "bad()  # noqa: E501  # torchlint: ignore[TL201]",
    "behind another one for another rule": (
        "bad()  # torchlint: ignore[TL202] -- why  # torchlint: ignore[TL201]"
    ),
    "beside noqa": "bad()  # torchlint: ignore[TL202]  # noqa: TL201",
    "alone above a line inside brackets": "f(\n    # torchlint: ignore[TL201]\n    bad(),\n)",
    "in a block": "# torchlint: disable[TL201]\nbad()\n# torchlint: enable[TL201]",
    "in a block by name": (
        "# torchlint: disable[item-in-step-loop]\nbad()\n# torchlint: enable[item-in-step-loop]"
    ),
    "in a block for all rules": "# torchlint: disable -- why\nbad()\n# torchlint: enable",
    "in a block with other codes": (
        "# torchlint: disable[TL101, TL201]\nbad()\n# torchlint: enable[TL201,TL101]"
    ),
    "in a statement inside a block": (
        "# torchlint: disable[TL201]\nfor x in y:\n    bad()\n# torchlint: enable[TL201]"
    ),
    "in a block inside a function": (
        "def f():\n    # torchlint: disable[TL201]\n    bad()\n    # torchlint: enable[TL201]"
    ),
    "in a block that begins a body": "if x:\n    # torchlint: disable[TL201]\n    bad()\ny = 1",
    "in a block without an end, up to that of the code around": (
        "def f():\n    # torchlint: disable[TL201]\n    x = 1\n    if x:\n        bad()"
    ),
    "in a block without an end, up to that of the file": "# torchlint: disable[TL201]\nx = 1\nbad()",
    "in the outer of two blocks": (
        "# torchlint: disable[TL201]\n# torchlint: disable[TL201]\nx = 1\n"
        "# torchlint: enable[TL201]\nbad()\n# torchlint: enable[TL201]"
    ),
    "after a text with other line ends": 'x = "\u2028\x0b"\nbad()  # torchlint: ignore[TL201]',
}

LOUD = {
    "no comment": "bad()",
    "another code": "bad()  # torchlint: ignore[TL202]",
    "another name": "bad()  # torchlint: ignore[host-copy-in-step-loop]",
    "the front of a code only": "bad()  # torchlint: ignore[TL20]",
    "an empty list": "bad()  # torchlint: ignore[]",
    "bare noqa, which is meant for others": "bad()  # noqa",
    "noqa with other codes only": "bad()  # noqa: E501",
    "another tool's comment": "bad()  # fixit: ignore[TL201]",
    "a word that only starts alike": "bad()  # torchlint: ignored[TL201]",
    "a comment in a text": 'bad("# torchlint: ignore[TL201]")',
    "a comment in a text of several lines": 'x = """\n# torchlint: ignore-file[TL201]\n"""\nbad()',
    "a comment in an f-string": "bad(f'# noqa: TL201 {x}')",
    "the line before": "x = 1  # torchlint: ignore[TL201]\nbad()",
    "the line behind": "bad()\nx = 1  # torchlint: ignore[TL201]",
    "alone below": "bad()\n# torchlint: ignore[TL201]",
    "alone above the statement before": "# torchlint: ignore[TL201]\nx = 1\nbad()",
    "above a compound statement, in its body": (
        "# torchlint: ignore[TL201]\nfor x in y:\n    bad()"
    ),
    "on the header, in the body": "for x in y:  # torchlint: ignore[TL201]\n    bad()",
    "above a decorator, in the body": ("# torchlint: ignore[TL201]\n@first\ndef f():\n    bad()"),
    "noqa alone above, which other tools do not heed": "# noqa: TL201\nbad()",
    "at the end of the block above": "if x:\n    pass\n    # torchlint: ignore[TL202]\nbad()",
    "a reason that names the rule": "bad()  # torchlint: ignore[TL202] -- unlike TL201",
    "a bracket that is not closed": "bad()  # torchlint: ignore[TL201",
    "alone inside brackets, below them": "f(\n    # torchlint: ignore[TL201]\n    1,\n)\nbad()",
    "a block above": "# torchlint: disable[TL201]\nx = 1\n# torchlint: enable[TL201]\nbad()",
    "a block below": "bad()\n# torchlint: disable[TL201]\nx = 1\n# torchlint: enable[TL201]",
    "a block for another rule": "# torchlint: disable[TL202]\nbad()\n# torchlint: enable[TL202]",
    "a block without an end, of a function above": (
        "def f():\n    # torchlint: disable[TL201]\n    x = 1\nbad()"
    ),
    "a block without an end, of the other branch": (
        "if x:\n    # torchlint: disable[TL201]\n    pass\nelse:\n    bad()"
    ),
    "`disable` behind code": "x = 1  # torchlint: disable[TL201]\nbad()",
    "`disable` inside brackets": "f(\n    # torchlint: disable[TL201]\n    bad()\n)",
    "`disable` at a smaller indentation": "if x:\n# torchlint: disable[TL201]\n    bad()",
    "`disable` at the end of a body": "if x:\n    pass\n    # torchlint: disable[TL201]\nbad()",
    "`enable` alone": "# torchlint: enable[TL201]\nbad()",
}


@pytest.mark.parametrize("text", SILENT.values(), ids=list(SILENT))
def test_a_comment_silences(module_of: Callable[..., Module], text: str) -> None:
    assert covered(module_of(text)) == [True]


@pytest.mark.parametrize("text", LOUD.values(), ids=list(LOUD))
def test_nothing_is_silenced_by(module_of: Callable[..., Module], text: str) -> None:
    assert covered(module_of(text)) == [False]


def test_a_block_does_not_silence_what_began_before_it(module_of: Callable[..., Module]) -> None:
    text = "for x in y:\n    # torchlint: disable[TL201]\n    z\n    # torchlint: enable[TL201]\n"
    module = module_of(text)
    (loop,) = module.nodes(cst.For)
    start, end = module.span(loop)
    finding = Finding("TL201", "item-in-step-loop", Tier.DEFAULT, "", "train.py", start, end)
    assert Suppressions(module).until(finding) is None


def test_a_string_in_a_string_is_not_a_comment(module_of: Callable[..., Module]) -> None:
    """As it is to a Python that is too old to see the inner quotes."""
    module = module_of('f"{d["# torchlint: ignore-file[TL201]"]}"\nbad()\n')
    assert covered(module) == [False]
    assert Suppressions(module).comments == []


def test_a_comment_covers_its_own_statement_only(module_of: Callable[..., Module]) -> None:
    text = """
        bad()
        # torchlint: ignore[TL201]
        bad()
        bad()  # noqa: TL201
        bad()
    """
    assert covered(module_of(text)) == [False, True, True, False]


def test_two_comments_alone_cover_what_each_names(module_of: Callable[..., Module]) -> None:
    module = module_of("# torchlint: ignore[TL201]\n# torchlint: ignore[TL202]\nbad()\n")
    assert covered(module, "TL201") == [True]
    assert covered(module, "TL202", "host-copy-in-step-loop") == [True]
    assert covered(module, "TL101", "dataloader-no-workers") == [False]


LOOP = dedent(
    """\
    import torch
    for x in loader:
        loss = model(x.cuda())
        loss.backward()
        {}
    """
)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("print(loss.item())", ["train.py:5 TL201"]),
        ("print(loss.item())  # noqa: TL201", []),
        ("print(loss.item())  # torchlint: ignore[TL202]", ["train.py:5 TL201"]),
        ("print(loss.item(), loss.cpu())  # torchlint: ignore[TL201]", ["train.py:5 TL202"]),
    ],
)
def test_a_check_leaves_out_what_is_silenced(
    found_in: Callable[..., list[str]], line: str, found: list[str]
) -> None:
    assert found_in(LOOP.format(line)) == found


def test_a_helper_is_silenced_where_it_is_defined_not_where_it_is_called(
    found_in: Callable[..., list[str]],
) -> None:
    helper = "def note(value):\n    return value.item(){}\n"
    ignore = "  # torchlint: ignore[TL201]"
    assert found_in(LOOP.format("note(loss)" + ignore) + helper.format("")) == ["train.py:7 TL201"]
    assert found_in(LOOP.format("note(loss)") + helper.format(ignore)) == []


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("bad()  # torchlint: ignore[TL201] until=2027-01-31", "2027-01-31"),
        ("# torchlint: ignore-file[TL201] until=2027-01-31\nbad()", "2027-01-31"),
        ("# torchlint: disable until=2027-01-31\nbad()\n# torchlint: enable", "2027-01-31"),
        ("# torchlint: ignore-file until=2027-01-31\nbad()  # noqa: TL201", ""),
        (
            "# torchlint: ignore until=2027-01-31\nbad()  # torchlint: ignore until=2028-01-31",
            "2028-01-31",
        ),
        ("bad()  # torchlint: ignore[TL202] until=2027-01-31", None),
        ("bad()  # torchlint: ignore[TL201] until=2027-02-31", None),
    ],
)
def test_the_longest_suppression_counts(
    module_of: Callable[..., Module], text: str, until: str | None
) -> None:
    module = module_of(text)
    finding = Finding(
        "TL201",
        "item-in-step-loop",
        Tier.DEFAULT,
        "Bad.",
        module.path,
        *module.span(module.nodes(cst.Call)[0]),
    )
    suppressions = Suppressions(module)
    assert suppressions.until(finding) == until
    left = suppressions.left([finding])
    assert [each.until for each in left] == ([] if until == "" else [until or ""])
