"""What a file shows of its program: that it runs on an accelerator, and what trains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint.analysis.training.program import accelerated, accelerators, trainers

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module

L = "import lightning as L\n"
HF = "from transformers import Trainer, TrainingArguments\n"
CASES = [
    ("x.cuda()", True),
    ("x.to(device)", True),
    ("x.to(self.dev)", True),
    ("x.to(gpu_ids[0])", True),
    ("device = 'cuda:0'", True),
    ("import torch\ntorch.cuda.synchronize()", True),
    ("import torch\ntorch.accelerator.current_accelerator()", True),
    ("x.to('cpu')", False),
    ("import torch\ndevice = torch.device('cpu')\nx.to(device)", False),
    ("import torch\ntorch.cuda.is_available()", False),
    ("import torch\ntorch.cuda.manual_seed(1)", False),
    ("x.to(dtype)", False),
    ("x.to()", False),
    ("from accelerate import Accelerator\nAccelerator()", True),
    ("from accelerate import Accelerator\nAccelerator(cpu=args.cpu)", True),
    ("from accelerate import Accelerator\nAccelerator(cpu=True)", False),
    (f"{L}L.Fabric()", True),
    (f"{L}L.Fabric(accelerator='cpu')", False),
    (f"{L}L.Trainer()", True),
    (f"{L}L.Trainer(accelerator='auto')", True),
    (f"{L}L.Trainer(accelerator='gpu')", True),
    (f"{L}L.Trainer(gpus=1)", True),
    (f"{L}L.Trainer(**settings)", True),
    (f"{L}L.Trainer(accelerator='cpu')", False),
    (f"{L}L.Trainer(gpus=0)", False),
    ("from pytorch_lightning import Trainer\nTrainer.from_argparse_args(args)", True),
    ("from lightning.pytorch.cli import LightningCLI\nLightningCLI(Net)", True),
    (f"{L}class Net(L.LightningModule): pass", True),
    (f"{L}class Net(L.LightningModule): pass\nL.Trainer(accelerator='cpu')", False),
    (f"{HF}TrainingArguments('out', bf16=True)", True),
    (f"{HF}TrainingArguments('out', use_cpu=True)\nTrainer(model, args)", False),
    (f"{HF}TrainingArguments('out', no_cuda=True)", False),
    (f"{HF}class Mine(Trainer): pass", True),
    ("from trl import SFTConfig\nSFTConfig()", True),
    ("import ignite.distributed as idist\ndevice = idist.device()", True),
    ("from mmengine.runner import Runner\nRunner.from_cfg(cfg)", True),
    ("import deepspeed\ndeepspeed.initialize(model=model)", True),
    ("class Trainer: pass\nTrainer()", False),
    ("from mine import Trainer\nTrainer()", False),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text for text, _ in CASES])
def test_it_shows_that_it_runs_on_an_accelerator(
    module_of: Callable[..., Module], text: str, expected: bool
) -> None:
    assert accelerated(accelerators(module_of(text))) is expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ((f"{L}class Net(L.LightningModule): pass", f"{L}L.Trainer()"), True),
        ((f"{L}class Net(L.LightningModule): pass", f"{L}L.Trainer(accelerator='cpu')"), False),
        ((f"{HF}class Mine(Trainer): pass", f"{HF}TrainingArguments(use_cpu=True)"), False),
        (("x.cuda()", f"{L}L.Trainer(accelerator='cpu')"), True),
        ((f"{HF}TrainingArguments()", f"{L}L.Trainer(accelerator='cpu')"), True),
        (("x = 1", "y = 2"), False),
    ],
)
def test_the_files_of_a_program_show_it_together(
    module_of: Callable[..., Module], files: tuple[str, ...], expected: bool
) -> None:
    shown = frozenset[str]().union(*(accelerators(module_of(text)) for text in files))
    assert accelerated(shown) is expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"{L}L.Trainer(max_epochs=3).fit(net)", ["L.Trainer"]),
        (f"{HF}args = TrainingArguments()\nTrainer(net, args)", ["TrainingArguments", "Trainer"]),
        (f"{HF}class Mine(Trainer): pass\nMine(net)", ["Mine"]),
        (
            "from ignite.engine import create_supervised_trainer as make\nmake(net, optimizer)",
            ["make"],
        ),
        ("from accelerate import Accelerator\nAccelerator()", []),
        (f"{L}L.Fabric()\nL.LightningModule()", []),
    ],
)
def test_calls_that_make_what_trains_are_found(
    module_of: Callable[..., Module], text: str, names: list[str]
) -> None:
    module = module_of(text)
    assert [module.source(call.func) for call in trainers(module)] == names
