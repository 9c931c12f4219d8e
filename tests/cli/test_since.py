"""`check --since` with the real engine and a real repository."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.repositories import HELPER, TRAIN, begin, commit, git
from tests.notebook_files import notebook
from torchlint.changes import git as changes_git

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Any]

AGAIN = "        optimizer.step()\n        print(loss.item())\n"
CALL = "        print(accuracy(output, labels))\n"


@pytest.fixture(autouse=True)
def repository(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(here, monkeypatch, train=TRAIN, helper=HELPER)
    commit("first")
    git("checkout", "--quiet", "-b", "work")


@pytest.fixture
def found(torchlint: Run) -> Callable[..., list[str]]:
    """The places and codes of what is new."""

    def since(*words: str) -> list[str]:
        outcome = torchlint("check", "--since", "main", "--output-format", "json", "-q", *words)
        assert outcome.err == ""
        return [
            f"{each['filename']}:{each['location']['row']} {each['code']}"
            for each in json.loads(outcome.text)
        ]

    return since


def test_old_findings_are_counted_and_the_exit_code_is_0(torchlint: Run) -> None:
    assert torchlint("check").code == 1
    outcome = torchlint("check", "--since", "main")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.text == (
        "No problems found; 2 files checked.\n1 finding is older than this branch and not shown.\n"
    )


def test_before_the_first_commit_everything_is_new(torchlint: Run, here: Path) -> None:
    git("checkout", "--quiet", "--orphan", "fresh")
    (here / "train.py").write_text(TRAIN + CALL)
    outcome = torchlint("check", "--since", "HEAD")
    assert outcome.code == 1
    assert outcome.text.endswith("Found 2 problems in 2 files; 2 files checked.\n")


def test_before_the_first_commit_other_names_must_exist(torchlint: Run) -> None:
    git("checkout", "--quiet", "--orphan", "fresh")
    outcome = torchlint("check", "--since", "nosuch")
    assert outcome.code == 2
    assert 'The repository knows no commit "nosuch"' in outcome.err
    assert torchlint("check", "--since", "main").code == 0


def test_a_new_call_makes_an_old_helper_a_finding(torchlint: Run, here: Path) -> None:
    (here / "train.py").write_text(TRAIN + CALL)
    outcome = torchlint("check", "--since", "main")
    assert outcome.code == 1
    assert outcome.text.startswith("helper.py:5:12: TL201 item-in-step-loop\n")
    assert outcome.text.endswith(
        "Found 1 problem in 1 file; 2 files checked.\n"
        "1 finding is older than this branch and not shown.\n"
    )


def test_what_makes_a_helper_slow_may_be_anywhere(here: Path, found: Run) -> None:
    """The loop has no new line that names the helper."""
    indirect = "def show(output, labels):\n    print(1)\n"
    (here / "train.py").write_text(TRAIN + "        show(output, labels)\n\n\n" + indirect)
    commit()
    git("branch", "--force", "main")
    called = indirect.replace("print(1)", "print(accuracy(output, labels))")
    (here / "train.py").write_text(TRAIN + "        show(output, labels)\n\n\n" + called)
    assert found() == ["helper.py:5 TL201"]


def test_what_only_moved_is_old(here: Path, found: Run) -> None:
    git("mv", "train.py", "finetune.py")
    text = TRAIN.replace("def train(", "def finetune(").replace(
        "print(loss", "print(\n            loss"
    )
    (here / "finetune.py").write_text("# A comment.\n\n" + text)
    assert found() == []
    git("reset", "--quiet")  # Git no longer knows that the file has moved.
    (here / "finetune.py").write_text("# A comment.\n\n" + TRAIN)
    assert found() == []


def test_a_function_may_move_into_another_file(here: Path, found: Run) -> None:
    body = TRAIN[TRAIN.index("def train") :]
    (here / "helper.py").write_text(HELPER + "\n\nfrom torch import nn\n\n\n" + body)
    (here / "train.py").write_text("import torch\nfrom helper import train\n")
    assert found() == []


def test_the_touched_one_of_equal_findings_is_new(here: Path, found: Run) -> None:
    more = TRAIN.replace(
        "        loss.backward()\n", "        print(loss.item())\n        loss.backward()\n"
    )
    (here / "train.py").write_text(more)
    assert found() == ["train.py:12 TL201"]
    (here / "train.py").write_text(TRAIN + AGAIN)
    assert found() == ["train.py:17 TL201"]


def test_uncommitted_and_untracked_files_are_new(here: Path, found: Run) -> None:
    (here / "other.py").write_text(TRAIN.replace("def train", "def other"))
    assert found() == ["other.py:15 TL201"]


def test_a_changed_setting_makes_nothing_new(here: Path, found: Run) -> None:
    (here / "torchlint.toml").write_text('ignore = ["TL201"]\n')
    commit()
    git("branch", "--force", "main")
    (here / "torchlint.toml").write_text("")
    assert found() == []


def test_later_commits_of_the_other_branch_do_not_count(here: Path, found: Run) -> None:
    git("checkout", "--quiet", "main")
    (here / "train.py").write_text("")
    commit()
    git("checkout", "--quiet", "work")
    assert found() == []


def test_only_the_given_paths_are_compared(here: Path, found: Run) -> None:
    (here / "train.py").write_text(TRAIN + CALL)
    assert found("helper.py") == []
    assert found("train.py", "helper.py") == ["helper.py:5 TL201"]


def test_it_works_below_the_root_and_with_names_that_are_no_text(
    here: Path, found: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = here / "src"
    folder.mkdir()
    git("mv", "train.py", "helper.py", "src")
    if sys.platform == "linux":
        (folder / os.fsdecode(b"\xff.py")).write_text(TRAIN.replace("def train", "def odd"))
    commit()
    git("branch", "--force", "main")
    monkeypatch.chdir(folder)
    assert found() == []
    (folder / "train.py").write_text(TRAIN + CALL)
    assert found() == ["helper.py:5 TL201"]


def test_a_notebook_is_compared_by_content(here: Path, found: Run) -> None:
    path = here / "train.ipynb"
    path.write_bytes(notebook("%pip list\n", TRAIN))
    commit()
    git("branch", "--force", "main")
    path.write_bytes(notebook("%pip list\n", "import os\n", TRAIN))
    assert found() == []
    path.write_bytes(notebook("%pip list\n", TRAIN + AGAIN))
    assert found() == ["train.ipynb:17 TL201"]


def test_a_submodule_counts_as_it_is_now(here: Path, found: Run) -> None:
    other = here / "other"
    other.mkdir()
    (other / "more.py").write_text(TRAIN)
    git("-C", "other", "init", "--quiet")
    assert found() == []


def test_a_link_counts_as_what_it_leads_to(here: Path, found: Run) -> None:
    (here / "zoo.py").symlink_to("train.py")
    commit()
    assert found("zoo.py", "helper.py") == []


def test_a_sparse_checkout_is_not_read(here: Path, found: Run, linter_calls: list[int]) -> None:
    folder = here / "big"
    folder.mkdir()
    (folder / "more.py").write_text(TRAIN)
    commit()
    git("branch", "--force", "main")
    git("sparse-checkout", "set", "--no-cone", "/*", "!/big")
    (here / "train.py").write_text(TRAIN + CALL)
    assert found() == ["helper.py:5 TL201"]
    assert linter_calls == [2, 2]


@pytest.fixture
def linter_calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many files each check looked at."""
    from torchlint import library

    calls: list[int] = []
    real = library.check

    def check(targets: Any, **rest: Any) -> Any:
        calls.append(len(targets))
        return real(targets, **rest)

    monkeypatch.setattr(library, "check", check)
    return calls


def test_an_unchanged_project_is_checked_once(found: Run, linter_calls: list[int]) -> None:
    assert found() == []
    assert linter_calls == [2]


def test_the_old_state_is_not_parsed_again(here: Path, found: Run) -> None:
    from torchlint.engine import map_file

    (here / "train.py").write_text(TRAIN + CALL)
    assert found("--jobs", "1") == ["helper.py:5 TL201"]
    assert found("--jobs", "1") == ["helper.py:5 TL201"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(map_file, "parse", None)
        assert found("--jobs", "1") == ["helper.py:5 TL201"]


def test_an_old_file_that_cannot_be_checked_is_told(torchlint: Run, here: Path) -> None:
    (here / "train.py").write_text("import torch\nloss.backward(\n")
    commit()
    git("branch", "--force", "main")
    (here / "train.py").write_text(TRAIN)
    outcome = torchlint("check", "--since", "main")
    assert outcome.code == 1
    assert outcome.text.endswith(
        "1 file cannot be checked as of main, so all findings there count as new.\n"
    )


def test_a_baseline_covers_the_older_of_equal_findings(torchlint: Run, here: Path) -> None:
    assert torchlint("baseline", "write").code == 0
    more = TRAIN.replace(
        "        loss.backward()\n", "        print(loss.item())\n        loss.backward()\n"
    )
    (here / "train.py").write_text(more)
    outcome = torchlint("check", "--since", "main", "--baseline", "torchlint-baseline.json")
    assert outcome.code == 1
    assert outcome.text.startswith("train.py:12:")
    assert "1 known finding is in torchlint-baseline.json." in outcome.text
    assert "older" not in outcome.text


def test_it_goes_with_statistics_and_exit_zero(torchlint: Run, here: Path) -> None:
    (here / "train.py").write_text(TRAIN + CALL)
    outcome = torchlint("check", "--since", "main", "--statistics", "--exit-zero")
    assert outcome.code == 0
    assert outcome.text.startswith("     1  TL201")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--since", "nope"), 'The repository knows no commit "nope"; fetch it first'),
        (("--since=-x",), '"-x" is not a revision; name a branch'),
        (("--since", ""), '"" is not a revision; name a branch'),
        (("--diff-base", "main"), "There is no --diff-base any more; write `--since REF`."),
        (("--since", "main", "-"), "name files and folders instead of `-`"),
        (("--since", "main", "--add-ignore"), "drop --watch, --baseline and --since"),
    ],
)
def test_what_cannot_be_is_2_before_anything_is_checked(
    torchlint: Run, linter: Any, words: tuple[str, ...], said: str
) -> None:
    outcome = torchlint("check", *words)
    assert (outcome.code, outcome.text) == (2, "")
    assert said in outcome.err
    assert linter.targets == ()


def test_outside_of_a_repository_is_2(
    torchlint: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(here / "none"))
    outcome = torchlint("check", "--since", "main")
    assert outcome.code == 2
    assert "There is no git repository here" in outcome.err


def test_a_file_of_another_place_is_2(torchlint: Run, here: Path) -> None:
    other = here.parent / f"other-{here.name}.py"
    other.write_text(TRAIN)
    outcome = torchlint("check", "--since", "main", str(other))
    assert outcome.code == 2
    assert "does not belong to the repository" in outcome.err


def test_a_shallow_clone_is_2(torchlint: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("one = 1\n", "two = 2\n"):
        (here / "more.py").write_text(text)
        commit()
    git("checkout", "--quiet", "-b", "other", "main")
    (here / "more.py").write_text("three = 3\n")
    commit()
    git("clone", "--quiet", "--depth=1", "--no-single-branch", here.as_uri(), "clone")
    monkeypatch.chdir(here / "clone")
    outcome = torchlint("check", "--since", "origin/work")
    assert outcome.code == 2
    assert "This is a shallow clone" in outcome.err
    assert "fetch-depth: 0" in outcome.err


def test_more_than_memory_should_hold_is_2(
    torchlint: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes_git, "_MOST_BYTES", 10)
    (here / "train.py").write_text(TRAIN + CALL)
    outcome = torchlint("check", "--since", "main")
    assert outcome.code == 2
    assert "have changed since then; name a newer revision" in outcome.err
