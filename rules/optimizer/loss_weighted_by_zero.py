"""Leave a loss out while its weight is 0.

## What it does
Reports a part of the loss that is multiplied by a weight which is 0 before or after a certain step
or epoch, but is computed on each step.

## Why it is slow
A product with 0 does not stop autograd: the part is computed, keeps its activations, and the
backward pass goes through all of it to add zeros to the gradients. For an adversarial loss that is
a forward and a backward pass of the discriminator, for a rendered map a pass over the whole image.

## Example
```python
for step, (images, _) in enumerate(loader):
    weight = 0.1 if step > 7000 else 0.0
    restored = model(images.to(device))
    loss = criterion(restored, images) + weight * perceptual(restored, images)
    loss.backward()
    optimizer.step()
```

## Use instead
```python
for step, (images, _) in enumerate(loader):
    restored = model(images.to(device))
    loss = criterion(restored, images)
    if step > 7000:
        loss = loss + 0.1 * perceptual(restored, images)
    loss.backward()
    optimizer.step()
```

## When it is silent
Where a condition around the product asks for the weight, or for the step or epoch; if the condition
that makes the weight 0 counts no steps or epochs; outside of training steps, and in tests.
It is a hint: how much of the part is computed for other purposes is not known.

## Fix safety
There is no fix: what the part computes may also be logged or used below. Without it, parameters
that only it reaches have no gradient, where they had one of zeros: an optimizer with momentum or
weight decay then skips them, and `DistributedDataParallel` needs `find_unused_parameters=True`.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against changed.py` compares with your own
version.

## References
- PyTorch documentation, "Autograd mechanics"
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.names import Binding, dotted_text
from torchlint.analysis.steps.guards import compares_progress, words
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Context, Module, Related, Reported, Rule, Tier, because

_ZERO = r"0(?:\.0?)?"
_IS_ZERO = rf"\n[ \t]{{0,40}}\w{{1,40}} = {_ZERO}"
_TENSOR = Kind.DEVICE | Kind.TENSOR | Kind.LIKELY
_REDUCES = frozenset({"mean", "norm", "sum"})
_DELAYS = "adopt_weight"
"""The function of many VQGANs that returns 0 up to a threshold."""

rule = Rule(
    code="TL409",
    summary="a part of the loss is computed while its weight is 0",
    tier=Tier.HINT,
    contexts=(Context.HOT,),
    triggers=(
        rf"[<>][^\n]{{0,80}}\belse {_ZERO}|= {_ZERO} if\b|\b{_DELAYS}\(|:{_IS_ZERO}|"
        rf"{_IS_ZERO}\n[ \t]{{0,40}}if\b",
        r"[lL]oss",
    ),
)
_MESSAGE = (
    "`{}` is 0 in a part of the training, but this is computed then, too, and the backward pass "
    "goes through it; leave it out there."
)


@rule.on(cst.BinaryOperation)
def is_weighted_by_zero(product: cst.BinaryOperation, module: Module) -> Iterable[Reported]:
    parent = module.parent(product)
    if not _is_product(product) or _is_product(parent):
        return ()
    factors = _factors(product)
    weight = next((each for each in factors if _is_zero_at_times(each, module)), None)
    if weight is None:
        return because((), "no factor of {:code} is known to be 0 for a while", product)
    if not any(_is_tensor(each, module) for each in factors if each is not weight):
        return because((), "nothing shows that {:code} has a graph", product)
    name = dotted_text(weight)
    for around in module.conditions(product):
        test = None if isinstance(around, cst.ExceptHandler) else around.test
        if test is not None and (compares_progress(test) or name in words(test)):
            return because((), "{:line} may leave it out while the weight is 0", around)
    set_at = [each.node for each in module.flow.reaching(weight)][:1]
    related = tuple(
        Related(module.path, module.span(each)[0], "the weight is set here") for each in set_at
    )
    withheld = "the part of the loss may be used elsewhere"
    return rule.report(
        module, product, _MESSAGE.format(name or "the weight"), withheld=withheld, related=related
    )


def _is_product(node: cst.CSTNode | None) -> bool:
    return isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply)


def _factors(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    if isinstance(node, cst.BinaryOperation) and _is_product(node):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def _is_tensor(factor: cst.BaseExpression, module: Module) -> bool:
    called = factor.func if isinstance(factor, cst.Call) else factor
    if isinstance(factor, cst.Call) and method_name(factor) in _REDUCES:
        return True
    return module.value(factor).has(_TENSOR) or "loss" in dotted_text(called).lower()


def _is_zero_at_times(factor: cst.BaseExpression, module: Module) -> bool:
    """Whether a weight is 0 before or after some step or epoch."""
    if isinstance(factor, cst.IfExp):
        return _turns_zero(factor, module)
    bindings = module.flow.reaching(factor) if isinstance(factor, cst.Name) else []
    if any(each.value is not None and _turns_zero(each.value, module) for each in bindings):
        return True
    zeros = [each for each in bindings if module.literal(each.value) == 0]
    return 0 < len(zeros) < len(bindings) and any(
        _under_progress(each, module) for each in bindings
    )


def _turns_zero(value: cst.BaseExpression, module: Module) -> bool:
    if isinstance(value, cst.IfExp):
        ends = [module.literal(value.body), module.literal(value.orelse)]
        return compares_progress(value.test) and any(each == 0 for each in ends)
    return isinstance(value, cst.Call) and dotted_text(value.func).endswith(_DELAYS)


def _under_progress(binding: Binding, module: Module) -> bool:
    conditions = (each for each in module.conditions(binding.node) if isinstance(each, cst.If))
    return any(compares_progress(each.test) for each in conditions)
