"""What a file shows of the runs of its program: the device, and who takes the training steps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from torchlint.analysis.frameworks.runners import START_WORDS, Device, device_in_text
from torchlint.analysis.training.runs import device_of, framework_starts, trains
from torchlint.files.words import Words

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module

UNSAID, CHOSEN, CPU, ACCELERATOR = Device
DEVICES = {
    "a call of `cuda`": ("x.cuda()", ACCELERATOR),
    "a device": ("x.to(device)", ACCELERATOR),
    "a device under another name": ("x.to(self.dev)", ACCELERATOR),
    "the number of a GPU": ("x.to(gpu_ids[0])", ACCELERATOR),
    "the rank of a process": ("x.to(local_rank)", ACCELERATOR),
    "a device in a string": ("device = 'cuda:0'", ACCELERATOR),
    "work for a GPU": ("import torch\ntorch.cuda.synchronize()", ACCELERATOR),
    "whatever accelerator": (
        "import torch\ntorch.accelerator.current_accelerator()", ACCELERATOR,
    ),
    "the CPU in a string": ("x.to('cpu')", UNSAID),
    "the CPU": ("import torch\ndevice = torch.device('cpu')\nx.to(device)", UNSAID),
    "a question": ("import torch\ntorch.cuda.is_available()", UNSAID),
    "a seed": ("import torch\ntorch.cuda.manual_seed(1)", UNSAID),
    "a type": ("x.to(dtype)", UNSAID),
    "nothing to move to": ("x.to()", UNSAID),
    "a trainer": ("import lightning as L\nL.Trainer()", ACCELERATOR),
    "a trainer with another class's name": ("from mine import Trainer\nTrainer()", UNSAID),
    "a trainer of the file's own": (
        "import lightning\nclass Trainer:\n  pass\nTrainer()", UNSAID,
    ),
    "a module that a trainer runs": ("from lightning import LightningModule", CHOSEN),
    "the device that a trainer has chosen": (
        "import lightning as L\n"
        "class Net(L.LightningModule):\n"
        "  def f(self, x):\n    return x.to(self.device)",
        CHOSEN,
    ),
    "a trainer on the CPU, and the device that it has chosen": (
        "import lightning as L\nL.Trainer(accelerator='cpu')\nx.to(net.device)", CPU,
    ),
    "a trainer on the CPU, by a name": (
        "import lightning as L\nkind = 'cpu'\nL.Trainer(accelerator=kind)", CPU,
    ),
    "a trainer on the CPU, and another one": (
        "import lightning as L\nL.Trainer(accelerator='cpu')\nL.Trainer()", ACCELERATOR,
    ),
    "a trainer that the caller chooses for": (
        "import lightning as L\ndef f(kind='cpu'):\n  L.Trainer(accelerator=kind)", CHOSEN,
    ),
    "the CPU as a default of a command line": (
        "from lightning.pytorch.cli import LightningCLI\n"
        "LightningCLI(Net, trainer_defaults={'accelerator': 'cpu'})",
        CPU,
    ),
    "a step of ignite's without a device": (
        "from ignite.engine import create_supervised_trainer\n"
        "create_supervised_trainer(model, optimizer, loss)",
        UNSAID,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "device"), DEVICES.values(), ids=DEVICES)
def test_a_file_shows_where_its_program_runs(
    module_of: Callable[..., Module], text: str, device: Device
) -> None:
    assert device_of(module_of(text)) is device


TEXTS = {
    "a trainer": ("import lightning as L\nL.Trainer()", ACCELERATOR),
    "a trainer on the CPU": ("import lightning as L\nL.Trainer(accelerator = 'cpu')", CPU),
    "a trainer on the CPU, by a dict": ("import lightning\nTrainer(**{'gpus': 0})", CPU),
    "a module that a trainer runs": ("from lightning import LightningModule", CHOSEN),
    "a trainer of another package": ("from mine import Trainer\nTrainer()", UNSAID),
    "a framework for something else": ("import lightning\nseed_everything(1)", UNSAID),
}


@pytest.mark.parametrize(("text", "device"), TEXTS.values(), ids=TEXTS)
def test_so_does_the_text_of_one_that_is_not_parsed(text: str, device: Device) -> None:
    assert device_in_text(Words(text.encode()).match) is device


STARTS = {
    "a trainer": ("import lightning as L\nt = L.Trainer()\nt.fit(net)", ["t.fit(net)"]),
    "a class of the file's own": (
        "from trl import SFTTrainer\nclass Mine(SFTTrainer):\n  pass\nMine(net).train()",
        ["Mine(net).train()"],
    ),
    "what a trainer is called": (
        "from lightning import Callback\ndef f(cfg):\n  trainer = made(cfg)\n  trainer.fit(net)",
        ["trainer.fit(net)"],
    ),
    "one of two in a function": (
        "from transformers import Trainer\n"
        "t = Trainer(net)\n"
        "if resume:\n  t.train(resume_from_checkpoint=True)\nelse:\n  t.train()",
        ["t.train(resume_from_checkpoint=True)"],
    ),
    "a call that trains alone": (
        "from lightning.pytorch.cli import LightningCLI\nLightningCLI(Net)", ["LightningCLI(Net)"],
    ),
    "a model's mode": ("import lightning as L\nL.Trainer()\nnet.train()", []),
    "a trainer of nobody knows what": ("trainer.train()", []),
}  # fmt: skip


@pytest.mark.parametrize(("text", "starts"), STARTS.values(), ids=STARTS)
def test_a_framework_is_told_to_train(
    module_of: Callable[..., Module], text: str, starts: list[str]
) -> None:
    module = module_of(text)
    assert list(map(module.source, framework_starts(module))) == starts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Trainer(net, Arguments('out')).train()", True),
        ("Trainer(\n    net,\n    Arguments(),\n).train()", True),
        ("trainer = Trainer(net)\nnet.train()", False),
        ("LightningCLI(Net)", True),
    ],
)
def test_words_show_what_is_worth_parsing(text: str, found: bool) -> None:
    assert (re.search(START_WORDS, text) is not None) is found


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("loss.backward()", True),
        ("optimizer.step()", True),
        ("def training_step(self): pass", True),
        ("trainer.train()", True),
        ("self.trainer.fit(net)", True),
        ("net.train()", False),
        ("forest.fit(x, y)", False),
        ("# loss.backward()", False),
    ],
)
def test_a_file_shows_that_its_program_trains(
    module_of: Callable[..., Module], text: str, shown: bool
) -> None:
    assert trains(module_of(text)) is shown
