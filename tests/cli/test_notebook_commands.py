"""Notebooks on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.notebook_files import notebook

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

CELLS = (
    "!nvidia-smi\nimport torch\nmodel = torch.nn.Linear(3, 1).cuda()",
    "for x in loader:\n    model(x.cuda()).mean().backward()\n    seen.append(model(x).mean().item())",
)


STEP = "for x in loader:\n    loss = model(x)\n    loss.backward()\n"


def test_a_folder_is_searched_for_notebooks(torchlint: Run, here: Path) -> None:
    (here / "a.ipynb").write_bytes(notebook(*CELLS))
    (here / ".ipynb_checkpoints").mkdir()
    (here / ".ipynb_checkpoints" / "a.ipynb").write_bytes(notebook(*CELLS))
    outcome = torchlint("check", "--select", "TL201")
    assert outcome.code == 1
    assert "a.ipynb:cell 2:3:17: TL201 item-in-step-loop" in outcome.text
    assert "    3 |     seen.append(model(x).mean().item())\n" in outcome.text
    assert outcome.text.endswith("1 file checked.\n")


def test_json_has_the_cell(torchlint: Run, here: Path) -> None:
    (here / "a.ipynb").write_bytes(notebook(*CELLS))
    (finding,) = json.loads(torchlint("check", "--select", "TL201", "--output-format", "json").out)
    assert finding["location"] == {"cell": 2, "row": 3, "column": 17}


def test_a_broken_cell_is_said_with_its_place(torchlint: Run, here: Path) -> None:
    (here / "a.ipynb").write_bytes(notebook(*CELLS, "f(:"))
    outcome = torchlint("check", "a.ipynb")
    assert outcome.code == 2
    assert "a.ipynb:cell 3:1:3: error: This is not valid Python" in outcome.err
    assert "TL201" in outcome.text


def test_a_notebook_on_standard_input_comes_back_as_one(torchlint: Run) -> None:
    slow = notebook("import torch, numpy as np\nx = torch.tensor(np.load('a'))")
    words = ("fix", "-", "--apply", "--hints", "--unsafe", "--stdin-filename", "a.ipynb")
    outcome = torchlint(*words, stdin=slow)
    assert outcome.out == slow.replace(b"torch.tensor(", b"torch.as_tensor(")


def test_a_notebook_on_standard_input_needs_a_name(torchlint: Run) -> None:
    for command in ("check", "fix"):
        outcome = torchlint(command, "-", stdin=notebook(*CELLS))
        assert (outcome.code, outcome.out) == (2, b"")
        assert "say so with `--stdin-filename NAME.ipynb`." in outcome.err
    assert torchlint("check", "-", stdin=b'a = {"cells": [], "cell_type": 1}\n').code == 0


def test_a_larger_notebook_than_a_program_may_be_is_read(torchlint: Run, here: Path) -> None:
    content = json.loads(notebook(*CELLS))
    content["cells"][0]["outputs"] = ["x" * (5 << 20)]
    (here / "a.ipynb").write_text(json.dumps(content))
    assert torchlint("check", "--select", "TL201", "a.ipynb").code == 1


def test_verify_says_how_to_export(torchlint: Run, here: Path) -> None:
    (here / "a.ipynb").write_bytes(notebook(*CELLS))
    outcome = torchlint("verify", "a.ipynb")
    assert outcome.code == 2
    assert "jupyter nbconvert --to script" in outcome.err


def test_the_fixes_are_shown_cell_by_cell(torchlint: Run, here: Path) -> None:
    (here / "a.ipynb").write_bytes(
        notebook("import torch, numpy as np\nx = torch.tensor(np.load('a'))")
    )
    outcome = torchlint("check", "--show-fixes", "--hints", "--select", "TL105")
    assert (
        "    cell 1:\n"
        "    @@ -1,2 +1,2 @@\n"
        "     import torch, numpy as np\n"
        "    -x = torch.tensor(np.load('a'))\n"
    ) in outcome.text
    assert "    +x = torch.as_tensor(np.load('a'))\n" in outcome.text


LOADER = (
    "from torch.utils.data import DataLoader, Dataset\n"
    "from torchvision.datasets import ImageFolder\n"
    "for x in DataLoader(ImageFolder('photos')):\n    train(x)"
)
OWN = "class Photos(Dataset):\n    def __getitem__(self, index):\n        return self.files[index]"


def test_a_loader_in_a_notebook_needs_no_main_guard(torchlint: Run, here: Path) -> None:
    (here / "a.ipynb").write_bytes(notebook(LOADER, STEP))
    outcome = torchlint("check", "--select", "TL101")
    assert "TL101 dataloader-no-workers large [unsafe fix]" in outcome.text


def test_a_dataset_of_the_notebook_itself_goes_to_forked_workers_only(
    torchlint: Run, here: Path
) -> None:
    (here / "a.ipynb").write_bytes(notebook(LOADER, OWN, STEP))
    outcome = torchlint("check", "--select", "TL101")
    assert "no fix: the notebook itself defines a dataset, which only forked" in outcome.text
