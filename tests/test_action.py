"""The steps of action.yml, run by bash as GitHub's runner does, in a repository of their own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
INSTALLED = Path(sysconfig.get_path("scripts")) / "torchlint"

STEP = """\
import torch


def train(model, loader, optimizer):
    total = 0
    model.cuda()
    for images in loader:
        loss = model(images.cuda()).sum()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total
"""
WARNING = (
    "::warning file=train.py,line=11,col=18,endLine=11,endColumn=29,title=TL201 item-in-step-loop::"
)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs bash")


class Runner:
    """As much of GitHub's runner as these steps use: `${{ }}` in `env`, `with`, `if` and outputs."""

    def __init__(self, workspace: Path, inputs: dict[str, str], **environment: str) -> None:
        self.workspace = workspace
        defaults = {name: each.get("default", "") for name, each in ACTION["inputs"].items()}
        assert inputs.keys() <= defaults.keys()
        self.values = {f"inputs.{name}": text for name, text in {**defaults, **inputs}.items()}
        self.used: list[tuple[str, dict[str, str]]] = []
        self.log = ""
        temporary = workspace.parent / "runner"
        temporary.mkdir(exist_ok=True)
        clean = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
        self.environment = {**clean, "RUNNER_TEMP": str(temporary), **environment}

    def run(self, steps: list[dict[str, Any]]) -> int:
        """Exit code of the first step that fails, or 0."""
        for step in steps:
            if not self._wanted(step.get("if")):
                continue
            if "uses" in step:
                given = {name: self.evaluated(text) for name, text in step["with"].items()}
                self.used.append((step["uses"], given))
                continue
            code = self._script(step)
            if code:
                return code
        return 0

    def _script(self, step: dict[str, Any]) -> int:
        assert step["shell"] == "bash"
        script, output = (
            Path(self.environment["RUNNER_TEMP"]) / name for name in ("run.sh", "out")
        )
        script.write_text(step["run"], encoding="utf-8")
        output.write_text("")
        given = {name: self.evaluated(text) for name, text in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.workspace,
            env={**self.environment, **given, "GITHUB_OUTPUT": str(output)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        self.log += done.stdout
        for line in output.read_text().splitlines():
            name, _, text = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{name}"] = text
        return done.returncode

    def evaluated(self, text: str) -> str:
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: self.values.get(found[1], ""), text)

    def _wanted(self, condition: str | None) -> bool:
        if condition is None:
            return True
        compared = re.fullmatch(r"(\S+) != '([^']*)'", condition)
        assert compared
        return self.values.get(compared[1], "") != compared[2]

    @property
    def outputs(self) -> dict[str, str]:
        return {name: self.evaluated(each["value"]) for name, each in ACTION["outputs"].items()}


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=test", "-c", "user.email=test", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(STEP)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


def checked(workspace: Path, **inputs: str) -> tuple[int, Runner]:
    """All steps but the installation, with the torchlint that is installed here."""
    runner = Runner(workspace, {name.replace("_", "-"): text for name, text in inputs.items()})
    runner.values["steps.install.outputs.program"] = str(INSTALLED)
    return runner.run(STEPS[1:]), runner


def test_findings_are_annotations_and_fail_the_job(workspace: Path) -> None:
    code, runner = checked(workspace)
    assert code == 1
    assert runner.log.startswith(WARNING)
    assert runner.outputs == {"exit-code": "1", "sarif-file": ""}
    assert runner.used == []


def test_no_findings_pass(workspace: Path) -> None:
    code, runner = checked(workspace, args="--ignore TL2\n  --hints")
    assert (code, runner.outputs["exit-code"]) == (0, "0")


def test_only_what_a_branch_changed(workspace: Path) -> None:
    git(workspace, "checkout", "--quiet", "-b", "work")
    (workspace / "other.py").write_text(STEP)
    code, runner = checked(workspace, since="main")
    assert code == 1
    assert runner.log.startswith(WARNING.replace("train.py", "other.py"))
    assert runner.log.count("::warning") == 1
    assert checked(workspace, since="main", paths="train.py")[0] == 0


def test_trouble_is_2(workspace: Path) -> None:
    code, runner = checked(workspace, since="--help")
    assert (code, runner.outputs["exit-code"]) == (2, "2")
    assert '"--help" is not a revision' in runner.log
    assert checked(workspace, output="html")[0] == 2


def test_inputs_are_words_and_never_a_script(workspace: Path) -> None:
    (workspace / "a b.py").write_text(STEP)
    evil = "$(touch run) `touch run`; touch run"
    for name in ("paths", "args", "since", "output"):
        assert checked(workspace, **{name: evil})[0] == 2
    code, runner = checked(workspace, paths="a b.py\n\ntrain.py\n", args="--select *")
    assert code == 2
    assert "*" in runner.log
    code, runner = checked(workspace, paths="a b.py\n\ntrain.py\n")
    assert runner.log.count("::warning") == 2
    assert not (workspace / "run").exists()


def test_no_input_is_in_a_script() -> None:
    assert not [step["name"] for step in STEPS if "${{" in step.get("run", "")]


def test_other_actions_are_pinned_to_a_commit() -> None:
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w/.-]+@[0-9a-f]{40}", each) for each in used)


def has_sarif() -> bool:
    done = subprocess.run(
        [INSTALLED, "check", "--help"], capture_output=True, text=True, check=True
    )
    return "sarif" in done.stdout


@pytest.mark.skipif(not has_sarif(), reason="there is no SARIF yet")
def test_sarif_is_uploaded_before_the_job_fails(workspace: Path) -> None:
    code, runner = checked(workspace, output="sarif", sarif_file="out put.sarif")
    assert code == 1
    ((action, given),) = runner.used
    assert action.startswith("github/codeql-action/upload-sarif@")
    assert given == {"sarif_file": "out put.sarif", "category": "torchlint"}
    written = json.loads((workspace / "out put.sarif").read_text(encoding="utf-8"))
    assert [each["ruleId"] for each in written["runs"][0]["results"]] == ["TL201"]


@pytest.mark.parametrize("version", ["0.1; touch run", "../torchlint", "-r x", "latest"])
def test_what_is_not_a_version_is_not_installed(workspace: Path, version: str) -> None:
    runner = Runner(workspace, {"version": version}, GITHUB_ACTION_PATH=str(ROOT))
    assert runner.run(STEPS) == 2
    assert "is not a version" in runner.log
    assert not (workspace.parent / "runner" / "torchlint").exists()


@pytest.mark.slow
def test_it_installs_itself_and_imports_nothing_of_the_checkout(workspace: Path) -> None:
    source = workspace.parent / "action"
    source.mkdir()
    for name in ("torchlint", "rules"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    for name in ("venv", "pip", "ensurepip", "subprocess", "click", "json"):
        (workspace / f"{name}.py").write_text("open('imported', 'w').close()\n")
    search = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    runner = Runner(workspace, {}, GITHUB_ACTION_PATH=str(source), PATH=search)
    assert runner.run(STEPS) == 1, runner.log
    assert WARNING in runner.log
    program = runner.values["steps.install.outputs.program"]
    assert program == str(workspace.parent / "runner" / "torchlint" / "bin" / "torchlint")
    assert not (workspace / "imported").exists()
