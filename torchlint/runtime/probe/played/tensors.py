"""What a tensor and its storage say of their device, and how they are moved.

Attributes of `torch.Tensor` are replaced, so that they answer in all threads, in hooks, and inside
torch's own Python functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.played import marks, moves, waits
from torchlint.runtime.probe.played.factories import made
from torchlint.runtime.probe.played.legacy_types import DTYPES
from torchlint.runtime.probe.played.marks import (
    MARKS,
    PINNED,
    device_of,
    device_of_storage,
    mark_of,
    put,
)
from torchlint.runtime.probe.played.state import PLAYED
from torchlint.runtime.probe.wrapping.interpose import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[..., Any]

_Tensor: Any = torch.Tensor
_Storage: Any = torch.UntypedStorage
_CANNOT: Final = (
    "can't convert {} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
    "memory first."
)


def _numbered(plain: Function) -> Function:
    """A number is one of a device."""

    def parse(*args: Any, **kwargs: Any) -> Any:
        first = kwargs.get("device", args[0] if args else None)
        if isinstance(first, int) and not isinstance(first, bool):
            where = torch.device("cuda", first)
            args = (where, *args[1:]) if "device" not in kwargs else args
            kwargs = {**kwargs, "device": where} if "device" in kwargs else kwargs
        return plain(*args, **kwargs)

    return parse


def install() -> None:
    """Replace them, in this process."""
    for name, make in _METHODS.items():
        if hasattr(_Tensor, name):
            replace(_Tensor, name, make)
    for name, answer in _PROPERTIES.items():
        plain = getattr(_Tensor, name, None)
        if plain is not None:
            setattr(_Tensor, name, property(answer(plain)))
    for name, make in _STORAGE_METHODS.items():
        if hasattr(_Storage, name):
            replace(_Storage, name, make)
    _Storage.device = property(_device(_Storage.device, device_of_storage))
    _Storage.is_cuda = property(lambda self: device_of_storage(self) is not None)
    private.wrap_subclasses(_of_host)


def _device(plain: Any, find: Callable[[Any], int | None] = device_of) -> Function:
    get = plain.__get__

    def device(self: Any) -> Any:
        index = find(self)
        return get(self) if index is None else torch.device("cuda", index)

    return device


def _of_host(plain: Function) -> Function:
    """A tensor that is made of others has no content that could lie anywhere. To C++ it is one of
    the host, which aborts where it meets a device that it has not."""

    def make(*args: Any, **kwargs: Any) -> Any:
        args = tuple(_host_for(each) for each in args)
        return plain(*args, **{name: _host_for(each) for name, each in kwargs.items()})

    return make


def _host_for(value: Any) -> Any:
    is_played = isinstance(value, torch.device) and value.type == "cuda" and PLAYED.on
    return torch.device("cpu") if is_played else value


def _is_cuda(plain: Any) -> Function:
    return lambda self: device_of(self) is not None


def _is_cpu(plain: Any) -> Function:
    get = plain.__get__
    return lambda self: device_of(self) is None and get(self)


_PROPERTIES: Final = {"device": _device, "is_cuda": _is_cuda, "is_cpu": _is_cpu}


def _get_device(plain: Function) -> Function:
    def get_device(self: Any) -> int:
        index = device_of(self)
        return int(plain(self)) if index is None else index

    return get_device


def _type(plain: Function) -> Function:
    def type_(self: Any, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        if dtype is None:
            said = str(plain(self))
            return said.replace("torch.", "torch.cuda.") if device_of(self) is not None else said
        name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", "")
        for word, kind in DTYPES.items():
            if name.endswith(word) and not isinstance(dtype, torch.dtype):
                on_device = "cuda." in str(getattr(dtype, "__module__", "")) + "." + name
                where = torch.device("cuda" if on_device else "cpu")
                return self.to(where, kind, non_blocking=non_blocking)
        return plain(self, dtype, non_blocking, **kwargs)

    return type_


def _to(plain: Function) -> Function:
    parse = private.parse_to(_numbered)

    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not PLAYED.on or PLAYED.thread.quiet:
            return plain(self, *args, **kwargs)
        copy = kwargs.get("copy", False)
        other = args[0] if args else kwargs.get("other")
        if isinstance(other, torch.Tensor):
            like = {"dtype": other.dtype, "device": other.device}
            more = dict(zip(("non_blocking", "copy"), args[1:], strict=False))
            kwargs = {name: each for name, each in kwargs.items() if name != "other"}
            return to(self, **{**like, **more, **kwargs})
        known = {name: each for name, each in kwargs.items() if name != "copy"}
        # The fourth of the positional ones is `copy`, which the parser does not take.
        flags = [each for each in args if isinstance(each, bool)]
        if len(flags) > 1:
            copy = copy or flags[1]
            args = tuple(args[: args.index(flags[0]) + 1])
        device, dtype, non_blocking, layout = parse(*args, **known)
        return _moved(plain, self, device, dtype, bool(non_blocking), bool(copy), layout)

    return to


def _moved(
    plain: Function,
    tensor: Any,
    device: Any,
    dtype: Any,
    non_blocking: bool,
    copy: bool,
    layout: Any,
) -> Any:
    """`to`, with its arguments in order."""
    how: dict[str, Any] = {} if dtype is None else {"dtype": dtype}
    if layout is not None:
        how["memory_format"] = layout
    here = device_of(tensor)
    if device is None:
        return plain(tensor, copy=copy, **how)
    if device.type not in ("cuda", "cpu"):
        return plain(tensor, device, copy=copy, non_blocking=non_blocking, **how)
    there = PLAYED.index_of(device)
    if here == there:
        return plain(tensor, copy=copy, **how)
    return moves.move(tensor, there, how, non_blocking=non_blocking)


def _type_as(plain: Function) -> Function:
    return lambda self, other: self.to(other.device, other.dtype)


def _cuda(plain: Function) -> Function:
    def cuda(
        self: Any,
        device: Any = None,
        non_blocking: bool = False,
        memory_format: Any = torch.preserve_format,
    ) -> Any:
        if not PLAYED.on:
            PLAYED.touch()
            return plain(self, device, non_blocking)
        index = PLAYED.thread.device if device is None else PLAYED.index_of(device)
        if index is None:
            raise RuntimeError(f"Invalid device, must be cuda device, but got {device}")
        where = torch.device("cuda", index)
        layout = None if memory_format is torch.preserve_format else memory_format
        return _moved(_Tensor.to, self, where, None, non_blocking, False, layout)

    return cuda


def _cpu(plain: Function) -> Function:
    def cpu(self: Any, memory_format: Any = torch.preserve_format) -> Any:
        if not PLAYED.on or PLAYED.thread.quiet or device_of(self) is None:
            return plain(self, memory_format=memory_format)
        layout = None if memory_format is torch.preserve_format else memory_format
        return _moved(plain, self, torch.device("cpu"), None, False, False, layout)

    return cpu


def _numpy(plain: Function) -> Function:
    def numpy(self: Any, *args: Any, **kwargs: Any) -> Any:
        index = None if PLAYED.thread.quiet else device_of(self)
        if index is None:
            return plain(self, *args, **kwargs)
        force = kwargs.get("force", args[0] if args else False)
        if not force:
            raise TypeError(_CANNOT.format(f"cuda:{index}"))
        return plain(self.detach().cpu(), *args, **kwargs)

    return numpy


def _tolist(plain: Function) -> Function:
    def tolist(self: Any) -> Any:
        if PLAYED.on and not PLAYED.thread.quiet and device_of(self) is not None:
            waits.read("tolist")
        return PLAYED.quietly(plain, self)

    return tolist


def _pin_memory(plain: Function) -> Function:
    def pin_memory(self: Any, device: Any = None) -> Any:
        if not PLAYED.on:
            return plain(self) if device is None else plain(self, device)
        if device_of(self) is not None:
            raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
        if self.is_pinned():
            return self
        result = PLAYED.quietly(self.detach().clone)
        put(result, PINNED)
        return result

    return pin_memory


def _is_pinned(plain: Function) -> Function:
    def is_pinned(self: Any, device: Any = None) -> bool:
        return marks.is_pinned(mark_of(self))

    return is_pinned


def _record_stream(plain: Function) -> Function:
    return lambda self, stream: None


def _maker(plain: Function) -> Function:
    """`new_zeros` and its like."""

    def new(self: Any, *args: Any, **kwargs: Any) -> Any:
        if PLAYED.thread.making is not None:  # a mode of the user has called it again
            return plain(self, *args, **kwargs)
        if "device" not in kwargs or kwargs["device"] is None:
            kwargs = {**kwargs, "device": self.device}
        return made(plain, (self, *args), kwargs, fills=plain.__name__ == "new_tensor")

    return new


def _setter(plain: Function) -> Function:
    """`x[i] = value`, in which a number is one of the host."""

    def set_item(self: Any, index: Any, value: Any) -> None:
        thread = PLAYED.thread
        thread.setting = not isinstance(value, torch.Tensor)
        try:
            plain(self, index, value)
        finally:
            number, thread.setting = thread.setting, False
        node = self.grad_fn if number and PLAYED.on and device_of(self) is not None else None
        if node is not None:  # its zeros for the number are of the host, too
            node.register_prehook(_numbers)
            node.register_hook(_no_numbers)

    return set_item


def _numbers(_: Any) -> None:
    PLAYED.thread.setting = True


def _no_numbers(*_: Any) -> None:
    PLAYED.thread.setting = False


def _reader(kind: str) -> Callable[[Function], Function]:
    """For what reads a value: the read is called by this name, however it is done."""

    def make(plain: Function) -> Function:
        def read(self: Any, *args: Any, **kwargs: Any) -> Any:
            thread = PLAYED.thread
            before, thread.reading = thread.reading, thread.reading or kind
            try:
                return plain(self, *args, **kwargs)
            finally:
                thread.reading = before

        return read

    return make


_METHODS: Final = {
    **{
        f"__{name}__": _reader(kind)
        for name, kind in (
            *((each, each) for each in ("float", "int", "bool", "index", "complex", "format")),
            ("repr", "format"),
        )
    },
    "__setitem__": _setter,
    "is_nonzero": _reader("bool"),
    "get_device": _get_device,
    "type": _type,
    "to": _to,
    "type_as": _type_as,
    "cuda": _cuda,
    "cpu": _cpu,
    "numpy": _numpy,
    "tolist": _tolist,
    "pin_memory": _pin_memory,
    "is_pinned": _is_pinned,
    "record_stream": _record_stream,
    "new_tensor": _maker,
    "new_zeros": _maker,
    "new_ones": _maker,
    "new_full": _maker,
    "new_empty": _maker,
    "new_empty_strided": _maker,
}


# storages ------------------------------------------------------------------------------------


def _cloned(plain: Function) -> Function:
    def clone(self: Any) -> Any:
        new = PLAYED.quietly(_Storage, self.nbytes())
        result, index = PLAYED.quietly(new.copy_, self), device_of_storage(self)
        if index is not None:
            MARKS.put(result, index)
        return result

    return clone


def _storage_cpu(plain: Function) -> Function:
    def cpu(self: Any) -> Any:
        if device_of_storage(self) is None:
            return plain(self)
        PLAYED.ledger.wait("cpu")
        return PLAYED.quietly(_Storage(self.nbytes()).copy_, self)

    return cpu


def _storage_cuda(plain: Function) -> Function:
    def cuda(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
        index = PLAYED.index_or_current(device)
        if device_of_storage(self) == index:
            return self
        new = PLAYED.quietly(_Storage(self.nbytes()).copy_, self)
        MARKS.put(new, index)
        return new

    return cuda


def _storage_pinned(plain: Function) -> Function:
    def is_pinned(self: Any, *_: Any) -> bool:
        return marks.is_pinned(MARKS.of(self))

    return is_pinned


def _resized(plain: Function) -> Function:
    def resize_(self: Any, *size: Any) -> Any:
        result, mark = plain(self, *size), MARKS.of(self)
        if mark is not None and mark.lies >= 0:
            MARKS.put(self, mark.lies, mark.made)
        return result

    return resize_


_STORAGE_METHODS: Final = {
    "resize_": _resized,
    "clone": _cloned,
    "cpu": _storage_cpu,
    "cuda": _storage_cuda,
    "is_pinned": _storage_pinned,
}
