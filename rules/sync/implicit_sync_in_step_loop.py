"""Let torch decide on the device, instead of asking a tensor for its value on every step.

## What it does
Reports a decision that Python takes by a tensor on the device, on each training step:
`if mask.any():`, `if loss > 10:`, `assert (x > 0).all()`, `bool(tensor)`, `max(mask.sum(), 1)`,
`torch.equal(x, y)`, `not x.any()`. Also what must be a number of the host, and is a tensor on the
device: the bound of a slice (`x[:, : lengths.max()]`), a size (`torch.arange(lengths.max())`,
`range(n)`), `alpha=`, what `math.sqrt` takes, the lengths of a CTC loss.

## Why it is slow
`if` needs a Python bool, so the host waits until the GPU has computed the condition, as for
`.item()`, but nothing in the line says so. Each such place empties the queue of kernels that the
host had run ahead with; and `torch.compile` cannot continue across it, so the graph breaks there.
In a loop over the samples of a batch the host waits once for each, which the message then says.

## Example
```python
for images, labels in loader:
    images, labels = images.to(device), labels.to(device)
    loss = criterion(model(images), labels)
    if loss > 10:
        loss = loss / 10
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```

## Use instead
```python
for images, labels in loader:
    images, labels = images.to(device), labels.to(device)
    loss = criterion(model(images), labels)
    loss = torch.where(loss > 10, loss / 10, loss)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```

A size is known before the batch is moved: take `int(lengths.max())` of the lengths in host memory,
or the shape of what was padded to it.

## When it is silent
In tests and documentation; in evaluation; under `if step % 100 == 0` and similar conditions; where
the decision ends a loop, as in early stopping; for what the host knows anyway (`x is None`,
`x.shape[0] > 1`, `len(x)`); for the sizes that a batch or a model tells (`batch.length`), since
these may be numbers; for `mask is None or mask.all()` where no call is known to give a mask. The
condition of a `while` is a hint, as is `longest = lengths.max()` that is computed only if
`longest` is not given. A check for numbers that are not finite, such as
`if torch.isnan(loss):` and `math.isfinite(loss)`, is a hint, also where it ends the loop: it costs
the same, but somebody wants it on every step.

## Fix safety
There is no fix: whether `torch.where`, a mask or a rarer check fits depends on the branches.

## How verify confirms it
There is no fix to measure. Give it your own change, on a GPU: `torchlint verify train.py --with
change.patch`.

## References
- PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization", which lists "python
  control flow which depends on results of CUDA tensors"
- `torch.cuda.set_sync_debug_mode("warn")` warns about each such place at run time
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.steps.guards import asks_for_identity, looks_for_broken
from torchlint.analysis.training.consumers import ends_a_loop
from torchlint.analysis.training.truths import operand_of_truth, truths
from torchlint.analysis.training.whereabouts import off_device
from torchlint.rule import Context, Module, Reported, Rule, Tier, Triggers, because

from ._sample_loops import rounds
from ._tensors_as_numbers import Taken, read_as_a_number, taken_for_numbers

rule = Rule(
    code="TL204",
    summary="Python needs the value of a device tensor on every training step",
    contexts=(Context.HOT, Context.ACCELERATOR),
    triggers=Triggers(
        on_demand=(
            r"\.(?:any|all|sum|max|min|mean|norm|isnan|isinf|isfinite|equal|allclose)\(|\bbool\("
            r"|(?<![.\w])(?:max|min|range)\(|\.(?:arange|zeros|ones|empty|full|eye|one_hot)\("
            r"|\balpha=|\bmath\.|ctc_?[Ll]oss|register_buffer|\[[^\]\n]{0,80}:\s{0,4}\w",
        )
    ),
    needs_gpu=True,
)

_MESSAGE = (
    "Python needs this decision, so the host waits for the GPU on every step; let torch decide "
    "(`torch.where`, `.clamp()`, a mask), or decide every few steps."
)
_FINITE = (
    "This check makes the host wait for the GPU on every step; check every few steps, or let the "
    "gradient scaler skip such steps."
)
_WANTED = "it looks for numbers that are not finite, which may be worth a wait on every step"
_ENDS = "the loop cannot end without the host knowing"
_PERHAPS = "nothing shows that it is read each time, and that it is on the device"
_TAKEN = {
    Taken.SIZE: "This is a tensor of the device, and a size or a bound must be known by the host, "
    "which waits for the GPU on every step; take it from a shape, or from what the loader knows "
    "before the batch is moved.",
    Taken.FACTOR: "Torch reads `alpha` as a number of the host, which waits for the GPU on every "
    "step; multiply by the tensor instead.",
    Taken.MATHS: "A function of `math` reads the tensor, so the host waits for the GPU on every "
    "step; use the same function of torch.",
    Taken.LENGTHS: "The CTC loss reads its lengths on the host, which waits for the GPU on every "
    "step; give it the lengths as they are before they are moved.",
}


@rule.on(
    cst.If, cst.IfExp, cst.Assert, cst.While, cst.CompIf, cst.Call,
    cst.BooleanOperation, cst.UnaryOperation,
)  # fmt: skip
def decides_by_a_tensor_each_step(node: cst.CSTNode, module: Module) -> Iterable[Reported]:
    asked = truths(node, module)
    for truth in [each for each in asked if not asks_for_identity(each)] or asked:
        finite = looks_for_broken(truth)
        operand = operand_of_truth(truth, module)
        if operand is None or (ends_a_loop(truth, module) and not finite):
            continue
        tier = because(Tier.HINT, _WANTED) if finite else Tier.DEFAULT
        if isinstance(node, cst.While):
            tier = because(Tier.HINT, _ENDS)
        message = (_FINITE if finite else _MESSAGE) + rounds(node, module)
        yield from rule.report(module, truth, message, tier=tier, operand=operand)


@rule.on(cst.Slice, cst.Index, cst.Call)
def takes_a_tensor_for_a_number(node: cst.CSTNode, module: Module) -> Iterable[Reported]:
    taken = list(taken_for_numbers(node, module))
    if not taken:
        return ()
    for number, why in taken:
        for read in read_as_a_number(number, module):
            tier = Tier.DEFAULT if read.sure else because(Tier.HINT, _PERHAPS)
            message = _TAKEN[why] + rounds(read.node, module)
            place = node if why is Taken.LENGTHS else read.node
            return rule.report(module, place, message, tier=tier, operand=read.operand)
    return off_device((), taken[0][0], module)
