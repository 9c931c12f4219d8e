"""Leave out the bias of a convolution before a batch norm.

## What it does
Reports `nn.Conv1d/2d/3d`, `nn.ConvTranspose*` and `nn.Linear` with a bias whose output goes
directly, and only, into a norm that subtracts the mean of each channel: `nn.BatchNorm*`,
`nn.SyncBatchNorm`, and as a hint `nn.InstanceNorm*` and `nn.GroupNorm` with one channel per group.
It understands `nn.Sequential`, lists that are extended layer by layer, paired `nn.ModuleList`s and
the calls in `forward`, and follows a norm that a parameter chooses (`norm_layer=nn.BatchNorm2d`)
through the calls of the file. If these leave open what is passed, it is a hint.

## Why it is slow
A bias shifts a whole channel, and the norm subtracts that shift together with the mean. So the
addition, the gradient of the bias and its optimizer state are wasted work. The gain is small: one
addition per element of the output, which matters only in a memory-bound network.

## Example
```python
block = nn.Sequential(
    nn.Conv2d(3, 64, kernel_size=3, padding=1),
    nn.BatchNorm2d(64),
    nn.ReLU(inplace=True),
)
```

## Use instead
```python
block = nn.Sequential(
    nn.Conv2d(3, 64, kernel_size=3, padding=1, bias=False),
    nn.BatchNorm2d(64),
    nn.ReLU(inplace=True),
)
```

## When it is silent
- There is another layer in between, such as an activation, a dropout or `nn.PixelShuffle`.
- The output is also used elsewhere, or the layer is called from two places.
- The norm is `nn.LayerNorm`, or `nn.GroupNorm` with larger groups, or may be one: a parameter
  chooses it, and the program passes another norm for some parameter of such a name.
- `bias=` is not a literal, or may come through `**kwargs`.
- The input was pooled to one place per channel (`nn.AdaptiveAvgPool2d(1)`), so the addition costs
  nothing.
- Norms are frozen (`bn.eval()`) or fused into the convolution.
- The layer has `weight_norm` or `spectral_norm`.
- An `nn.Linear` before an `nn.BatchNorm1d` with another number of features: the norm is over
  another dimension, so the bias matters.

## Fix safety
**Unsafe.** During training, outputs stay the same except for rounding. But old checkpoints contain
a bias that the new model does not expect, layers that are created later start from other random
numbers, and outputs in evaluation differ until the running mean has adapted. There is no fix if
the project loads checkpoints or pretrained weights, or if code writes to the bias without checking
`if m.bias is not None`, since that would crash; where checkpoints hold the bias, the advice is for
new trainings. If the norm is only added `if normalize:`, the message and the fix say
`bias=not normalize`. Check the whole project: whether a file that is left out loads checkpoints is
not known.

## How verify confirms it
It measures `bias=False`, and realigns the random numbers with which later layers start. Losses are
equal up to rounding, and it says how many parameters checkpoints lose. The saving is small and may
stay UNRESOLVED.

## References
- PyTorch performance tuning guide, "Disable bias for convolutions directly followed by a batch
  norm"
- `torch.profiler`'s pattern `Conv2dBiasFollowedByBatchNorm2d`
"""

from collections.abc import Iterable
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.layers.chain import Step
from torchlint.analysis.layers.expression_layers import layers_of
from torchlint.analysis.names import How
from torchlint.analysis.torch_api import BATCH_NORMS
from torchlint.rule import (
    Applicability,
    Change,
    Clue,
    Finding,
    Module,
    Project,
    Related,
    Reported,
    Rule,
    Tier,
    Triggers,
    because,
    edits,
    without_fix,
)

from .bias_initialization import writes_to_bias
from .biased_layers import (
    argument_of_bias,
    has_bias,
    has_norm_beside_layer,
    is_linear,
    same_features,
)
from .biased_layers_in_text import may_have_biased_layer
from .module_order import Branch, ModuleOrder, order_of
from .normalization import (
    freezing_of_norms,
    is_batch_norm,
    is_instance_norm,
)
from .pooled_inputs import gets_one_place


def _writes(asks: str, kind: str) -> str:
    """A pattern for `if isinstance(m, nn.Conv2d): … m.bias.data.zero_()` without a check for
    a bias."""
    other = rf"(?![^\n]*(?:{asks}|is not None|if [\w.]+\.bias:))"
    asked = rf"(?m:^){_on_the_line(asks, kind)}(?![^\n]*is not None)[^\n]*\n"
    return rf"{asked}(?:{other}[^\n]*\n){{0,8}}?{other}[^\n]*\bbias[.,)\[]"


def _on_the_line(*words: str) -> str:
    """A pattern for a line with these words in any order: one lookahead for each."""
    return "".join(rf"(?=[^\n]*{word})" for word in words)


rule = Rule(
    code="TL304",
    summary="a bias that the following norm cancels",
    fix=Applicability.UNSAFE,
    clues={
        "loads a state dict": r"load_state_dict(?<!opt\.load_state_dict)(?<!optim\.load_state_dict)"
        r"(?<!optimizer\.load_state_dict)(?<!scheduler\.load_state_dict)"
        r"(?<!scaler\.load_state_dict)\b",
        "loads pretrained weights": r"pretrained(?:\(|\s*=\s*(?!False\b|None\b))",
        "loads from the hub": r"hub\.load",
        "writes to a Conv's bias": _writes(r"isinstance\(", "Conv"),
        "writes to a Linear's bias": _writes(r"isinstance\(", "Linear"),
        "writes to the bias of a class name": _writes(
            r"find\(['\"]", r"find\(['\"](?:Conv|Linear)"
        ),
        "passes another norm": r"(?m)^[^#\n]*(?<![.\w])(?:\w{1,16}_)?norm\w{0,12}\s{0,9}=\s{0,9}"
        r"(?:[\w.]{0,60}\.)?(?:(?:Frozen|Group|Instance|Layer)\w|[A-Z]\w{0,20}Norm(?<!BatchNorm)|"
        r"(?:Identity|partial|lambda)\b|get_\w)",
        "freezes norms": "(?m:^)" + _on_the_line(r"isinstance\(", "BatchNorm") + r"[^\n]*\n"
        r"\s{0,200}\w+\.(?:eval\(\)|requires_grad_\(False)",
    },
    may_change="the model has fewer parameters and draws fewer random numbers when it is built",
    triggers=Triggers(
        (r"BatchNorm|InstanceNorm|GroupNorm", r"Conv|Linear"),
        check=may_have_biased_layer,
        outline=has_norm_beside_layer,
    ),
)
_CHECKPOINTS = ("loads a state dict", "loads pretrained weights", "loads from the hub")


@rule.on(cst.Call)
def bias_that_the_norm_cancels(layer: cst.Call, module: Module) -> Iterable[Reported]:
    frozen = freezing_of_norms(module)
    layers = layers_of(module) if frozen else order_of(module).layers
    if not has_bias(layer, layers):
        return ()
    if frozen is not None:
        return because((), "{} freezes norms, or folds them into the layers before", frozen)
    order = order_of(module)
    norms = _norms_after(layer, order)
    return _report(layer, norms, order) if norms else ()


# detection ---------------------------------------------------------------------------------


def _norms_after(layer: cst.Call, order: ModuleOrder) -> list[Step]:
    """The norms that directly follow a layer; [] if its output is also used elsewhere."""
    steps = order.steps(layer)
    norms = [step for step in steps if step.after and _cancels(layer, step.after, order)]
    if not steps:
        return because([], "the file does not show what follows this layer")
    if not norms:
        unknown = next((_user(step, order) for step in steps if step.after is None), None)
        said = "no known layer takes its output; it is used by {}"
        return [] if unknown is None else because([], said, unknown)
    if not order.runs_once(layer) or _overridden(layer, norms, order):
        return []
    if gets_one_place(layer, order):
        return []
    if len(norms) == len(steps):
        return norms
    places = {step.place for step in norms}
    others = [step for step in steps if step.place not in places]
    other = _user(others[0], order) if others else layer
    if any(step.called for step in others):
        return because([], "its output goes into a norm, and somewhere else too: {}", other)
    chosen = [order.conditions(layer, norm) for norm in norms]
    one_of_several = any(
        isinstance(each.orelse, Branch) for branches in chosen for each in branches
    )
    if all(chosen) and not one_of_several:
        return norms
    return because([], "a norm is only one of the layers that may follow; another is {}", other)


def _user(step: Step, order: ModuleOrder) -> cst.CSTNode:
    """What to show of a step: the statement in `forward`, or the layer in a container."""
    statement = order.module.small_statement(step.place) if step.called else None
    return statement or step.place


def _cancels(layer: cst.Call, norm: cst.Call, order: ModuleOrder) -> bool:
    layers = order.layers
    same = same_features(layer, norm, layers)
    linear = is_linear(layer, layers)
    if not is_batch_norm(norm, layers) and (linear or not is_instance_norm(norm, layers)):
        if layers.is_one_of(norm, BATCH_NORMS):
            return False  # its options are unusual
        return because(False, "{} comes next, and does not subtract the mean of a channel", norm)
    if linear:
        said = "nothing shows that {} has as many features, so it may be over another dimension"
        return same is True or because(False, said, norm)
    return same is not False or because(False, "{} has another number of channels", norm)


def _overridden(layer: cst.Call, norms: list[Step], order: ModuleOrder) -> bool:
    """Whether a subclass in this file overrides the method that calls the layer."""
    functions = (order.module.function(step.place) for step in norms if step.called)
    methods = {function.name.value for function in functions if function is not None}
    overridden = order.overrides(order.module.class_(layer), methods)
    named = "a subclass in this file overrides `{}`, which runs the layer"
    return overridden and because(True, named, tuple(sorted(methods)))


# report --------------------------------------------------------------------------------------


class _Needs(NamedTuple):
    """What the project settles by: the kind of layer, `Conv` or `Linear`, what to say where old
    checkpoints hold the bias, and whether a parameter chooses the norm."""

    kind: str
    in_new_trainings: str
    chosen: bool


def _report(layer: cst.Call, norms: list[Step], order: ModuleOrder) -> Iterable[Reported]:
    module = order.module
    followers = [step.after for step in norms if step.after is not None]
    choices = [choice for norm in followers if (choice := order.layers.choice(norm))]
    sure = all(choice.sure for choice in choices)
    value = _value_of_bias(layer, norms, order)
    kind = "Linear" if is_linear(layer, order.layers) else "Conv"
    fix = _WRITTEN if writes_to_bias(module, kind) else _fix(layer, value, order)
    fact = _fact(layer, followers[0], value, order)
    advice = (
        f"pass `bias={value}`" if value else "pass the opposite of the norm's condition as `bias=`"
    )
    needs = _Needs(kind, f"{fact}; {advice} in new trainings to save that work.", bool(choices))
    at = module.span(followers[0])[0]
    return rule.report(
        module,
        layer,
        f"{fact}; {advice} to save that work.",
        tier=_tier(followers, sure, order),
        fix=fix if sure else "a caller may pass another norm",
        related=(Related(module.path, at, "this norm subtracts the mean"),),
        needs=needs,
    )


def _tier(followers: list[cst.Call], sure: bool, order: ModuleOrder) -> Tier:
    for norm in followers:
        if not is_batch_norm(norm, order.layers):
            return because(Tier.HINT, "{} is not a batch norm", norm)
        if len(order.inputs.get(norm, ())) > 1:
            return because(Tier.HINT, "{} has other inputs too", norm)
    return Tier.DEFAULT if sure else because(Tier.HINT, "a caller may pass another norm")


def _fact(layer: cst.Call, norm: cst.Call, value: str | None, order: ModuleOrder) -> str:
    at_times = "" if value == "False" else ", where there is one,"
    choice = order.layers.choice(norm)
    if choice is not None and not choice.sure:
        at_times = f", unless `{choice.parameter}` is another norm,"
    return (
        f"`{_short(layer, order)}` adds a bias that the following `{_short(norm, order)}`"
        f"{at_times} cancels"
    )


def _fix(layer: cst.Call, value: str | None, order: ModuleOrder) -> Change | str:
    module = order.module
    reader = order.passed_to(layer)
    if reader is not None:
        return f"`{reader}` is given the layer and may use its bias"
    if value is None:
        return "the norm is used only under a condition; pass the opposite as `bias=`"
    old = argument_of_bias(layer, order.layers)
    if old is None:
        edit = edits.add_argument(module, layer, f"bias={value}")
    else:
        edit = edits.replace(module, old, value)
    return f"Pass `bias={value}`", edit


def _value_of_bias(layer: cst.Call, norms: list[Step], order: ModuleOrder) -> str | None:
    """`False`, or `not normalize` for a norm under `if normalize:`; None if it is more complex."""
    conditions = [(order.conditions(layer, norm), norm) for norm in norms]
    if not any(branches for branches, _ in conditions):
        return "False"
    if any(len(branches) != 1 for branches, _ in conditions):
        return None
    values = {_unless(branches[0], norm, layer, order) for branches, norm in conditions}
    return values.pop() if len(values) == 1 else None


def _unless(branch: Branch, step: Step, layer: cst.Call, order: ModuleOrder) -> str | None:
    """An expression of the function's parameters that is true when the norm is not used."""
    module = order.module
    negated = not order.is_in_body(step.after if step.called and step.after else step.place, branch)
    test: cst.BaseExpression = branch.test
    while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        negated, test = not negated, test.expression
    if not isinstance(test, cst.Name) or module.function(layer) is not module.function(branch):
        return None
    if [each.how for each in module.names.lookup(test)] != [How.PARAMETER]:
        return None
    return f"bool({test.value})" if negated else f"not {test.value}"


def _short(call: cst.Call, order: ModuleOrder) -> str:
    return order.layers.constructor(call)[0].rpartition(".")[2]


# settling ------------------------------------------------------------------------------------

_WRITTEN = "code writes to the bias of such layers without checking that there is one"


@rule.settle(_Needs)
def settle(finding: Finding, needs: _Needs, project: Project) -> Finding | None:
    files = project.programs(finding.path)
    if needs.chosen and project.has_clue("passes another norm", files):
        another = "a parameter chooses the norm, and {} passes another one"
        return because(None, another, Clue("passes another norm", files))
    if finding.fix is None:
        return finding
    writes = (f"writes to a {needs.kind}'s bias", "writes to the bias of a class name")
    if any(project.has_clue(clue, files - {finding.path}) for clue in writes):
        return without_fix(finding, _WRITTEN)
    if any(project.has_clue(clue, files) for clue in _CHECKPOINTS):
        finding = finding._replace(message=needs.in_new_trainings)
        return without_fix(finding, "checkpoints that the project loads hold this bias")
    if project.has_clue("freezes norms", files):
        return without_fix(finding, "the project freezes norms, and a frozen one keeps the bias")
    return finding
