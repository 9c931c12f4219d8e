"""Accelerate: https://huggingface.co/docs/accelerate/package_reference/accelerator"""

from torchlint.analysis.frameworks.adapter import Framework, Setting

ACCELERATE = Framework(
    accelerator_words=(r"Accelerator\(",),
    shown_by=(r"\bAccelerator\(",),
    owns=frozenset({"mixed precision", "pinned memory", "sampler"}),
    packages=("accelerate.",),
    accelerator_calls=("accelerate.Accelerator",),
    barriers=frozenset({"wait_for_everyone"}),
    unwraps=frozenset({"unwrap_model"}),
    prepares=frozenset({"prepare", "prepare_data_loader"}),
    settings=(
        Setting(
            "unused parameters", r"DistributedDataParallelKwargs$", ("find_unused_parameters",)
        ),
        Setting("determinism", r"^accelerate\.utils\.set_seed$", ("deterministic",)),
    ),
)
