"""Keep what `torch.compile` cannot trace out of compiled code.

## What it does
Reports, in a function that the same file compiles, what ends a graph with torch 2.13: `.item()`,
`print`, `warnings.warn`, `time.time()` and `time.perf_counter()`, `breakpoint()`,
`torch.cuda.synchronize()`, and an `if` that asks a tensor.

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
torch raises an error; if the program sets `capture_scalar_outputs`; for code that a compiled
function calls, and for functions that another file compiles; for NumPy, `.cpu()`, `assert` and
`print` in a function inside, which torch traces or does not reach.

## Fix safety
There is no fix: only you know what the number or the text is for.

## How verify confirms it
It cannot: there is no fix. `TORCH_LOGS=graph_breaks python train.py` names each break.

## References
- PyTorch documentation, "torch.compile Programming Model: Common Graph Breaks"
- `torch.compile`, argument `fullgraph`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.compiled import compiled_functions
from torchlint.analysis.training.truths import operand_of_truth, truths
from torchlint.analysis.values.kinds import TENSORS, Kind
from torchlint.rule import Match, Rule, Tier, calls, method

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.rule import Module, Reported


def _is_compiled(match: Match) -> bool:
    return _in_graph(match.node, match.module)


def _in_graph(node: cst.CSTNode, module: Module) -> bool:
    """Whether a node always runs in a compiled function that may have several graphs."""
    functions = module.once(compiled_functions)
    function = module.function(node)
    if function not in functions or module.enclosing(node, cst.Lambda) is not None:
        return False
    if next(module.conditions(node), None) is not None:
        return False
    call = functions[function]
    return call is None or module.literal(module.argument(call, "fullgraph")) is not True


def _reads_a_tensor(match: Match) -> bool:
    value = match.module.value(match.receiver)
    return value.has(TENSORS | Kind.LIKELY | Kind.PARAMETER)


rule = Rule(
    code="TL508",
    name="graph-break-in-compiled",
    family="precision",
    summary="compiled code returns to Python in the middle",
    tier=Tier.HINT,
    finds=(
        method("item", where=(_is_compiled, _reads_a_tensor)),
        calls(
            "builtins.print",
            "builtins.breakpoint",
            "torch.cuda.synchronize",
            "time.time",
            "time.perf_counter",
            "warnings.warn",
            where=(_is_compiled,),
        ),
    ),
    message="`torch.compile` ends its graph here and starts another; keep this out of the compiled "
    "function.",
    program_lacks={"scalars in graphs": "capture_scalar_outputs"},
    since=(2, 0),
    triggers=(r"torch\b", r"\bcompile\b"),
    off_in_tests=True,
)

_ASKED = (
    "Python asks a tensor, so `torch.compile` ends its graph here and starts another; let "
    "`torch.where` choose."
)


@rule.on(cst.If, cst.IfExp)
def asks_a_tensor(condition: cst.If | cst.IfExp, module: Module) -> Iterable[Reported]:
    if not _in_graph(condition, module):
        return
    for truth in truths(condition, module):
        if operand_of_truth(truth, module) is not None:
            yield from rule.report(module, truth, _ASKED)
