"""Take subnormal numbers as zero.

Numbers below 1.2e-38 have fewer digits than others, and many processors compute with them ten to a
hundred times as slowly. Weights that decay and activations that vanish end there. Which processors
are slow with which operations is not known beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.rule import STEPPING, Bench, Experiment, Module, Proposal, edits

experiment = Experiment(
    "subnormal numbers are zero",
    speeds=STEPPING,
    may_change="numbers below 1.2e-38 are zero",
    devices=("cpu",),
    seldom=True,
)


@experiment.proposes
def _propose(module: Module, _bench: Bench) -> Iterator[Proposal]:
    torch = module.names.imported_as("torch", module.tree)
    if torch is not None and module.loops.anchors and "set_flush_denormal" not in module.text:
        code = f"{torch}.set_flush_denormal(True)"
        yield Proposal("", f"Call `{code}`", [edits.at_start(module, code)])
