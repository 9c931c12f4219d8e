"""Which files show that a framework takes the steps of their optimizers."""

from __future__ import annotations

import re

import pytest

from torchlint.analysis.frameworks import frameworks


@pytest.mark.parametrize(
    ("text", "owned"),
    [
        ("import deepspeed\n", True),
        ("from torch.distributed.fsdp import fully_shard\n", True),
        ("model = FSDP(model)\n", True),
        ("class Net(LightningModule):\n", True),
        ("from transformers import Trainer, TrainingArguments\n", True),
        ("arguments = Seq2SeqTrainingArguments()\n", True),
        ("from trl import SFTTrainer\n", True),
        ("class Trainer:\n", False),
        ("from accelerate import Accelerator\n", False),
        ("from torch.nn.parallel import DistributedDataParallel\n", False),
    ],
)
def test_a_framework_takes_the_steps(text: str, owned: bool) -> None:
    assert bool(re.search(frameworks.owned("optimizer step"), text)) is owned
