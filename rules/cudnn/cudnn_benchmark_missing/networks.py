"""The convolutions of a file: which count, and which are in networks that it does not train."""

import re
from collections.abc import Collection

import libcst as cst

from torchlint.analysis.layers.layer_lists import assign_targets
from torchlint.analysis.literals import argument, literal
from torchlint.analysis.names import dotted_text
from torchlint.analysis.steps.guards import words
from torchlint.analysis.torch_api import CONVOLUTIONS, OPTIMIZERS
from torchlint.analysis.training.freezing import frozen_names
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.call_values import MODULE_METHODS, WRAPPERS
from torchlint.rule import Module, once

_MODEL_ZOOS = ("torchvision.models.", "timm.create_model", "timm.models.", "diffusers.UNet")
_FUNCTIONAL = re.compile(r"^conv(?:_transpose)?[123]d$")
PATCHES = r"(?:vit|deit3?|beit(?:v2)?|eva(?:02)?|swin(?:v2)?|mixer|gmlp|cait|flexivit)_"
"""Networks of model zoos that only embed patches by a convolution."""
_OF_PATCHES = re.compile(PATCHES)
_KEPT_METHODS = MODULE_METHODS | frozenset(
    "buffers children compile enable_slicing enable_tiling load_state_dict modules "
    "named_parameters parameters requires_grad_ state_dict zero_grad".split()
)
"""Methods of a module that run nothing of it."""
_WRAP_FOR_TRAINING = frozenset(WRAPPERS) - {"copy.deepcopy"}


# convolutions ------------------------------------------------------------------------------


@once
def convolutions_in(module: Module) -> list[cst.CSTNode]:
    """Where a file creates a convolution, or a network with convolutions from a model zoo. One
    that embeds patches, as wide as its stride, does not count: that is a product of matrices."""
    calls = {call.func: call for call in module.nodes(cst.Call)}
    convolutions: list[cst.CSTNode] = [
        func for func, call in calls.items() if _convolves(call, module)
    ]
    for node in module.nodes(cst.Attribute):  # `models.__dict__[arch]`, `getattr(models, arch)`
        names = () if node in calls else module.resolve(node)
        if any(name in CONVOLUTIONS or _is_of_zoo(name) for name in names):
            convolutions.append(node)
    return convolutions


def _convolves(call: cst.Call, module: Module) -> bool:
    names = module.resolve(call.func)
    if not CONVOLUTIONS.isdisjoint(names):
        return not _embeds_patches(call, module)
    if any(map(_is_of_zoo, names)):
        name = literal(call.args[0].value) if call.args else None
        return not (isinstance(name, str) and _OF_PATCHES.match(name))
    if "builtins.getattr" in names and call.args:
        return "torchvision.models" in module.resolve(call.args[0].value)
    # `F.conv2d(x, self.weight)`, also through a wrapper of the same name. A filter that is not
    # called a weight, as of a blur or a metric, is not a layer.
    functional = _FUNCTIONAL.match(dotted_text(call.func).rpartition(".")[2])
    weight = module.argument(call, "weight", 1) if functional else None
    return weight is not None and any("weight" in word for word in words(weight))


def _is_of_zoo(name: str) -> bool:
    return name.startswith(_MODEL_ZOOS) and not _OF_PATCHES.match(name.rpartition(".")[2])


def _embeds_patches(call: cst.Call, module: Module) -> bool:
    """`nn.Conv2d(3, dim, kernel_size=size, stride=size)`."""
    size, stride = argument(call, "kernel_size", 2), argument(call, "stride", 3)
    if size is None or stride is None or "Transpose" in dotted_text(call.func):
        return False
    return literal(size) != 1 and module.source(size) == module.source(stride)


# networks that are not trained -------------------------------------------------------------


def made_frozen(module: Module) -> frozenset[cst.CSTNode]:
    """What creates the networks that a file runs without training them, as a frozen autoencoder."""
    return frozenset(
        assign.value
        for assign in module.nodes(cst.Assign)
        if isinstance(assign.value, cst.Call) and _is_frozen(_name_of(assign), module)
    )


def _name_of(assign: cst.Assign) -> str:
    target = assign.targets[0].target
    return dotted_text(target) if isinstance(target, cst.Name | cst.Attribute) else ""


@once
def _is_frozen(name: str, module: Module) -> bool:
    """Whether a network evaluates, learns nothing, and only runs with gradients off."""
    calls = _calls_by_name(module).get(name, []) if name else []
    evaluates = name in _made_for_evaluation(module) or any(
        method_name(call) == "eval" for call in calls
    )
    freezes = name in frozen_names(module)
    if not (evaluates or freezes) or any(_trains(call, module) for call in calls):
        return False
    # given to a wrapper for training, such as `DistributedDataParallel`
    given = (module.call_with(each) for each in module.spelled(name.rpartition(".")[2]))
    wraps = {each for call in given if call is not None for each in module.resolve(call.func)}
    if not wraps.isdisjoint(_WRAP_FOR_TRAINING):
        return False
    runs = [call for call in calls if method_name(call) not in _KEPT_METHODS]
    return all(_grad_is_off(call, module) for call in runs) if runs else evaluates and freezes


@once
def _calls_by_name(module: Module) -> dict[str, list[cst.Call]]:
    """By the dotted text of a network: the calls of it, and of its methods."""
    calls: dict[str, list[cst.Call]] = {}
    for call in module.nodes(cst.Call):
        text = dotted_text(call.func)
        for name in {text, text.rpartition(".")[0]}:
            calls.setdefault(name, []).append(call)
    return calls


@once
def _made_for_evaluation(module: Module) -> frozenset[str]:
    """The names of what is made for evaluation: `vae = AutoencoderKL().cuda().eval()`."""
    made = (module.parent(call) for call in module.calls_by_method.get("eval", ()))
    return frozenset(dotted_text(target) for each in made for target in assign_targets(each))


def _trains(call: cst.Call, module: Module) -> bool:
    """`net.train()`, or `net.parameters()` for an optimizer."""
    method = method_name(call)
    if method in ("train", "requires_grad_"):
        switch = "mode" if method == "train" else "requires_grad"
        return literal(argument(call, switch, 0)) is not False
    if method not in ("parameters", "named_parameters"):
        return False
    around = (each for each in module.ancestors(call) if isinstance(each, cst.Call))
    return any(
        "optim" in dotted_text(each.func).lower() or module.calls(each, *OPTIMIZERS)
        for each in around
    )


def _grad_is_off(call: cst.Call, module: Module) -> bool:
    function = module.function(call)
    decorators = () if function is None else function.decorators
    return module.evaluations.grad_is_off(call) or any(
        module.evaluations.turns_grad_off(each.decorator) for each in decorators
    )


def lies_in(node: cst.CSTNode, definitions: Collection[cst.CSTNode], module: Module) -> bool:
    """Whether all functions and classes around a node are among these."""
    return all(
        above in definitions
        for above in module.ancestors(node)
        if isinstance(above, cst.FunctionDef | cst.ClassDef)
    )
