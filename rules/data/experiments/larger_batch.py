"""Take more samples in a step.

A step has costs that do not grow with its samples: Python, the launches of kernels, the update of
the parameters. In larger batches each sample costs less of them, until the device is busy. The
learning rate stays as it is, so the training becomes another one: what it learns in an epoch, and
the learning rate that suits it, have to be found out. So this is measured and never applied.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.loading.loaders import training_loaders
from torchlint.rule import STEPPING, Bench, Experiment, Module, Proposal, edits

_SIZE = 1
_TIMES = (2, 4)

experiment = Experiment(
    "a step takes more samples",
    speeds=STEPPING,
    may_change="the training becomes another one",
)


def _number(size: cst.BaseExpression | None, module: Module) -> cst.Integer | None:
    """The literal that says how many samples a batch has: there, or where a name gets it."""
    if isinstance(size, cst.Integer):
        return size
    if not isinstance(size, cst.Name):
        return None
    bound = module.names.lookup(size)
    value = bound[0].value if len(bound) == 1 else None
    return value if isinstance(value, cst.Integer) else None


@experiment.proposes
def _propose(module: Module, _bench: Bench) -> Iterator[Proposal]:
    numbers: dict[cst.Integer, int] = {}
    for call in training_loaders(module):
        number = _number(module.argument(call, "batch_size", _SIZE), module)
        if number is None:
            return
        numbers[number] = number.evaluated_value
    for times in _TIMES:
        changes = [edits.replace(module, each, str(times * n)) for each, n in numbers.items()]
        message = ", ".join(dict.fromkeys(str(times * n) for n in numbers.values()))
        yield Proposal(f"x{times}", f"Take batches of {message} samples", changes, samples=times)
