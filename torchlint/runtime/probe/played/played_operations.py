"""Hears every operation: its results lie where its arguments do, and the device is asked for it."""

from __future__ import annotations

import re
import threading
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.played import generators, moves, stand_ins, waits
from torchlint.runtime.probe.played.ledger import COLLECTIVE, MIXED, SMALL
from torchlint.runtime.probe.played.marks import BATCH, HOST, OPEN, UNSAID, mark_of, put
from torchlint.runtime.probe.played.refusals import refusal
from torchlint.runtime.probe.played.state import PLAYED
from torchlint.runtime.probe.wrapping import flops
from torchlint.runtime.probe.wrapping.operations import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_Mode: Any = private.dispatch_mode_class()
_FAKE: Any = private.fake_tensor()
_PLAIN: Any = torch.Tensor.__torch_dispatch__
_NO_KERNEL: Final = frozenset(
    f"aten::{name}"
    for name in (
        "empty empty_like empty_strided empty_permuted new_empty new_empty_strided detach detach_ "
        "lift lift_fresh lift_fresh_copy alias set_ resize_ resize_as_ _unsafe_view _reshape_alias "
        "is_same_size is_pinned _pin_memory record_stream _local_scalar_dense copy_ _foreach_copy_ "
        "_version _nested_view_from_buffer requires_grad_ retain_grad _has_same_storage_numel "
        "_assert_async set_data _coalesced_ _indices _values indices values sparse_dim dense_dim "
        "is_coalesced data rename_ squeeze_ unsqueeze_ t_ transpose_ swapaxes_ as_strided_"
    ).split()
)
"""Operations that only look at a tensor in another way, or that are counted elsewhere."""
_FORMULAS: Final = private.formulas()
_COPIES: Final = ("aten::copy_", "aten::_foreach_copy_")
_OTHER_MEMORY: Final = "aten::set_"
"""Gives a tensor the memory of another one, or what another process has sent."""
_FREE: Final = frozenset({"prim", "profiler", "debugprims"})
_EXCHANGES: Final = frozenset({"c10d", "_c10d_functional", "c10d_functional"})
_EXCHANGED: Final = frozenset({"wait_tensor", "_wrap_tensor_autograd"})
"""What is called with the result of an exchange, and sends nothing."""
_ON_HOST: Final = {
    "aten::_pack_padded_sequence": (1,),
    "aten::_pad_packed_sequence": (1,),
    "aten::_pad_packed_sequence_backward": (2,),
    "aten::_pack_padded_sequence_backward": (2,),
    "aten::lstm": (1,),
    "aten::gru": (1,),
    "aten::rnn_tanh": (1,),
    "aten::rnn_relu": (1,),
    "aten::index": (1,),
    "aten::index_put": (1, 2),
    "aten::index_put_": (1, 2),
    "aten::_index_put_impl_": (1, 2),
    "aten::_unsafe_index": (1,),
    "aten::_unsafe_index_put": (1, 2),
    "aten::copy_": (0, 1),
    "aten::_foreach_copy_": (0, 1),
    "aten::set_": (0, 1),
    "aten::_ctc_loss": (2, 3),
    "aten::_ctc_loss_backward": (3, 4),
}
"""Arguments, by their numbers, in which tensors of the host are what is expected, or are counted
as copies."""


_RESULT_ON_HOST: Final = {"aten::_pack_padded_sequence": 1, "aten::_pad_packed_sequence": 1}
"""Results, by their numbers, that lie on the host though the arguments do not."""


_UNKNOWN: Final = re.compile("no support for .* in gloo|gloo does not support", re.IGNORECASE)


class _Facts:
    """What does not change from call to call."""

    __slots__ = (
        *("generator", "kernel", "lists_in_place", "name", "on_host", "product"),
        *("random", "schema", "space", "waits"),
    )

    def __init__(self, operation: Any) -> None:
        self.name = name_of(operation)
        self.space = self.name.partition("::")[0]
        self.schema = schema = private.schema(operation)
        self.kernel = (
            self.name not in _NO_KERNEL and self.space not in _FREE and not _is_view(schema)
        )
        self.random = _is_random(operation)
        arguments = () if schema is None else schema.arguments
        self.generator = any(each.name == "generator" for each in arguments)
        self.lists_in_place = "foreach" in self.name and self.name.endswith("_")
        self.on_host = _ON_HOST.get(self.name, ())
        self.waits = waits.WAITS.get(self.name)
        self.product = private.without_overload(operation) in (_FORMULAS or {})


def _is_view(schema: Any) -> bool:
    """Whether a result is another look at an argument."""
    returns = () if schema is None else schema.returns
    return any(
        each.alias_info is not None and not each.alias_info.is_write for each in returns
    ) and not any(
        each.alias_info is not None and each.alias_info.is_write for each in schema.arguments
    )


def _is_random(operation: Any) -> bool:
    return torch.Tag.nondeterministic_seeded in getattr(operation, "tags", ())


class PlayedOperations(_Mode):  # type: ignore[misc]
    """The mode of one thread."""

    supports_higher_order_operators = True

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        thread = PLAYED.thread
        if thread.quiet or not PLAYED.on:
            return func(*args, **kwargs)
        if any(each.__torch_dispatch__ is not _PLAIN for each in types):
            if _FAKE in types:  # torch asks what the shape of a result would be
                return func(*args, **kwargs)
            return NotImplemented  # the class calls other operations, on the tensors in it
        if func not in _WHOLE and not any(each.is_nested for _, each in _tensors(args, kwargs)):
            with self:
                result = _by_parts(func, args, kwargs)
            if result is not NotImplemented:
                return result
            _WHOLE.add(func)
        facts = _KNOWN.get(func)
        if facts is None:
            facts = _KNOWN[func] = _Facts(func)
        if facts.schema is None:  # it takes functions, which ask for devices
            return _play(func, facts, args, kwargs)
        thread.quiet += 1  # what we ask of the arguments is not the script's
        try:
            return _play(func, facts, args, kwargs)
        finally:
            thread.quiet -= 1


_KNOWN: Final[dict[Any, _Facts]] = {}


_WHOLE: Final[set[Any]] = {torch.ops.prim.device.default}
"""Operations that are not made of others."""


def _by_parts(operation: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """In inference mode, and where a jagged tensor calls it for its values, `linear` arrives here
    as such, and everywhere else as its parts."""
    decompose = getattr(operation, "decompose", None)
    return NotImplemented if decompose is None else decompose(*args, **kwargs)


def _play(func: Any, facts: _Facts, args: Any, kwargs: dict[str, Any]) -> Any:
    lying = _places(facts, args, kwargs)
    device, making = lying.device, PLAYED.thread.making
    if facts.space in _EXCHANGES:
        return _exchange(func, facts, args, kwargs, device)
    where = device
    if making is not None and making != UNSAID:
        where = making if making >= 0 else None
    elif making is None and not lying.seen and not PLAYED.thread.setting:
        where = moves.of_backward()
    if device is not None or where is not None:
        if facts.name in _COPIES:
            return moves.copy_in_place(func, facts.name, args, kwargs)
        _meet(facts, lying, args, kwargs)
    if PLAYED.thread.moving is not None and facts.name == "aten::_to_copy":
        return moves.part(args[0], kwargs)
    func = stand_ins.STAND_INS.get(facts.name, func)
    if facts.random and where is not None:
        result = generators.draw(where, func, args, kwargs, takes=facts.generator)
    else:
        result = func(*args, **kwargs)
    if facts.lists_in_place and where is not None:
        _count_change(args[0])
    if _FAKE is not private.MISSING and isinstance(result, _FAKE):
        return result
    if where is not None:
        kept = _RESULT_ON_HOST.get(facts.name)
        _lay(result if kept is None else (*result[:kept], *result[kept + 1 :]), where)
        if facts.kernel:
            _launch(func, facts, where, args, kwargs, result)
    elif making is not None:
        _lay(result, HOST, PLAYED.ledger.here())
    elif not lying.seen:
        _lay(result, OPEN)
    elif lying.inherits and facts.name != _OTHER_MEMORY:
        _lay(result, *lying.inherits[-1])
    return result


def _count_change(tensors: Any) -> None:
    """Let autograd know that these have changed, as the kernels of a GPU do (`increment_version` in
    `cuda/ForeachFunctors.cuh`). On the host that is done by one operation for each tensor, which a
    mode does not hear."""
    for each in tensors:
        if not each.is_inference():
            torch.autograd.graph.increment_version(each)


class _Lying:
    """Where the arguments of a call lie.

    Attributes:
        device: that of the first one on a device.
        seen: there are tensors among them.
        opened: those that may lie anywhere.
        strange: there is one that the device cannot reach.
        inherits: what results of the host inherit; empty if an argument has nothing to pass on.
    """

    __slots__ = ("device", "inherits", "opened", "seen", "strange")

    def __init__(self) -> None:
        self.device: int | None = None
        self.seen = self.strange = False
        self.opened: list[Any] = []
        self.inherits: list[tuple[int, Any]] = []


def _places(facts: _Facts, args: Any, kwargs: dict[str, Any]) -> _Lying:
    lying, passes_on = _Lying(), True
    for number, tensor in _tensors(args, kwargs):
        lying.seen = True
        mark = mark_of(tensor)
        lies = None if mark is None else mark.lies
        if lies is not None and lies >= 0:
            if lying.device is None:
                lying.device = lies
            continue
        if lies == OPEN:
            lying.opened.append(tensor)
            lying.inherits.insert(0, (OPEN, None))
            continue
        if mark is not None and lies == HOST:
            made = mark.made
            lying.inherits.append((HOST, None if made is not None and made[1] == BATCH else made))
        else:
            passes_on = False
        if tensor.dim() and number not in facts.on_host and tensor.numel():
            lying.strange = True
    if not passes_on:
        lying.inherits.clear()
    return lying


def _meet(facts: _Facts, lying: _Lying, args: Any, kwargs: dict[str, Any]) -> None:
    """Count what the host waits for, and let what may lie anywhere lie on the device."""
    if lying.device is not None and lying.strange:
        PLAYED.ledger.note(MIXED, facts.name)
    if facts.waits is not None:
        for kind, times in facts.waits(args, kwargs):
            PLAYED.ledger.wait(kind, times)
    if lying.device is not None:
        for tensor in lying.opened:
            put(tensor, lying.device)


def _tensors(args: Any, kwargs: dict[str, Any]) -> Iterator[tuple[int, Any]]:
    """The tensors among the arguments, with the number of the argument; -1 by name."""
    for number, each in chain(enumerate(args), ((-1, each) for each in kwargs.values())):
        if isinstance(each, torch.Tensor):
            yield number, each
        elif isinstance(each, (list, tuple)):
            for inner in each:
                if isinstance(inner, torch.Tensor):
                    yield number, inner


def _lay(result: Any, lies: int, made: Any = None) -> None:
    """Let the results lie there; what has a place keeps it."""
    if isinstance(result, torch.Tensor):
        mark = mark_of(result)
        if mark is None or (mark.lies == OPEN and lies != OPEN):
            put(result, lies, made)
    elif isinstance(result, (list, tuple)):
        for each in result:
            _lay(each, lies, made)


def _launch(
    func: Any, facts: _Facts, device: int, args: Any, kwargs: dict[str, Any], result: Any
) -> None:
    book = PLAYED.ledger
    size = elements = 0
    if book.open:
        results = result if isinstance(result, (list, tuple)) else (result,)
        for _, tensor in _tensors((*args, *results), {}):
            size += tensor.numel() * tensor.element_size()
            elements = max(elements, tensor.numel())
        if facts.product:
            book.compute(
                _precision(facts.name, args),
                flops.count(_FORMULAS, func, args, kwargs, result) or 0,
            )
    book.launch(device, size=size, small=elements < SMALL)


def _precision(name: str, args: Any) -> str:
    """The type in which a product is computed."""
    kind = flops.type_of(args)
    if kind != "float32":
        return kind
    backends: Any = torch.backends
    flags = backends.cudnn if "conv" in name else backends.cuda.matmul
    return "tf32" if flags.allow_tf32 else kind


def _exchange(func: Any, facts: _Facts, args: Any, kwargs: Any, device: int | None) -> Any:
    """Between ranks: no launch, as the backend is one of the host, but it stands in the queue."""
    try:
        result = func(*args, **kwargs)
    except RuntimeError as error:
        if not PLAYED.by_nccl or not _UNKNOWN.search(str(error)):
            raise
        what = "An exchange that gloo does not have in this version of torch"
        raise refusal(facts.name, what) from error
    if device is not None:
        if facts.name.partition("::")[2] not in _EXCHANGED:
            size = sum(each.numel() * each.element_size() for _, each in _tensors(args, kwargs))
            PLAYED.ledger.note(COLLECTIVE, facts.name, size)
            PLAYED.ledger.queues.current.ordered += 1
        if not isinstance(result, torch.ScriptObject):
            _lay(result, device)
    return result


_MODE = threading.local()


def enter() -> None:
    """Play on this thread from now on."""
    if _Mode is object or getattr(_MODE, "now", None) is not None:
        return
    _MODE.now = PlayedOperations()
    _MODE.now.__enter__()


def in_new_threads() -> None:
    """Play on threads that start from now on as well; modes are those of one thread."""
    plain = threading.Thread.run

    def run(self: threading.Thread) -> None:
        if PLAYED.on:
            enter()
        plain(self)

    threading.Thread.run = run  # type: ignore[method-assign]
