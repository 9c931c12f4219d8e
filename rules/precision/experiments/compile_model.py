"""Compile the model.

`torch.compile` merges operations that read and write memory one after the other, and leaves out
most of Python and of torch's dispatcher. What that saves depends on the model: nothing for a few
large products, most for many small operations. The first steps take seconds to minutes, again with
each new shape of a batch, and no search can see how long a training has to be for that to pay off:
the answer says what compiling took.

`model.compile()` compiles in place, so that the names in a checkpoint stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlint.analysis.training.step_sites import model_sites
from torchlint.rule import COMPUTING, Bench, Experiment, Module, Proposal, edits

_COMPILES = re.compile(r"(?<!\bre)\.compile\b")

experiment = Experiment(
    "torch compiles the model",
    speeds=COMPUTING,
    may_change="operations that are merged round in another way",
    since=(2, 2),
    compiles=True,
)


@experiment.proposes
def _propose(module: Module, bench: Bench) -> Iterator[Proposal]:
    if _COMPILES.search(module.text):
        return
    ways = {"default": ""}
    if bench.device == "cuda":
        ways["reduce-overhead"] = 'mode="reduce-overhead"'
    ways["max-autotune-no-cudagraphs"] = 'mode="max-autotune-no-cudagraphs"'
    for option, argument in ways.items():
        sites = list(model_sites(module))
        changes = [
            edits.insert_before(module, site.statement, f"{site.name}.compile({argument})")
            for site in sites
        ]
        named = sites[0].name if sites else ""
        yield Proposal(option, f"Call `{named}.compile({argument})`", changes)
