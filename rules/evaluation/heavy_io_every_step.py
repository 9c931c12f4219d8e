"""Write files every few hundred steps, not on every step.

## What it does
Reports what is written to disk on every training step: `torch.save`, `save_pretrained`, the
`save_state` of Accelerate, figures (`savefig`) and images (`save_image`, `imwrite`, `imsave`). As
hints it reports what a logger gets on every step and has to encode or to count (`add_histogram`,
`add_image`, `wandb.Image`, …), arrays that are written (`np.save`), and copies of all weights
(`copy.deepcopy(model.state_dict())`), and what is saved under a condition that only the epoch
decides, such as `if epoch % 10 == 0` in the loop over batches.

## Why it is slow
The loop waits for each of them. `torch.save` copies the tensors from the GPU, which waits for the
step, and then writes them: on a CPU with a local disk, 63 MB took 42 ms. To draw a figure takes
tens of milliseconds, and an image must be encoded. Meanwhile the GPU has nothing to do.

## Example
```python
for step, (images, labels) in enumerate(loader):
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.save(model.state_dict(), "last.pt")
```

## Use instead
```python
for step, (images, labels) in enumerate(loader):
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 1000 == 0:
        torch.save(model.state_dict(), "last.pt")
```

## When it is silent
Under `if step % 1000 == 0`, `if loss < best` and similar conditions; in a branch that ends the
loop; between epochs; in `except` blocks; in evaluation; in tests; for what is written to memory
(`io.BytesIO()`). A file is a hint in a loop over epochs that take one step each, and in one with a
closure, as for LBFGS: such loops have few rounds.

## Fix safety
There is no fix: only you know how often a file is needed.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against rarer.py` compares with your own
version, on the CPU as well as on a GPU.

## References
- `torch.save`
- PyTorch tutorial, "Saving and Loading Models"
"""

import re
from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.uses import is_variable, method_name
from torchlint.rule import (
    Context,
    Effect,
    Match,
    Module,
    Reported,
    Rule,
    Tier,
    Triggers,
    because,
    calls,
    method,
)

from ._few_rounds import has_few_rounds

_SAVES = ("imsave", "imwrite", "save_pretrained", "save_state", "savefig")
_LOGGED = ("add_embedding", "add_figure", "add_histogram", "add_image", "add_images", "add_video")
_WRITES = re.compile(r"^_*save(?:_\w+)?$")
_SHOWN = ("wandb.Histogram", "wandb.Image", "wandb.Video")


def _copies_weights(match: Match) -> bool:
    """`deepcopy(model.state_dict())`."""
    copied = match.module.argument(match.call, "x", 0)
    weights = isinstance(copied, cst.Call) and method_name(copied) == "state_dict"
    return weights or because(False, "it is not known to copy the weights of a model")


def _writes_to_memory(match: Match) -> bool:
    """`torch.save(x, buffer)` with `buffer = io.BytesIO()`."""
    module, file = match.module, match.module.argument(match.call, "f", 1)
    for each in (file, *(each.value for each in module.flow.reaching(file))):
        if isinstance(each, cst.Call) and module.calls(each, "io.BytesIO"):
            return because(True, "it writes into memory, {}", each)
    return False


_WITHHELD = "only you know how often it is needed"
_ENCODED = "This is encoded and logged on every step; log it every few hundred steps."

rule = Rule(
    code="TL705",
    effect=Effect.LARGE,
    summary="a file is written on every training step",
    finds=(
        calls("torch.save", "torchvision.utils.save_image", hint_if=(has_few_rounds,)),
        method(*_SAVES, hint_if=(has_few_rounds,)),
        calls("numpy.save", "numpy.savez", "numpy.savez_compressed", tier=Tier.HINT),
        calls(
            "copy.deepcopy",
            tier=Tier.HINT,
            where=(_copies_weights,),
            message="This copies all weights on every step; copy them only every few hundred "
            "steps.",
        ),
        method(*_LOGGED, tier=Tier.HINT, message=_ENCODED),
        calls(*_SHOWN, tier=Tier.HINT, message=_ENCODED),
    ),
    unless=(_writes_to_memory,),
    message="The loop waits until this file is written, on every step; write it every few hundred.",
    change=_WITHHELD,
    contexts=(Context.HOT,),
    triggers=Triggers(
        on_demand=(
            r"\bsave\(|\bimport save\b|\bsave_image\("
            r"|\.(?:savefig|save_pretrained|save_state)\(|\bim(?:save|write)\("
            r"|\b(?:np|numpy)\.savez?|\bdeepcopy\(|\bwandb\b|"
            rf"\.(?:{'|'.join(_LOGGED)})\(|\bsave_\w+\(",
        )
    ),
)


# under a condition that only epochs change --------------------------------------------------------


@rule.on(cst.Call)
def is_written_for_each_batch_of_an_epoch(call: cst.Call, module: Module) -> Iterable[Reported]:
    """`if epoch % 10 == 0: torch.save(…)` in the loop over batches."""
    if not _WRITES.search(dotted_text(call.func).rpartition(".")[2]):
        return ()
    loop, guard = module.step_loop(call), module.guard(call)
    if loop is None or not isinstance(guard, cst.If) or module.in_evaluation(loop.node):
        return because((), "no condition in a loop over batches decides whether this runs")
    if not _only_epochs_change(guard.test, loop.node, module):
        return because((), "{} lets this run only now and then", guard)
    message = (
        "In some epochs this is written on every batch, since the condition around it only changes "
        "with the epoch; write it after the loop over batches."
    )
    return (rule.finding(module, call, message, tier=Tier.HINT, fix=_WITHHELD),)


def _only_epochs_change(test: cst.BaseExpression, loop: cst.CSTNode, module: Module) -> bool:
    """Whether a condition depends on what an outer loop counts, and on nothing that a loop sets."""
    names = [
        each
        for each in module.within(test)
        if isinstance(each, cst.Name) and is_variable(each, module)
    ]
    counted = False
    for name in names:
        bindings = module.names.lookup(name)
        if name.value == "self" or any(_is_inside(each.node, loop, module) for each in bindings):
            return False
        counted = counted or any(
            isinstance(each.node, cst.For) and _is_inside(loop, each.node, module)
            for each in bindings
        )
    return counted


def _is_inside(node: cst.CSTNode, loop: cst.CSTNode, module: Module) -> bool:
    return any(above is loop for above in (node, *module.ancestors(node)))
