"""Remove debugging switches from the script.

## What it does
Reports code that always switches on what only debugging needs:

- `os.environ["CUDA_LAUNCH_BLOCKING"] = "1"`, and `HIP_LAUNCH_BLOCKING` on AMD
- `os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"`
- as hints: `TORCH_DISTRIBUTED_DEBUG="DETAIL"` before `import torch`, `NCCL_P2P_DISABLE="1"`,
  `NCCL_IB_DISABLE="1"`, and `torch.cuda.set_sync_debug_mode("warn")`

It also finds `os.environ.setdefault(…)` and `os.putenv(…)`.

## Why it is slow
With `CUDA_LAUNCH_BLOCKING`, the host waits for each kernel before it launches the next one, so
nothing that Python does overlaps with the GPU. Without the caching allocator, each tensor calls
`cudaMalloc` and `cudaFree`, and `cudaFree` waits for the GPU. `DETAIL` lets all processes compare
the shapes of each collective before they run it. Without P2P or InfiniBand, NCCL sends gradients
through the memory of the host or through Ethernet.

## Example
```python
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
```

## Use instead
Set it for one run, on the command line: `CUDA_LAUNCH_BLOCKING=1 python train.py`. Or let an option
decide:
```python
parser = argparse.ArgumentParser()
parser.add_argument("--debug", action="store_true")
if parser.parse_args().debug:
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
```

## When it is silent
Under any condition, such as `if args.debug`, and in `except` blocks; in a function that the file
does not use, or only under a condition; for other values, such as `"0"` or a variable; if the file
takes the variable away again, or gives it another value; in tests; in programs that do not train,
or use no GPU. A hint is also silent next to a comment: some machines need these switches.
`TORCH_DISTRIBUTED_DEBUG` has no effect after `import torch`, which reads it.

## Fix safety
**Unsafe**: an error in a kernel is then reported at a later line, and memory is used in another
way. No value changes in a program that is correct.

## How verify confirms it
It measures the script without the line, which needs a GPU. The numbers are bitwise equal.

## References
- PyTorch documentation, "CUDA semantics: asynchronous execution"
- PyTorch documentation, "CUDA environment variables"
- NCCL documentation, "Environment variables"
"""

import libcst as cst

from torchlint.analysis.comments import has_comment
from torchlint.analysis.literals import literal
from torchlint.rule import (
    Applicability,
    Argument,
    Context,
    Effect,
    Match,
    Module,
    Rule,
    Tier,
    because,
    calls,
    exports,
    once,
    remove,
)

from ._debug_switches import is_optional

_BLOCKING = ("CUDA_LAUNCH_BLOCKING", "HIP_LAUNCH_BLOCKING")
_UNCACHED = "PYTORCH_NO_CUDA_MEMORY_CACHING"
_DETAIL = "TORCH_DISTRIBUTED_DEBUG"
_ROUNDABOUT = ("NCCL_P2P_DISABLE", "NCCL_IB_DISABLE")
_WARNS = "set_sync_debug_mode"
_COSTS = {
    **dict.fromkeys(_BLOCKING, "The host waits for each kernel before it launches the next one"),
    _UNCACHED: "Each tensor allocates and frees memory of the GPU by itself, which waits for it",
    _DETAIL: "All processes compare each collective before they run it",
    **dict.fromkeys(_ROUNDABOUT, "NCCL may not use the fastest way between GPUs"),
    _WARNS: "torch looks at each operation for a wait, and warns of each one",
}


def _named(match: Match) -> str:
    """The variable or function that switches something on."""
    parts = match.module.within(match.node)
    texts = {literal(each) for each in parts if isinstance(each, cst.BaseString)}
    return next((name for name in _COSTS if name in texts), _WARNS)


def _has_reason(match: Match) -> bool:
    if _named(match) in (*_BLOCKING, _UNCACHED) or not has_comment(match.node, match.module):
        return False
    return because(True, "a comment gives a reason for it")


def _is_too_late(match: Match) -> bool:
    """Torch reads this variable when it is imported."""
    late = _named(match) == _DETAIL and _is_imported_before("torch", match.node, match.module)
    return late and because(True, "torch is imported before, and has read the variable already")


def _is_undone(match: Match) -> bool:
    undone = _change_of(match.module, _named(match))
    said = "the file also reads or changes it elsewhere: {}"
    return undone is not None and because(True, said, undone)


rule = Rule(
    code="TL704",
    effect=Effect.LARGE,
    summary="a switch for debugging slows the whole run down",
    fix=Applicability.UNSAFE,
    finds=(
        *(exports(name, "1") for name in (*_BLOCKING, _UNCACHED)),
        exports(_DETAIL, "DETAIL", tier=Tier.HINT),
        *(exports(name, "1", tier=Tier.HINT) for name in _ROUNDABOUT),
        calls(
            f"torch.cuda.{_WARNS}",
            Argument("debug_mode", 0, bad=("warn", 1), required=True),
            tier=Tier.HINT,
        ),
    ),
    unless=(is_optional, _has_reason, _is_too_late, _is_undone),
    message=lambda match: f"{_COSTS[_named(match)]}; set `{_named(match)}` only to look for a bug.",
    change=remove,
    contexts=(Context.TRAINS, Context.ACCELERATOR),
    needs_gpu=True,
)


@once
def _change_of(module: Module, variable: str) -> cst.BaseSmallStatement | None:
    """Where a file takes an environment variable away, or gives it another value."""
    for text in module.nodes(cst.SimpleString):
        if literal(text) != variable:
            continue
        line, call = module.small_statement(text), module.call_with(text)
        if isinstance(line, cst.Del) or (call and module.calls(call, "os.environ.pop")):
            return line
        if isinstance(line, cst.Assign) and literal(line.value) not in ("1", "DETAIL"):
            return line
    return None


def _is_imported_before(package: str, node: cst.CSTNode, module: Module) -> bool:
    """Whether a file imports something of a package above a node."""
    imports = (*module.nodes(cst.Import), *module.nodes(cst.ImportFrom))
    return any(
        package in module.source(each) and module.order(each) < module.order(node)
        for each in imports
    )
