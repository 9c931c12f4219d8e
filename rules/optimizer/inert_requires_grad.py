"""Freeze a module with `requires_grad_(False)`: an assignment to `requires_grad` freezes nothing.

## What it does
Reports `module.requires_grad = False`. Modules have no such attribute, so Python creates one that
nothing reads, and nothing changes for the parameters. It also reports `p.require_grad = False` and
other misspellings on a parameter or module, which do the same.

## Why it is slow
The module was meant to be frozen, and is not. The backward pass still computes the gradient of each
of its weights, keeps the activations that this needs, and stores the gradients; with
`DistributedDataParallel` they are also sent to the other processes. And if the optimizer has these
parameters, they are trained.

## Example
```python
backbone = torchvision.models.resnet50(weights="DEFAULT")
backbone.requires_grad = False
model = nn.Sequential(backbone, nn.Linear(1000, 10)).to(device)
```

## Use instead
```python
backbone = torchvision.models.resnet50(weights="DEFAULT")
backbone.requires_grad_(False)
model = nn.Sequential(backbone, nn.Linear(1000, 10)).to(device)
```

## When it is silent
For tensors and parameters, where the assignment works; for objects that nothing shows to be
modules; for classes that define `requires_grad` themselves; where the module is frozen in another
way as well; for `= True`, which costs nothing. It is a hint: a module that no loss reaches computes
no gradients anyway, and a parameter of a function may be a tensor.

## Fix safety
**Unsafe**: it does what the line says, so the module stops learning. A program that only trained
well because the module was never frozen gets worse.

## How verify confirms it
It measures the frozen module, on the CPU as well as on a GPU. Other numbers are expected: the
parameters of the module keep their values from now on.

## References
- PyTorch documentation, "Autograd mechanics: locally disabling gradient computation"
- `torch.nn.Module.requires_grad_`
"""

import re

import libcst as cst

from torchlint.analysis.training.freezing import is_frozen
from torchlint.analysis.values.kinds import TENSORS, Kind
from torchlint.rule import Applicability, Change, Effect, Match, Rule, Tier, assigns, because, edits

_MISSPELLED = ("require_grad", "require_grads", "requires_grads", "requires_grad_")
_LAYERS = re.compile(r"^(?:bn|blocks|conv|embeddings|fc|features|layer|linear|norm|stem)\d*$")
"""What people and libraries call the parts of a model, and never a parameter."""


def _stands_alone(match: Match) -> bool:
    assert isinstance(match.node, cst.Assign)
    return len(match.node.targets) == 1 or because(False, "the assignment has several targets")


def _owner(match: Match) -> cst.BaseExpression:
    """The module or tensor whose attribute is assigned to."""
    assert isinstance(match.node, cst.Assign)
    target = match.node.targets[0].target
    assert isinstance(target, cst.Attribute)
    return target.value


def _is_module(match: Match) -> bool:
    owner, module = _owner(match), match.module
    value = module.value(owner)
    if isinstance(owner, cst.Attribute) and _LAYERS.search(owner.attr.value):
        parts = "nothing shows that {:code} is a part of a module"
        return module.value(owner.value).has(Kind.MODULE) or because(False, parts, owner)
    if not value.only(Kind.MODULE | Kind.PARAMETER):
        return because(False, "nothing shows that {:code} is a module", owner)
    for class_ in filter(None, map(module.definitions.class_named, value.classes)):
        if "requires_grad" in module.definitions.methods(class_):
            return because(False, "{} has a `requires_grad` of its own", class_)
    return True


def _is_tensor(match: Match) -> bool:
    owner = _owner(match)
    if match.module.value(owner).only(TENSORS):
        return True
    return because(False, "nothing shows that {:code} is a tensor", owner)


def _is_frozen_elsewhere(match: Match) -> bool:
    owner = _owner(match)
    said = "the file also freezes {:code} by its method or in a loop"
    return is_frozen(owner, match.module) and because(True, said, owner)


def _freeze(match: Match) -> Change:
    assert isinstance(match.node, cst.Assign)
    text = f"{edits.operand(match.module, _owner(match))}.requires_grad_(False)"
    edit = edits.replace_statement(match.module, match.node, text)
    return "Call `requires_grad_(False)`", edit


_NO_PARAMETER = (
    r"(?<!\bp)(?<!\bparam)(?<!\bparams)(?<!\bparameter)(?<!\bweight)(?<!\bbias)"
    r"\.requires_grad[ \t)]*=[ \t]*(?!True\b)"
    + "".join(f"|\\.{name}[ \\t)]*=" for name in _MISSPELLED)
)

rule = Rule(
    code="TL405",
    effect=Effect.LARGE,
    summary="an assignment that should freeze a module freezes nothing",
    tier=Tier.HINT,
    fix=Applicability.UNSAFE,
    finds=(
        assigns("requires_grad", False, where=(_stands_alone, _is_module)),
        assigns(_MISSPELLED, False, where=(_stands_alone, _is_module)),
        assigns(_MISSPELLED, False, where=(_stands_alone, _is_tensor)),
    ),
    unless=(_is_frozen_elsewhere,),
    message="This assignment freezes nothing, and the gradients are computed as before; call "
    "`requires_grad_(False)`.",
    change=_freeze,
    triggers=(_NO_PARAMETER,),
    may_change="the module keeps its values instead of being trained",
)
