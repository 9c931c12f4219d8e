"""A user's own diff becomes the sources that are compared."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from torchlint.experiment.errors import ExperimentError
from torchlint.files.diffs import unified
from torchlint.verify.compared.patches import patched

BEFORE = "import torch\n\nrate = 0.9\nprint(rate)\n"
DIFF = """\
diff --git a/pkg/train.py b/pkg/train.py
--- a/pkg/train.py
+++ b/pkg/train.py
@@ -1,4 +1,4 @@
 import torch
 
-rate = 0.9
+rate = 0.8
 print(rate)
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    root = tmp_path / "project"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "train.py").write_text(BEFORE)
    monkeypatch.chdir(root)
    return root


def write(folder, text: str) -> str:
    (folder / "mine.patch").write_text(text)
    return str(folder / "mine.patch")


def test_a_git_diff_is_made_in_memory(project, tmp_path):
    path = os.path.realpath(project / "pkg" / "train.py")
    assert patched(write(tmp_path, DIFF), str(project)) == {
        path: (BEFORE.encode(), BEFORE.replace("0.9", "0.8").encode())
    }
    assert (project / "pkg" / "train.py").read_text() == BEFORE


def test_a_plain_unified_diff_works_too(project, tmp_path):
    plain = DIFF.split("\n", 1)[1].replace("a/pkg", "pkg").replace("b/pkg", "pkg")
    (after,) = (each[1] for each in patched(write(tmp_path, plain), str(project)).values())
    assert b"rate = 0.8" in after


def test_paths_may_start_in_the_working_directory(project, tmp_path, monkeypatch):
    monkeypatch.chdir(project / "pkg")
    found = patched(write(tmp_path, DIFF.replace("pkg/", "")), str(project))
    assert list(found) == [os.path.realpath(project / "pkg" / "train.py")]


def test_line_endings_of_the_file_stay(project, tmp_path):
    (project / "pkg" / "train.py").write_bytes(BEFORE.replace("\n", "\r\n").encode())
    lines = [f"{line}\r\n" if line[:1] in " -+" and line[:2] not in ("--", "++") else f"{line}\n"
             for line in DIFF.splitlines()]  # fmt: skip
    patch = tmp_path / "mine.patch"
    patch.write_bytes("".join(lines).encode())
    (after,) = (each[1] for each in patched(str(patch), str(project)).values())
    assert after == BEFORE.replace("0.9", "0.8").replace("\n", "\r\n").encode()


def test_a_folder_in_a_repository_works(project, tmp_path, monkeypatch):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert patched(write(tmp_path, DIFF), str(project))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello\n", "is not a unified diff"),
        (DIFF.replace("rate = 0.9", "rate = 0.7"), "does not apply"),
        (DIFF.replace("train.py", "other.py"), "which is not in"),
        (DIFF.replace("train.py", "config.yaml"), "which is not Python"),
        (DIFF.replace("--- a/pkg/train.py", "--- /dev/null"), "adds or removes"),
        (DIFF.replace("+++ b/pkg/train.py", "+++ /dev/null"), "adds or removes"),
        (DIFF.replace("+++ b/pkg/train.py", "+++ new.py"), "makes new.py of a/pkg/train.py; name"),
        (DIFF.replace("b/pkg/train.py", "b/../../train.py"), "outside the project"),
    ],
)
def test_a_patch_that_cannot_be_used_says_why(project, tmp_path, text, words):
    with pytest.raises(ExperimentError, match=words):
        patched(write(tmp_path, text), str(project))


def test_a_missing_patch_says_so(project):
    with pytest.raises(ExperimentError, match=r"nowhere\.patch"):
        patched("nowhere.patch", str(project))


def test_without_git_the_need_is_named(project, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable))
    with pytest.raises(ExperimentError, match="install git"):
        patched(write(tmp_path, DIFF), str(project))


@pytest.mark.parametrize("name", ['tré"\\in.py', "a b.py"])
def test_names_that_git_quotes_are_understood(tmp_path, name):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / name).write_text(BEFORE)
    after = BEFORE.replace("0.9", "0.8").encode()
    diff = unified(name, BEFORE.encode(), after).decode()
    found = patched(write(tmp_path, diff), str(tmp_path / "project"))
    assert found == {os.path.realpath(tmp_path / "project" / name): (BEFORE.encode(), after)}
