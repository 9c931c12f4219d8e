"""Transformers, and TRL, whose trainers inherit from its `Trainer`.

https://huggingface.co/docs/transformers/main_classes/trainer
"""

from torchlint.analysis.frameworks.adapter import Framework, Runner, Setting

_CONFIGS = r"(?:SFT|DPO|KTO|ORPO|CPO|BCO|GKD|PRM|Reward)Config"
"""Of the trainers of TRL that read a dataset; others wait for texts that a model generates."""
_TRAINERS = "CPO|DPO|GRPO|KTO|ORPO|PPO|Reward|RLOO|SFT"

TRANSFORMERS = Framework(
    shown_by=(rf"TrainingArguments\b|\b(?:{_TRAINERS})(?:Config|Trainer)\b",),
    owns=frozenset({"mixed precision", "optimizer step", "pinned memory", "sampler"}),
    packages=("transformers.",),
    runners=(
        Runner(
            r"^(?:transformers|trl)\.(?:.*\.)?\w*(?:Trainer|TrainingArguments)$|^trl\.(?:.*\.)?\w+Config$",
            rf"\bTrainer\b|TrainingArguments\b|\b(?:{_TRAINERS})(?:Config|Trainer)\b",
            trains=True,
            host=(("use_cpu", (True,)), ("no_cuda", (True,))),
        ),
    ),
    module_classes=("PreTrainedModel",),
    step_methods=("compute_loss",),
    step_hooks=(
        (r"^[^.]*\..*Trainer$", frozenset({"compute_loss"})),
        (r"(?:^|\.)(?:Trainer)?Callback$", frozenset({"on_step_end"})),
    ),
    evaluation_hooks=frozenset({"prediction_step", "evaluation_loop"}),
    module_parameters=frozenset({"model"}),
    host_parameters=frozenset({"args", "state", "control", "return_outputs"}),
    settings=(
        Setting(
            "loader workers",
            rf"TrainingArguments$|^trl\..*\b{_CONFIGS}$",
            ("dataloader_num_workers",),
            rf"TrainingArguments\(|{_CONFIGS}\(",
        ),
        Setting("determinism", r"TrainingArguments$", ("full_determinism",)),
        Setting("4-bit weights", r"BitsAndBytesConfig$", ("load_in_4bit",)),
        Setting("type that 4-bit computes in", r"BitsAndBytesConfig$", ("bnb_4bit_compute_dtype",)),
    ),
)
