"""Let NCCL exchange what is on the GPUs.

## What it does
Reports `init_process_group("gloo")` in a program that trains on GPUs and averages gradients.

## Why it is slow
Gloo works in host memory: it copies each bucket of gradients from the GPU, sends it through
sockets, and copies the result back. NCCL sends directly from GPU to GPU, over NVLink, PCIe or
InfiniBand, while the backward pass continues.

## Example
```python
torch.distributed.init_process_group("gloo")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
model = DistributedDataParallel(model.cuda())
```

## Use instead
```python
torch.distributed.init_process_group("cpu:gloo,cuda:nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
model = DistributedDataParallel(model.cuda())
```
With `"nccl"` alone, collectives of tensors on the CPU raise an error. Without a backend, torch uses
both of these.

## When it is silent
In a program that names NCCL anywhere, as one that chooses by platform does; for groups of
`new_group`; where a condition that asks for a device or platform decides; with RPC; in programs
that do not train on an accelerator, or that average no gradients; in tests. It is a hint where
nothing in the file shows that the program needs a GPU.

## Fix safety
**Unsafe**: NCCL must be there, which it is not on Windows, and each process needs a GPU of its own.
Sums are taken in another order, so they are rounded differently. Before torch 2.0 the fix is
`"nccl"`.

## How verify confirms it
It measures the other backend, which needs two GPUs and `--nproc-per-node 2`. The numbers agree but
for rounding.

## References
- PyTorch documentation, "Distributed communication package: which backend to use?"
- `torch.distributed.init_process_group`
"""

import re

import libcst as cst

from torchlint.analysis.steps.guards import words
from torchlint.rule import (
    Applicability,
    Argument,
    Change,
    Context,
    Effect,
    Match,
    Module,
    Rule,
    because,
    calls,
    edits,
    once,
)

_MACHINE = re.compile(
    r"platform|system|windows|cuda|gpu|cpu|device|avail|backend|debug|^name$", re.IGNORECASE
)
_AVERAGES = r"\b(?:(?:Distributed|FullySharded)DataParallel|DDP|FSDP|fully_shard|all_reduce)\("


def _machine_decides(match: Match) -> bool:
    """Whether the call depends on what there is: on a platform, a device, another backend."""
    for each in match.module.conditions(match.node):
        if isinstance(each, cst.ExceptHandler) or any(map(_MACHINE.search, words(each.test))):
            return because(True, "{} chooses it by what the machine has", each)
    return False


def _may_run_on_cpu(match: Match) -> bool:
    cpu = not _needs_gpu(match.module)
    return cpu and because(True, "no line of the file needs a GPU whatever the machine has")


@once
def _needs_gpu(module: Module) -> bool:
    """Whether a line of the file needs a GPU, whatever the machine has."""
    moves = [*module.calls_by_method.get("cuda", ())]
    moves += module.calls_by_name.get("torch.cuda.set_device", ())
    return any(next(module.conditions(each), None) is None for each in moves)


def _use_nccl(match: Match) -> Change:
    assert match.argument is not None
    backend = '"cpu:gloo,cuda:nccl"' if match.module.torch >= (2, 0) else '"nccl"'
    return f"Pass `{backend}`", edits.replace(match.module, match.argument.value, backend)


rule = Rule(
    code="TL604",
    effect=Effect.LARGE,
    summary="gradients on GPUs are averaged through host memory",
    fix=Applicability.UNSAFE,
    finds=(
        calls(
            "torch.distributed.init_process_group",
            Argument("backend", 0, bad="gloo"),
            hint_if=(_may_run_on_cpu,),
        ),
    ),
    unless=(_machine_decides,),
    message="Gloo copies the gradients of each step through host memory; use NCCL, which sends "
    "them from GPU to GPU.",
    change=_use_nccl,
    contexts=(Context.ACCELERATOR, Context.TRAINS),
    program_has={"an average of gradients over processes": _AVERAGES},
    program_lacks={"NCCL or remote calls": r"(?i)nccl|init_rpc"},
    needs_gpu=True,
    may_change="gradients are summed in another order",
)
