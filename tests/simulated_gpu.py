"""A GPU that is not there: importing this gives `torch.cuda` a device with a queue behind the host.

Time is simulated, so what is measured is the same on any machine, however busy. The host's clock
(`time.perf_counter`) stops except for the calls that queue a kernel, for `time.sleep`, and for
waiting; kernels take theirs on the queue. Tensors "on the GPU" are in main memory, and know that
they would not: an operation that mixes devices fails, and whatever a CUDA tensor must be waited
for, is waited for.

The driver wakes on the first use, cannot be used in a fork of a process that asked it anything, and
sees no device where CUDA_VISIBLE_DEVICES is empty. With SIMULATED_GPU_LOG=1 each call goes to stderr,
a wait with its milliseconds. SIMULATED_GPU_MHZ holds the clock rates, reading after reading.
SIMULATED_GPU_NOISE=0.02 makes each process 2 % faster or slower than another, and each kernel;
SIMULATED_GPU_MB is the memory of the device.
"""

from __future__ import annotations

import itertools
import os
import random
import time
from collections import deque
from contextlib import contextmanager
from functools import wraps
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAME = "Simulated GPU"
CALL_S = 10e-6
"""That the host takes to order a kernel."""
KERNEL_S = 5e-6
HEAVY_S = 500e-6
"""That the device takes for a kernel, and for a product of matrices."""
DEEPEST = 1000
"""Kernels that wait; for more the host waits."""
_HEAVY = frozenset({"aten::mm", "aten::addmm", "aten::bmm"})
_READS = frozenset({"aten::_local_scalar_dense", "aten::equal", "aten::nonzero"})
_MIXES = frozenset({"aten::copy_", "aten::_to_copy", "aten::index", "aten::index_put_"})
"""What may have tensors of both devices."""

_READINGS = itertools.count()
_CUDA: Any = torch.cuda
_real_clock, _real_sleep = time.perf_counter, time.sleep


class Queue:
    """What the host has ordered; seconds on the host's clock, which begins when the driver wakes."""

    def __init__(self) -> None:
        self.driver: int | None = None
        """The process that woke it."""
        self.asked: int | None = None
        """The first process that asked it anything; a fork of that one cannot wake it."""
        self.host_s = 0.0
        self._ends: deque[float] = deque([0.0], maxlen=DEEPEST)
        self._chance = random.Random()
        self._pace = 1.0

    def wake(self) -> None:
        if not available():
            raise RuntimeError("No CUDA GPUs are available")
        if self.is_in_bad_fork:
            raise RuntimeError("Cannot re-initialize CUDA in forked subprocess")
        if self.driver is None:
            log("wake")
            self.driver = self.asked = os.getpid()
            self.host_s = _real_clock()
            self._chance = random.Random(os.getpid())
            self._pace = self._jitter()
            for seed, _ in filter(None, _CUDA._lazy_seed_tracker.get_calls()):
                seed()

    @property
    def is_in_bad_fork(self) -> bool:
        return self.asked not in (None, os.getpid())

    @property
    def is_awake(self) -> bool:
        return self.driver == os.getpid()

    @property
    def end_s(self) -> float:
        """When all that was ordered will have been done."""
        return max(self.host_s, self._ends[-1])

    def launch(self, seconds: float) -> None:
        """Order a kernel."""
        self.wake()
        self.host_s += CALL_S * self._pace
        if len(self._ends) == DEEPEST:
            self.host_s = max(self.host_s, self._ends[0])
        self._ends.append(self.end_s + seconds * self._pace * self._jitter())

    def wait(self, why: str) -> None:
        """Until the queue is empty."""
        log(f"{why}: {1000 * (self.end_s - self.host_s):.6f}")
        self.host_s = self.end_s

    def wait_until(self, moment: float) -> None:
        self.host_s = max(self.host_s, moment)

    def _jitter(self) -> float:
        return 1 + self._chance.gauss(0.0, float(os.environ.get("SIMULATED_GPU_NOISE", "0")))


QUEUE = Queue()


def log(call: str) -> None:
    if os.environ.get("SIMULATED_GPU_LOG"):
        os.write(2, f"{call}\n".encode())


def available() -> bool:
    return os.environ.get("CUDA_VISIBLE_DEVICES") != ""


def _ask() -> bool:
    """Whether there is a device: a question to the driver, unless NVML is asked in its place."""
    if QUEUE.asked is None and os.environ.get("PYTORCH_NVML_BASED_CUDA_CHECK") != "1":
        log("ask the driver")
        QUEUE.asked = os.getpid()
    return available()


def _clock() -> float:
    return QUEUE.host_s if QUEUE.is_awake else _real_clock()


def _sleep(seconds: float) -> None:
    if QUEUE.is_awake:
        QUEUE.host_s += seconds
    else:
        _real_sleep(seconds)


# tensors ----------------------------------------------------------------------------------------


class _SeemsPlain(type(torch.Tensor)):  # type: ignore[misc]
    """What compares the type of a tensor on the GPU finds that of any tensor or parameter."""

    def __eq__(cls, other: object) -> bool:
        return any(other is each for each in (cls, torch.Tensor, torch.nn.Parameter))

    def __hash__(cls) -> int:
        return hash(torch.Tensor)


class GpuTensor(torch.Tensor, metaclass=_SeemsPlain):
    """A tensor in main memory that says it is on the GPU."""

    __torch_function__ = torch._C._disabled_torch_function_impl
    device = property(lambda self: torch.device("cuda", 0))  # type: ignore[assignment]
    is_cuda = property(lambda self: True)  # type: ignore[assignment]
    is_cpu = property(lambda self: False)  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, name = dict(kwargs or {}), func._schema.name
        onto = kwargs.get("device")
        if onto is not None:
            kwargs["device"] = "cpu"
        _require_one_device(name, (args, kwargs))
        QUEUE.launch(HEAVY_S if name in _HEAVY else KERNEL_S)
        crosses = name == "aten::copy_" and type(args[0]) is not type(args[1])
        if name in _READS or (crosses and True not in (*args[2:], kwargs.get("non_blocking"))):
            QUEUE.wait(f"wait {name}")
        with torch._C._DisableTorchDispatch(), _generator(func):
            found = func(*args, **kwargs)
        if onto is not None and torch.device(onto).type == "cpu":
            return found
        return found if crosses else tree_map_only(torch.Tensor, on_gpu, found)

    def get_device(self) -> int:
        return 0

    def tolist(self) -> Any:
        return self.cpu().tolist()

    def numpy(self, **_: Any) -> Any:
        raise TypeError("can't convert cuda:0 device type tensor to numpy.")

    __array__ = numpy

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return repr(self.cpu())

    def __format__(self, how: str) -> str:
        return format(self.cpu(), how)


def on_gpu(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory, as a tensor on the GPU."""
    return tensor if isinstance(tensor, GpuTensor) else tensor.as_subclass(GpuTensor)


def _require_one_device(name: str, given: Any) -> None:
    if name not in _MIXES and any(
        isinstance(each, torch.Tensor) and not isinstance(each, GpuTensor) and each.dim()
        for each in tree_leaves(given)
    ):
        raise RuntimeError(f"Expected all tensors to be on the same device, but {name} has two")


@contextmanager
def _generator(func: Any = None) -> Iterator[None]:
    """Draws come from the GPU's own generator."""
    if func is not None and torch.Tag.nondeterministic_seeded not in func.tags:
        yield
        return
    ours, theirs = torch.default_generator, _CUDA.default_generators[0]
    outside = ours.get_state()
    ours.set_state(theirs.get_state())
    try:
        yield
    finally:
        theirs.set_state(ours.get_state())
        ours.set_state(outside)


_tensor_to = torch.Tensor.to


def _to(self: Any, *args: Any, **kwargs: Any) -> Any:
    if args and isinstance(args[0], torch.Tensor):
        args = (args[0].device, args[0].dtype, *args[1:])
    copy = kwargs.pop("copy", False)
    device, dtype, non_blocking, memory = torch._C._nn._parse_to(*args, **kwargs)
    here = isinstance(self, GpuTensor)
    there = here if device is None else device.type == "cuda"
    changed = {} if memory is None else {"memory_format": memory}
    if here == there:
        return _tensor_to(self, dtype or self.dtype, copy=copy, **changed)
    if there:
        QUEUE.launch(KERNEL_S)
        if not non_blocking:
            QUEUE.wait("wait copy to the GPU")
        return _tensor_to(self, dtype or self.dtype, copy=True, **changed).as_subclass(GpuTensor)
    if not non_blocking:
        QUEUE.wait("wait copy to the host")
    with torch._C._DisableTorchDispatch():
        return _tensor_to(self.detach(), dtype or self.dtype, copy=True, **changed)


def _makes(make: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes a tensor, on the GPU too."""

    @wraps(make)
    def made(*args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        if device is None or torch.device(device).type != "cuda":
            return make(*args, **kwargs)
        QUEUE.wake()
        kwargs["device"] = "cpu"
        wants_gradient = kwargs.pop("requires_grad", False)
        QUEUE.launch(KERNEL_S)
        with _generator():
            return on_gpu(make(*args, **kwargs)).requires_grad_(wants_gradient)

    return made


# torch.cuda -------------------------------------------------------------------------------------


class Event:
    """As `torch.cuda.Event`."""

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        QUEUE.wake()
        self._timed, self._moment = enable_timing, -1.0

    def record(self, stream: object = None) -> None:
        log("record")
        self._moment = QUEUE.end_s

    def query(self) -> bool:
        log("query")
        return QUEUE.host_s >= self._moment

    def synchronize(self) -> None:
        log("wait event")
        QUEUE.wait_until(self._moment)

    wait = synchronize

    def elapsed_time(self, end: Event) -> float:
        log("elapsed")
        if not (self._timed and end._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if QUEUE.host_s < max(self._moment, end._moment) or min(self._moment, end._moment) < 0:
            raise RuntimeError("Both events must be recorded and completed")
        return 1000 * (end._moment - self._moment)


class Stream:
    """The only one."""

    def synchronize(self) -> None:
        QUEUE.wait("wait stream")

    def query(self) -> bool:
        log("query")
        return QUEUE.end_s <= QUEUE.host_s

    def wait_event(self, event: Event) -> None: ...
    def wait_stream(self, stream: Stream) -> None: ...

    def record_event(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record()
        return event


@contextmanager
def _one_of_one(_: object) -> Iterator[None]:
    """A device or a stream."""
    QUEUE.wake()
    yield


def _synchronize(device: object = None) -> None:
    QUEUE.wake()
    QUEUE.wait("synchronize")


def _clock_rate(device: object = None) -> int:
    log("clock_rate")
    rates = os.environ.get("SIMULATED_GPU_MHZ", "1980").split()
    return int(rates[next(_READINGS) % len(rates)])


def _no_nvml(device: object = None) -> int:
    raise ModuleNotFoundError("pynvml does not seem to be installed or it can't be imported.")


def _memory() -> int:
    return int(os.environ.get("SIMULATED_GPU_MB", "16000")) << 20


def _awake(value: Any) -> Callable[..., Any]:
    def asked(*_: Any, **__: Any) -> Any:
        QUEUE.wake()
        return value

    return asked


def install() -> None:
    time.perf_counter, time.sleep = _clock, _sleep
    used = 64 << 20
    facts = SimpleNamespace(name=NAME, total_memory=_memory(), major=9, minor=0)
    new: dict[str, Any] = {
        "is_available": _ask,
        "device_count": lambda: int(_ask()),
        "is_initialized": lambda: QUEUE.is_awake,
        "init": QUEUE.wake,
        "_lazy_init": QUEUE.wake,
        "_is_in_bad_fork": lambda: QUEUE.is_in_bad_fork,
        "current_device": _awake(0),
        "set_device": _awake(None),
        "device": _one_of_one,
        "stream": _one_of_one,
        "get_device_name": _awake(NAME),
        "get_device_properties": _awake(facts),
        "get_device_capability": _awake((9, 0)),
        "Event": Event,
        "Stream": Stream,
        "current_stream": _awake(Stream()),
        "default_stream": _awake(Stream()),
        "synchronize": _synchronize,
        "is_current_stream_capturing": lambda: False,
        "mem_get_info": lambda device=None: (_memory() - used, _memory()),
        "reset_peak_memory_stats": _awake(None),
        "empty_cache": _awake(None),
        "_sleep": lambda cycles: QUEUE.launch(1e-9 * cycles),
        "clock_rate": _clock_rate,
        "utilization": _no_nvml,
        "temperature": _no_nvml,
        "default_generators": (torch.Generator("cpu").manual_seed(1),),
    }
    for kind in ("allocated", "reserved"):
        new |= {f"memory_{kind}": _awake(used), f"max_memory_{kind}": _awake(used)}
    for name, value in new.items():
        for module in (_CUDA, _CUDA.random):
            if module is _CUDA or hasattr(module, name):
                setattr(module, name, value)
    torch.version.cuda = "12.8"
    # So that a module keeps its parameters' identity when they move.
    torch.__future__.set_swap_module_params_on_conversion(True)
    anyhow: Any = torch.Tensor
    anyhow.to = _to
    anyhow.cuda = lambda self, device=None, non_blocking=False: _to(
        self, "cuda", None, non_blocking
    )
    anyhow.cpu = lambda self: _to(self, "cpu")
    for name in (
        "tensor as_tensor empty zeros ones full rand randn randint randperm arange linspace eye "
        "empty_strided scalar_tensor zeros_like ones_like full_like empty_like rand_like randn_like"
    ).split():
        setattr(torch, name, _makes(getattr(torch, name)))


install()
