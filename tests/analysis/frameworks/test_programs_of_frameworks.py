"""Each framework in one file, and in two: its steps are hot, and the device is known."""

from __future__ import annotations

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.finding import Tier
from torchlint.project.target import Target

LIGHTNING = (
    """\
import lightning as L
import torch

class Net(L.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self.net(batch).sum()
        self.log("loss", loss.item())  # here
        return loss
""",
    "import lightning as L\n",
    "L.Trainer({}).fit(Net())\n",
)
TRANSFORMERS = (
    """\
import torch
from transformers import Trainer, TrainingArguments

class Mine(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        outputs = model(**inputs)
        loss = outputs.loss
        print(loss.item())  # here
        return (loss, outputs) if return_outputs else loss
""",
    "from transformers import TrainingArguments\n",
    "Mine(model, TrainingArguments('out', {})).train()\n",
)
ACCELERATE = (
    """\
import torch
from accelerate import Accelerator

def train(accelerator, model, loader, optimizer):
    model, loader, optimizer = accelerator.prepare(model, loader, optimizer)
    for batch in loader:
        loss = model(batch).sum()
        accelerator.backward(loss)
        optimizer.step()
        print(loss.item())  # here
""",
    "from accelerate import Accelerator\n",
    "train(Accelerator({}), model, loader, optimizer)\n",
)
FABRIC = (
    """\
import torch
from lightning.fabric import Fabric

def train(fabric, model, loader, optimizer):
    model, optimizer = fabric.setup(model, optimizer)
    loader = fabric.setup_dataloaders(loader)
    for batch in loader:
        loss = model(batch).sum()
        fabric.backward(loss)
        optimizer.step()
        print(loss.item())  # here
""",
    "from lightning.fabric import Fabric\n",
    "train(Fabric({}), model, loader, optimizer)\n",
)
IGNITE = (
    """\
import torch
import ignite.distributed as idist
from ignite.engine import Engine, Events

def update(engine, batch):
    loss = model(batch).sum()
    loss.backward()
    optimizer.step()
    return loss.item()  # here
""",
    "import ignite.distributed as idist\nfrom ignite.engine import Engine\n",
    "with idist.Parallel(backend={}) as parallel:\n    Engine(update).run(loader)\n",
)
MMENGINE = (
    """\
import torch
from mmengine.model import BaseModule
from mmengine.runner import Runner

class Net(BaseModule):
    def train_step(self, data, optim_wrapper):
        loss = self(data).sum()
        optim_wrapper.update_params(loss)
        return {"loss": loss.item()}  # here
""",
    "from mmengine.runner import Runner\n",
    "Runner.from_cfg({}).train()\n",
)
CASES = {
    "Lightning": (LIGHTNING, ("accelerator='gpu'", "accelerator='auto'", "gpus=1", "", "**cfg")),
    "Transformers": (TRANSFORMERS, ("bf16=True", "use_cpu=args.cpu")),
    "Accelerate": (ACCELERATE, ("", "mixed_precision='bf16'", "cpu=args.cpu")),
    "Fabric": (FABRIC, ("accelerator='cuda'", "")),
    "ignite": (IGNITE, ("'nccl'", "args.backend")),
    "OpenMMLab": (MMENGINE, ("config",)),
}
HOST = {
    "Lightning": (LIGHTNING, ("accelerator='cpu'",)),
    "Transformers": (TRANSFORMERS, ("use_cpu=True", "no_cuda=True")),
    "Accelerate": (ACCELERATE, ("cpu=True",)),
    "Fabric": (FABRIC, ("accelerator='cpu'",)),
    "ignite": (IGNITE, ("'gloo'",)),
}


def each(cases: dict[str, tuple[tuple[str, str, str], tuple[str, ...]]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("parts", "arguments"),
        [
            pytest.param(parts, given, id=f"{name}({given})")
            for name, (parts, every) in cases.items()
            for given in every
        ],
    )


def found(files: dict[str, str]) -> list[str]:
    """The places with a default finding about a read on each step."""
    selection = Selection(("TL201", "TL202"))
    targets = [Target(path, selection, (2, 13), text.encode()) for path, text in files.items()]
    report = check(targets)
    assert report.diagnostics == ()
    return [
        f"{finding.path}:{finding.start.row}"
        for finding in report.findings
        if finding.tier is Tier.DEFAULT
    ]


def place(text: str) -> int:
    return text[: text.index("# here")].count("\n") + 1


@pytest.mark.parametrize("files", [1, 2], ids=["one file", "two files"])
@each(CASES)
def test_a_read_on_each_step_is_found(
    parts: tuple[str, str, str], arguments: str, files: int
) -> None:
    module, imports, run = parts
    run = run.format(arguments)
    if files == 1:
        assert found({"train.py": module + run}) == [f"train.py:{place(module)}"]
    else:
        texts = {"net.py": module, "train.py": f"from net import *\n{imports}{run}"}
        assert found(texts) == [f"net.py:{place(module)}"]


@pytest.mark.parametrize("files", [1, 2], ids=["one file", "two files"])
@each(HOST)
def test_on_the_cpu_it_costs_nothing(
    parts: tuple[str, str, str], arguments: str, files: int
) -> None:
    module, imports, run = parts
    run = run.format(arguments)
    if files == 1:
        assert found({"train.py": module + run}) == []
    else:
        assert found({"net.py": module, "train.py": f"from net import *\n{imports}{run}"}) == []


@pytest.mark.parametrize("files", [1, 2], ids=["one file", "two files"])
def test_arguments_alone_show_that_a_program_trains(files: int) -> None:
    data = (
        "from transformers import AutoTokenizer\ntokenizer = AutoTokenizer.from_pretrained('x')\n"
        "def tokenize(rows):\n    return tokenizer(rows['text'], padding='max_length')\n"
        "def load(data):\n    return data.map(tokenize)\n"
    )
    run = (
        "from transformers import Trainer, TrainingArguments\n"
        "Trainer(model, TrainingArguments('out'), train_dataset=load(raw)).train()\n"
    )
    texts = {"train.py": data + run} if files == 1 else {"data.py": data, "train.py": f"from data import load\n{run}"}  # fmt: skip
    targets = [
        Target(path, Selection(("TL111",)), (2, 13), text.encode()) for path, text in texts.items()
    ]
    (finding,) = check(targets).findings
    assert (finding.code, finding.start.row) == ("TL111", 4)
    assert not check(targets).stepless
