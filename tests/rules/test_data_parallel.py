"""TL601: which wrappers are reported, how surely, and what is said instead of a fix."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.finding import Finding, Tier
from torchlint.project.target import Target

FIXTURES = Path(__file__).parents[2] / "fixtures" / "data-parallel"
ONLY = Selection(select=("TL601",), ignore=())
HEADER = "import torch\nfrom torch import nn\n\n"
TRAIN = "loss.backward()\n"


def findings(code: str, path: str = "train.py", **others: str) -> list[Finding]:
    files = {path: HEADER + dedent(code)} | {
        f"{name}.py": dedent(text) for name, text in others.items()
    }
    report = check([Target(name, ONLY, (2, 13), text.encode()) for name, text in files.items()])
    assert not report.diagnostics
    return [finding for finding in report.findings if finding.path == path]


REPORTED = {
    "the class": "model = nn.DataParallel(model)\n",
    "the class by its long name": "model = torch.nn.parallel.DataParallel(model).cuda()\n",
    "an alias": "DP = nn.DataParallel\nmodel = DP(model)\n",
    "an import under another name": "from torch.nn import DataParallel as D\nmodel = D(model)\n",
    "several devices": "model = nn.DataParallel(model, device_ids=[0, 1])\n",
    "devices that nobody knows": "model = nn.DataParallel(model, device_ids=ids)\n",
    "a part of the model": "model.features = nn.DataParallel(model.features)\n",
    "Lightning's strategy": "import lightning as L\nL.Trainer(strategy='dp')\n",
    "Lightning's older names for it": "import pytorch_lightning as pl\n"
    "pl.Trainer(gpus=2, distributed_backend='dp')\n",
    "Fabric": "from lightning.fabric import Fabric\nFabric(devices=2, strategy='dp')\n",
}


@pytest.mark.parametrize("code", REPORTED.values(), ids=REPORTED)
def test_reported(code: str) -> None:
    (finding,) = findings(code + TRAIN)
    assert finding.tier is Tier.DEFAULT


def test_reported_if_an_imported_file_trains() -> None:
    code = "import engine\nmodel = nn.DataParallel(model)\n"
    (finding,) = findings(code, engine="import torch\ndef go(loss):\n    loss.backward()\n")
    assert finding.tier is Tier.DEFAULT


def test_reported_if_a_script_that_imports_it_trains() -> None:
    code = "def wrap(model):\n    return nn.DataParallel(model)\n"
    (finding,) = findings(code, main="import torch, train\nloss.backward()\n")
    assert finding.tier is Tier.DEFAULT


HINTS = {
    "the other branch is for one process per GPU": """
        if args.distributed:
            model = nn.parallel.DistributedDataParallel(model)
        else:
            model = nn.DataParallel(model)
        """
    + TRAIN,
    "the function": "y = nn.parallel.data_parallel(model, x, [0, 1])\n" + TRAIN,
    "one device": "model = nn.DataParallel(model, device_ids=[0])\n" + TRAIN,
    "one device by position": "model = nn.DataParallel(model, [0])\n" + TRAIN,
    "nothing trains": "model = nn.DataParallel(model)\n",
    "nothing but a comment trains": "model = nn.DataParallel(model)\n# loss.backward()\n",
}


@pytest.mark.parametrize("code", HINTS.values(), ids=HINTS)
def test_hinted(code: str) -> None:
    (finding,) = findings(dedent(code))
    assert finding.tier is Tier.HINT


LEFT_ALONE = {
    "a question": "if isinstance(model, nn.DataParallel):\n    model = model.module\n",
    "a class of the project": "class Wrap(nn.DataParallel):\n    pass\nmodel = Wrap(model)\n",
    "a class of the same name from elsewhere": "from mine import DataParallel\n"
    "model = DataParallel(model)\n",
    "one process per GPU": "model = nn.parallel.DistributedDataParallel(model)\n",
    "an evaluation": "with torch.no_grad():\n    y = nn.DataParallel(model)(x)\n",
    "an evaluating function": "def evaluate(model):\n    model = nn.DataParallel(model)\n",
    "a comment": "# model = nn.DataParallel(model)\n",
    "a string": "name = 'DataParallel('\n",
    "another strategy of Lightning": "import lightning as L\nL.Trainer(strategy='ddp')  # was 'dp'\n",
    "the letters elsewhere in Lightning": "import lightning as L\nL.Trainer(logger='dp')\n",
    "the letters elsewhere": "mesh['dp']\nTrainer(strategy='dp')\n",
}


@pytest.mark.parametrize("code", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(code: str) -> None:
    assert findings(code + TRAIN) == []


def test_silent_in_tests() -> None:
    assert findings("nn.DataParallel(model)\n" + TRAIN, path="tests/test_it.py") == []


def test_there_is_no_fix_and_a_reason_that_leads_to_the_template() -> None:
    (finding,) = findings("model = nn.DataParallel(model)\n" + TRAIN)
    assert finding.fix is None
    assert "torchlint rule TL601" in str(finding.withheld)


# whole programs ----------------------------------------------------------------------------


def test_the_bad_program_is_reported() -> None:
    target = Target("program.py", ONLY, (2, 13), (FIXTURES / "bad.py").read_bytes())
    (finding,) = check([target]).findings
    assert finding.tier is Tier.DEFAULT


# The rule has no fix: fixed.py is written by hand, as the rule's page advises.
@pytest.mark.parametrize("name", ["fixed.py", "clean.py"])
def test_nothing_is_said_of_a_program_without_the_pattern(name: str) -> None:
    target = Target("program.py", ONLY, (2, 13), (FIXTURES / name).read_bytes())
    assert check([target]).findings == ()
