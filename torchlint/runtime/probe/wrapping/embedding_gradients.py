"""Which tables of embeddings get a dense gradient, for how many of their rows, and what that takes.

It is told of all operations: a backward pass fills a gradient of the size of the table, and the
optimizer goes through all of it.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe.instrument_messages import EmbeddingTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torchlint.runtime.probe.messages import Place

    Key = tuple[int, int, int]
    """Rows of a table; address and number of the indices that are looked up in it."""

_FORWARD = frozenset({"aten::embedding", "aten::_embedding_bag"})
_BACKWARD = {
    "aten::embedding_dense_backward": (2, 4),
    "aten::_embedding_bag_backward": (6, 7),
    "aten::_embedding_bag_dense_backward": (5, 6),
}
"""Where their arguments have the number of rows, and whether to divide by how often a row is looked
up, which sparse gradients cannot."""
_NO_USE = frozenset({"aten::detach", "aten::alias", "aten::embedding_renorm_"})
_MOST = 200


class _Table:
    def __init__(self, weight: Any, seen: EmbeddingTable) -> None:
        self.weight: Callable[[], Any] = weakref.ref(weight)
        self.seen = seen


class EmbeddingGradients:
    """Collects what is heard."""

    def __init__(self) -> None:
        self._tables: dict[int, _Table] = {}
        self._lookups: dict[Key, _Table] = {}
        self._optimizer_s = self._optimizers_s = 0.0

    def end(self) -> list[EmbeddingTable]:
        """The tables with dense gradients."""
        seen = [each.seen for each in self._tables.values() if each.seen.gradients]
        for each in seen:
            each.optimizers_s = self._optimizers_s
        return seen

    def forward(self, name: str, args: Any, place: Place | None) -> None:
        """An operation has run that is neither an optimizer's nor of a backward pass."""
        if name not in _FORWARD:
            if self._tables and name not in _NO_USE and torch.is_grad_enabled():
                for each in args:
                    table = self._table(each)
                    if table is not None:
                        table.seen.other_uses += 1
            return
        weight, indices = args[0], args[1]
        table = self._table(weight)
        if table is None:
            if len(self._tables) >= _MOST:
                return
            rows, width = weight.shape
            seen = EmbeddingTable(place, rows, width, weight.numel() * weight.element_size())
            table = self._tables[id(weight)] = _Table(weight, seen)
        self._lookups[_key(rows=len(weight), indices=indices)] = table

    def backward(self, name: str, args: Any, result: Any, seconds: float) -> None:
        """An operation of a backward pass has run."""
        rows, scales = _BACKWARD.get(name, (0, 0))
        if not rows or args[scales] or result.layout != torch.strided:
            return
        table = self._lookups.pop(_key(rows=args[rows], indices=args[1]), None)
        if table is not None:
            table.seen.gradients += 1
            table.seen.touched += int(args[1].unique().numel())
            table.seen.backward_s += seconds

    def optimizes(self, seconds: float) -> None:
        """An operation of an optimizer has run."""
        self._optimizer_s += seconds
        self._optimizers_s += seconds

    def stepped(self, optimizer: Any) -> None:
        """An optimizer has taken a step."""
        seconds, self._optimizer_s = self._optimizer_s, 0.0
        groups = optimizer.param_groups
        whole = sum(_size(each) for group in groups for each in group["params"])
        for group in groups:
            for table in self._of(group["params"]):
                seen = table.seen
                seen.optimizer = type(optimizer).__name__
                seen.decays = bool(group.get("weight_decay"))
                seen.part = seen.size / whole
                seen.optimizer_s += seconds * seen.part

    def _of(self, parameters: Iterable[Any]) -> Iterable[_Table]:
        found = (self._table(each) for each in parameters if each.grad is not None)
        return [each for each in found if each is not None and each.seen.gradients]

    def _table(self, weight: Any) -> _Table | None:
        table = self._tables.get(id(weight))
        return table if table is not None and table.weight() is weight else None


def _key(rows: int, indices: Any) -> Key:
    return rows, indices.data_ptr(), indices.numel()


def _size(parameter: Any) -> int:
    """Bytes of its gradient."""
    gradient = parameter.grad
    return 0 if gradient is None else gradient.numel() * gradient.element_size()
