"""Which layers have a bias, and whether a norm has as many features as a layer outputs."""

import ast

import libcst as cst

from torchlint.analysis.layers.expression_layers import Layers
from torchlint.analysis.literals import UNKNOWN
from torchlint.analysis.torch_api import BATCH_NORMS, CONVOLUTIONS, INSTANCE_NORMS, LINEAR
from torchlint.rule import Outline, because, outlines

_NORMS = (*BATCH_NORMS, *INSTANCE_NORMS, "torch.nn.GroupNorm")
_NORM_NAMES = frozenset(name.rpartition(".")[2] for name in _NORMS)


def has_norm_beside_layer(outline: Outline) -> bool:
    """Whether a class or function creates a norm, and a layer to which `bias` is not passed, or as
    True; where the class of a norm is passed on, any of them may."""
    norms = set(outline.loose_calls(*_NORMS))
    layers = {
        call
        for call in outline.loose_calls(*CONVOLUTIONS, *LINEAR)
        if not outlines.has_stars(call)
        and outlines.literal(outlines.argument(call, "bias") or ast.Constant(True)) is True
    }
    if norms and layers:
        layers -= _fused(outline, layers, norms)
    if layers and _passes_norm(outline):
        return True
    for part in outline.parts if norms and layers else ():
        nodes = {node for each in part for node in ast.walk(each)}
        if not (norms.isdisjoint(nodes) or layers.isdisjoint(nodes)):
            return True
    said = "no class or function of the file creates both a norm and a layer with a bias"
    return because(False, said)


def _fused(outline: Outline, layers: set[ast.Call], norms: set[ast.Call]) -> set[ast.Call]:
    """Those layers that a function without a norm makes, fills and returns, as `fuse` does: in
    `layer = nn.Conv2d(…)` nothing else is done with `layer` than to ask for its attributes."""
    fused = set()
    for function in outline.nodes(ast.FunctionDef):
        nodes = list(ast.walk(function))
        if layers.isdisjoint(nodes) or not norms.isdisjoint(nodes):
            continue
        read = [each for each in nodes if isinstance(each, ast.Name)]
        harmless = {each.value for each in nodes if isinstance(each, ast.Attribute | ast.Return)}
        for each in nodes:
            if isinstance(each, ast.Assign) and each.value in layers:
                names = {target.id for target in each.targets if isinstance(target, ast.Name)}
                uses = (use for use in read if use.id in names and use not in each.targets)
                if len(names) == len(each.targets) and harmless.issuperset(uses):
                    fused.add(each.value)
    return fused


def _passes_norm(outline: Outline) -> bool:
    """Whether the class of a norm is passed by its position, as in `Block(nn.BatchNorm2d)`."""
    return any(
        outlines.chain(each).rpartition(".")[2] in _NORM_NAMES
        for call in outline.nodes(ast.Call)
        if outlines.chain(call.func) not in ("isinstance", "issubclass")
        for each in call.args
        if isinstance(each, ast.Name | ast.Attribute)
    )


def has_bias(call: cst.Call, layers: Layers) -> bool:
    """Whether a call makes a convolution or linear layer whose bias is on for certain."""
    module = layers.module
    if not layers.is_one_of(call, CONVOLUTIONS | LINEAR):
        return False
    if any(arg.star for arg in call.args):
        return because(False, "`*` or `**` of this layer may pass `bias`")
    bias = argument_of_bias(call, layers)
    if bias is None or module.literal(bias) is True:
        return True
    return because(False, "`bias` is {:code} here", bias)


def argument_of_bias(call: cst.Call, layers: Layers) -> cst.BaseExpression | None:
    position = 2 if is_linear(call, layers) else 7
    return layers.module.argument(call, "bias", position - layers.is_lazy(call))


def is_linear(call: cst.Call, layers: Layers) -> bool:
    return layers.is_one_of(call, LINEAR)


def same_features(layer: cst.Call, norm: cst.Call, layers: Layers) -> bool | None:
    """Whether a norm is made for as many features as a layer gives; None if unknown.

    The same text counts as the same number. For `nn.Linear` this implies a 2-D input: with
    (batch, length, features) a BatchNorm1d would be created for the length.
    """
    module = layers.module
    given_at = 1 - layers.is_lazy(layer)
    given_name = "out_features" if is_linear(layer, layers) else "out_channels"
    given = module.argument(layer, given_name, given_at)
    group = layers.is_one_of(norm, ("torch.nn.GroupNorm",))
    wanted = module.argument(norm, "num_channels" if group else "num_features", int(group))
    if given is None or wanted is None or layers.is_lazy(norm):
        return None
    if module.tree.code_for_node(given) == module.tree.code_for_node(wanted):
        return True
    numbers = module.literal(given), module.literal(wanted)
    return False if UNKNOWN not in numbers else None
