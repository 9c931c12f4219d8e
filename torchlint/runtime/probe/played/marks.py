"""Where tensors lie: a mark for each storage, which views share, kept by the storage's address.

A weak reference keeps the address from being given to another storage. Attributes of storages
would be simpler, but until torch 2.9 a storage that was part of a collected cycle loses them.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

import torch
from torch.multiprocessing import reductions

from torchlint.runtime.probe import private

if TYPE_CHECKING:
    from torchlint.runtime.probe.messages import Place

    Made = tuple[Place, int]

_WeakRef: Any = reductions.StorageWeakRef
_BLOCK: Final = 512
"""Bytes: the caching allocator rounds up to these.
https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management"""
_MANY: Final = 4096
"""Marks; with more of them, those whose storages are gone are looked for."""
HOST: Final = -1
"""Of the host, made there by a call in Python."""
PINNED: Final = -2
"""Of the host, in pages that a copy need not wait for."""
OPEN: Final = -3
"""Made in C++ by nobody knows which call; the first operation that needs it elsewhere decides."""
BATCH: Final = -1
"""In place of the part of a step: a loader has handed it out, and the line made the loader."""
UNSAID: Final = -4
"""Of a call that makes a tensor and names no device: where its arguments lie, else on the host."""
_PARTS: Final = {
    torch.sparse_coo: "_values",
    torch.sparse_csr: "values",
    torch.sparse_csc: "values",
    torch.sparse_bsr: "values",
    torch.sparse_bsc: "values",
}
"""What a tensor without a storage keeps its content in."""


class StorageMark:
    """Where a storage lies: the number of a device, `HOST`, `PINNED` or `OPEN`.

    Attributes:
        made: the line that made it on the host, and in which part of which step, or `BATCH`; None:
            it is not known.
        size: bytes that it takes on a device.
        storage: a weak reference.
    """

    __slots__ = ("lies", "made", "size", "storage")

    def __init__(self, lies: int, storage: Any, made: Made | None) -> None:
        self.lies = lies
        self.made = made
        self.size = 0
        self.storage = _WeakRef(storage)


class Memory:
    """Bytes on one device, in blocks as the allocator hands them out.

    Attributes:
        now: bytes that are alive, or have not been found to be gone.
        peak: the most that were alive at one time, since `reset`.
        total: all that were ever asked for.
        grown: the peak has grown since somebody last looked.
    """

    def __init__(self) -> None:
        self.now = self.peak = self.total = 0
        self.grown = False


class Marks:
    """Those of all storages, and the memory of all devices."""

    def __init__(self) -> None:
        self._by_address: dict[int, StorageMark] = {}
        self._devices: dict[int, Memory] = {}
        self._lock = threading.RLock()
        self._many = _MANY

    def of(self, storage: Any) -> StorageMark | None:
        """That of an untyped storage; None: it lies on the host, and nobody knows who made it."""
        return self._by_address.get(private.address(storage))

    def put(self, storage: Any, lies: int, made: Made | None = None) -> None:
        """Let a storage lie there from now on."""
        address = private.address(storage)
        with self._lock:
            mark = self._by_address.get(address)
            if mark is None:
                if len(self._by_address) > self._many:
                    self._sweep()
                mark = self._by_address[address] = StorageMark(lies, storage, made)
            elif mark.lies >= 0:
                self._devices[mark.lies].now -= mark.size
                mark.size = 0
            mark.lies, mark.made = lies, made
            if lies >= 0:
                self._take(mark, storage.nbytes())

    def memory(self, device: int) -> Memory:
        """Of a device, without what is gone."""
        with self._lock:
            self._sweep()
            return self._of_device(device)

    def grown(self, device: int) -> bool:
        """Whether the memory of a device is fuller than ever, since this was last asked."""
        memory = self._of_device(device)
        grown, memory.grown = memory.grown, False
        return grown

    def reset_peak(self, device: int) -> None:
        """The fullest is now."""
        memory = self.memory(device)
        memory.peak = memory.now

    @property
    def now(self) -> int:
        """Bytes on all devices; some of them may be gone."""
        return sum(each.now for each in self._devices.values())

    def alive(self) -> int:
        """Bytes on all devices."""
        with self._lock:
            self._sweep()
        return self.now

    @property
    def peak(self) -> int:
        """Bytes of the fullest device, when it was fullest."""
        return max((each.peak for each in self._devices.values()), default=0)

    def _of_device(self, device: int) -> Memory:
        return self._devices.setdefault(device, Memory())

    def _take(self, mark: StorageMark, size: int) -> None:
        mark.size = -(-size // _BLOCK) * _BLOCK
        memory = self._of_device(mark.lies)
        memory.now += mark.size
        memory.total += mark.size
        if memory.now > memory.peak:
            self._sweep()
            if memory.now > memory.peak:
                memory.peak, memory.grown = memory.now, True

    def _sweep(self) -> None:
        """Forget the storages that are gone."""
        for address, mark in list(self._by_address.items()):
            if mark.storage.expired():
                del self._by_address[address]
                if mark.lies >= 0:
                    self._devices[mark.lies].now -= mark.size
        self._many = max(_MANY, 2 * len(self._by_address))


MARKS: Final = Marks()


def storage_of(tensor: Any) -> Any:
    """Its storage; of a sparse one that of its values, and of one that is made of others that of
    the first; None: it has none."""
    inner = private.inside_subclass(tensor)
    if inner is not None:
        return storage_of(inner)
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        inner = private.inside_transform(tensor)
        if inner is not None:
            return storage_of(inner)
        part = _PARTS.get(tensor.layout)
        return None if part is None else getattr(tensor, part)().untyped_storage()


def mark_of(tensor: Any) -> StorageMark | None:
    """The mark of a tensor; None: it lies on the host, and nobody knows who made it."""
    storage = storage_of(tensor)
    return None if storage is None else MARKS.of(storage)


def device_of(tensor: Any) -> int | None:
    """The number of the device on which a tensor lies; None: on the host."""
    return _device(mark_of(tensor))


def device_of_storage(storage: Any) -> int | None:
    """The same for an untyped storage."""
    return _device(MARKS.of(storage))


def _device(mark: StorageMark | None) -> int | None:
    return mark.lies if mark is not None and mark.lies >= 0 else None


def is_pinned(mark: StorageMark | None) -> bool:
    """Whether it lies on the host, in pages that a copy need not wait for."""
    return mark is not None and mark.lies == PINNED


def mark_batch(tensor: Any, made: Made) -> None:
    """Let a tensor of the host be known as one that a loader has handed out."""
    mark = mark_of(tensor)
    if mark is None or mark.lies == OPEN:
        put(tensor, HOST, made)
    elif mark.lies < 0:
        mark.made = made


def put(tensor: Any, lies: int, made: Made | None = None) -> None:
    """Let a tensor lie there from now on."""
    storage = storage_of(tensor)
    if storage is not None:
        MARKS.put(storage, lies, made)
