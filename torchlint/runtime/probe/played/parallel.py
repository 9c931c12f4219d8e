"""Several devices and several ranks: what NCCL would do, gloo does on the host."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import torch
from torch import distributed

from torchlint.runtime.probe import private
from torchlint.runtime.probe.played.state import PLAYED
from torchlint.runtime.probe.wrapping.interpose import replace


def install() -> None:
    """Replace the backend of process groups, and the copies of `DataParallel`."""
    if distributed.is_available():
        for name, make in _FUNCTIONS.items():
            _replace(name, make)
        distributed.is_nccl_available = lambda: True
        private.put_objects_on(_device_of_objects)
        replace(distributed.Work, "wait", _unheard)
    comm: Any = torch.nn.parallel.comm
    for name, stand_in in _COMM.items():
        setattr(comm, name, stand_in)


def _replace(name: str, make: Any) -> None:
    """Replace a function of `torch.distributed` in all of its modules that have taken it."""
    plain = getattr(distributed, name, None)
    for path, module in tuple(sys.modules.items()):
        if plain is None or not path.startswith("torch.distributed"):
            continue
        if getattr(module, "__dict__", {}).get(name) is plain:
            replace(module, name, make)


def _on_host(plain: Any) -> Any:
    def make(*args: Any, **kwargs: Any) -> Any:
        args = tuple(_named(each) for each in args)
        kwargs = {name: _named(each) for name, each in kwargs.items()}
        kwargs.pop("device_id", None)
        kwargs.pop("pg_options", None)
        return plain(*args, **kwargs)

    return make


def _awaited(plain: Any) -> Any:
    """The host waits at a barrier of NCCL (`ProcessGroupNCCL.cpp`, `isBarrierOp_`)."""

    def barrier(*args: Any, **kwargs: Any) -> Any:
        result = PLAYED.quietly(plain, *args, **kwargs)
        if PLAYED.by_nccl and not kwargs.get("async_op", False):
            PLAYED.ledger.wait("barrier")
        return result

    return barrier


def _unheard(plain: Any) -> Any:
    """What gloo copies in the end, NCCL has in place."""

    def wait(*args: Any, **kwargs: Any) -> Any:
        return PLAYED.quietly(plain, *args, **kwargs)

    return wait


def _device_of_objects(plain: Any) -> Any:
    """Objects that ranks exchange by NCCL are tensors on the device meanwhile."""

    def device(*args: Any, **kwargs: Any) -> Any:
        if PLAYED.by_nccl and PLAYED.on and not PLAYED.thread.quiet:
            return torch.device("cuda", PLAYED.thread.device)
        return plain(*args, **kwargs)

    return device


def _averaged(plain: Any) -> Any:
    """Until torch 2.10, or a little before, gloo cannot take the mean over ranks, or takes the sum
    instead."""
    signature, mean = inspect.signature(plain), "RedOpType.AVG"

    def reduce(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        later, asked = given.arguments.get("async_op", False), given.arguments.get("op")
        if not PLAYED.by_nccl or str(getattr(asked, "op", asked)) != mean:
            return plain(*args, **kwargs)
        given.arguments.update(op=distributed.ReduceOp.SUM, async_op=True)
        work = plain(*given.args, **given.kwargs)
        if work is None:  # another rank's group
            return None
        work.wait()
        ranks = distributed.get_world_size(given.arguments.get("group"))
        result: Any = given.arguments.get("tensor", given.arguments.get("output"))
        PLAYED.quietly(result.div_, ranks)
        return work if later else None

    return reduce


_FUNCTIONS = {
    "init_process_group": _on_host,
    "new_group": _on_host,
    "barrier": _awaited,
    **dict.fromkeys(
        ("all_reduce", "reduce", "reduce_scatter_tensor", "reduce_scatter_single"), _averaged
    ),
}


def _named(value: Any) -> Any:
    if not isinstance(value, str) or "nccl" not in value.lower():
        return value
    PLAYED.by_nccl = True
    return "gloo"


def _where(index: Any) -> Any:
    return torch.device("cpu") if index == -1 else torch.device("cuda", int(index))


def _scatter(
    tensor: Any,
    devices: Any = None,
    chunk_sizes: Any = None,
    dim: int = 0,
    streams: Any = None,
    *,
    out: Any = None,
) -> Any:
    parts = (
        tensor.chunk(len(devices), dim) if chunk_sizes is None else tensor.split(chunk_sizes, dim)
    )
    return tuple(each.to(_where(index)) for each, index in zip(parts, devices, strict=False))


def _gather(tensors: Any, dim: int = 0, destination: Any = None, *, out: Any = None) -> Any:
    where = tensors[0].device if destination is None else destination
    where = _where(where) if isinstance(where, int) else torch.device(where)
    return torch.cat([each.to(where) for each in tensors], dim)


def _broadcast(tensor: Any, devices: Any = None, *, out: Any = None) -> Any:
    return tuple(tensor.to(_where(index)) for index in devices)


def _broadcast_all(tensors: Any, devices: Any, buffer_size: int = 0) -> Any:
    return tuple([each.to(_where(index)) for each in tensors] for index in devices)


def _reduce(inputs: Any, destination: Any = None) -> Any:
    where = inputs[0].device if destination is None else _where(destination)
    return torch.stack([each.to(where) for each in inputs]).sum(0)


def _reduce_all(inputs: Any, destination: Any = None, buffer_size: int = 0) -> Any:
    return tuple(_reduce(each, destination) for each in zip(*inputs, strict=True))


_COMM = {
    "scatter": _scatter,
    "gather": _gather,
    "broadcast": _broadcast,
    "broadcast_coalesced": _broadcast_all,
    "reduce_add": _reduce,
    "reduce_add_coalesced": _reduce_all,
}
