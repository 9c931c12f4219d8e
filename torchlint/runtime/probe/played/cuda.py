"""`torch.cuda` and `torch.accelerator` of a played device."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Final

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.played import generators, legacy_types, played_streams
from torchlint.runtime.probe.played.marks import MARKS, Memory
from torchlint.runtime.probe.played.refusals import refusal
from torchlint.runtime.probe.played.state import PLAYED

_CUDA: Any = torch.cuda
_DRIVER: Final = "12.8"
_NCCL: Final = (2, 21, 5)
_REFUSED: Final = {
    "CUDAGraph": "a CUDA graph",
    "graph": "a CUDA graph",
    "make_graphed_callables": "a CUDA graph",
    "CUDAPluggableAllocator": "an allocator of its own",
    "MemPool": "a memory pool of its own",
}


def install() -> None:
    """Replace them, in this process."""
    _put(_CUDA, _ANSWERS)
    _CUDA.Stream, _CUDA.Event = played_streams.PlayedStream, played_streams.Event
    _CUDA.ExternalStream, _CUDA.StreamContext = (
        played_streams.ExternalStream,
        played_streams.StreamContext,
    )
    _CUDA.device, _CUDA.device_of = _Device, _DeviceOf
    torch.device = _NumberedDevice  # type: ignore[misc]
    for name, what in _REFUSED.items():
        if hasattr(_CUDA, name):
            setattr(_CUDA, name, refused(f"torch.cuda.{name}", what))
    for module in ("memory", "random", "streams"):
        inner = getattr(_CUDA, module, None)
        _put(inner, {name: each for name, each in _ANSWERS.items() if hasattr(inner, name)})
    _CUDA.streams.Stream, _CUDA.streams.Event = played_streams.PlayedStream, played_streams.Event
    _CUDA.default_generators = _Generators()
    for name in ("range_push", "range_pop", "range_start", "range_end", "mark"):
        setattr(_CUDA.nvtx, name, _nothing)
    _CUDA.nccl.version = lambda: _NCCL
    legacy_types.install(_CUDA)
    torch.Generator = generators.Generator  # type: ignore[misc]
    _play_accelerator()
    _play_backends()


def refused(name: str, what: str) -> Any:
    """What stands in place of a class or a function that cannot be played; only a call fails."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise refusal(name, what)

    plain = private.find(name.replace(".cuda.", ".cuda:"))
    return type(name, (), {"__new__": refuse}) if isinstance(plain, type) else refuse


def _put(owner: Any, answers: dict[str, Any]) -> None:
    if owner is None:
        return
    for name, answer in answers.items():
        setattr(owner, name, answer)


# what it says of itself ----------------------------------------------------------------------


def _is_available() -> bool:
    return PLAYED.on or PLAYED.forked


def _device_count() -> int:
    return PLAYED.devices


def _current_device() -> int:
    PLAYED.touch()
    return PLAYED.thread.device


def _set_device(device: Any) -> None:
    if isinstance(device, int) and device < 0:
        return
    PLAYED.thread.device = PLAYED.index_or_current(device)


def _properties(device: Any = None) -> Any:
    card = PLAYED.card
    major, minor = card.capability
    PLAYED.index_or_current(device)
    return SimpleNamespace(
        name=card.name,
        major=major,
        minor=minor,
        total_memory=card.memory,
        multi_processor_count=card.processors,
        max_threads_per_multi_processor=2048,
        warp_size=32,
        regs_per_multiprocessor=65536,
        L2_cache_size=40 * 2**20,
        shared_memory_per_block=48 * 2**10,
        shared_memory_per_block_optin=96 * 2**10,
        shared_memory_per_multiprocessor=100 * 2**10,
        is_integrated=0,
        is_multi_gpu_board=0,
        gcnArchName="",
        uuid="",
    )


def _supports_bfloat16(including_emulation: bool = True) -> bool:
    return including_emulation or PLAYED.card.capability >= (8, 0)


_Plain: Any = torch.device


class _OfDevices(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _Plain)


class _NumberedDevice(metaclass=_OfDevices):
    """`torch.device`, in which a number is one of the device."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], int) and not isinstance(args[0], bool):
            return _Plain("cuda", args[0])
        return _Plain(*args, **kwargs)


class _Device:
    """`torch.cuda.device(…)`: the current one, for a while."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None or device == -1 else PLAYED.index_or_current(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = PLAYED.thread.device
        if self.idx >= 0:
            PLAYED.thread.device = self.idx

    def __exit__(self, *_: object) -> None:
        PLAYED.thread.device = self.prev_idx


class _DeviceOf(_Device):
    """`torch.cuda.device_of(tensor)`."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


# waits ---------------------------------------------------------------------------------------


def _synchronize(device: Any = None) -> None:
    PLAYED.index_or_current(device)
    PLAYED.ledger.wait("synchronize", until=PLAYED.ledger.queues.ends())


def _empty_cache() -> None:
    """Memory goes back to the driver, which waits for the device."""
    PLAYED.ledger.wait("empty_cache", until=PLAYED.ledger.queues.ends())


# memory --------------------------------------------------------------------------------------


def _memory(device: Any = None) -> Memory:
    return MARKS.memory(PLAYED.index_or_current(device))


def _used(device: Any = None) -> int:
    return _memory(device).now


def _most_used(device: Any = None) -> int:
    return _memory(device).peak


def _reset_peak(device: Any = None) -> None:
    MARKS.reset_peak(PLAYED.index_or_current(device))


def _free_and_total(device: Any = None) -> tuple[int, int]:
    total = PLAYED.card.memory
    return max(0, total - _used(device)), total


def _statistics(device: Any = None) -> dict[str, int]:
    memory = _memory(device)
    found: dict[str, int] = _Zeros()
    for what in ("allocated", "reserved", "active", "requested"):
        key = f"{what}_bytes.all."
        found[key + "current"], found[key + "peak"] = memory.now, memory.peak
        found[key + "allocated"], found[key + "freed"] = memory.total, memory.total - memory.now
    found["num_alloc_retries"] = found["num_ooms"] = 0
    return found


class _Zeros(dict[str, int]):
    def __missing__(self, key: str) -> int:
        return 0


# random numbers ------------------------------------------------------------------------------


class _Generators:
    """`torch.cuda.default_generators`."""

    def __len__(self) -> int:
        return PLAYED.devices

    def __getitem__(self, index: int) -> Any:
        if index >= PLAYED.devices:
            raise IndexError(index)
        return generators.of(index)


def _seed_with(seed: int) -> None:
    generators.of(PLAYED.thread.device).manual_seed(int(seed))


def _seed_all_with(seed: int) -> None:
    for index in range(PLAYED.devices):
        generators.of(index).manual_seed(int(seed))


def _initial_seed() -> int:
    return int(generators.of(PLAYED.thread.device).initial_seed())


def _random_state(device: Any = "cuda") -> Any:
    return generators.of(PLAYED.index_or_current(device)).get_state()


def _set_random_state(new_state: Any, device: Any = "cuda") -> None:
    generators.of(PLAYED.index_or_current(device)).set_state(new_state)


def _random_states() -> list[Any]:
    return [_random_state(index) for index in range(PLAYED.devices)]


def _set_random_states(new_states: Any) -> None:
    for index, state in enumerate(new_states):
        _set_random_state(state, index)


def _call_now(callable: Any, **_: Any) -> None:  # noqa: A002 - torch's own name
    callable()


def _nothing(*_: Any, **__: Any) -> None:
    return None


_ANSWERS: Final[dict[str, Any]] = {
    "is_available": _is_available,
    "_is_compiled": lambda: True,
    "device_count": _device_count,
    "current_device": _current_device,
    "set_device": _set_device,
    "_exchange_device": lambda device: PLAYED.thread.device,
    "_maybe_exchange_device": lambda device: PLAYED.thread.device,
    "get_device_properties": _properties,
    "get_device_name": lambda device=None: _properties(device).name,
    "get_device_capability": lambda device=None: PLAYED.card.capability,
    "get_arch_list": lambda: ["sm_{}{}".format(*PLAYED.card.capability)],
    "get_gencode_flags": lambda: "",
    "can_device_access_peer": lambda device, peer_device: True,
    "is_bf16_supported": _supports_bfloat16,
    "is_tf32_supported": lambda: PLAYED.card.capability >= (8, 0),
    "_initialized": True,
    "init": _nothing,
    "_lazy_init": _nothing,
    "_lazy_call": _call_now,
    "is_initialized": lambda: PLAYED.on and PLAYED.ledger.launches > 0,
    "_is_in_bad_fork": lambda: PLAYED.forked,
    "synchronize": _synchronize,
    "ipc_collect": _nothing,
    "is_current_stream_capturing": lambda: False,
    "current_stream": played_streams.current,
    "default_stream": played_streams.default,
    "set_stream": played_streams.set_current,
    "stream": played_streams.StreamContext,
    "utilization": lambda device=None: 0,
    "memory_usage": lambda device=None: 0,
    "temperature": lambda device=None: 0,
    "power_draw": lambda device=None: 0,
    "clock_rate": lambda device=None: 0,
    "current_blas_handle": lambda: 0,
    "get_sync_debug_mode": lambda: 0,
    "set_sync_debug_mode": _nothing,
    "empty_cache": _empty_cache,
    "mem_get_info": _free_and_total,
    "memory_allocated": _used,
    "max_memory_allocated": _most_used,
    "memory_reserved": _used,
    "max_memory_reserved": _most_used,
    "memory_cached": _used,
    "max_memory_cached": _most_used,
    "reset_peak_memory_stats": _reset_peak,
    "reset_max_memory_allocated": _reset_peak,
    "reset_max_memory_cached": _reset_peak,
    "reset_accumulated_memory_stats": _nothing,
    "memory_stats": _statistics,
    "memory_stats_as_nested_dict": lambda device=None: {},
    "memory_summary": lambda device=None, abbreviated=False: "",
    "memory_snapshot": lambda *_, **__: [],
    "set_per_process_memory_fraction": _nothing,
    "get_per_process_memory_fraction": lambda device=None: 1.0,
    "_record_memory_history": _nothing,
    "_dump_snapshot": _nothing,
    "list_gpu_processes": lambda device=None: "",
    "manual_seed": _seed_with,
    "manual_seed_all": _seed_all_with,
    "seed": lambda: _seed_with(torch.default_generator.seed()),
    "seed_all": lambda: _seed_all_with(torch.default_generator.seed()),
    "initial_seed": _initial_seed,
    "get_rng_state": _random_state,
    "get_rng_state_all": _random_states,
    "set_rng_state": _set_random_state,
    "set_rng_state_all": _set_random_states,
}


def _play_accelerator() -> None:
    """`torch.accelerator`, which torch has since 2.6, and what it asks."""
    private.wrap_accelerator(_found)
    accelerator: Any = getattr(torch, "accelerator", None)
    if accelerator is None:
        return
    answers = {
        "is_available": _is_available,
        "device_count": _device_count,
        "current_accelerator": lambda check_available=False: torch.device("cuda"),
        "current_device_index": _current_device,
        "current_device_idx": _current_device,
        "set_device_index": _set_device,
        "set_device_idx": _set_device,
        "synchronize": _synchronize,
        "current_stream": played_streams.current,
        "set_stream": played_streams.set_current,
        "device_index": _Device,
        "empty_cache": _empty_cache,
        **{
            name: _ANSWERS[name]
            for name in (
                "memory_stats memory_allocated max_memory_allocated memory_reserved "
                "max_memory_reserved reset_peak_memory_stats reset_accumulated_memory_stats"
            ).split()
        },
        "get_memory_info": _free_and_total,
    }
    torch.Stream, torch.Event = played_streams.PlayedStream, played_streams.Event  # type: ignore[misc, assignment]
    _put(accelerator, {name: each for name, each in answers.items() if hasattr(accelerator, name)})
    memory = getattr(accelerator, "memory", None)
    _put(memory, {name: each for name, each in answers.items() if hasattr(memory, name)})
    played_streams.PlayedStream.is_capturing = lambda self: False  # type: ignore[attr-defined]


def _found(plain: Any) -> Any:
    def accelerator(*args: Any, **kwargs: Any) -> Any:
        if PLAYED.thread.quiet:
            return plain(*args, **kwargs)
        return torch.device("cuda")

    return accelerator


def _play_backends() -> None:
    backends: Any = torch.backends
    backends.cuda.is_built = lambda: True
    backends.cudnn.is_available = lambda: True
    backends.cudnn.version = lambda: 91002
    # Weights of a recurrent layer would be laid side by side for cuDNN, in functions of its own.
    backends.cudnn.is_acceptable = lambda tensor: False
    if torch.version.cuda is None:
        torch.version.cuda = _DRIVER
    private.capture_no_graphs()
