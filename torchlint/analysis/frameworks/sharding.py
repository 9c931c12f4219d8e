"""DeepSpeed, FSDP and tensor parallelism, which keep parameters and their optimizer in pieces.

https://deepspeed.readthedocs.io/en/latest/optimizers.html
https://docs.pytorch.org/docs/stable/fsdp.html
"""

from torchlint.analysis.frameworks.adapter import Framework, Runner

SHARDING = Framework(
    shown_by=(
        r"\bdeepspeed\b",
        r"\b(?:FSDP|FullyShardedDataParallel|fully_shard|parallelize_module|DTensor)\b",
    ),
    owns=frozenset({"optimizer step"}),
    runners=(Runner(packages=("deepspeed",), decides="initialize"),),
)
