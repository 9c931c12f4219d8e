"""What NumPy returns: arrays, whether anybody else holds them, their element type, and where the
answer may be a mere number.

An array that may also be a number has both `Kind.ARRAY` and `Kind.SCALAR`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.literals import argument, literal
from torchlint.analysis.names import dotted_text
from torchlint.analysis.values.kinds import (
    ARRAYS,
    HOST_VALUE,
    TENSORS,
    UNKNOWN_VALUE,
    Kind,
    Value,
)

if TYPE_CHECKING:
    from torchlint.analysis.values.inference import Inference


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FLOAT_MAKERS = frozenset({"zeros", "ones", "empty", "eye", "identity", "loadtxt", "genfromtxt"})
_MAKERS = _FLOAT_MAKERS | frozenset({"full", "arange", "fromfile", "fromiter", "tri", "indices"})
_TYPE_SECOND = _words("array asarray zeros ones empty identity loadtxt genfromtxt")
_COPIERS = _words(
    "array copy stack concatenate vstack hstack dstack column_stack pad tile repeat append insert "
    "delete linspace logspace geomspace resize roll sort argsort tril triu take choose "
    "zeros_like ones_like full_like empty_like outer kron cumsum cumprod gradient "
    "interp convolve pinv inv digitize bincount flatnonzero argwhere "
    "union1d intersect1d setdiff1d"
)
_MAPPED_ONTO_ARRAYS = _words(
    "add subtract multiply divide true_divide floor_divide mod power exp exp2 expm1 log log1p log2 "
    "log10 sqrt cbrt square sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh abs absolute "
    "fabs sign maximum minimum floor ceil rint round around clip nan_to_num logical_and "
    "logical_or logical_not greater greater_equal less less_equal equal not_equal isnan isinf "
    "isfinite isclose deg2rad rad2deg reciprocal negative angle hypot fmod"
)
_OF_TWO = _words(
    "add subtract multiply divide true_divide floor_divide mod power arctan2 maximum minimum round "
    "around nan_to_num logical_and logical_or greater greater_equal less less_equal equal "
    "not_equal isclose angle hypot fmod"
)
_REDUCTIONS = _words(
    "sum mean std var max min amax amin argmax argmin prod median any all percentile quantile "
    "average count_nonzero nansum nanmean nanstd nanmax nanmin nanmedian ptp norm"
)
_VIEWS = _words(
    "asarray ascontiguousarray asfortranarray asanyarray squeeze ravel reshape transpose swapaxes "
    "moveaxis rollaxis expand_dims atleast_1d atleast_2d atleast_3d flip fliplr flipud rot90 "
    "broadcast_to frombuffer memmap diagonal require diff real imag"
)
_SEVERAL = _words(
    "split array_split hsplit vsplit dsplit meshgrid nonzero histogram ix_ unravel_index modf "
    "frexp divmod broadcast_arrays lexsort svd eig eigh slogdet qr triu_indices "
    "tril_indices"
)
_NUMBERS = _words(
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool_ float_ int_ "
    "double single ndim size shape dtype finfo iinfo trace isscalar allclose array_equal "
    "issubdtype can_cast trapz polyfit save savez savez_compressed savetxt seterr "
    "set_printoptions det seed datetime64 timedelta64"
)
_SIZE_POSITION = {
    "randint": 2, "integers": 2, "normal": 2, "uniform": 2, "beta": 2, "gamma": 2, "binomial": 2,
    "laplace": 2, "choice": 1, "poisson": 1, "exponential": 1, "geometric": 1, "rayleigh": 1,
    "random": 0, "random_sample": 0, "standard_normal": 0, "ranf": 0, "sample": 0,
}  # fmt: skip
_GENERATORS = frozenset({"default_rng", "Generator", "RandomState"})
_GENERATOR = ":generator:"
_ALWAYS_SHAPED = frozenset({"permutation", "multinomial", "multivariate_normal", "dirichlet"})
_FLOAT_DRAWS = _words("rand randn normal uniform random random_sample standard_normal")
_NUMBERED_DRAWS = frozenset({"rand", "randn"})

_HOST_METHODS = _words("tolist item tobytes dump tofile itemset sort fill")
_FRESH_METHODS = _words("copy repeat cumsum cumprod round clip take toarray todense")

_DTYPES = {
    "float": "float64", "float_": "float64", "double": "float64", "f8": "float64", "d": "float64",
    "single": "float32", "f4": "float32", "f": "float32", "half": "float16", "f2": "float16",
    "int": "int64", "int_": "int64", "long": "int64", "longlong": "int64", "i8": "int64",
    "intc": "int32", "i4": "int32", "i2": "int16", "i1": "int8", "u1": "uint8", "ubyte": "uint8",
    "bool_": "bool", "object_": "object", "O": "object", "str_": "str", "U": "str", "S": "str",
    "unicode": "str", "bytes": "str",
}  # fmt: skip


_TYPES = _words(
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 "
    "complex128 object str"
)


def dtype_name(node: cst.BaseExpression | None) -> str | None:
    """`float32` for `np.float32`, `"float32"` and `"<f4"`; None where the code does not say."""
    text = dotted_text(node).rpartition(".")[2]
    if not text:
        value = literal(node)
        text = value.lstrip("<=|") if isinstance(value, str) else ""
    name = _DTYPES.get(text, text)
    return name if name in _TYPES else None


def numpy_call(name: str, node: cst.Call, values: Inference) -> Value:
    """What a function of NumPy returns.

    Args:
        name: its dotted name, as in `numpy.random.rand`.
    """
    found = _numpy_call(name, node, values)
    if found.has(Kind.FRESH) and _writes_into_another(name.rpartition(".")[2], node):
        return Value(Kind.ARRAY, dtype=found.dtype)
    return found


def _writes_into_another(last: str, node: cst.Call) -> bool:
    """Whether a call puts its result into an array that it is given as `out`."""
    if argument(node, "out") is not None:
        return True
    own = 3 if last == "clip" else 2 if last in _OF_TWO else 1
    given = sum(arg.keyword is None for arg in node.args)
    return last in _MAPPED_ONTO_ARRAYS and given > own


def _numpy_call(name: str, node: cst.Call, values: Inference) -> Value:
    if name.startswith("numpy.random."):
        return _draw(name.rpartition(".")[2], node)
    if name.startswith(("numpy.testing.", "numpy.lib.")):
        return UNKNOWN_VALUE
    last = name.rpartition(".")[2]
    if last in _MAPPED_ONTO_ARRAYS:
        return _elementwise(node, values)
    if last in _REDUCTIONS:
        return _reduced(node, given=1)
    if last in _NUMBERS:
        return Value(Kind.SCALAR)
    if last in _SEVERAL:
        return Value(Kind.CONTAINER, element=Value(Kind.ARRAY))
    if last in ("load", "where", "unique"):
        return _shaped_by_arguments(last, node)
    if last in _VIEWS or last in _MAKERS or last in _COPIERS:
        return _made(last, node, values)
    return Value(Kind.ARRAY | Kind.SCALAR)


def _shaped_by_arguments(last: str, node: cst.Call) -> Value:
    fresh = Value(Kind.FRESH)
    if last == "load":
        return Value(Kind.ARRAY) if argument(node, "mmap_mode", 1) is not None else fresh
    if last == "where":
        several = len(node.args) != 3
    else:
        several = any(arg.keyword and arg.keyword.value.startswith("return_") for arg in node.args)
    return Value(Kind.CONTAINER, element=fresh) if several else fresh


def _made(last: str, node: cst.Call, values: Inference) -> Value:
    given = argument(node, "dtype", 1 if last in _TYPE_SECOND else None)
    dtype = dtype_name(given)
    if given is None:
        first = node.args[0].value if node.args and not node.args[0].star else None
        dtype = "float64" if last in _FLOAT_MAKERS else _element_type(values.value(first))
    copy = argument(node, "copy") if last == "array" else None
    shared = last in _VIEWS or (copy is not None and literal(copy) is not True)
    return Value(Kind.ARRAY if shared else Kind.FRESH, dtype=dtype)


def _element_type(value: Value) -> str | None:
    """The element type of an array, or of the arrays in a list."""
    inner = value.element if value.has(Kind.CONTAINER) else value
    return inner.dtype if inner is not None and inner.has(ARRAYS) else None


def _draw(last: str, node: cst.Call) -> Value:
    """Random numbers: one, or an array of them if a size is given."""
    if last in _GENERATORS:
        return Value(Kind.UNKNOWN, classes=(_GENERATOR,))
    if last in _ALWAYS_SHAPED:
        return Value(Kind.FRESH)
    given = argument(node, "dtype")
    dtype = dtype_name(given) if given is not None else "float64" if last in _FLOAT_DRAWS else None
    if last in _NUMBERED_DRAWS:
        return Value(Kind.FRESH if node.args else Kind.SCALAR, dtype=dtype)
    if last in _SIZE_POSITION:
        size = argument(node, "size", _SIZE_POSITION[last])
        shaped = size is not None and literal(size) is not None
        return Value(Kind.FRESH if shaped else Kind.SCALAR, dtype=dtype)
    return UNKNOWN_VALUE


def drawn(name: str, node: cst.Call, owner: Value) -> Value | None:
    """What a method of one of NumPy's generators returns; None if the owner is none."""
    return _draw(name, node) if owner.classes == (_GENERATOR,) else None


def _elementwise(node: cst.Call, values: Inference) -> Value:
    operands = [values.value(arg.value) for arg in node.args if arg.keyword is None][:2]
    if any(value.has(ARRAYS) and not value.has(Kind.SCALAR) for value in operands):
        single = operands[0].dtype if len(operands) == 1 else None
        return Value(Kind.FRESH, dtype=single if single and "float" in single else None)
    if any(value.has(ARRAYS) for value in operands):
        return Value(Kind.FRESH | Kind.SCALAR)
    if any(value.has(Kind.CONTAINER) for value in operands):
        return Value(Kind.FRESH)
    if operands and all(value.only(Kind.HOST | Kind.SCALAR) for value in operands):
        return Value(Kind.SCALAR)
    # On a tensor or something unknown: an array or a number, but nothing that is on a device.
    return Value(Kind.ARRAY | Kind.SCALAR | Kind.UNKNOWN)


def _reduced(node: cst.Call, given: int) -> Value:
    """A sum over some axes is an array, one over all of them a number."""
    axis = argument(node, "axis", given)
    kept = literal(argument(node, "keepdims"))
    if (axis is not None and literal(axis) is not None) or kept is True:
        return Value(Kind.FRESH)
    return Value(Kind.SCALAR)


def array_method(name: str, node: cst.Call, owner: Value) -> Value:
    """What a method of an array returns."""
    if name in _HOST_METHODS:
        return HOST_VALUE
    if name in _REDUCTIONS:
        return _reduced(node, given=0)
    if name == "astype":
        kept = literal(argument(node, "copy")) is False
        surely = owner.has(ARRAYS) and not kept
        dtype = dtype_name(argument(node, "dtype", 0))
        if not owner.kind:  # unknown owner: NumPy's numbers have the method too
            return Value(Kind.ARRAY | Kind.SCALAR, dtype=dtype)
        return Value(Kind.FRESH if surely else Kind.ARRAY, dtype=dtype)
    if name == "dot":
        return Value(Kind.FRESH | Kind.SCALAR)
    if name == "nonzero":
        return Value(Kind.CONTAINER, element=Value(Kind.FRESH))
    return Value(Kind.FRESH if name in _FRESH_METHODS else Kind.ARRAY, dtype=owner.dtype)


def item_of_array(node: cst.Subscript, owner: Value, values: Inference) -> Value:
    """What `array[…]` is: an array for slices, masks and fields; else maybe a number."""
    kind = Kind.ARRAY
    if not any(_keeps_an_axis(element.slice, values) for element in node.slice):
        kind |= Kind.SCALAR
    return Value(kind, owner.parameters, dtype=owner.dtype)


def _keeps_an_axis(index: cst.BaseSlice, values: Inference) -> bool:
    if isinstance(index, cst.Slice):
        return True
    if not isinstance(index, cst.Index):
        return False
    value = index.value
    if isinstance(value, cst.Ellipsis) or isinstance(literal(value), str):
        return True
    if isinstance(value, cst.Name) and value.value == "None":
        return True
    known = values.value(value)
    if known.has(ARRAYS):
        return not known.has(Kind.SCALAR)
    return isinstance(value, (cst.List, cst.ListComp, cst.Comparison)) or known.has(TENSORS)
