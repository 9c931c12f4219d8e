"""Pass images on as bytes, and convert them on the device.

## What it does
Reports where a dataset, a collate function or a transform makes floats of the bytes of an image:
`image / 255`, `torch.from_numpy(image).float().div(255)`.

## Why it is slow
A float takes four bytes, so the worker joins, passes on and pins four times as much, and four times
as much crosses the bus. In float64, which NumPy makes of bytes that are divided, it is eight times
as much. The GPU divides a whole batch in a fraction of a millisecond.

## Example
```python
class Photos(Dataset):
    def __getitem__(self, index):
        image = torch.from_numpy(self.images[index])
        return image.float() / 255, self.labels[index]
```

## Use instead
```python
class Photos(Dataset):
    def __getitem__(self, index):
        return torch.from_numpy(self.images[index]), self.labels[index]


for images, labels in DataLoader(Photos(), batch_size=64, num_workers=4, pin_memory=True):
    images = images.to(device, non_blocking=True).float() / 255
    train_step(model, images, labels)
```
Flips and crops work on bytes as well. Normalize behind the division, on the device.

## When it is silent
Unless something is divided by 255 or 127.5, which shows that it holds bytes; for single numbers,
for what is compared, rounded or becomes bytes again; in classes that no dataset and no transform is
called like; in modules, which may run on the device; under conditions other than settings, such as
`if image.dtype == torch.uint8`; in tests. Of one function, the first place is reported. It is a
hint: small images cost little, and some changes of an image need floats.

## Fix safety
There is no fix: the training loop must divide instead, and that loop may be in another file.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against fixed.py` compares with your own
version, on a GPU.

## References
- PyTorch tutorial, "A guide on good usage of non_blocking and pin_memory()"
- PyTorch documentation, `torch.utils.data`, "Memory Pinning"
"""

import re
from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.literals import UNKNOWN, literal
from torchlint.analysis.loading.sample_code import loads_samples
from torchlint.analysis.names import dotted_text
from torchlint.analysis.uses import method_name, receiver
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Module, Related, Reported, Rule, Tier, because, once

_LARGEST = (255, 127.5)
_BYTES = re.compile(r"uint8|\bbool\b|\.byte\(\)|\.dtype\b|round\b|[<>]")
"""In a statement: it compares, makes bytes again, or rounds what is a float already."""
_SETTING = re.compile(r"(?:not )?self\.\w{1,80}(?: (?:==|!=|is|is not) [\w\"'.]{1,40})?")

rule = Rule(
    code="TL117",
    summary="a dataset makes floats of the bytes of an image",
    tier=Tier.HINT,
    triggers=(
        r"(?:/=?\s{0,9}|div_?\(\s{0,9})(?:255|127\.5)",
        r"__getitems?__|[cC]ollat|_?(?:item|sample|example)\(|def (?:__call__|_?transform)\b",
    ),
)


@rule.on(cst.BinaryOperation, cst.AugAssign, cst.Call)
def makes_floats_of_bytes(
    node: cst.BinaryOperation | cst.AugAssign | cst.Call, module: Module
) -> Iterable[Reported]:
    image = _divided(node)
    if image is None:
        return ()
    if not loads_samples(node, module):
        return because((), "no dataset, collate function or transform of the file runs this")
    if not _is_image(image, node, module):
        return ()
    first, *again = _divisions(module, module.function(node))
    if first is not node:
        return because((), "{:line} is reported already", first)
    cast = _cast_of(image, module)
    places = [node, *again] if cast is not None else again
    related = tuple(
        Related(module.path, module.span(each)[0], "and it is divided here") for each in places
    )
    message = (
        "The bytes of an image become floats here, so that four times as much goes from the "
        "workers to the device; pass the bytes on, and convert them on the device."
    )
    return rule.report(module, cast or node, message, related=related)


def _divided(node: cst.CSTNode) -> cst.BaseExpression | None:
    """`image` of `image / 255`, `image /= 255` and `image.div(255)`."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide):
        return node.left if literal(node.right) in _LARGEST else None
    if isinstance(node, cst.AugAssign) and isinstance(node.operator, cst.DivideAssign):
        return node.target if literal(node.value) in _LARGEST else None
    if isinstance(node, cst.Call) and method_name(node) in ("div", "div_") and node.args:
        return receiver(node) if literal(node.args[0].value) in _LARGEST else None
    return None


def _is_image(image: cst.BaseExpression, node: cst.CSTNode, module: Module) -> bool:
    """Whether it may be all of an image, and stays floats on every call."""
    number = literal(image) is not UNKNOWN or module.value(image).only(Kind.HOST | Kind.SCALAR)
    if number or dotted_text(image).startswith("self."):
        return because(False, "{:code} is a number, or is not of one sample", image)
    statement = module.small_statement(node)
    if statement is not None and _BYTES.search(module.source(statement)):
        return because(False, "it is compared, becomes bytes again, or was no bytes before")
    for above in module.conditions(node):
        test = getattr(above, "test", None)
        if test is None or not _SETTING.fullmatch(module.source(test)):
            return because(False, "this runs only under a condition, {}", above)
    return True


@once
def _divisions(module: Module, function: cst.FunctionDef | None) -> list[cst.CSTNode]:
    """What `makes_floats_of_bytes` finds in a function, in source order."""
    found = []
    for node in () if function is None else module.within(function.body):
        image = _divided(node)
        if image is not None and _is_image(image, node, module):
            found.append(node)
    return sorted(found, key=module.order)


def _cast_of(image: cst.BaseExpression, module: Module) -> cst.BaseExpression | None:
    """`image.float()`, if a line above the division makes floats of the bytes."""
    for each in module.flow.reaching(image) if isinstance(image, cst.Name) else ():
        if isinstance(each.value, cst.Call) and "float" in module.source(each.value):
            return each.value
    return None
