"""Names that people write for the flags of cuDNN, and what they mean."""

from typing import Final

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.rule import Module

CUDNN: Final = "torch.backends.cudnn"
DEFAULTS: Final = {"benchmark": False, "deterministic": False, "enabled": True, "allow_tf32": True}
_MISSPELLED: Final = {
    "benchmark": "benchmarks benchmarking benchmark_mode Benchmark benchmar benchmak bechmark "
    "bencmark benckmark benchamrk benchmarck benmark enable_benchmark fastest",
    "deterministic": "Deterministic deterministics deterministic_mode determinism determinstic "
    "determistic deterministc determinitic determinisitc determinsitic deterministric",
    "enabled": "Enabled enable enbled enabeld is_enabled",
    "allow_tf32": "allow_TF32 allow_tf_32 allow_ft32 tf32 enable_tf32",
}
_NOWHERE: Final = ("backends", "backends.cuda", "backend.cudnn", "cuda", "cuda.cudnn", "cudnn")
MEANT: Final = {
    **{f"{CUDNN}.{name}": flag for flag, names in _MISSPELLED.items() for name in names.split()},
    **{f"torch.{place}.{flag}": flag for place in _NOWHERE for flag in list(_MISSPELLED)[:2]},
}
"""The flag that each wrong name stands for."""


def wrong_name(target: cst.BaseExpression, module: Module) -> str:
    """The dotted name of no flag that an expression stands for."""
    return next((name for name in module.resolve(target) if name in MEANT), "")


def spelled_right(target: cst.BaseExpression, module: Module) -> str:
    """The expression with the name of the flag; empty if the module with it has no name there."""
    wrong = wrong_name(target, module).split(".")
    right = [*CUDNN.split("."), MEANT[".".join(wrong)]]
    pairs = zip(wrong, right, strict=False)
    shared = next(index for index, (one, other) in enumerate(pairs) if one != other)
    kept = dotted_text(target).split(".")[: shared - len(wrong)]
    return ".".join([*kept, *right[shared:]]) if kept else ""


def names_set(module: Module) -> frozenset[str]:
    """The dotted names of all that a file assigns to."""
    targets = (each.target for assign in module.nodes(cst.Assign) for each in assign.targets)
    return frozenset(name for target in targets for name in module.resolve(target))
