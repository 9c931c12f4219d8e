"""Accelerate: https://huggingface.co/docs/accelerate/package_reference/accelerator"""

from torchlint.analysis.frameworks.adapter import Framework, Keeps, Runner, Setting

ACCELERATE = Framework(
    shown_by=(r"\bAccelerator\(",),
    owns=frozenset({"mixed precision", "pinned memory", "sampler"}),
    packages=("accelerate.",),
    runners=(
        Runner(
            packages=("accelerate",),
            decides=r"Accelerator|PartialState",
            keeps=(Keeps("cpu", True),),
        ),
    ),
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
