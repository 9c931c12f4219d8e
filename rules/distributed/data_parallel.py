"""Train on several GPUs with one process each.

## What it does
Reports `nn.DataParallel(model)`, also that of PyTorch Geometric, the function
`nn.parallel.data_parallel`, and Lightning's `strategy="dp"`. It also reports objects of a class in
the same file that inherits from `nn.DataParallel`, as a hint.

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
For `isinstance(model, nn.DataParallel)` and `model.module`; for a class of your own that inherits
from it, in another file; in evaluation; for one device (`device_ids=[0]`), where the wrapper only
calls the model. It is a hint if the devices are a name for one device, such as a parameter with
that default, if all that the file does with the wrapped model evaluates (a sampler, a metric), for
the function `data_parallel`, and if nothing in the program trains. If the same file also offers
`DistributedDataParallel`, the message says to start it that way.

## Fix safety
There is no fix: in addition to the wrapper, the change needs a launcher, a process group, a
sampler, a batch size per process, and a checkpoint that only one process writes.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against train_ddp.py --nproc-per-node 2`
compares with your own version; its steps are smaller by the number of processes.

## References
- `torch.nn.parallel.DistributedDataParallel`
- PyTorch tutorial, "Getting Started with Distributed Data Parallel"
- PyTorch CUDA notes, "Use nn.parallel.DistributedDataParallel instead of multiprocessing or
  nn.DataParallel"
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.steps.evaluations import sounds_like_evaluation
from torchlint.analysis.uses import method_behind, method_name, reads_after, receiving_parameter
from torchlint.project.calls import CALL_DEPTH
from torchlint.rule import (
    Context,
    Effect,
    Match,
    Module,
    Reported,
    Rule,
    Tier,
    because,
    calls,
    configures,
    once,
)

_WRAPPER = "torch.nn.DataParallel"
_OF_GRAPHS = tuple(f"torch_geometric.nn.{each}DataParallel" for each in ("", "data_parallel."))
"""Inherits from it, and collates the list of graphs in each forward pass, too."""
_NO_FIX = (
    "DistributedDataParallel also needs a launcher, a process group and a sampler; "
    "`torchlint rule TL601` shows a template"
)
_COPIES = "DataParallel copies the model to every GPU on each forward pass, from one process"
_MOVES = frozenset({"to", "cuda", "cpu", "half", "float", "eval", "requires_grad_"})
_NEITHER = _MOVES | {"state_dict", "load_state_dict", "share_memory"}
_ASK = ("builtins.isinstance", "builtins.hasattr", "builtins.print", "builtins.len")


def _devices(match: Match) -> cst.BaseExpression | None:
    return match.module.argument(match.call, "device_ids", 1)


def _has_one_device(match: Match) -> bool:
    """`device_ids=[0]`: the wrapper then calls the model as it is."""
    devices = _devices(match)
    return _is_one(devices) and because(True, "{:code} is a single device", devices)


def _shows_one_device(match: Match) -> bool:
    """Whether the devices have a name for which the file shows one: of a parameter, the default."""
    devices = _devices(match)
    if not isinstance(devices, cst.Name):
        return False
    bindings = match.module.flow.reaching(devices)
    one = bool(bindings) and all(_is_one(each.value) for each in bindings)
    return one and because(True, "the file shows a single device for {:code}", devices)


def _is_one(devices: cst.BaseExpression | None) -> bool:
    if not isinstance(devices, cst.List | cst.Tuple) or len(devices.elements) != 1:
        return False
    return isinstance(devices.elements[0], cst.Element)


def _is_only_evaluated(match: Match) -> bool:
    """Whether the file uses the wrapped model, and each use evaluates: it is called under
    `torch.no_grad()` or in a function that evaluates, or given to such a function."""
    module, made = match.module, _moved(match.call, match.module)
    evaluated = _all_evaluate(reads_after(module.parent(made), module) or [made], module)
    return evaluated and because(True, "the file only evaluates the model")


def _message(match: Match) -> str:
    if _is_only_evaluated(match):
        return f"{_COPIES}; for an evaluation, run one process per GPU on a part of the data."
    names = match.module.calls_by_name  # the file can also be started with a process per GPU
    if any(name.rpartition(".")[2] == "DistributedDataParallel" for name in names):
        return f"{_COPIES}; start the program with one process per GPU, as it also can be."
    return f"{_COPIES}; use DistributedDataParallel with one process per GPU."


rule = Rule(
    code="TL601",
    effect=Effect.LARGE,
    summary="one process drives all GPUs through `nn.DataParallel`",
    finds=(
        calls(_WRAPPER, *_OF_GRAPHS, hint_if=(_shows_one_device, _is_only_evaluated)),
        calls("torch.nn.parallel.data_parallel", tier=Tier.HINT),
        configures("strategy", "dp"),
    ),
    unless=(_has_one_device,),
    message=_message,
    change=_NO_FIX,
    contexts=(Context.OUTSIDE_EVALUATION,),
    else_hint=(Context.TRAINS,),
    needs_gpu=True,
)


@rule.on(cst.Call)
def makes_an_object_of_a_class_that_inherits(call: cst.Call, module: Module) -> Iterable[Reported]:
    own = _own_wrappers(module)
    if own.isdisjoint(module.resolve(call.func)):
        return ()
    match = Match(call, module)
    if _has_one_device(match):
        return ()
    tier = because(Tier.HINT, "a class that inherits may scatter or gather in a better way")
    return rule.report(module, call, _message(match), tier=tier, withheld=_NO_FIX)


@once
def _own_wrappers(module: Module) -> frozenset[str]:
    """The dotted names of the classes of the file that inherit from the wrapper."""
    return frozenset(
        f":{module.qualified_name(class_)}"
        for class_ in module.nodes(cst.ClassDef)
        if _WRAPPER in module.definitions.bases(class_)
    )


# networks that only evaluate ----------------------------------------------------------------------


def _moved(call: cst.Call, module: Module) -> cst.Call:
    """`wrap(model).eval().to(device)` for the `wrap(model)` in it."""
    while (outer := method_behind(call, module)) and method_name(outer) in _MOVES:
        call = outer
    return call


def _all_evaluate(uses: Iterable[cst.BaseExpression], module: Module, depth: int = 0) -> bool:
    """Whether some of these uses of a model evaluate, and none may do anything else with it."""
    judged = [_evaluates(use, module, depth) for use in uses]
    return True in judged and False not in judged


def _evaluates(use: cst.BaseExpression, module: Module, depth: int) -> bool | None:
    """Whether a use of a model evaluates it; None if it neither runs it nor gives it away."""
    parent = module.parent(use)
    if isinstance(parent, cst.Attribute):
        if parent.attr.value == "module":
            return _evaluates(parent, module, depth)
        return None if parent.attr.value in _NEITHER else _is_evaluation(parent, module)
    if isinstance(parent, cst.Call):
        return _is_evaluation(parent, module) or module.in_evaluation(parent)
    call = module.call_with(use)
    if call is None:
        return False
    if module.calls(call, *_ASK):
        return None
    return _is_evaluation(call, module) or _given_to_evaluation(use, call, module, depth)


def _is_evaluation(node: cst.CSTNode, module: Module) -> bool:
    """Whether code runs under `torch.no_grad()`, or in a function that evaluates."""
    function = module.function(node)
    return module.evaluations.grad_is_off(node) or (
        function is not None and module.evaluations.only_evaluates(function)
    )


def _given_to_evaluation(
    use: cst.BaseExpression, call: cst.Call, module: Module, depth: int
) -> bool:
    """Whether a model is an argument of a function that evaluates it."""
    function = module.definitions.callee(call)
    if function is None:
        return sounds_like_evaluation(dotted_text(call.func).rpartition(".")[2])
    if module.evaluations.only_evaluates(function):
        return True
    received = receiving_parameter(call, use, function)
    if received is None or depth >= CALL_DEPTH:
        return False
    return _parameter_evaluated(module, received, depth + 1)


@once
def _parameter_evaluated(module: Module, received: cst.Param, depth: int) -> bool:
    return _all_evaluate(module.reads(received, received.name.value), module, depth)
