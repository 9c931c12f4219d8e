"""Operations for which CUDA makes the host wait, though nothing in Python says so.

Each entry gives the waits of one call, as kinds with numbers. What only the kernel for the CPU
reads is not counted: it happens below what is heard here. File names are those of PyTorch's
sources, under `aten/src/ATen/native`; they were read in 2.0, 2.4, 2.7 and, as far as stored, 2.13.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from torchlint.runtime.probe.played import moves
from torchlint.runtime.probe.played.marks import OPEN, device_of, mark_of
from torchlint.runtime.probe.played.state import PLAYED, TORCH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Waits = Iterable[tuple[str, int]]

_MASKS: Final = (torch.bool, torch.uint8)
_PINNED_MASKS: Final = (2, 9)
"""Since this torch, what a mask of the host selects is copied without waiting
(`IndexingUtils.h`, pull request 156384)."""
_ASSERTED: Final = (2, 6)
"""Since this torch, `multinomial` and `nanmedian` look at their input on the device."""


def _always(kind: str, times: int = 1) -> Callable[[Any, Any], Waits]:
    return lambda _args, _kwargs: ((kind, times),)


def _unless_empty(kind: str, times: int = 1) -> Callable[[Any, Any], Waits]:
    return lambda args, _kwargs: ((kind, times),) if args[0].numel() else ()


def _argument(args: Any, kwargs: Any, number: int, name: str, default: Any = None) -> Any:
    return args[number] if len(args) > number else kwargs.get(name, default)


def _read(args: Any, _kwargs: Any) -> Waits:
    """`cuda/CUDAScalar.cu`: one value is copied, and waited for."""
    if device_of(args[0]) is None:
        return ()
    return ((PLAYED.thread.reading or "item", 1),)


def _equal(args: Any, _kwargs: Any) -> Waits:
    """`cuda/Equal.cpp`: not where the shapes or the memory tell already."""
    one, other = args
    if one.shape != other.shape or not one.numel():
        return ()
    same = one.data_ptr() == other.data_ptr() and one.stride() == other.stride()
    return () if same and one.dtype == other.dtype else (("equal", 1),)


def _indexed(args: Any, _kwargs: Any) -> Waits:
    """`IndexingUtils.h`, `expandTensors`: the true elements of a mask are found by `nonzero`, which
    waits; what lies on the host is copied to the device (`TensorAdvancedIndexingUtils.h`)."""
    for each in args[1]:
        if each is None or not each.numel():
            continue
        if device_of(each) is not None:
            if each.dtype in _MASKS:
                yield "mask index", 1
        elif (mark := mark_of(each)) is None or mark.lies != OPEN:
            _copy_index(each)


def _copy_index(index: Any) -> None:
    is_mask = index.dtype in _MASKS
    chosen = int(index.sum()) if is_mask else index.numel()
    waits = not (is_mask and TORCH >= _PINNED_MASKS)
    for _ in range(index.dim() if is_mask else 1):
        moves.to_device(index, 8 * chosen, pinned=not waits, wait=waits, kind=moves.INDEX)


def _put(args: Any, kwargs: Any) -> Waits:
    """The same. A number of the host for one mask is `masked_fill`, which waits for nothing
    (`canDispatchToMaskedFill`); for other indices it is copied (`_index_put_impl_`)."""
    indices, values = args[1], args[2]
    given = [each for each in indices if each is not None]
    mark = mark_of(values)
    of_host = mark is None or mark.lies < 0
    if mark is not None and mark.lies == OPEN and not PLAYED.thread.setting:
        of_host = False
    if of_host and values.numel() == 1 and not _argument(args, kwargs, 3, "accumulate", False):
        if len(given) == 1 and given[0].dtype in _MASKS and device_of(given[0]) is not None:
            return
        moves.to_device(values, values.element_size(), pinned=False, wait=True, kind=moves.VALUES)
    yield from _indexed(args, kwargs)


def _repeated(args: Any, kwargs: Any) -> Waits:
    """`Repeat.h`: the sum of the repeats is read, and whether none is negative."""
    size = _argument(args, kwargs, 1, "output_size")
    return (("repeat_interleave", 2),) if size is None and args[0].numel() else ()


def _binned(args: Any, _kwargs: Any) -> Waits:
    """`cuda/SummaryOps.cu`: the smallest and the largest; bytes are not negative."""
    if not args[0].numel():
        return ()
    return (("bincount", 1 if args[0].dtype == torch.uint8 else 2),)


def _ranged(args: Any, kwargs: Any) -> Waits:
    """`cuda/SummaryOps.cu`: without a range, the smallest and the largest element are read."""
    low, high = _argument(args, kwargs, 2, "min", 0), _argument(args, kwargs, 3, "max", 0)
    return (("histc", 2),) if low == high and args[0].numel() else ()


def _normal(args: Any, kwargs: Any) -> Waits:
    """`DistributionTemplates.h`: whether a deviation is negative, twice where a result is made."""
    std = _argument(args, kwargs, 1, "std")
    if not isinstance(std, torch.Tensor) or not std.numel() or device_of(std) is None:
        return ()
    return (("normal", 1 if kwargs.get("out") is not None else 2),)


def _multinomial(args: Any, kwargs: Any) -> Waits:
    """`Distributions.cpp`: until 2.5 the probabilities are looked at on the host."""
    if TORCH >= _ASSERTED:
        return ()
    many = args[1] > 1 and _argument(args, kwargs, 2, "replacement", False)
    return () if many else (("multinomial", 2),)


def _filled(args: Any, _kwargs: Any) -> Waits:
    """`Fill.cpp`: a value on another device is read."""
    value = args[1]
    if not isinstance(value, torch.Tensor):
        return ()
    return (("fill_", 1),) if device_of(args[0]) is None and device_of(value) is not None else ()


def _value(kind: str, number: int) -> Callable[[Any, Any], Waits]:
    """A value is read if it is a tensor of the device (`cuda/Indexing.cu`, `masked_fill__cuda`;
    `TensorAdvancedIndexing.cpp`, `index_fill_`).

    Args:
        number: of the argument.
    """

    def waits(args: Any, _kwargs: Any) -> Waits:
        value = args[number]
        read = isinstance(value, torch.Tensor) and device_of(value) is not None
        return ((kind, 1),) if read else ()

    return waits


def _chosen(args: Any, _kwargs: Any) -> Waits:
    """`TensorCompare.cpp`, `where`: single numbers in tensors of the host are copied."""
    for each in args:
        mark = mark_of(each)
        if not each.dim() and (mark is None or (mark.lies < 0 and mark.lies != OPEN)):
            moves.to_device(each, each.element_size(), pinned=False, wait=True, kind=moves.VALUES)
    return ()


def _searched(args: Any, kwargs: Any) -> Waits:
    """`BucketizationUtils.h`: a sorter is looked at."""
    sorter = kwargs.get("sorter")
    return (("searchsorted", 2),) if sorter is not None and sorter.numel() else ()


def _reduced(args: Any, kwargs: Any) -> Waits:
    """`SegmentReduce.cpp`: lengths are looked at, unless that is switched off."""
    checked = kwargs.get("lengths") is not None and not kwargs.get("unsafe", False)
    return (("segment_reduce", 2),) if checked else ()


def _isin(args: Any, kwargs: Any) -> Waits:
    """`TensorCompare.cpp`, `isin`: many elements are sorted, and made unique."""
    elements, tested = args[0], args[1]
    if not isinstance(elements, torch.Tensor) or not isinstance(tested, torch.Tensor):
        return ()
    few = tested.numel() < int(10.0 * elements.numel() ** 0.145)
    unique = kwargs.get("assume_unique", False)
    return () if few or unique or not elements.numel() else (("isin", 2),)


def _ctc(first: int) -> Callable[[Any, Any], Waits]:
    """`cuda/LossCTC.cu`: lengths and offsets are copied to the device; lengths that lie there come
    to the host before.

    Args:
        first: number of the argument with the lengths of the input.
    """

    def waits(args: Any, _kwargs: Any) -> Waits:
        lengths = [each for each in args[first : first + 2] if isinstance(each, torch.Tensor)]
        there = sum(device_of(each) is not None for each in lengths)
        return (("ctc_loss", 3 + there),)

    return waits


def _nanmedian(args: Any, _kwargs: Any) -> Waits:
    """`cuda/Sorting.cpp`: until 2.5 the number of NaN is read."""
    return (("nanmedian", 1),) if TORCH < _ASSERTED and args[0].numel() else ()


def _coalesced(args: Any, _kwargs: Any) -> Waits:
    """`sparse/cuda/SparseCUDATensorMath.cu`: a sparse matrix is coalesced before a product."""
    sparse = any(
        isinstance(each, torch.Tensor)
        and each.layout == torch.sparse_coo
        and not each.is_coalesced()
        for each in args
    )
    return (("coalesce", 1),) if sparse else ()


WAITS: Final[dict[str, Callable[[Any, Any], Waits]]] = {
    "aten::_local_scalar_dense": _read,
    "aten::equal": _equal,
    "aten::allclose": _always("allclose"),
    "aten::nonzero": _always("nonzero"),
    "aten::masked_select": _always("masked_select"),
    "aten::_unique": _unless_empty("unique"),
    "aten::_unique2": _unless_empty("unique"),
    "aten::unique_dim": _unless_empty("unique"),
    "aten::unique_consecutive": _unless_empty("unique"),
    "aten::unique_dim_consecutive": _unless_empty("unique"),
    "aten::index": _indexed,
    "aten::_unsafe_index": _indexed,
    "aten::index_put": _put,
    "aten::index_put_": _put,
    "aten::_index_put_impl_": _put,
    "aten::_unsafe_index_put": _put,
    "aten::repeat_interleave": _repeated,
    "aten::bincount": _binned,
    "aten::histc": _ranged,
    "aten::normal": _normal,
    "aten::multinomial": _multinomial,
    "aten::fill_": _filled,
    "aten::masked_fill": _value("masked_fill", 2),
    "aten::masked_fill_": _value("masked_fill", 2),
    "aten::index_fill": _value("index_fill", 3),
    "aten::index_fill_": _value("index_fill", 3),
    "aten::where": _chosen,
    "aten::searchsorted": _searched,
    "aten::bucketize": _searched,
    "aten::segment_reduce": _reduced,
    "aten::isin": _isin,
    "aten::nanmedian": _nanmedian,
    "aten::_ctc_loss": _ctc(2),
    "aten::_ctc_loss_backward": _ctc(3),
    # BatchLinearAlgebra.cpp, cuda/linalg/BatchLinearAlgebraLib.cpp
    "aten::_linalg_check_errors": _always("linalg"),
    "aten::_linalg_eigh": _unless_empty("linalg"),
    "aten::_linalg_svd": _unless_empty("linalg", 2),
    "aten::linalg_pinv": _unless_empty("linalg", 2),
    "aten::linalg_matrix_exp": _unless_empty("linalg", 2),
    "aten::linalg_lstsq": _always("linalg"),
    "aten::linalg_eig": _always("linalg", 4),
    "aten::linalg_eigvals": _always("linalg", 2),
    "aten::cholesky": _always("linalg"),
    # TensorConversions.cpp, sparse/cuda/SparseCUDATensor.cu
    "aten::_to_sparse": _always("to_sparse"),
    "aten::to_sparse": _always("to_sparse"),
    **{f"aten::_to_sparse_{kind}": _always("to_sparse") for kind in ("csr", "csc", "bsr", "bsc")},
    "aten::_coalesce": _always("coalesce"),
    **dict.fromkeys(
        ("aten::mm", "aten::addmm", "aten::_sparse_mm", "aten::_sparse_addmm"), _coalesced
    ),
    # csrc/ops/cuda/nms_kernel.cu of torchvision: what is kept is selected by a mask
    "torchvision::nms": _always("nms"),
    # nested/NestedTensorMath.cpp
    "aten::_nested_tensor_from_mask_left_aligned": _always("nested_tensor"),
    "aten::_nested_tensor_from_mask": _always("nested_tensor"),
}


def _ends(args: Any, kwargs: Any) -> Waits:
    """`TensorFactories.cpp`: ends of a range that are tensors of the device are read."""
    ends = [each for each in (*args, *kwargs.values()) if isinstance(each, torch.Tensor)]
    read = sum(device_of(each) is not None for each in ends)
    return (("linspace", read),) if read else ()


WAITS.update(dict.fromkeys(("aten::linspace", "aten::logspace"), _ends))


def of_numbers(values: Any) -> int:
    """How many numbers of a device a nested list holds; each is read by itself."""
    if isinstance(values, torch.Tensor):
        return 0 if device_of(values) is None else max(1, values.numel())
    if isinstance(values, (list, tuple)):
        return sum(map(of_numbers, values))
    return 0


def read(kind: str, times: int = 1) -> None:
    """The host reads values of a device, one after the other."""
    for _ in range(times):
        PLAYED.ledger.wait(kind)
