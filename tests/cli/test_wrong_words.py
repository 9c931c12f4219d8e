"""What a new user gets wrong: each answer is 2, says what is wrong, and what to do next."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("train.py", "`train.py` is a path; write `torchlint check train.py`."),
        ("trian.py", "`trian.py` is a path; write `torchlint check trian.py`."),
        ("check folder/notes.txt", "folder/notes.txt: error: This is not a Python file; name one"),
        ("chekc train.py", "There is no command `chekc`; the nearest known one is `check`."),
        ("lint", "There is no command `lint`; the commands are "),
        ("--verion", "Did you mean '--version'?"),
        ("check nope.py", "nope.py: error: There is no such file or folder; check the name."),
        ("check --select TL201 TL202", "check the name, or separate the codes by commas."),
        ("config nope.py", "nope.py: There is no such file or folder; check the name."),
        ("check --selec TL2", "'--select'?"),
        (
            "check --select",
            "Option '--select' requires an argument.\nTry `torchlint check --help`.",
        ),
        ("check --statistics=yes", "does not take a value.\nTry `torchlint check --help`."),
        ("check --select TL9999", "Unknown rule `TL9999`; `torchlint rule` lists all."),
        ("check --select TL2,item-in-loop", "the nearest known one is `item-in-step-loop`."),
        ("check --ignore tl2011", "Unknown rule `TL2011`; the nearest known one is `TL211`."),
        ("check --jobs 0", '"0" is not a whole number from 1 up; give one.'),
        ("check --jobs many", '"many" is not a whole number from 1 up; give one.'),
        ("check --target-torch 2", '"2" is not a version; write one such as 2.1.'),
        ("check --output-format jsn", "the nearest known one is `json`."),
        ("check --color nevr", "'auto', 'always', 'never'; the nearest known one is `never`."),
        ("check --backend dsk", "the nearest known one is `dask`."),
        ("check --config nope.toml", "nope.toml: There is no such file; check the name."),
        ("check --config folder", "folder: Cannot be read: Is a directory; name a file."),
        ("check --config train.py", "not valid TOML: Expected '=' after a key"),
        ("check --fix train.py", "write `torchlint fix --apply`."),
        ("check - train.py", "give no other path with it."),
        ("check --stdin-filename a.py", "needs `-` as the path."),
        ("check --cluster x", "--cluster needs --backend."),
        ("check --no-cache --cache-dir x", "give one."),
        ("fix --aply", "Did you mean '--apply'?"),
        ("fix --yes train.py", "--yes is for --verified"),
        ("rule nosuch", "There is no rule `nosuch`; `torchlint rule` lists all."),
        ("rule TL2011", "the nearest known one is `TL211`."),
        ("clean --cache-dir folder", "it holds something else; name another."),
        ("completion", "Choose from bash, zsh, fish."),
        ("completion bsh", "the nearest known one is `bash`."),
        ("config --select no-such", "Unknown rule `no-such`; `torchlint rule` lists all."),
        ("config --config nope.toml", "nope.toml: There is no such file; check the name."),
        ("config a b", "Got unexpected extra argument (b)\nTry `torchlint config --help`."),
        ("verify --steps none", '"none" is not a whole number from 1 up; give one.'),
        ("verify --device gpu", "'gpu' is not one of 'auto', 'cpu', 'cuda'"),
    ],
)
def test_wrong_words_are_answered_with_what_to_do(
    torchlint: Run, here: Path, words: str, said: str
) -> None:
    (here / "train.py").write_text("import torch\n")
    (here / "folder").mkdir()
    (here / "folder" / "notes.txt").touch()
    outcome = torchlint(*words.split())
    assert outcome.code == 2
    assert said in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (
            "pyproject.toml",
            '[tool.torchlint]\nselekt = ["TL2"]',
            "the nearest known one is `select`.",
        ),
        (
            "pyproject.toml",
            "[tool.torchlint]\nline-length = 3",
            "the known ones are select, ignore",
        ),
        ("pyproject.toml", '[tool.torchlint]\ntarget_torch = "2.1"', "one is `target-torch`."),
        (
            "pyproject.toml",
            '[tool.torchlint]\nselect = "TL2"',
            "must be a list of strings, such as",
        ),
        ("pyproject.toml", '[tool.torchlint]\nselect = ["QX9"]', "; `torchlint rule` lists all."),
        (
            "pyproject.toml",
            "[tool.torchlint]\nselect = [TL2]",
            "(at line 2, column 11); fix it.",
        ),
        ("pyproject.toml", "[tool.torchlint]\ntarget-torch = 2.1", 'such as target-torch = "2.1".'),
        ("pyproject.toml", "[tool]\ntorchlint = 3", "write `[tool.torchlint]`."),
        ("pyproject.toml", '[torchlint]\nselect = ["TL2"]', "write `[tool.torchlint]`."),
        (
            "pyproject.toml",
            '[tool.torchlint.per-file-ignores]\n"a.py" = "TL2"',
            "for `a.py`, such as",
        ),
        (
            "torchlint.toml",
            "[tool.torchlint]\nselect = []",
            "without `[tool.torchlint]`; take that",
        ),
    ],
)
def test_wrong_settings_are_answered_with_what_to_write(
    torchlint: Run, here: Path, file: str, text: str, said: str
) -> None:
    (here / file).write_text(text)
    (here / "train.py").write_text("import torch\n")
    for command in ("check", "config"):
        outcome = torchlint(command)
        assert outcome.code == 2
        assert file in outcome.err
        assert said in outcome.err


@pytest.mark.parametrize("folder", ["empty", "notes"])
def test_a_folder_without_python_says_so(torchlint: Run, here: Path, folder: str) -> None:
    (here / folder).mkdir()
    (here / "notes").mkdir(exist_ok=True)
    (here / "notes" / "a.md").touch()
    outcome = torchlint("check", folder)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.text == "No Python files to check; name a file or another folder.\n"
