"""Let torch go over the elements of a tensor, not Python.

## What it does
Reports Python's `sum`, `max`, `min`, `any`, `all`, `sorted` and `set` of a tensor on each training
step, and loops over the elements of a tensor or the samples of a batch in which each round waits
for the GPU: by `.item()`, `torch.unique`, `nonzero`, a mask, or a slice that ends at an element of
a tensor. Also such loops in which each round adds to the same tensor by `index_add_` or
`scatter_add_`, which take all samples at once.

## Why it is slow
Python takes the elements one by one, and each of them is a tensor with kernels of its own, where
one kernel does for all. `any`, `all`, `max`, `min` and `sorted` also ask each element for its
truth, which waits for the GPU. Measured on a CPU for 4096 elements: 750 times as slow for `sum` and
`max`, 176 times for `all`.

## Example
```python
correct = 0
for images, labels in loader:
    images, labels = images.to(device), labels.to(device)
    output = model(images)
    criterion(output, labels).backward()
    optimizer.step()
    optimizer.zero_grad()
    correct += sum(output.argmax(dim=1) == labels)
```

## Use instead
```python
correct = 0
for images, labels in loader:
    images, labels = images.to(device), labels.to(device)
    output = model(images)
    criterion(output, labels).backward()
    optimizer.step()
    optimizer.zero_grad()
    correct += (output.argmax(dim=1) == labels).sum()
```
A loop over the samples can often become one operation with a mask:
`torch.arange(longest, device=device) < lengths[:, None]` marks the tokens of all sentences at once.
If not, read what it needs for all samples before it, by one `.tolist()`.

## When it is silent
For lists of tensors (`sum(losses)`); for what a model or an unknown function returns, since that
may be a tuple; for `max(a, b)`; in evaluation; under `if step % 100 == 0` and similar conditions;
in tests and documentation; for other loops that compute without a wait, such as those over time
steps, and for those that end early. Loops are hints, since not all can become one operation.

## Fix safety
`any` and `all` become `bool(t.any())` and `bool(t.all())`: **safe**. `sum` of a comparison of which
a single number is made, as in `sum(a == b).item()`, becomes `(a == b).sum()`: **safe**, since whole
numbers are exact. Other sums are **unsafe**: of a matrix, Python adds up the rows, and floats are
added in another order. So are `max` and `min`: torch returns NaN if there is one, Python may not.
There is no fix for `sorted` and `set`, which return a list and a set, and for loops.

## How verify confirms it
It measures the fix, on a CPU too. Losses are bitwise equal if the loop only counts.

## References
- PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization"
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.rule import Applicability, Context, Module, Reported, Rule, Tier, because, calls

from ._element_builtins import BUILTINS, by_torch, message, takes_a_tensor
from ._samples import adds_to, goes_over_samples, waits_for

rule = Rule(
    code="TL210",
    summary="Python goes over a tensor element by element on every training step",
    fix=(Applicability.SAFE, Applicability.UNSAFE),
    finds=(calls(*(f"builtins.{each}" for each in BUILTINS), where=(takes_a_tensor,)),),
    message=message,
    change=by_torch,
    contexts=(Context.HOT,),
    triggers_on_demand=(rf"\b(?:{'|'.join(BUILTINS)})\(|\bfor\b",),
    may_change="floats are added in another order, and NaN is found by `max` and `min`",
)

_WAITS = (
    "Each round of this loop waits for the GPU on every step; compute with the whole tensor, or "
    "read what the loop needs by one `.tolist()` before it."
)
_ADDS = (
    "Each round of this loop adds one sample by a kernel of its own on every step; join the "
    "indices and the numbers of all samples, and add once."
)


@rule.on(cst.For, cst.ListComp, cst.GeneratorExp)
def takes_each_sample_alone(
    loop: cst.For | cst.ListComp | cst.GeneratorExp, module: Module
) -> Iterable[Reported]:
    head, body = (loop, loop.body) if isinstance(loop, cst.For) else (loop.for_in, loop.elt)
    if not goes_over_samples(head.iter, module):
        return ()
    for node in module.within(loop):
        if isinstance(node, cst.Break | cst.Return):
            return because((), "the loop may end before the last sample, by {}", node)
    operand, message = waits_for(body, module), _WAITS
    if operand is None:
        operand, message = adds_to(body, module), _ADDS
    if operand is None:
        return because((), "no round is known to wait for the GPU, or to add to a tensor on it")
    for above in module.ancestors(loop):
        if isinstance(above, cst.For) and goes_over_samples(above.iter, module):
            return because((), "the loop around it goes over samples too: ask about {}", above)
    tier = because(Tier.HINT, "a round may need what the one before has computed")
    return rule.report(module, loop, message, tier=tier, withheld=_WITHHELD, operand=operand)


_WITHHELD = "whether one operation can do all rounds at once is not known"
