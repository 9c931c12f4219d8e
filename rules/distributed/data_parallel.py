"""Train on several GPUs with one process each.

## What it does
Reports `nn.DataParallel(model)`, the function `nn.parallel.data_parallel`, and Lightning's
`strategy="dp"`.

## Why it is slow
One process drives all GPUs. On every forward pass it copies the whole model to each GPU, splits
the batch on the first GPU and gathers the outputs there, while the threads that run the replicas
compete for Python's global interpreter lock. With `DistributedDataParallel` each GPU has its own
process and keeps its model; only gradients are exchanged, during the backward pass. DataParallel
is not deprecated in torch 2.13, but its own documentation advises against it.

## Example
```python
model = nn.DataParallel(Net().cuda())
loader = DataLoader(dataset, batch_size=256, shuffle=True, num_workers=8)
for images, labels in loader:
    train_step(model, images, labels)
```

## Use instead
```python
# torchrun --nproc-per-node=gpu train.py
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
torch.distributed.init_process_group("nccl")
model = DistributedDataParallel(Net().cuda(), device_ids=[rank])
sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, batch_size=256 // world_size, sampler=sampler, num_workers=8)
for epoch in range(epochs):
    sampler.set_epoch(epoch)
    for images, labels in loader:
        train_step(model, images, labels)
if rank == 0:
    torch.save(model.module.state_dict(), "model.pt")
torch.distributed.destroy_process_group()
```

## When it is silent
For `isinstance(model, nn.DataParallel)` and `model.module`; for your own classes that inherit from
it; for a model that is only evaluated. It is a hint if the same file also offers
`DistributedDataParallel`, if there is only one device, for the function `data_parallel`, and if
nothing in the program trains.

## Fix safety
There is no fix: besides the wrapper, the change needs a launcher, a process group, a sampler, a
batch size per process, and a checkpoint that only one process writes.

## References
- `torch.nn.parallel.DistributedDataParallel`
- PyTorch tutorial, "Getting Started with Distributed Data Parallel"
- PyTorch CUDA notes, "Use nn.parallel.DistributedDataParallel instead of multiprocessing or
  nn.DataParallel"
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.ruleapi.rule import Rule, Tier, Waiting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.analysis.module import Module
    from torchlint.finding import Finding
    from torchlint.project.project import Project
    from torchlint.ruleapi.rule import Said

rule = Rule(
    code="TL601",
    name="data-parallel",
    family="distributed",
    summary="one process drives all GPUs through `nn.DataParallel`",
    triggers=(r"(?<!Distributed)(?<!Sharded)DataParallel\b|data_parallel\(|'dp'|\"dp\"",),
    clues={"trains": r"(?m)^[^#\n]*(?:backward\(|\btraining_step\b|\bcompute_loss\b)"},
    off_in_tests=True,
    needs_gpu=True,
)

_WITHHELD = (
    "DistributedDataParallel also needs a launcher, a process group and a sampler; "
    "`torchlint rule TL601` shows a template"
)
_TRAINERS = ("lightning.pytorch.Trainer", "lightning.fabric.Fabric")
_DP_ARGUMENTS = frozenset({"strategy", "accelerator", "distributed_backend"})


@rule.on(cst.Call)
def drives_all_gpus(call: cst.Call, module: Module) -> Iterable[Said]:
    tier = _tier(call, module)
    if tier is None or _evaluates(call, module):
        return
    finding = rule.finding(
        module,
        call,
        "DataParallel copies the model to every GPU on each forward pass, from one process; use "
        "DistributedDataParallel with one process per GPU.",
        tier=tier,
        withheld=_WITHHELD,
    )
    yield Waiting(finding, {})


def _tier(call: cst.Call, module: Module) -> Tier | None:
    if module.calls(call, "torch.nn.DataParallel"):
        certain = not _offers_ddp(module) and not _has_one_device(call, module)
        return Tier.DEFAULT if certain else Tier.HINT
    if module.calls(call, "torch.nn.parallel.data_parallel"):
        return Tier.HINT
    if module.calls(call, *_TRAINERS) and any(
        arg.keyword is not None
        and arg.keyword.value in _DP_ARGUMENTS
        and module.literal(arg.value) == "dp"
        for arg in call.args
    ):
        return Tier.DEFAULT
    return None


def _evaluates(call: cst.Call, module: Module) -> bool:
    """Whether the wrapped model only predicts, where one process per GPU is no cure."""
    function = module.function(call)
    if function is not None and module.loops.is_evaluation(function):
        return True
    return module.loops.grad_is_off(call)


def _offers_ddp(module: Module) -> bool:
    """Whether the file also wraps models for one process per GPU: then this is a fallback."""
    return any(name.rpartition(".")[2] == "DistributedDataParallel" for name in module.called)


def _has_one_device(call: cst.Call, module: Module) -> bool:
    devices = module.literal(module.argument(call, "device_ids", 1))
    return isinstance(devices, tuple) and len(devices) == 1


@rule.settle
def settle(waiting: Waiting, project: Project) -> Finding | None:
    """It costs nothing where nobody trains; there it is a hint at most."""
    finding = waiting.finding
    if project.has_clue("trains", project.programs(finding.path)):
        return finding
    return finding._replace(tier=Tier.HINT)
