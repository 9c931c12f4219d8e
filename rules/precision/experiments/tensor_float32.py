"""Multiply float32 matrices in TF32.

GPUs since Ampere multiply matrices of float32 numbers several times as fast if they may round the
factors to ten binary digits behind the point. Convolutions do so by default, products of matrices
only if they are asked to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlint.rule import COMPUTING, Bench, Experiment, Module, Proposal, edits

_CHOSEN = re.compile(r"set_float32_matmul_precision|allow_tf32|fp32_precision")

experiment = Experiment(
    "float32 matrices are multiplied in TF32",
    speeds=COMPUTING,
    may_change="factors of products are rounded to TF32",
    devices=("cuda",),
    since=(1, 12),
    covers=("TL502",),
)


@experiment.proposes
def _propose(module: Module, _bench: Bench) -> Iterator[Proposal]:
    torch = module.names.imported_as("torch", module.tree)
    if torch is not None and module.loops.anchors and not _CHOSEN.search(module.text):
        code = f'{torch}.set_float32_matmul_precision("high")'
        yield Proposal("", f"Call `{code}`", [edits.at_start(module, code)])
