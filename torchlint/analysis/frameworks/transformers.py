"""Transformers, and TRL, whose trainers inherit from its `Trainer`.

https://huggingface.co/docs/transformers/main_classes/trainer
"""

from torchlint.analysis.frameworks.adapter import Framework, Keeps, Runner, Setting

_CONFIGS = r"(?:SFT|DPO|KTO|ORPO|CPO|BCO|GKD|PRM|Reward)Config"
"""Of the trainers of TRL that read a dataset; others wait for texts that a model generates."""
_GENERATING = r"(?:GRPO|PPO|RLOO|OnlineDPO|XPO|NashMD)"

TRANSFORMERS = Framework(
    shown_by=(
        r"TrainingArguments\b|\b(?:CPO|DPO|GRPO|KTO|ORPO|PPO|Reward|RLOO|SFT)(?:Config|Trainer)\b",
    ),
    owns=frozenset({"mixed precision", "optimizer step", "pinned memory", "sampler"}),
    packages=("transformers.",),
    runners=(
        Runner(
            packages=("transformers", "trl", "sentence_transformers"),
            decides=rf"\w*TrainingArguments|{_CONFIGS}|{_GENERATING}Config",
            belongs=r"\w*Trainer|\w*TrainerCallback",
            keeps=(Keeps("use_cpu", True), Keeps("no_cuda", True)),
            starts=frozenset({"train"}),
        ),
    ),
    module_classes=("PreTrainedModel",),
    step_methods=("compute_loss", "get_batch_loss_metrics"),
    step_hooks=(
        # The second one is what `compute_loss` of TRL's trainers for preferences calls.
        (r"^[^.]*\..*Trainer$", frozenset({"compute_loss", "get_batch_loss_metrics"})),
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
