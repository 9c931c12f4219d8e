"""Keep what `torch.compile` cannot trace out of compiled code.

## What it does
Reports, in a function that the same file compiles, what ends a graph with torch 2.13: `.item()`,
`print`, `warnings.warn`, `time.time()` and `time.perf_counter()`, `breakpoint()`,
`torch.cuda.synchronize()`, and an `if` or `bool()` that asks a tensor. It is a hint: the time that
it costs depends on the place.

## Why it is slow
`torch.compile` traces a function into a graph. At such a place it must return to Python: the code
before becomes one graph, and the code behind it another. Operations on both sides are no longer
fused, what one part computes for the other is written to memory, and CUDA graphs
(`mode="reduce-overhead"`) become shorter. Reading a number also waits for the GPU.

## Example
```python
@torch.compile
def scaled_loss(scores, labels):
    loss = F.cross_entropy(scores, labels)
    scale = loss.detach().item()
    return loss / scale
```

## Use instead
```python
@torch.compile
def scaled_loss(scores, labels):
    loss = F.cross_entropy(scores, labels)
    scale = loss.detach()
    return loss / scale
```
Instead of an `if`, let `torch.where` choose; print and measure outside of the function.

## When it is silent
Under any condition, such as `if not torch.compiler.is_compiling()`; with `fullgraph=True`, where
torch raises an error; if the program sets `capture_scalar_outputs`; in what a compiled function
calls or defines, and in functions that another file compiles; for NumPy, `.cpu()` and `assert`,
which torch traces; in tests; if the project supports a torch older than 2.0.

## Fix safety
There is no fix: only you know what the number or the text is for.

## How verify confirms it
It cannot: there is no fix. `TORCH_LOGS=graph_breaks python train.py` names each break.

## References
- PyTorch documentation, "torch.compile Programming Model: Common Graph Breaks"
- `torch.compile`, argument `fullgraph`
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.compiled import COMPILE_TEXT, compiled_functions
from torchlint.analysis.training.truths import operand_of_truth, truths
from torchlint.analysis.uses import method_name, receiver
from torchlint.analysis.values.kinds import TENSORS, Kind
from torchlint.rule import Module, Reported, Rule, Tier, because

_UNTRACED = tuple(
    "builtins.breakpoint builtins.print time.perf_counter time.time torch.cuda.synchronize "
    "warnings.warn".split()
)
_MESSAGE = (
    "`torch.compile` ends its graph here and starts another; print, read and decide outside of the "
    "compiled function."
)

rule = Rule(
    code="TL508",
    summary="compiled code returns to Python in the middle",
    tier=Tier.HINT,
    program_lacks={"`capture_scalar_outputs`": "capture_scalar_outputs"},
    since=(2, 0),
    triggers=(COMPILE_TEXT,),
)


@rule.on(cst.Call, cst.If, cst.IfExp)
def breaks_graphs(node: cst.CSTNode, module: Module) -> Iterable[Reported]:
    function, places = _breaks_in_compiled(node, module)
    if function is None or not places:
        return ()
    call = compiled_functions(module)[function]
    if call and module.literal(module.argument(call, "fullgraph")) is True:
        return because((), "`fullgraph=True` in {:line} makes torch name such places", call)
    above = next(module.conditions(node), None)
    if above is not None:
        return because((), "this runs only under a condition, {}", above)
    return [found for place in places for found in rule.report(module, place, _MESSAGE)]


def _breaks_in_compiled(
    node: cst.CSTNode, module: Module
) -> tuple[cst.FunctionDef | None, list[cst.BaseExpression]]:
    """The compiled function whose body has a node, and what `torch.compile` cannot trace of it."""
    compiled = compiled_functions(module)
    around = module.enclosing(node, cst.FunctionDef, cst.Lambda) if compiled else None
    if not isinstance(around, cst.FunctionDef) or around not in compiled:
        return None, []
    return around, _breaks(node, module) if around.body in module.ancestors(node) else []


def _breaks(node: cst.CSTNode, module: Module) -> list[cst.BaseExpression]:
    """What `torch.compile` cannot trace of a node: a call, or a tensor that Python asks."""
    if isinstance(node, cst.Call) and (module.calls(node, *_UNTRACED) or _reads(node, module)):
        return [node]
    asked = truths(node, module)
    return [each for each in asked if operand_of_truth(each, module) is not None]


def _reads(call: cst.Call, module: Module) -> bool:
    """`.item()` of a tensor, or of what may be one."""
    read = method_name(call) == "item"
    return read and module.value(receiver(call)).has(TENSORS | Kind.LIKELY | Kind.PARAMETER)
