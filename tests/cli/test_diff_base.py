"""`check --diff-base` with the real engine and a real repository."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.repositories import HELPER, TRAIN, begin, commit, git

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def repository(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(here, monkeypatch, train=TRAIN, helper=HELPER)
    commit("first")
    git("checkout", "--quiet", "-b", "work")


def test_old_findings_are_counted_and_the_exit_code_is_0(torchlint: Run) -> None:
    assert torchlint("check").code == 1
    outcome = torchlint("check", "--diff-base", "main")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.text == (
        "No problems found; 2 files checked.\n1 finding on lines that did not change is not shown.\n"
    )


def test_a_new_call_makes_an_old_helper_a_finding(torchlint: Run, here: Path) -> None:
    (here / "train.py").write_text(TRAIN + "        print(accuracy(output, labels))\n")
    outcome = torchlint("check", "--diff-base", "main")
    assert outcome.code == 1
    assert outcome.text.startswith("helper.py:5:12: TL201 item-in-step-loop\n")
    assert outcome.text.endswith(
        "Found 1 problem in 1 file; 2 files checked.\n"
        "1 finding on lines that did not change is not shown.\n"
    )


def test_other_formats_list_what_changed_and_nothing_else(torchlint: Run, here: Path) -> None:
    (here / "train.py").write_text(TRAIN.replace("print(loss.item())", "print(2 * loss.item())"))
    (here / "helper.py").write_text(HELPER.replace("import torch\n", "import torch  # changed\n"))
    outcome = torchlint("check", "--diff-base", "main", "--output-format", "json")
    assert [found["filename"] for found in json.loads(outcome.text)] == ["train.py"]
    outcome = torchlint("check", "--diff-base", "main", "--statistics")
    assert "TL201" in outcome.text


def test_a_file_that_cannot_be_checked_is_still_2(torchlint: Run, here: Path) -> None:
    (here / "broken.py").write_text("import torch\nloss.backward(\n")
    assert torchlint("check", "--diff-base", "main").code == 2


def test_what_git_cannot_tell_is_2_before_anything_is_checked(torchlint: Run, linter: Any) -> None:
    outcome = torchlint("check", "--diff-base", "nope")
    assert (outcome.code, outcome.text) == (2, "")
    assert outcome.err.startswith(
        'Error: --diff-base: The repository knows no commit "nope"; fetch'
    )
    assert linter.targets == ()


def test_a_finding_that_git_cannot_place_is_2(torchlint: Run, here: Path) -> None:
    other = here.parent / f"other-{here.name}.py"
    other.write_text(TRAIN)
    outcome = torchlint("check", "--diff-base", "main", str(other))
    assert outcome.code == 2
    assert "does not belong to the repository" in outcome.err


def test_a_notebook_is_compared_cell_by_cell(torchlint: Run, here: Path) -> None:
    def notebook(*cells: str) -> str:
        made = [
            {
                "cell_type": "code",
                "execution_count": None,
                "metadata": {},
                "outputs": [],
                "source": cell,
            }
            for cell in cells
        ]
        return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    path = here / "train.ipynb"
    path.write_text(notebook("%pip list\n", TRAIN))
    git("add", ".")
    git("commit", "--quiet", "-m", "notebook")
    git("branch", "--force", "main")
    path.write_text(notebook("%pip list\nimport os\n", TRAIN))
    assert torchlint("check", "--diff-base", "main").code == 0
    path.write_text(notebook("%pip list\n", TRAIN.replace("loss.item()", "2 * loss.item()")))
    outcome = torchlint("check", "--diff-base", "main")
    assert outcome.code == 1
    assert outcome.text.startswith("train.ipynb:cell 2:15:")


def test_a_baseline_is_taken_off_first(torchlint: Run, here: Path) -> None:
    assert torchlint("baseline", "write").code == 0
    (here / "new.py").write_text(TRAIN)
    outcome = torchlint("check", "--diff-base", "main", "--baseline", "torchlint-baseline.json")
    assert outcome.code == 1
    assert outcome.text.startswith("new.py:")
    assert "did not change" not in outcome.text
