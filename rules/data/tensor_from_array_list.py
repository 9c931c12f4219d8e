"""Stack arrays into one before making a tensor of them.

## What it does
Reports a tensor that is built number by number from data that is already in an array or in
tensors: from a list of NumPy arrays, from `array.tolist()`, or from a list of `tensor.item()`.

## Why it is slow
`torch.tensor([array, array])` converts each number of each array through Python. PyTorch warns
about it at run time ("extremely slow"). Measured on a CPU, 32 arrays of 84 by 84 take 26 ms, or 26
µs if `np.stack` joins them first; 128 arrays of four numbers are still four times faster. On a
GPU, a list of `.item()` also waits for the device once for each element.

## Example
```python
states = torch.tensor([np.asarray(frame) for frame in frames], dtype=torch.float32)
```

## Use instead
```python
states = torch.as_tensor(np.stack([np.asarray(frame) for frame in frames]), dtype=torch.float32)
```

## When it is silent
Lists of Python numbers, such as token ids; lists of tensors (`torch.stack` is as fast); a `deque`
of returns; lists in which any element may be something other than an array; tests and
documentation. A list of slices of samples, of which a collate function or a dataset makes a tensor
of floats, is a hint: they may be lists.

## Fix safety
- `np.stack` is **safe** for a list literal whose arrays have one known type. Otherwise it is
  **unsafe**: it rejects an empty list, and it joins int64 and float32 to float64, where PyTorch
  would use float32.
- `array.tolist()` with `dtype=` becomes the array itself, and the tensor may share its memory:
  **unsafe**. Without `dtype=` this is only a suggestion, since a list loses the array's type.
- A list of `.item()` becomes `torch.stack` of the detached tensors, which keeps their type and
  device: **unsafe**.

## How verify confirms it
It measures each fix on the CPU as well as on a GPU. The numbers are bitwise equal, except where
arrays of several types meet in one list.

## References
- pytorch/pytorch#13918, "Creating a tensor from a list of numpy.ndarrays is extremely slow"
"""

import ast
from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.arrays.tensor_constructors import (
    CONSTRUCTORS,
    Constructor,
    Place,
    tensor_constructor,
)
from torchlint.analysis.literals import argument, literal
from torchlint.analysis.loading.sample_code import loads_samples
from torchlint.analysis.names import How, dotted_text
from torchlint.analysis.uses import method_name, methods_called_on
from torchlint.analysis.values.kinds import ARRAYS, NO_VALUE, TENSORS, UNKNOWN_VALUE, Kind, Value
from torchlint.rule import (
    Applicability,
    Edit,
    Effect,
    Fix,
    Module,
    Outline,
    Reported,
    Rule,
    Tier,
    Triggers,
    because,
    edits,
    outlines,
)

_ARRAYS_AROUND = r"numpy|\bnp\.|cv2|gym"
_ARRAYS = (
    "A tensor made from a list of arrays is read number by number; join the arrays with `np.stack` "
    "first."
)
_TOLIST = (
    "`.tolist()` turns the array into Python numbers that the tensor reads one by one; pass the "
    "array."
)
_ITEMS = (
    "Each `.item()` reads one number from its tensor, and waits if that is on the GPU; join the "
    "tensors with `torch.stack`."
)
_SLICES_ADDED = r"\+=\s{0,9}\[\w{1,90}\["
_COMPREHENSIONS = (cst.ListComp, cst.GeneratorExp)


def _may_build_number_by_number(outline: Outline) -> bool:
    """Whether a constructor gets a list, the name of a list, or numbers read from tensors."""
    calls = outline.calls(*CONSTRUCTORS)
    given = [data for call in calls if (data := outlines.argument(call, "data", 0)) is not None]
    if any(
        outlines.chain(node).endswith((".tolist", ".item"))
        for data in given
        for node in ast.walk(data)
    ):
        return True
    if not outline.matches(_ARRAYS_AROUND):
        return because(False, "the file has no arrays, and no tensor of what `.item()` returns")
    names = {node.id for node in given if isinstance(node, ast.Name)}
    if outline.matches(_SLICES_ADDED):
        return True
    listed = any(map(_is_list, (*given, *outline.assigned(*names))))
    return listed or because(False, "no tensor of the file is made from a list that it shows")


def _is_list(node: ast.expr) -> bool:
    """Whether it may be a list of arrays, or one that is filled later."""
    if isinstance(node, ast.List | ast.Tuple):
        return not any(isinstance(each, ast.Constant) for each in node.elts)
    return isinstance(node, ast.ListComp | ast.GeneratorExp) or outlines.chain(node) == "list"


rule = Rule(
    code="TL106",
    effect=Effect.LARGE,
    summary="a tensor is built number by number from arrays or tensors",
    fix=(Applicability.SAFE, Applicability.UNSAFE, Applicability.SUGGEST),
    triggers=Triggers(
        (
            r"\btensor\(|\bas_tensor\(|(?<!To)(?<!is_)Tensor\(",
            rf"{_ARRAYS_AROUND}|\.tolist\(\)|\.item\(\)",
        ),
        outline=_may_build_number_by_number,
    ),
)


@rule.on(cst.Call)
def is_built_number_by_number(call: cst.Call, module: Module) -> Iterable[Reported]:
    made = tensor_constructor(call, module)
    if made is None:
        return ()
    node = made.data.value
    items, tolist = _comprehension_of_items(node), _tolist_of(node)
    if items is not None:
        value = module.value(items.value)
        if value.has(TENSORS) and value.only(TENSORS | Kind.PARAMETER):
            return rule.report(module, call, _ITEMS, fix=_stack(made, items, module))
        return because((), "{:code} is not known to be a tensor", items.value)
    if tolist is not None:
        if module.value(tolist.value).only(ARRAYS):
            return rule.report(module, call, _TOLIST, fix=_without_list(made, module))
        return because((), "{:code} is not known to be an array", tolist.value)
    if _elements_of(node, module).only(ARRAYS):
        return rule.report(module, call, _ARRAYS, fix=_joined(made, module))
    if _makes_floats(made) and loads_samples(call, module) and _holds_slices(node, module):
        unsure = "only slices and a float type show that these are arrays"
        tier = because(Tier.HINT, unsure)
        return rule.report(module, call, _ARRAYS, tier=tier, fix=unsure)
    return because((), "{:code} is not known to be a list of arrays", node)


# a list of arrays --------------------------------------------------------------------------


def _joined(made: Constructor, module: Module) -> Fix | str:
    numpy = module.names.imported_as("numpy", made.call)
    if numpy is None:
        return "NumPy is not imported in this file"
    changes = edits.wrap(module, made.data.value, f"{numpy}.stack")
    safety = Applicability.SAFE if _of_one_type(made, module) else Applicability.UNSAFE
    return Fix(safety, "Join the arrays first", (*_renamed(made, module), *changes))


def _renamed(made: Constructor, module: Module) -> list[Edit]:
    """`torch.tensor` becomes `torch.as_tensor`, which does not copy again."""
    func = made.call.func
    options = [argument(made.call, name) for name in ("requires_grad", "pin_memory")]
    if made.typed or not isinstance(func, cst.Attribute) or any(options):
        return []
    return [edits.replace(module, func.attr, "as_tensor")]


def _of_one_type(made: Constructor, module: Module) -> bool:
    """Whether the list is a non-empty literal of arrays with the same known type."""
    node = made.data.value
    if not isinstance(node, (cst.List, cst.Tuple)):
        return False
    types = {module.value(element.value).dtype for element in node.elements}
    return len(types) == 1 and None not in types


# array.tolist() ----------------------------------------------------------------------------


def _tolist_of(node: cst.BaseExpression) -> cst.Attribute | None:
    """`array.tolist` of `array.tolist()`."""
    func = node.func if isinstance(node, cst.Call) else None
    return func if isinstance(func, cst.Attribute) and func.attr.value == "tolist" else None


def _without_list(made: Constructor, module: Module) -> Fix | str:
    """The call without `.tolist()`; only a suggestion if the list decided the dtype."""
    if made.place is not Place.HOST:
        return "the name may be that of a constructor on the GPU, which needs `device=`"
    assert isinstance(made.data.value, cst.Call)
    changes = (*_renamed(made, module), edits.keep_receiver(module, made.data.value))
    typed = argument(made.call, "dtype")
    kept = bool(made.typed) or (typed is not None and literal(typed) is not None)
    safety = Applicability.UNSAFE if kept else Applicability.SUGGEST
    return Fix(safety, "Pass the array; the tensor may share its memory", changes)


# a list of numbers read from tensors -------------------------------------------------------


def _comprehension_of_items(node: cst.BaseExpression) -> cst.Attribute | None:
    """`t.item` of `[t.item() for t in tensors]`."""
    read = node.elt if isinstance(node, _COMPREHENSIONS) else None
    func = read.func if isinstance(read, cst.Call) and not read.args else None
    return func if isinstance(func, cst.Attribute) and func.attr.value == "item" else None


def _stack(made: Constructor, item: cst.Attribute, module: Module) -> Fix | str:
    torch = module.names.imported_as("torch", made.call)
    if torch is None or len(made.call.args) > 1 or made.typed:
        return "`torch.stack` takes no `dtype=` or `device=`; convert what it returns"
    changes = (
        edits.replace(module, made.call.func, f"{torch}.stack"),
        edits.replace(module, item.attr, "detach"),
    )
    return Fix(Applicability.UNSAFE, "Stack the tensors; dtype and device stay the same", changes)


# lists of arrays ----------------------------------------------------------------------------------


def _elements_of(node: cst.BaseExpression, module: Module) -> Value:
    """What each element of a list, tuple or comprehension is; `Kind.NOTHING` for anything else.

    A name means the list it was set to and all that was appended to it.
    """
    if isinstance(node, (cst.List, cst.Tuple)):
        elements = NO_VALUE
        for element in node.elements:
            starred = isinstance(element, cst.StarredElement)
            elements |= UNKNOWN_VALUE if starred else module.value(element.value)
        return elements
    if isinstance(node, _COMPREHENSIONS):
        return module.value(node.elt)
    if isinstance(node, cst.Name):
        return _elements_of_name(node, module)
    return NO_VALUE


def _elements_of_name(node: cst.Name, module: Module) -> Value:
    elements = NO_VALUE
    bindings = module.flow.reaching(node)
    for binding in bindings:
        if binding.how is not How.ASSIGNMENT or not _makes_list(binding.value, module):
            return NO_VALUE
        assert binding.value is not None
        elements |= _elements_of(binding.value, module)
    for call in methods_called_on(node, module):
        owner: cst.BaseExpression = call.func
        while isinstance(owner, cst.Attribute | cst.Subscript):
            owner = owner.value
        if any(each in bindings for each in module.flow.reaching(owner)):
            elements |= _grown(call, module)
    return elements


def _makes_floats(made: Constructor) -> bool:
    """`torch.FloatTensor(x)`, `torch.tensor(x, dtype=torch.float32)`."""
    kind = dotted_text(argument(made.call, "dtype")).rpartition(".")[2]
    return made.method == "float" or kind.startswith("float")


def _holds_slices(node: cst.BaseExpression, module: Module) -> bool:
    """Whether each element of a list that a collate function fills is a slice of a sample, as
    `audio[start : start + length]` is."""
    if isinstance(node, cst.ListComp):
        return _is_slice(node.elt)
    if not isinstance(node, cst.Name):
        return False
    added: list[cst.BaseExpression] = []
    for binding in module.names.lookup(node):
        if binding.how is How.UPDATE and isinstance(binding.value, cst.List):
            added += [each.value for each in binding.value.elements]
    for call in methods_called_on(node, module):
        if method_name(call) == "append" and len(call.args) == 1:
            added.append(call.args[0].value)
    return bool(added) and all(map(_is_slice, added))


def _is_slice(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Subscript) and isinstance(node.slice[0].slice, cst.Slice)


def _makes_list(value: cst.BaseExpression | None, module: Module) -> bool:
    """Whether it is a list that is written out, a comprehension or `list()`."""
    if isinstance(value, cst.Call):
        return module.calls(value, "builtins.list") and not value.args
    return isinstance(value, (cst.List, cst.Tuple, *_COMPREHENSIONS))


def _grown(call: cst.Call, module: Module) -> Value:
    """What a method call adds to a list."""
    method = method_name(call)
    if method == "append" and len(call.args) == 1:
        return module.value(call.args[0].value)
    if method in ("extend", "insert"):
        return UNKNOWN_VALUE
    return NO_VALUE
