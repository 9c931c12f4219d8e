"""Several devices and several ranks: what NCCL would do, gloo does on the host."""

from __future__ import annotations

from typing import Any

import torch
from torch import distributed

from torchlint.runtime.probe import private
from torchlint.runtime.probe.played.state import PLAYED
from torchlint.runtime.probe.wrapping.interpose import replace


def install() -> None:
    """Replace the backend of process groups, and the copies of `DataParallel`."""
    if distributed.is_available():
        for name in ("init_process_group", "new_group"):
            replace(distributed, name, _on_host)
            inner = private.find(f"torch.distributed.distributed_c10d:{name}")
            if inner is not private.MISSING:
                replace(torch.distributed.distributed_c10d, name, _on_host)
        distributed.is_nccl_available = lambda: True
        replace(distributed, "barrier", _awaited)
        private.put_objects_on(_device_of_objects)
    comm: Any = torch.nn.parallel.comm
    for name, stand_in in _COMM.items():
        setattr(comm, name, stand_in)


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
        result = plain(*args, **kwargs)
        if PLAYED.by_nccl and not kwargs.get("async_op", False):
            PLAYED.ledger.wait("barrier")
        return result

    return barrier


def _device_of_objects(plain: Any) -> Any:
    """Objects that ranks exchange by NCCL are tensors on the device meanwhile."""

    def device(*args: Any, **kwargs: Any) -> Any:
        if PLAYED.by_nccl and PLAYED.on:
            return torch.device("cuda", PLAYED.thread.device)
        return plain(*args, **kwargs)

    return device


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
