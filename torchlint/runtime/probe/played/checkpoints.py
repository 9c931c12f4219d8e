"""Tensors in files: a checkpoint remembers the device of a storage, and asks for it again."""

from __future__ import annotations

from typing import Any, Final

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.played.ledger import PAGEABLE
from torchlint.runtime.probe.played.marks import MARKS, device_of_storage
from torchlint.runtime.probe.played.state import PLAYED

_FIRST: Final = 1
"""Before torch's own, which begin at 10."""


def install() -> None:
    """Take part in `torch.save` and `torch.load`."""
    torch.serialization.register_package(_FIRST, _tag, _restore)


def _tag(storage: Any) -> str | None:
    untyped = private.untyped(storage)
    if not isinstance(untyped, torch.UntypedStorage):
        return None
    index = device_of_storage(untyped)
    return None if index is None else f"cuda:{index}"


def _restore(storage: Any, location: str) -> Any:
    if not PLAYED.on or not str(location).startswith("cuda"):
        return None
    index = PLAYED.index_of(location)
    assert index is not None
    untyped = private.untyped(storage)
    MARKS.put(untyped, index)
    if untyped.nbytes():
        PLAYED.ledger.copy(PAGEABLE, untyped.nbytes())
        PLAYED.ledger.wait(f"copy, {PAGEABLE}")
    return storage
