"""How many floating-point operations the products of a step are, by module, type and part.

The formulas are those of `torch.utils.flop_counter`: a multiplication and an addition are two
operations, and what is not a product of matrices, a convolution or attention counts nothing. Masks
are not seen, so causal attention counts in full.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import FlopsSeen, ModuleFlops
from torchlint.runtime.probe.wrapping.interpose import shielded
from torchlint.runtime.probe.wrapping.module_calls import around_modules
from torchlint.runtime.probe.wrapping.module_names import ModuleNames
from torchlint.runtime.probe.wrapping.operations import name_of
from torchlint.runtime.probe.wrapping.user_lines import Places

if TYPE_CHECKING:
    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.run_settings import RunSettings
    from torchlint.runtime.probe.wrapping.interpose import Function, Undo

    Key = tuple[str, str, Place | None]
    """Name, class, and the line of the first call; modules that share all three count as one."""
    Owner = tuple[int, Key | None]
    """A thread, and the module in which it created a node of the graph; None: in none."""

_AS = {
    "aten::_scaled_dot_product_flash_attention_for_cpu": "_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_flash_attention_for_cpu_backward": (
        "_scaled_dot_product_flash_attention_backward"
    ),
    "aten::_scaled_dot_product_fused_attention_overrideable": "_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_fused_attention_overrideable_backward": (
        "_scaled_dot_product_flash_attention_backward"
    ),
    "aten::addmm_": "addmm",
    "aten::baddbmm_": "baddbmm",
}
"""Operations for which torch has no formula, and others with the same arguments and products."""
_PRODUCTS = re.compile(
    r"aten::(_addmm_activation|_cdist_\w+|_cudnn_rnn\w*|_fft_\w+|_grouped_mm|_int_mm|_linalg_\w+"
    r"|_native_multi_head_attention|_scaled_dot_product_\w+|_scaled_grouped_mm\w*|_sparse_\w*mm"
    r"|_sparse_semi_structured_\w+|_transformer_encoder_layer_fwd|_trilinear|_weight_int\w+"
    r"|addmv_?|addr_?|dot|linalg_(?!vector_norm|cross)\w+|lstm_mps\w*|miopen_rnn\w*"
    r"|mkldnn_(linear|rnn)\w*|mv|vdot)"
)
"""Names of operations that compute products, for which torch has no formula."""
_NO_PRODUCTS = ("_c10d_functional", "c10d", "c10d_functional", "debugprims", "prim", "profiler")
"""Namespaces other than `aten` whose operations compute none."""
_MOST_NAMES = 20


class _Call:
    """A call of a module that has not returned; `again` means that a backward pass made it."""

    __slots__ = ("again", "key", "outer")

    def __init__(self, key: Key, outer: _Call | None, again: bool) -> None:
        self.key = key
        self.outer = outer
        self.again = again


class _Thread(threading.local):
    top: _Call | None = None


class Flops:
    """Counts what it is told about between `begin` and `end`.

    What a backward pass computes counts for the module whose forward pass created the node of the
    graph: both know the node's number. Each thread numbers its own nodes, so on a GPU, where
    another thread runs the backward pass, recomputed nodes may have the numbers of others; what
    they compute then belongs to no module that is known.
    """

    def __init__(self, settings: RunSettings) -> None:
        self._places = Places(settings)
        self._names = ModuleNames()
        self._thread = _Thread()
        self._graph_task = private.graph_task()
        self._formulas = private.formulas()
        self._number = private.forward_number()
        self._lock = threading.RLock()  # what the garbage collector calls may compute too
        self._home = 0
        self.elsewhere = False
        """Modules have run on a thread that is not listened to."""
        self._keys: dict[int, tuple[Any, Key]] = {}
        self._made: dict[int, Owner | None] = {}
        self._parts: dict[str, int] = {}
        self._types: dict[str, int] = {}
        self._modules: dict[Key, int] = {}
        self._partial: set[Key | None] = set()
        self._uncounted: dict[str, None] = {}
        self._unattributed = 0

    def begin(self) -> Undo:
        """Stand around `Module.__call__`; operations are heard on this thread."""
        self._home = threading.get_ident()
        return around_modules(self._make)

    def end(self) -> FlopsSeen:
        """What was counted."""
        self._names.clear()
        self._keys.clear()
        known = self._formulas is not None
        return FlopsSeen(
            self._parts if known else None,
            self._types if known else None,
            [
                ModuleFlops(*key, None if key in self._partial else flops)
                for key, flops in self._modules.items()
            ],
            list(self._uncounted),
            self._unattributed,
        )

    def add(self, operation: Any, args: Any, kwargs: Any, result: Any, part: str) -> None:
        """An operation has run in a part of the step."""
        with self._lock:
            owner = self._owner()
            name = name_of(operation)
            flops = count(self._formulas, operation, args, kwargs, result)
            if flops is None:
                self._partial.add(owner[1] if owner else None)
                if len(self._uncounted) < _MOST_NAMES:
                    self._uncounted[name] = None
            elif flops:
                kind = type_of(args)
                self._parts[part] = self._parts.get(part, 0) + flops
                self._types[kind] = self._types.get(kind, 0) + flops
                if owner is not None and owner[1] is not None:
                    self._modules[owner[1]] += flops
            if flops != 0 and owner is None:
                self._unattributed += 1

    def _owner(self) -> Owner | None:
        """The module that this operation belongs to; None if it has one that is not known."""
        call, here = self._thread.top, threading.get_ident()
        owner: Owner | None
        in_backward = self._graph_task() != -1
        if call is not None and (call.again or not in_backward):
            owner = (here, call.key)
        elif not in_backward:
            owner = (here, None)
        else:
            number = private.backward_number()
            owner = self._made.get(number) if number is not None else None
        if self._number is not None:
            # An operation that needs a gradient runs when its node has just been created. What
            # needs none comes later, under the number of the last node.
            last = self._number() - 1
            mine = (here, owner[1]) if owner else None
            known = self._made.setdefault(last, mine)
            if known is not None and known[0] != here:
                self._made[last] = None
        return owner

    # modules ----------------------------------------------------------------------------------

    def _make(self, plain: Function) -> Function:
        enter, leave = shielded(self._enter), shielded(self._leave)

        def call(*args: Any, **kwargs: Any) -> Any:
            before = self._thread.top
            enter(args[0])
            try:
                return plain(*args, **kwargs)
            finally:
                leave(before)

        return call

    def _enter(self, module: Any) -> None:
        outer = self._thread.top
        key_before = self._keys.get(id(module))
        if key_before is None:
            if outer is None:
                self._names.add_root(module)
            key = (self._names.of(module), type(module).__name__, self._places.here())
            # Kept alive for these few steps, so that no other module gets its `id`.
            key_before = self._keys[id(module)] = (module, key)
            with self._lock:
                self._modules.setdefault(key, 0)
        again = self._graph_task() != -1
        if not again and threading.get_ident() != self._home:
            self.elsewhere = True
        self._thread.top = _Call(key_before[1], outer, again)

    def _leave(self, before: _Call | None) -> None:
        self._thread.top = before


def count(formulas: Any, operation: Any, args: Any, kwargs: Any, result: Any) -> int | None:
    """Floating-point operations of a call; 0 for what is not a product, None for a product of
    unknown size.

    Args:
        formulas: `private.formulas()`.
    """
    name = name_of(operation)
    packet = getattr(torch.ops.aten, _AS[name], None) if name in _AS else None
    packet = packet or private.without_overload(operation)
    formula = (formulas or {}).get(packet)
    if formula is not None:
        if any(each.layout != torch.strided for each in _tensors(args)):
            return None  # it takes zeros that are not there for products
        try:
            return int(formula(*args, **kwargs, out_val=result))
        except Exception:  # it does not know these arguments
            return None
    space = name.partition("::")[0]
    if space == "aten":
        return None if _PRODUCTS.fullmatch(name) else 0
    return 0 if space in _NO_PRODUCTS else None


def _tensors(args: Any) -> list[Any]:
    return [each for each in args if isinstance(each, torch.Tensor)]


def type_of(args: Any) -> str:
    """Of the first tensor; `bfloat16`."""
    return next((str(each.dtype).rpartition(".")[2] for each in _tensors(args)), "unknown")
