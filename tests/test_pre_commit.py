"""The hooks of .pre-commit-hooks.yaml, run by the real pre-commit on the tree as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

ROOT = Path(__file__).parents[1]
CONFIG = ".pre-commit-config.yaml"

SLOW_STEP = """\
import torch
from torch import nn


def train(model: nn.Module, loader, optimizer, device):
    correct = 0
    model.cuda()
    for images, labels in loader:
        images, labels = images.cuda(), labels.cuda()
        output = model(images)
        loss = nn.functional.cross_entropy(output, labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        correct += (output.argmax(1) == labels).sum().item()
    return correct
"""
CLEAN_STEP = SLOW_STEP.replace(".sum().item()", ".sum()")


@dataclass(frozen=True)
class Checkout:
    """A git repository whose hooks come from a snapshot of this tree."""

    folder: Path
    environment: dict[str, str]

    def git(self, *words: str) -> None:
        subprocess.run(
            ["git", *words], cwd=self.folder, env=self.environment, check=True, capture_output=True
        )

    def stage(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        self.git("add", "--", name)
        return path

    def hook(self, hook: str, *files: str, config: str = CONFIG) -> tuple[int, str]:
        """Exit code and output of one hook on these staged files."""
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pre_commit", "run", hook, "--config", config),
                *("--color=never", "--files", *files),
            ],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        return done.returncode, done.stdout


def environment(home: Path) -> dict[str, str]:
    """This process's, without what a git hook or a user's configuration would add."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **inherited,
        "PRE_COMMIT_HOME": str(home),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "test",
        "GIT_AUTHOR_EMAIL": "test",
        "GIT_COMMITTER_NAME": "test",
        "GIT_COMMITTER_EMAIL": "test",
    }


def snapshot(folder: Path, env: dict[str, str]) -> str:
    """Commits the tree, with uncommitted changes, into a repository of its own; its commit."""
    git = ["git", f"--git-dir={folder}", f"--work-tree={ROOT}"]
    subprocess.run(["git", "init", "--quiet", "--bare", str(folder)], env=env, check=True)
    subprocess.run([*git, "add", "--all"], cwd=ROOT, env=env, check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "The tree"], cwd=ROOT, env=env, check=True)
    found = subprocess.run(
        [*git, "rev-parse", "HEAD"], env=env, check=True, capture_output=True, text=True
    )
    return found.stdout.strip()


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Both hooks share the environment that pre-commit installs, once."""
    top = tmp_path_factory.mktemp("pre-commit")
    env = environment(top / "home")
    revision = snapshot(top / "torchlint", env)
    folder = top / "project"
    folder.mkdir()
    made = Checkout(folder, env)
    made.git("init", "--quiet")
    config = f"""\
        repos:
          - repo: {top / "torchlint"}
            rev: {revision}
            hooks:
              - id: torchlint-check
              - id: torchlint-fix
    """
    made.stage(CONFIG, dedent(config))
    return made


pytestmark = [pytest.mark.slow, pytest.mark.needs("pre_commit")]


def test_check_fails_on_a_slow_step(checkout: Checkout) -> None:
    path = checkout.stage("slow.py", SLOW_STEP)
    code, output = checkout.hook("torchlint-check", "slow.py")
    assert code == 1
    assert "slow.py:15:20: TL201 item-in-step-loop" in output
    assert path.read_text(encoding="utf-8") == SLOW_STEP


def test_check_passes_on_a_clean_step(checkout: Checkout) -> None:
    checkout.stage("clean.py", CLEAN_STEP)
    code, output = checkout.hook("torchlint-check", "clean.py")
    assert (code, "Passed" in output) == (0, True), output


def test_fix_rewrites_and_fails_once(checkout: Checkout) -> None:
    path = checkout.stage("mended.py", SLOW_STEP)
    code, output = checkout.hook("torchlint-fix", "mended.py")
    assert code == 1
    assert "files were modified by this hook" in output
    assert path.read_text(encoding="utf-8") != SLOW_STEP
    assert ".item()" not in path.read_text(encoding="utf-8")
    assert checkout.hook("torchlint-fix", "mended.py")[0] == 0
    assert checkout.hook("torchlint-check", "mended.py")[0] == 0


def test_notebooks_are_checked_and_mended(checkout: Checkout) -> None:
    cell = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "source": ["%pip list\n", SLOW_STEP],
    }
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    path = checkout.stage("notebook.ipynb", text)
    code, output = checkout.hook("torchlint-check", "notebook.ipynb")
    assert code == 1
    assert "notebook.ipynb:cell 1:16:20: TL201" in output
    assert checkout.hook("torchlint-fix", "notebook.ipynb")[0] == 1
    assert ".item()" not in path.read_text(encoding="utf-8")
    assert "%pip list" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("hook", ["torchlint-check", "torchlint-fix"])
def test_only_programs_and_notebooks_are_handed_over(checkout: Checkout, hook: str) -> None:
    checkout.stage("notes.md", SLOW_STEP)
    code, output = checkout.hook(hook, "notes.md")
    assert (code, "no files to check" in output) == (0, True), output


def test_the_whole_project_shows_what_a_commit_makes_slow(checkout: Checkout) -> None:
    """A file alone does not show that another one's function is now called on each step."""
    function = "import torch\n\n\ndef count(a, b):\n    return (a == b).sum().item()\n"
    checkout.stage("old_helper.py", function)
    checkout.stage("old_step.py", SLOW_STEP)
    checkout.git("commit", "--quiet", "-m", "before")
    call = CLEAN_STEP.replace(
        "(output.argmax(1) == labels).sum()", "count(output.argmax(1), labels)"
    )
    checkout.stage("calls.py", f"from old_helper import count\n{call}")
    assert checkout.hook("torchlint-check", "calls.py")[0] == 0
    options = {"pass_filenames": False, "args": ["--since", "HEAD"]}
    config = yaml.safe_load((checkout.folder / CONFIG).read_text(encoding="utf-8"))
    config["repos"][0]["hooks"] = [{"id": "torchlint-check", **options}]
    checkout.stage("whole.yaml", yaml.safe_dump(config))
    code, output = checkout.hook("torchlint-check", "calls.py", config="whole.yaml")
    assert code == 1
    assert "old_helper.py:5:12: TL201" in output
    assert "old_step.py" not in output
    checkout.git("commit", "--quiet", "-m", "after")
    assert checkout.hook("torchlint-check", "calls.py", config="whole.yaml")[0] == 0
