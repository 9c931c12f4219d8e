"""Which code stands in the `forward` of a module, and what it does with a layer that it creates."""

import libcst as cst

from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.analysis.layers.layer_lists import assign_targets
from torchlint.analysis.uses import reads_of_targets
from torchlint.analysis.values.call_values import MODULE_METHODS
from torchlint.rule import Match, Module, because


def in_forward(match: Match) -> bool:
    """Whether a match stands in `forward` itself, not in a function inside it."""
    function = match.module.function(match.node)
    if function is None or function.name.value != "forward":
        return because(False, "it is not created in a `forward`")
    alone = "nothing shows that the class of this `forward` inherits from `nn.Module`"
    return is_in_network(function, match.module) or because(False, alone)


def is_in_network(node: cst.CSTNode, module: Module) -> bool:
    """Whether code stands in a class that inherits from `nn.Module`, as far as the file shows."""
    class_ = module.class_(node)
    bases = [] if class_ is None else module.definitions.bases(class_)
    return any(base.startswith("torch.nn.") or base.endswith(ANY.module_classes) for base in bases)


def is_called(match: Match) -> bool:
    """Whether each pass creates a layer and calls it, and does nothing else with it."""
    module = match.module
    layer = _whole(match.call, module)
    assign = module.parent(layer)
    if any(isinstance(target, cst.Attribute) for target in assign_targets(assign)):
        above = next(module.conditions(layer), None)
        return above is None or because(False, "it may be created once, under {}", above)
    uses = [_whole(use, module) for use in reads_of_targets(assign, module)] or [layer]
    others = [use for use in uses if getattr(module.parent(use), "func", None) is not use]
    kept = [use for use in others if not isinstance(module.parent(use), cst.Expr)]
    if kept:
        return because(False, "the layer is returned, kept or passed on, in {:line}", kept[0])
    return len(others) < len(uses) or because(False, "nothing calls the layer here")


def _whole(layer: cst.BaseExpression, module: Module) -> cst.BaseExpression:
    """`nn.Linear(8, 8).to(device)` for the layer in it, and an `nn.Sequential` for its layers."""
    while True:
        parent, outer = module.parent(layer), module.call_with(layer)
        if isinstance(parent, cst.Attribute) and parent.attr.value in MODULE_METHODS:
            moved = module.parent(parent)
        else:
            moved = outer if outer and module.calls(outer, "torch.nn.Sequential") else None
        if not isinstance(moved, cst.Call):
            return layer
        layer = moved
