"""torchlint from Python: the public functions, and what importing them costs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import torchlint

TRAINS = dedent(
    """\
    import torch

    def train(model, loader, optimizer, criterion):
        for images, labels in loader:
            optimizer.zero_grad(set_to_none=False)
            loss = criterion(model(images.cuda()), labels.cuda())
            loss.backward()
            optimizer.step()
            print(loss.item())
    """
)


def test_the_text_of_a_file_is_checked() -> None:
    result = torchlint.check_source(TRAINS, "train.py", isolated=True)
    assert [(each.code, each.start.row) for each in result.findings] == [("TL401", 5), ("TL201", 9)]
    assert (result.files, result.diagnostics) == (1, ())


def test_rules_are_selected_and_ignored() -> None:
    only = torchlint.check_source(TRAINS, isolated=True, select=["TL2"])
    rest = torchlint.check_source(TRAINS, isolated=True, ignore=["item-in-step-loop"])
    assert [each.code for each in only.findings] == ["TL201"]
    assert [each.code for each in rest.findings] == ["TL401"]


def test_a_rule_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(torchlint.ConfigError, match="TL999"):
        torchlint.check_source(TRAINS, isolated=True, select=["TL999"])


WRONG: dict[str, tuple[dict[str, object], str]] = {
    "filename=None": ({"filename": None}, "`filename` must be a str or a path"),
    "filename=list": ({"filename": ["a.py"]}, "`filename` must be a str or a path"),
    "filename with NUL": ({"filename": "a\0.py"}, "`filename` has a character that no name"),
    "filename with a surrogate": ({"filename": "\ud800.py"}, "`filename` has a character that"),
    "select=str": ({"select": "TL2"}, "`select` must be a list of rules, .* not of type str"),
    "select=None": ({"select": None}, "`select` must be a list of rules"),
    "select=[None]": ({"select": [None]}, "`select` must be a list .* not of type NoneType"),
    "ignore=[int]": ({"ignore": [201]}, "`ignore` must be a list of rules"),
    "target_torch=str": ({"target_torch": "2.1"}, "`target_torch` must be two whole numbers"),
    "target_torch=bools": ({"target_torch": (True, False)}, "whole numbers, .* of type bool"),
    "target_torch=one": ({"target_torch": (2,)}, r"such as \(2, 1\), not \(2\)"),
    "target_torch<0": ({"target_torch": (-1, 0)}, r"such as \(2, 1\), not \(-1, 0\)"),
    "config=int": ({"config": 3}, "`config` must be a str or a path"),
    "config with NUL": ({"config": "\0"}, "`config` has a character"),
    "config and isolated": ({"config": "a.toml", "isolated": True}, "exclude each other"),
    "isolated=str": ({"isolated": "no"}, "`isolated` must be True or False, not of type str"),
    "hints=int": ({"hints": 1}, "`hints` must be True or False"),
    "pedantic=None": ({"pedantic": None}, "`pedantic` must be True or False"),
}


@pytest.mark.parametrize(("given", "sentence"), WRONG.values(), ids=WRONG)
def test_an_argument_that_cannot_be_used_is_named(given: Any, sentence: str) -> None:
    for function in (torchlint.check_source, torchlint.fix_source):
        with pytest.raises((TypeError, ValueError), match=sentence):
            function(TRAINS, **given)
    if "filename" not in given:
        with pytest.raises((TypeError, ValueError), match=sentence):
            torchlint.check_paths([], **given)


@pytest.mark.parametrize(
    ("paths", "given", "sentence"),
    [
        ("src", {}, "`paths` must be a list of paths, .* not one path"),
        (Path("src"), {}, "`paths` must be a list of paths, .* not one path"),
        (None, {}, "`paths` must be a list of paths"),
        ([None], {}, "`paths` must be a str or a path"),
        ([], {"jobs": 0}, "`jobs` must be 1 or more, not 0"),
        ([], {"jobs": -1}, "`jobs` must be 1 or more"),
        ([], {"jobs": "2"}, "`jobs` must be a whole number, not of type str"),
        ([], {"jobs": True}, "`jobs` must be a whole number, not of type bool"),
        ([], {"progress": 3}, "`progress` must be a function"),
    ],
)
def test_what_cannot_be_checked_as_paths_is_named(paths: Any, given: Any, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        torchlint.check_paths(paths, **given)


@pytest.mark.parametrize("source", [None, 3, ["x"], bytearray(b"x"), Path("train.py")])
def test_a_source_must_be_a_text(source: Any) -> None:
    for function in (torchlint.check_source, torchlint.fix_source):
        with pytest.raises(TypeError, match="`source` must be a str"):
            function(source)


def test_a_path_may_be_given_as_any_path(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(TRAINS)
    for name in (file, os.fsencode(file), str(file)):
        result = torchlint.check_source(TRAINS, name, isolated=True)
        assert {each.path for each in result.findings} == {str(file)}
        assert torchlint.fix_source(TRAINS, name, isolated=True).remaining
        again = torchlint.check_paths(iter([name]), isolated=True)
        assert [each.code for each in again.findings] == ["TL401", "TL201"]


def test_text_that_is_not_python_is_a_diagnostic() -> None:
    result = torchlint.check_source("import torch\ndef f(:\n", "bad.py", isolated=True)
    assert [(each.path, each.kind) for each in result.diagnostics] == [("bad.py", "syntax")]


def test_hints_are_counted_until_they_are_asked_for() -> None:
    text = TRAINS.replace("print(loss.item())", "score(loss.cpu())")
    hidden = torchlint.check_source(text, "a.py", isolated=True, select=["TL202"])
    shown = torchlint.check_source(text, "a.py", isolated=True, select=["TL202"], hints=True)
    assert (hidden.findings, hidden.hidden_hints) == ((), (("a.py", 1),))
    assert [each.tier for each in shown.findings] == [torchlint.Tier.HINT]


def test_a_helper_is_hot_if_another_file_of_the_project_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("train.py").write_text(
        "from tools import log\n" + TRAINS.replace("print(loss.item())", "log(loss)")
    )
    tmp_path.joinpath("tools.py").write_text("def log(loss):\n    print(loss.item())\n")
    result = torchlint.check_paths(["."], select=["TL201"])
    assert [(each.path, each.code) for each in result.findings] == [("tools.py", "TL201")]
    assert result.files == 2


def test_a_path_that_does_not_exist_is_a_diagnostic(tmp_path: Path) -> None:
    result = torchlint.check_paths([str(tmp_path / "missing.py")])
    assert result.findings == ()
    assert len(result.diagnostics) == 1


def test_a_text_is_fixed() -> None:
    result = torchlint.fix_source(TRAINS, isolated=True, unsafe=True)
    assert result.source == TRAINS.replace("set_to_none=False", "")
    assert [each.code for each in result.remaining] == ["TL201"]


def test_unsafe_fixes_are_left_out_by_default() -> None:
    assert torchlint.fix_source(TRAINS, isolated=True).source == TRAINS


def test_a_text_keeps_its_encoding() -> None:
    text = "# -*- coding: latin-1 -*-\n# caf\u00e9\n" + TRAINS
    fixed = torchlint.fix_source(text, isolated=True, unsafe=True).source
    assert fixed == text.replace("set_to_none=False", "")


UNFIT = {
    "ascii": ("# coding: ascii\n", "# caf\u00e9\n", "'\u00e9' (U+00E9)", 2),
    "latin-1": ("# coding: latin-1\n", "# \u4e2d\n", "'\u4e2d' (U+4E2D)", 2),
    "a lone surrogate": ("", "# \udc80\n", "'\\udc80' (U+DC80)", 1),
    "a byte order mark": ("\ufeff", "# \udc80\n", "'\\udc80' (U+DC80)", 1),
}


@pytest.mark.parametrize(("coding", "comment", "words", "row"), UNFIT.values(), ids=UNFIT)
def test_a_text_that_no_file_can_hold_is_a_diagnostic_and_stays(
    coding: str, comment: str, words: str, row: int
) -> None:
    text = coding + comment + TRAINS
    fixed = torchlint.fix_source(text, "train.py", unsafe=True)
    assert (fixed.source, fixed.remaining) == (text, ())
    checked = torchlint.check_source(text, "train.py")
    assert checked.findings == ()
    for (diagnostic,) in (fixed.diagnostics, checked.diagnostics):
        assert (diagnostic.path, diagnostic.kind) == ("train.py", "undecodable")
        assert words in diagnostic.message
        assert diagnostic.position == torchlint.Position(row, 3 if comment[2:4] != "ca" else 6)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_byte_order_mark_of_a_text_stays(mark: str) -> None:
    fixed = torchlint.fix_source(mark + TRAINS, "train.py", unsafe=True)
    assert fixed.source.startswith(mark + "import torch")
    assert fixed.source != mark + TRAINS


@pytest.mark.parametrize("coding", ["undefined", "idna", "hex", "rot13", "no-such"])
def test_an_encoding_that_no_file_can_have_is_a_diagnostic(coding: str) -> None:
    text = f"# coding: {coding}\nimport torch\n# caf\u00e9\n" + TRAINS
    result = torchlint.check_source(text, isolated=True)
    assert len(result.diagnostics) == 1
    assert torchlint.fix_source(text, isolated=True).source == text


def test_a_text_keeps_its_byte_order_mark_and_gets_no_second_one() -> None:
    fixed = torchlint.fix_source("\ufeff" + TRAINS, isolated=True, unsafe=True).source
    assert fixed == "\ufeff" + TRAINS.replace("set_to_none=False", "")


def test_every_public_name_is_there() -> None:
    assert all(hasattr(torchlint, name) for name in torchlint.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = torchlint.nothing


def test_importing_torchlint_imports_no_parser() -> None:
    code = "import sys, torchlint; print(sorted({'libcst', 'click', 'msgspec'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_suppression_that_has_ended_hides_nothing_and_fixes_again() -> None:
    def silenced(day: str) -> str:
        return TRAINS.replace("=False)", f"=False)  # torchlint: ignore[TL401] until={day}")

    ended = torchlint.check_source(silenced("2020-01-31"), isolated=True, select=["TL401"])
    assert [each.message.endswith("until 2020-01-31.") for each in ended.findings] == [True]
    assert ended.findings[0].until == "2020-01-31"
    holds = torchlint.check_source(silenced("2999-12-31"), isolated=True, select=["TL401"])
    assert holds.findings == ()
    for day, fixed in (("2020-01-31", True), ("2999-12-31", False)):
        text = silenced(day)
        result = torchlint.fix_source(text, isolated=True, select=["TL401"], unsafe=True)
        assert (result.source != text) == fixed
