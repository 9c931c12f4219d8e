"""`torchlint hot` and `torchlint why`: arguments, formats and errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.notebook_files import notebook

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Any]
TRAIN = """\
import torch
from log import log
for step, x in enumerate(loader):
    loss = net(x.cuda())
    loss.backward()
    log(loss)
    if step % 10 == 0:
        log(loss)
"""
LOG = "def log(loss):\n    print(loss.item())\n"


@pytest.fixture
def project(here: Path) -> Path:
    (here / "train.py").write_text(TRAIN)
    (here / "log.py").write_text(LOG)
    return here


def test_the_tree(torchlint: Run, project: Path) -> None:
    said = torchlint("hot")
    assert said.code == 0
    assert said.text.split("\n") == [
        "train.py",
        "     3  for step, x in enumerate(loader)  `loss.backward()` in line 5",
        "        ├─ 6  log(…) → log log.py:1",
        "        └─ 8  log(…)  not on each step: under `if step % 10 == 0` in line 7",
        "",
        "1 training loop or step, 1 function that they call, 1 guarded, 0 in evaluation, 0 unknown.",
        "",
    ]


def test_the_tree_for_programs(torchlint: Run, project: Path) -> None:
    found = json.loads(torchlint("hot", "--output-format", "json").out)
    (root,) = found["roots"]
    assert (root["path"], root["row"], root["state"]) == ("train.py", 3, "hot")
    assert [each["state"] for each in root["inside"]] == ["hot", "guarded"]
    assert root["inside"][0]["target"]["function"] == "log"


def test_a_rule_that_is_off_does_not_change_the_tree(torchlint: Run, project: Path) -> None:
    before = torchlint("hot").text
    (project / "torchlint.toml").write_text('ignore = ["ALL"]\n')
    assert torchlint("hot").text == before


def test_a_project_without_training_is_told_what_was_looked_for(
    torchlint: Run, project: Path
) -> None:
    said = torchlint("hot", "log.py")
    assert said.code == 0
    assert said.text.startswith("No training step in 1 file: no loop calls `.backward()`")


def test_a_broken_file_is_named_next_to_the_tree(torchlint: Run, project: Path) -> None:
    (project / "broken.py").write_text("import torch\nloss.backward(\n")
    said = torchlint("hot")
    assert said.code == 2
    assert "for step, x in enumerate(loader)" in said.text
    assert "broken.py" in said.err


def test_lines_of_a_notebook_count_in_their_cell(torchlint: Run, here: Path) -> None:
    (here / "lab.ipynb").write_bytes(notebook("x = 1", TRAIN.replace("from log import log\n", LOG)))
    assert "cell 2:4  for step" in torchlint("hot").text
    assert "in cell 2, line 8" in torchlint("hot").text


def test_why_reads_the_callers_of_the_folder(torchlint: Run, project: Path) -> None:
    said = torchlint("why", "log.py:2", "TL201")
    assert said.code == 0
    assert said.text.split("\n")[:4] == [
        "log.py:2  print(loss.item())",
        "",
        "TL201 item-in-step-loop: reported",
        "  this loop runs it on each step: train.py:3, through 1 call",
    ]


def test_why_knows_the_file_in_a_project_above(
    torchlint: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "below").mkdir()
    for name in ("train.py", "log.py"):
        (project / name).rename(project / "below" / name)
    monkeypatch.chdir(project / "below")
    for above in ("..", str(project)):
        said = torchlint("why", "log.py:2", "TL201", "--project", above).text
        assert "TL201 item-in-step-loop: reported" in said


def test_why_reads_what_the_user_names(torchlint: Run, project: Path) -> None:
    assert "not reported" in torchlint("why", "log.py:2", "TL201", "--project", "log.py").text


def test_why_without_a_rule_tells_of_those_that_came_close(torchlint: Run, project: Path) -> None:
    said = torchlint("why", "log.py:2").text
    assert "TL201" in said
    assert "TL401" not in said
    assert "No rule came close" in torchlint("why", "train.py:1").text


def test_why_for_programs(torchlint: Run, project: Path) -> None:
    found = json.loads(torchlint("why", "log.py:2", "TL201", "--output-format", "json").out)
    (rule,) = found["rules"]
    assert (found["line"], rule["code"], rule["reported"]) == (
        "print(loss.item())",
        "TL201",
        "default",
    )


def test_why_obeys_the_configuration(torchlint: Run, project: Path) -> None:
    (project / "torchlint.toml").write_text('ignore = ["TL201"]\n')
    assert "switched off for this file" in torchlint("why", "log.py:2", "TL201").text


def test_why_in_a_notebook_takes_a_cell(torchlint: Run, here: Path) -> None:
    (here / "lab.ipynb").write_bytes(notebook("x = 1", TRAIN.replace("from log import log\n", LOG)))
    assert "lab.ipynb:2:3  print(loss.item())" in torchlint("why", "lab.ipynb:2:3", "TL201").text
    said = torchlint("why", "lab.ipynb:3", "TL201")
    assert said.code == 2
    assert "name the cell too: lab.ipynb:1:3" in said.err


WRONG = {
    "no line": (("why", "log.py"), "`log.py` is not a place; write a file and a line"),
    "no file": (("why", "gone.py:3"), "There is no file `gone.py`."),
    "line 0": (("why", "log.py:0"), "`log.py:0` is not a place"),
    "beyond the end": (("why", "log.py:99"), "There is no line 99; the file has 2."),
    "no rule": (("why", "log.py:2", "TL999"), "There is no rule `TL999`"),
    "not Python": (("why", "notes.txt:1"), "does not check `notes.txt`; name a .py or .ipynb file"),
    "standard input": (("hot", "-"), "`hot` reads files; name a path"),
    "no path": (("hot", "gone"), "gone"),
}


@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG)
def test_wrong_words(torchlint: Run, project: Path, words: tuple[str, ...], message: str) -> None:
    (project / "notes.txt").write_text("a b\n")
    said = torchlint(*words)
    assert said.code == 2
    assert message in said.err
