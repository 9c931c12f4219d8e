"""Comments that are added: where, in which words, and what they leave of a file."""

from __future__ import annotations

import ast
import codecs
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import Report, check
from torchlint.fixes import add_ignores as adding
from torchlint.fixes.add_ignores import Note, Silenced, add_ignores, wrong_reason
from torchlint.fixes.fixer import apply, fix_targets
from torchlint.project.target import Target
from torchlint.silence.tiers import Wanted

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parents[2] / "fixtures"
EVERYTHING = Wanted(hints=True, pedantic=True)
LOOP = """\
import torch
for x in loader:
    loss = model(x.cuda())
    loss.backward()
"""


def target(data: bytes, *, reasons: bool = False) -> Target:
    return Target("pkg/train.py", Selection(require_reason=reasons), (2, 13), data)


def silenced(text: str, reason: str = "", *, required: bool | None = None) -> str:
    """The text with comments added; nothing is found in it then, and no more are added."""
    checked = target(text.encode(), reasons=bool(reason) if required is None else required)
    done = add_ignores([checked], wanted=EVERYTHING, note=Note(reason))
    assert done.diagnostics == ()
    (file,) = done.files
    again = checked._replace(data=file.after)
    assert check([again]).findings == ()
    assert add_ignores([again], wanted=EVERYTHING, note=Note(reason)) == nothing()
    return file.after.decode()


def nothing() -> Silenced:
    return add_ignores([target(b"x = 1\n")], wanted=EVERYTHING)


PLACES = {
    "behind the line": ("print(loss.item())", "print(loss.item())  # torchlint: ignore[TL201]"),
    "for two rules": (
        "print(loss.item(), loss.cpu())",
        "print(loss.item(), loss.cpu())  # torchlint: ignore[TL201, TL202]",
    ),
    "once for one rule": (
        "print(loss.item(), loss.item())",
        "print(loss.item(), loss.item())  # torchlint: ignore[TL201]",
    ),
    "behind a comment": (
        "print(loss.item())  # why",
        "print(loss.item())  # why  # torchlint: ignore[TL201]",
    ),
    "in front of blanks": (
        "print(loss.item()) \t",
        "print(loss.item())  # torchlint: ignore[TL201] \t",
    ),
    "into a comment": (
        "print(loss.item(), loss.cpu())  # torchlint: ignore[TL202]  # noqa",
        "print(loss.item(), loss.cpu())  # torchlint: ignore[TL202, TL201]  # noqa",
    ),
    "beside a comment that has another reason": (
        "print(loss.item(), loss.cpu())  # torchlint: ignore[TL202] -- why",
        "print(loss.item(), loss.cpu())  # torchlint: ignore[TL202] -- why"
        "  # torchlint: ignore[TL201]",
    ),
    "where the expression begins": (
        "print(loss.item(\n    ))",
        "print(loss.item(  # torchlint: ignore[TL201]\n    ))",
    ),
    "inside brackets": (
        "print(\n        loss.item(),\n    )",
        "print(\n        loss.item(),  # torchlint: ignore[TL201]\n    )",
    ),
    "above a line that a backslash goes on from": (
        "y = loss.item() + \\\n        1",
        "# torchlint: ignore[TL201]\n    y = loss.item() + \\\n        1",
    ),
    "above a line that a backslash goes on to and from": (
        "y = 1 + \\\n        loss.item() + \\\n        1",
        "# torchlint: ignore[TL201]\n    y = 1 + \\\n        loss.item() + \\\n        1",
    ),
    "behind the last row of an expression": (
        "y = loss.item \\\n        ()",
        "y = loss.item \\\n        ()  # torchlint: ignore[TL201]",
    ),
    "above a string that goes on": (
        "y = loss.item(), '''\n# text\n'''",
        "# torchlint: ignore[TL201]\n    y = loss.item(), '''\n# text\n'''",
    ),
    "above a formatted string": (
        "y = f'''\n{loss.item()}\n'''",
        "# torchlint: ignore[TL201]\n    y = f'''\n{loss.item()}\n'''",
    ),
    "into a comment above": (
        "# torchlint: ignore[TL202]\n    y = loss.item(), loss.cpu(), '''\n'''",
        "# torchlint: ignore[TL202, TL201]\n    y = loss.item(), loss.cpu(), '''\n'''",
    ),
    "above a string, not after what is above it": (
        "x = 1  # torchlint: ignore[TL999]\n    y = loss.item(), '''\n'''",
        "x = 1  # torchlint: ignore[TL999, TL003]\n"
        "    # torchlint: ignore[TL201]\n    y = loss.item(), '''\n'''",
    ),
    "above a header": (
        "if loss.item() > \\\n            1: pass",
        "# torchlint: ignore[TL201]\n    if loss.item() > \\\n            1: pass",
    ),
    "on a comment that does nothing": (
        "pass  # torchlint: ignore[TL201]",
        "pass  # torchlint: ignore[TL201, TL001]",
    ),
    "on a block without an end": (
        "# torchlint: disable[TL201]\n    print(loss.item())",
        "# torchlint: disable[TL201]  # torchlint: ignore[TL003]\n    print(loss.item())",
    ),
}


@pytest.mark.parametrize(("before", "after"), PLACES.values(), ids=list(PLACES))
def test_a_comment_is_added(before: str, after: str) -> None:
    assert silenced(f"{LOOP}    {before}\n") == f"{LOOP}    {after}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("print(loss.item())", "print(loss.item())  # torchlint: ignore[TL201] -- see #1"),
        (
            "print(loss.item(), loss.cpu())  # torchlint: ignore[TL202]",
            "print(loss.item(), loss.cpu())  # torchlint: ignore[TL202, TL201] -- see #1",
        ),
        (
            "print(loss.item())  # torchlint: ignore[TL201]",
            "print(loss.item())  # torchlint: ignore[TL201] -- see #1",
        ),
        (
            "# torchlint: ignore\n    print(loss.item())",
            "# torchlint: ignore -- see #1\n    print(loss.item())",
        ),
        (
            "print(loss.item())  # torchlint: ignore-file[TL402]",
            "print(loss.item())  # torchlint: ignore-file[TL402] -- see #1"
            "  # torchlint: ignore[TL201, TL001] -- see #1",
        ),
        (
            "print(loss.item())  # torchlint: ignore[TL201] -- why",
            "print(loss.item())  # torchlint: ignore[TL201] -- why",
        ),
        (
            "print(loss.item())  # torchlint: ignore[TL201] prose",
            "print(loss.item())  # torchlint: ignore[TL201] prose"
            "  # torchlint: ignore[TL002] -- see #1",
        ),
    ],
)
def test_a_reason_is_added_where_there_is_none(before: str, after: str) -> None:
    other = "    print(loss.cpu()){}\n"
    added = other.format("  # torchlint: ignore[TL202] -- see #1")
    text = f"{LOOP}    {before}\n"
    assert silenced(text + other.format(""), "see #1") == f"{LOOP}    {after}\n{added}"


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("*/bad.py")), ids=lambda path: path.parent.name
)
@pytest.mark.parametrize("reason", ["", "from before torchlint"])
def test_the_bad_programs_of_all_rules_are_silenced_and_stay_what_they_are(
    path: Path, reason: str
) -> None:
    before = path.read_text(encoding="utf-8")
    after = silenced(before, reason, required=True)
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(before))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: codecs.BOM_UTF8 + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"# coding: latin-1\n# \xe9\n" + data,
        lambda data: data.replace(b"    ", b"\t") + b"\t\f\n",
        lambda data: data.rstrip(b"\n"),
    ],
    ids=["byte order mark", "Windows lines", "latin-1", "tabs and form feed", "no last newline"],
)
@pytest.mark.parametrize("line", ["print(loss.item())", "y = loss.item() + \\\n        1"])
def test_all_other_bytes_stay(change: Callable[[bytes], bytes], line: str) -> None:
    data = change(f"{LOOP}    {line}\n".encode())
    (file,) = add_ignores([target(data)], wanted=EVERYTHING).files
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    indent = b"\t" if b"\t" in data else b"    "
    above = indent + b"# torchlint: ignore[TL201]" + newline
    assert data in (
        file.after.replace(above, b""),
        file.after.replace(b"  # torchlint: ignore[TL201]", b""),
    )
    assert file.after != data


def test_hints_are_silenced_if_they_are_shown() -> None:
    data = f"{LOOP}    score(loss.cpu())\n".encode()
    assert add_ignores([target(data)], wanted=Wanted()) == nothing()
    assert add_ignores([target(data)], wanted=EVERYTHING).findings == 1


def test_a_helper_is_silenced_where_it_is_defined() -> None:
    helper = b"def note(value):\n    return value.item()\n"
    train = (LOOP + "    note(loss)\n").replace("torch\n", "torch\nfrom helper import note\n", 1)
    targets = [
        Target("helper.py", Selection(), (2, 13), helper),
        Target("train.py", Selection(), (2, 13), train.encode()),
    ]
    (file,) = add_ignores(targets, wanted=EVERYTHING).files
    assert file.path == "helper.py"
    assert file.after == helper[:-1] + b"  # torchlint: ignore[TL201]\n"


def test_a_file_that_cannot_be_silenced_altogether_is_left_alone() -> None:
    """A header without a statement of its own, whose every row goes on."""
    text = (
        f"{LOOP}    print(loss.cpu())\n    match 1:\n"
        "        case 1 if loss.item() > 1 and '''\n''': pass\n"
    )
    done = add_ignores([target(text.encode())], wanted=EVERYTHING)
    assert done.files == ()
    assert done.findings == 0
    (diagnostic,) = done.diagnostics
    assert "by hand" in diagnostic.message


def test_a_comment_never_becomes_part_of_a_string() -> None:
    """Not where this Python is too old to see the inner quotes either."""
    line = 'y = f"""{loss.item() + d["""\nk\n"""]}"""'
    for file in add_ignores([target(f"{LOOP}    {line}\n".encode())], wanted=Wanted()).files:
        assert line.encode() in file.after


NOTEBOOK = """{
 "cells": [
  {"cell_type": "markdown", "metadata": {}, "source": "# Train"},
  {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": [
   "%%time\\n",
   "import torch\\n",
   "for x in loader:\\n",
   "    loss = model(x.cuda())\\n",
   "    loss.backward()\\n",
   "    print(loss.item())"]},
  {"cell_type": "code", "execution_count": 2, "metadata": {}, "outputs": [], "source": [
   "y = 1\\n",
   "# torchlint: ignore[TL101]"]}
 ],
 "metadata": {}, "nbformat": 4, "nbformat_minor": 5
}
"""


def test_a_notebook_is_silenced_cell_by_cell() -> None:
    notebook = Target("a.ipynb", Selection(), (2, 13), NOTEBOOK.encode())
    done = add_ignores([notebook], wanted=EVERYTHING)
    assert done.diagnostics == ()
    (file,) = done.files
    after = NOTEBOOK.replace("item())", "item())  # torchlint: ignore[TL201]")
    assert file.before == NOTEBOOK.encode()
    assert file.after.decode() == after.replace("[TL101]", "[TL101, TL001]")
    assert check([notebook._replace(data=file.after)]).findings == ()


def test_the_fix_of_an_unused_comment_keeps_to_its_cell() -> None:
    notebook = Target("a.ipynb", Selection(), (2, 13), NOTEBOOK.encode())
    report = fix_targets([notebook], unsafe=False)
    assert report.diagnostics == ()
    (file,) = report.files
    changed = NOTEBOOK.replace('"y = 1\\n",\n   "# torchlint: ignore[TL101]"', '"y = 1"')
    assert file.after.decode() == changed


def test_a_reason_that_the_encoding_lacks_leaves_the_file_alone() -> None:
    data = b"# coding: ascii\n" + LOOP.encode() + b"    print(loss.item())\n"
    done = add_ignores([target(data)], wanted=EVERYTHING, note=Note("für später"))
    assert done.files == ()
    assert [each.kind for each in done.diagnostics] == ["undecodable"]


def test_a_reason_that_would_be_a_coding_line_leaves_the_file_alone() -> None:
    data = b"import torch; x = torch.nn.DataParallel(torch.nn.Linear(1, 1)), '''\n'''\n"
    assert add_ignores([target(data)], wanted=EVERYTHING, note=Note("old")).files
    done = add_ignores([target(data)], wanted=EVERYTHING, note=Note("coding: latin-1"))
    assert done.files == ()
    assert len(done.diagnostics) == 1


@pytest.mark.parametrize(
    ("reason", "fit"),
    [
        ("", True),
        ("see #12", True),
        ("the log -- and the plot", True),
        ("two\nlines", False),
        ("a bell \a", False),
        ("a # word", False),
        ("# torchlint: ignore", False),
        ("-- twice", True),
        (" blanks ", False),
    ],
)
def test_a_reason_is_one_line_that_is_read_back_as_it_is(reason: str, fit: bool) -> None:
    assert (wrong_reason(reason) is None) is fit


def test_an_encoding_that_loses_characters_leaves_the_file_alone() -> None:
    data = b"# coding: utf-7\n# +AGE-\n" + LOOP.encode() + b"    print(loss.item())\n"
    done = add_ignores([target(data)], wanted=EVERYTHING)
    assert done.files == ()
    assert "save the file as UTF-8" in done.diagnostics[0].message


def test_a_file_that_changes_before_it_is_read_again_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "train.py"
    path.write_text(LOOP + "    print(loss.item())\n", encoding="utf-8")

    def changing(*about: Any, **options: Any) -> Report:
        report = check(*about, **options)
        path.write_text("# new\n" + LOOP + "    print(loss.item())\n", encoding="utf-8")
        return report

    monkeypatch.setattr(adding, "check", changing)
    done = add_ignores([Target(str(path), Selection(), (2, 13))], wanted=EVERYTHING)
    assert done.files == ()
    assert "run it again" in done.diagnostics[0].message


def test_a_file_that_changes_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(LOOP + "    print(loss.item())\n", encoding="utf-8")
    on_disk = Target(str(path), Selection(), (2, 13))
    done = add_ignores([on_disk], wanted=EVERYTHING)
    path.write_text("x = 1\n", encoding="utf-8")
    (diagnostic,) = apply(done.files)
    assert diagnostic.kind == "write"
    assert path.read_text(encoding="utf-8") == "x = 1\n"


def test_a_link_that_takes_the_place_of_a_file_is_left_alone(tmp_path: Path) -> None:
    path, other = tmp_path / "train.py", tmp_path / "other.py"
    path.write_text(LOOP + "    loss.item()\n")
    done = add_ignores([Target(str(path), Selection(), (2, 13))], wanted=EVERYTHING)
    path.rename(other)
    path.symlink_to(other)
    (failed,) = apply(done.files)
    assert "has changed" in failed.message
    assert other.read_text() == LOOP + "    loss.item()\n"


def test_comments_get_an_end_and_those_that_have_ended_a_new_one() -> None:
    day = Note(until=date(2999, 12, 31))
    for before, after in (
        ("x = loss.item()", "x = loss.item()  # torchlint: ignore[TL201] until=2999-12-31"),
        (
            "x = loss.item()  # torchlint: ignore[TL201] until=2020-01-31 -- the log",
            "x = loss.item()  # torchlint: ignore[TL201] until=2999-12-31 -- the log",
        ),
    ):
        (file,) = add_ignores(
            [target(f"{LOOP}    {before}\n".encode())], wanted=EVERYTHING, note=day
        ).files
        assert file.after.decode() == f"{LOOP}    {after}\n"


def test_a_comment_that_has_ended_loses_its_end() -> None:
    text = f"{LOOP}    x = loss.item()  # torchlint: ignore[TL201] until=2020-01-31 -- the log\n"
    assert silenced(text) == text.replace(" until=2020-01-31", "")


def test_rules_do_not_go_into_a_comment_with_another_end() -> None:
    line = "    x = loss.item()  # torchlint: ignore[TL101] until=2999-12-31"
    text = target(f"{LOOP}{line}\n".encode())._replace(selection=Selection(("TL201",)))
    (file,) = add_ignores([text], wanted=EVERYTHING).files
    assert file.after.decode() == f"{LOOP}{line}  # torchlint: ignore[TL201]\n"
