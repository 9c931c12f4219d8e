"""Whether a program uses an accelerator, and whether it trains: with each framework, in one file and
in two."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from torchlint.rule import Context, Triggers, calls

if TYPE_CHECKING:
    from tests.ruleapi.conftest import Found

FINDS = (calls("torch.f"),)


class Program(NamedTuple):
    """A program of a framework: a part with `torch.f()`, and the script that runs it.

    Args:
        cpu: arguments, for `{}` in the script, that keep it on the CPU.
        others: arguments that do not.
    """

    part: str
    script: str
    cpu: str = ""
    others: tuple[str, ...] = ()


PROGRAMS = {
    "Lightning": Program(
        "import lightning as L\n"
        "class Net(L.LightningModule):\n"
        "    def training_step(self, batch, batch_idx):\n"
        "        torch.f()\n",
        "import lightning as L\nL.Trainer({}).fit(Net())\n",
        'accelerator="cpu", max_epochs=3',
        ('accelerator="gpu"', 'accelerator="auto"', "gpus=1", "accelerator=args.a", "**given"),
    ),
    "Lightning under its older name": Program(
        "from pytorch_lightning import LightningModule\n"
        "class Net(LightningModule):\n"
        "    def training_step(self, batch, batch_idx):\n"
        "        torch.f()\n",
        "from pytorch_lightning import Trainer\n"
        "trainer = Trainer(\n    {}\n)\n"
        "trainer.fit(Net())\n",
        "gpus=0",
        ("gpus=args.gpus",),
    ),
    "Lightning's command line": Program(
        "from lightning.pytorch import LightningDataModule\n"
        "class Data(LightningDataModule):\n"
        "    def train_dataloader(self):\n"
        "        torch.f()\n",
        "from lightning.pytorch.cli import LightningCLI\nLightningCLI(Net, Data, {})\n",
    ),
    "Transformers": Program(
        "from transformers import Trainer\n"
        "class MyTrainer(Trainer):\n"
        "    def compute_loss(self, model, inputs):\n"
        "        torch.f()\n",
        "from transformers import TrainingArguments\n"
        'MyTrainer(model, TrainingArguments("out", {})).train()\n',
        "use_cpu=True",
        ("bf16=True", "no_cuda=not torch.cuda.is_available()"),
    ),
    "Transformers without a trainer of its own": Program(
        "def tokenize(samples):\n    torch.f()\n",
        "from transformers import Trainer, TrainingArguments\n"
        'arguments = TrainingArguments("out", {})\n'
        "trainer = Trainer(model, arguments, train_dataset=data.map(tokenize))\n"
        "trainer.train()\n",
        "no_cuda=True",
    ),
    "arguments of the command line for Transformers": Program(
        "def tokenize(samples):\n    torch.f()\n",
        "import transformers\n"
        "class Arguments(transformers.TrainingArguments):\n"
        "    cache_dir: str = None\n"
        "arguments = transformers.HfArgumentParser(Arguments).parse_args_into_dataclasses()\n"
        "trainer = transformers.Trainer(model, arguments, train_dataset=data.map(tokenize))\n"
        "trainer.train()\n",
    ),
    "TRL": Program(
        "def reward(completions):\n    torch.f()\n",
        "from trl import GRPOConfig, GRPOTrainer\n"
        'run = GRPOTrainer("model", reward, GRPOConfig("out", {}))\n'
        "run.train()\n",
        "use_cpu=True",
    ),
    "Accelerate": Program(
        "def step(model, batch, accelerator):\n"
        "    torch.f()\n"
        "    accelerator.backward(model(batch))\n",
        "from accelerate import Accelerator\n"
        "accelerator = Accelerator({})\n"
        "for batch in accelerator.prepare(loader):\n"
        "    step(model, batch, accelerator)\n",
        "cpu=True",
        ('mixed_precision="bf16"', "cpu=args.cpu"),
    ),
    "Fabric": Program(
        "def step(model, batch, fabric):\n    torch.f()\n    fabric.backward(model(batch))\n",
        "from lightning.fabric import Fabric\n"
        "fabric = Fabric({})\n"
        "for batch in fabric.setup_dataloaders(loader):\n"
        "    step(model, batch, fabric)\n",
        'accelerator="cpu"',
        ("devices=2", '"cuda"', 'accelerator="cuda" if args.gpu else "cpu"'),
    ),
    "Fabric as a base class": Program(
        "def step(lite, batch):\n    torch.f()\n    lite.backward(lite.model(batch))\n",
        "from pytorch_lightning.lite import LightningLite\n"
        "class Lite(LightningLite):\n"
        "    def run(self, loader):\n"
        "        for batch in self.setup_dataloaders(loader):\n"
        "            step(self, batch)\n"
        "Lite({}).run(loader)\n",
        'accelerator="cpu"',
        ('strategy="ddp", devices="auto"',),
    ),
    "ignite": Program(
        "def step(engine, batch):\n    torch.f()\n    engine.model(batch).backward()\n",
        "import ignite.distributed as idist\n"
        "from ignite.engine import Engine\n"
        "model = idist.auto_model(model)\n"
        "Engine(step).run(loader)\n",
    ),
    "ignite in several processes": Program(
        "def step(engine, batch):\n    torch.f()\n    engine.model(batch).backward()\n",
        "import ignite.distributed as idist\n"
        "from ignite.engine import Engine\n"
        "with idist.Parallel({}):\n    Engine(step).run(loader)\n",
        'backend="gloo"',
        ('"nccl"', "backend=args.backend"),
    ),
    "ignite's own step": Program(
        "def log(engine):\n    torch.f()\n",
        "from ignite.engine import Events, create_supervised_trainer\n"
        "trainer = create_supervised_trainer(model, optimizer, loss, device={})\n"
        "trainer.add_event_handler(Events.EPOCH_COMPLETED, log)\n"
        "trainer.run(loader)\n",
        '"cpu"',
        ("device", '"cuda"'),
    ),
    "MMEngine": Program(
        "from mmengine.model import BaseModel\n"
        "class Net(BaseModel):\n"
        "    def forward(self, images, labels, mode):\n"
        "        torch.f()\n",
        "from mmengine.runner import Runner\nrunner = Runner(model=Net())\nrunner.train()\n",
    ),
    "DeepSpeed": Program(
        "def step(engine, batch):\n    torch.f()\n    engine.backward(engine(batch))\n",
        "import deepspeed\n"
        "engine, *_ = deepspeed.initialize(model=model)\n"
        "for batch in loader:\n"
        "    step(engine, batch)\n",
    ),
    "torch alone": Program(
        "def step(model, batch):\n    torch.f()\n    model(batch).backward()\n",
        "for batch in loader:\n    step(model, batch.to({}))\n",
        'torch.device("cpu")',
        ("device", "args.gpu", "rank", '"cuda"'),
    ),
}


def both(program: Program, arguments: str) -> tuple[dict[str, str], dict[str, str]]:
    """A program in one file and in two, with arguments in its script."""
    part = f"import torch\n{program.part}"
    script = program.script.format(arguments or ("device" if "device={}" in program.script else ""))
    return (
        {"train.py": f"{part}{script}"},
        {"part.py": part, "train.py": f"import torch\nfrom part import *\n{script}"},
    )


BY_SUMMARY = pytest.mark.parametrize("summarizes", [False, True], ids=["by text", "by summary"])


@BY_SUMMARY
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_uses_an_accelerator_and_trains(
    found: Found, name: str, *, summarizes: bool
) -> None:
    program = PROGRAMS[name]
    for arguments in ("", *program.others):
        if not arguments and name == "torch alone":
            continue
        for files in both(program, arguments):
            contexts = (Context.ACCELERATOR, Context.TRAINS)
            reported = found(
                files, finds=FINDS, contexts=contexts, triggers=Triggers(summarizes=summarizes)
            )
            assert len(reported) == 1, (arguments, files)


@BY_SUMMARY
@pytest.mark.parametrize("name", [name for name, each in PROGRAMS.items() if each.cpu])
def test_a_program_that_is_kept_on_the_cpu_only_trains(
    found: Found, name: str, *, summarizes: bool
) -> None:
    for files in both(PROGRAMS[name], PROGRAMS[name].cpu):
        for context, count in ((Context.ACCELERATOR, 0), (Context.TRAINS, 1)):
            contexts = (context,)
            reported = found(
                files, finds=FINDS, contexts=contexts, triggers=Triggers(summarizes=summarizes)
            )
            assert len(reported) == count, (context, files)
