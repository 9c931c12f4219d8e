"""What is asked of all training frameworks at once."""

from __future__ import annotations

import re

import pytest

from torchlint.analysis.frameworks import frameworks


@pytest.mark.parametrize(
    ("setting", "name", "keyword"),
    [
        ("strategy", "lightning.pytorch.Trainer", "strategy"),
        ("strategy", "lightning.fabric.Fabric", "strategy"),
        ("strategy", "transformers.Trainer", None),
        ("loader workers", "transformers.Seq2SeqTrainingArguments", "dataloader_num_workers"),
        ("loader workers", "trl.SFTConfig", "dataloader_num_workers"),
        ("loader workers", "trl.trainer.sft_config.SFTConfig", "dataloader_num_workers"),
        ("loader workers", "trl.ModelConfig", None),
        ("loader workers", "house.SFTConfig", None),
        ("loader workers", "lightning.pytorch.Trainer", None),
        ("determinism", "lightning.pytorch.Trainer", "deterministic"),
        ("determinism", "transformers.TrainingArguments", "full_determinism"),
        ("determinism", "accelerate.utils.set_seed", "deterministic"),
        ("determinism", "lightning.fabric.Fabric", None),
    ],
)
def test_an_argument_means_a_setting_only_in_the_framework_s_own_class(
    setting: str, name: str, keyword: str | None
) -> None:
    found = frameworks.keywords(setting, [name])
    assert keyword in found if keyword else not found


@pytest.mark.parametrize(
    ("text", "owned"),
    [
        ("class Net(LightningModule):\n", True),
        ("import os\n  from fastai.vision import *\n", True),
        ("import fastaiplus\n", False),
        ("from torch import nn\n", False),
    ],
)
def test_a_file_shows_that_its_framework_owns_a_setting(text: str, owned: bool) -> None:
    assert bool(re.search(frameworks.owned("cudnn.benchmark"), text)) is owned


@pytest.mark.parametrize(
    ("method", "bases", "hook"),
    [
        ("training_step", [], True),
        ("compute_loss", ["trl.SFTTrainer"], True),
        ("compute_loss", [":Trainer"], False),
        ("on_step_end", ["transformers.TrainerCallback"], True),
        ("on_step_end", ["app.MyCallback"], True),
        ("on_step_end", ["app.Watcher"], False),
        ("after_epoch", ["app.HookBase"], False),
    ],
)
def test_a_step_hook_belongs_to_a_base_class(method: str, bases: list[str], hook: bool) -> None:
    assert frameworks.is_step_hook(method, bases) is hook


def test_only_a_framework_is_known_to_pass_tensors_to_its_hooks() -> None:
    assert frameworks.is_passed_tensors("on_train_batch_end", ["lightning.pytorch.Callback"])
    assert not frameworks.is_passed_tensors("on_train_batch_end", ["app.MyCallback"])


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        ("dataloader_num_workers: 4", True),
        ("args = TrainingArguments('out')", True),
        ("args = trl.DPOConfig('out')", True),
        ("parser = HfArgumentParser(TrainingArguments)", False),
        ("config = ModelConfig()", False),
    ],
)
def test_a_file_may_leave_a_setting_at_its_default(text: str, sets: bool) -> None:
    assert bool(re.search(frameworks.setting_words("loader workers"), text)) is sets
