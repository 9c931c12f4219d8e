"""Keep functions that look at numbers of the device out of the training step.

## What it does
Reports functions that look at their result or at their arguments on the host, on every training
step: `Normalize` and `normalize` of torchvision, which look whether a deviation is zero, and
inverses, factorizations and solutions of `torch.linalg`, which look whether they have failed. As a
hint also the scale of a gradient scaler, `scaler.get_scale()` and `scaler.state_dict()["scale"]`.

## Why it is slow
Each look waits until the GPU has computed all that was asked of it before, and the GPU then has
nothing to do until Python has asked for more. `normalize` of torchvision also makes its mean and
its deviation from Python's numbers, and copies both to the GPU on each call. `torchlint rehearse`
counts a wait and two copies for `Normalize`, and a wait for `torch.linalg.inv`.

## Example
```python
normalize = torchvision.transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
for images, labels in loader:
    images = normalize(images.to(device))
    loss = criterion(model(images), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```

## Use instead
```python
mean = torch.tensor([0.485, 0.456, 0.406], device=device)[:, None, None]
deviation = torch.tensor([0.229, 0.224, 0.225], device=device)[:, None, None]
for images, labels in loader:
    images = (images.to(device) - mean) / deviation
    loss = criterion(model(images), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```
`torch.linalg.inv_ex`, `solve_ex` and `cholesky_ex` do not look at their result.

## When it is silent
For tensors that are not known to be on the device, as in a dataset, but `inverse()` of what is a
matrix in any case, such as `pose.T`, is a hint; in evaluation; under `if step % 100 == 0` and
similar conditions; in tests.

## Fix safety
There is no fix: mean and deviation belong into buffers, whose place only you know, and without the
look a matrix that has no inverse raises no error.

## How verify confirms it
It cannot: there is no fix. On a GPU, `torchlint verify train.py --against without.py` compares with
your own version, and `torchlint rehearse train.py` counts the waits without one.

## References
- torchvision, `transforms/_functional_tensor.py`, `normalize`
- PyTorch, `aten/src/ATen/native/BatchLinearAlgebra.cpp`, `_linalg_check_errors`
- `torch.linalg.inv_ex`
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.syncs import Operand, operand_at, tensor_at
from torchlint.analysis.training.truths import origin_of
from torchlint.analysis.training.whereabouts import off_device
from torchlint.analysis.uses import method_name
from torchlint.rule import (
    Context,
    Match,
    Module,
    Reported,
    Rule,
    Tier,
    Triggers,
    because,
    calls,
    method,
)

_NORMALIZE = frozenset(
    f"torchvision.transforms.{name}"
    for name in ("functional.normalize", "v2.functional.normalize", "Normalize", "v2.Normalize")
)
_QUIET = ("cholesky", "inv", "solve")
_CHECKED = tuple(
    f"torch.linalg.{name}"
    for name in (*_QUIET, "eig", "eigh", "eigvals", "eigvalsh", "lstsq", "pinv", "svd", "svdvals")
)
_CHECKS = "This looks on the host whether it has failed, and waits for the GPU on every step"


_SCALE = (
    "The scale of the gradient scaler is on the device, so the host waits for the GPU to read it "
    "on every step; read it when it is shown."
)


def _operand(match: Match) -> Operand | None:
    return operand_at(match.module.argument(match.call, "A", 0), match.module)


def _owner(match: Match) -> Operand | None:
    if match.receiver is None or not _is_matrix(match.receiver):
        return operand_at(match.receiver, match.module)
    known = tensor_at(match.receiver, match.module)
    return known or off_device(None, match.receiver, match.module)


def _is_matrix(node: cst.BaseExpression | None) -> bool:
    """`camera.view.T`, `pose[:3, :3]`, `a @ b`: hardly anything but a tensor or an array."""
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, cst.MatrixMultiply)
    if isinstance(node, cst.Subscript):
        return len(node.slice) > 1
    return isinstance(node, cst.Attribute) and node.attr.value in ("T", "mT")


def _is_scaler(match: Match) -> bool:
    called = dotted_text(match.receiver).rpartition(".")[2]
    return "scaler" in called or because(False, "{} is not called like a gradient scaler", called)


def _message(match: Match) -> str:
    called = method_name(match.call)
    name = "inv" if called == "inverse" else called
    quiet = f"; `torch.linalg.{name}_ex` does not." if name in _QUIET else "."
    return f"{_CHECKS}{quiet}"


rule = Rule(
    code="TL220",
    summary="a function looks at numbers of the device on every training step",
    finds=(
        calls(*_CHECKED, "torch.inverse", where=(_operand,)),
        method("inverse", "pinverse", where=(_owner,)),
        method("get_scale", where=(_is_scaler,), tier=Tier.HINT, message=_SCALE),
    ),
    message=_message,
    contexts=(Context.HOT, Context.ACCELERATOR),
    triggers=Triggers(
        on_demand=(r"\b[Nn]ormalize\b|\blinalg\b|\binverse\b|\bget_scale\(|\[.scale.\]",)
    ),
    needs_gpu=True,
)


@rule.on(cst.Subscript)
def reads_the_scale(item: cst.Subscript, module: Module) -> Iterable[Reported]:
    """`scaler.state_dict()["scale"]`, for which the scaler reads its state from the device."""
    state, key = item.value, item.slice[0].slice
    if not isinstance(state, cst.Call) or method_name(state) != "state_dict":
        return ()
    if "scaler" not in dotted_text(state.func) or not isinstance(key, cst.Index):
        return because((), "nothing shows that this is the state of a gradient scaler")
    if module.literal(key.value) != "scale":
        return because((), "only the scale is read from the device")
    return rule.report(module, item, _SCALE, tier=Tier.HINT)


@rule.on(cst.Call)
def looks_for_zero(call: cst.Call, module: Module) -> Iterable[Reported]:
    """`normalize(x, mean, std)`, `Normalize(mean, std)(x)` and a name for the latter."""
    named = "ormalize" in module.text  # to follow the name of each call takes time
    made = origin_of(call.func, module) if named else call.func
    function = made.func if isinstance(made, cst.Call) else call.func
    if _NORMALIZE.isdisjoint(module.resolve(function)):
        return ()
    operand = operand_at(module.argument(call, "tensor", 0), module)
    if operand is None:
        return because((), "its argument is not known to be a tensor on the device")
    message = (
        "`normalize` copies mean and deviation to the GPU, and looks on the host for a zero in "
        "them, on every step; keep both on the device, and subtract and divide there."
    )
    return rule.report(module, call, message, operand=operand)
