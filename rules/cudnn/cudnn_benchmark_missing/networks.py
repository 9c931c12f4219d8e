"""The convolutions of a file: which count, and which lie in networks that it does not train."""

import re
from collections.abc import Collection

import libcst as cst

from torchlint.analysis.literals import argument, literal
from torchlint.analysis.names import dotted_text
from torchlint.analysis.torch_api import CONVOLUTIONS, OPTIMIZERS
from torchlint.analysis.training.guards import words
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


# convolutions ------------------------------------------------------------------------------


@once
def convolutions_in(module: Module) -> list[cst.CSTNode]:
    """Where a file creates a convolution, or a network with convolutions from a model zoo. One
    that embeds patches, as wide as its stride, is none: that is a product of matrices."""
    calls = {call.func: call for call in module.nodes(cst.Call)}
    # `models.__dict__[arch]`, `getattr(models, arch)`
    picked = [each for each in module.nodes(cst.Attribute) if each not in calls]
    return [
        *(func for func, call in calls.items() if _convolves(call, module)),
        *(
            node
            for node in picked
            if any(name in CONVOLUTIONS or _is_of_zoo(name) for name in module.resolve(node))
        ),
    ]


def _convolves(call: cst.Call, module: Module) -> bool:
    names = module.resolve(call.func)
    if not CONVOLUTIONS.isdisjoint(names):
        return not _embeds_patches(call, module)
    if any(map(_is_of_zoo, names)):
        name = literal(call.args[0].value) if call.args else None
        return not (isinstance(name, str) and _OF_PATCHES.match(name))
    if "builtins.getattr" in names and call.args:
        return "torchvision.models" in module.resolve(call.args[0].value)
    return _is_functional(call, module)


def _is_of_zoo(name: str) -> bool:
    return name.startswith(_MODEL_ZOOS) and not _OF_PATCHES.match(name.rpartition(".")[2])


def _embeds_patches(call: cst.Call, module: Module) -> bool:
    """`nn.Conv2d(3, dim, kernel_size=size, stride=size)`."""
    size, stride = argument(call, "kernel_size", 2), argument(call, "stride", 3)
    if size is None or stride is None or "Transpose" in dotted_text(call.func):
        return False
    return literal(size) != 1 and module.source(size) == module.source(stride)


def _is_functional(call: cst.Call, module: Module) -> bool:
    """`F.conv2d(x, self.weight)`, also through a wrapper of the same name. A filter that is not
    called a weight, as of a blur or a metric, is no layer."""
    if not _FUNCTIONAL.match(dotted_text(call.func).rpartition(".")[2]):
        return False
    weight = module.argument(call, "weight", 1)
    return weight is not None and any("weight" in word for word in words(weight))


# networks that are not trained -------------------------------------------------------------


def made_frozen(module: Module) -> frozenset[cst.CSTNode]:
    """What creates the networks that a file runs without training them, as a frozen autoencoder."""
    found: set[cst.CSTNode] = set()
    for assign in module.nodes(cst.Assign):
        target = assign.targets[0].target
        if isinstance(assign.value, cst.Call) and isinstance(target, cst.Name | cst.Attribute):
            name = dotted_text(target)
            if name and _is_frozen(module, name):
                found.add(assign.value)
    return frozenset(found)


@once
def _is_frozen(module: Module, name: str) -> bool:
    """Whether a network evaluates, learns nothing, and only runs with gradients off."""
    calls = _calls_by_name(module).get(name, [])
    evaluates = name in _made_for_evaluation(module) or any(
        method_name(call) == "eval" for call in calls
    )
    freezes = any(
        method_name(call) == "requires_grad_"
        and literal(argument(call, "requires_grad", 0)) is False
        for call in calls
    ) or any(_stops_learning(call, module) for call in calls)
    if not (evaluates or freezes) or any(_trains(call, module) for call in calls):
        return False
    if any(_is_wrapped(each, module) for each in module.spelled(name.rpartition(".")[2])):
        return False
    runs = [call for call in calls if method_name(call) not in _KEPT_METHODS]
    if not runs:
        return evaluates and freezes
    return all(_grad_is_off(call, module) for call in runs)


@once
def _calls_by_name(module: Module) -> dict[str, list[cst.Call]]:
    """By the dotted text of a network: the calls of it, and of its methods."""
    found: dict[str, list[cst.Call]] = {}
    for call in module.nodes(cst.Call):
        text = dotted_text(call.func)
        for name in {text, text.rpartition(".")[0]}:
            found.setdefault(name, []).append(call)
    return found


@once
def _made_for_evaluation(module: Module) -> frozenset[str]:
    """The names of what is made for evaluation: `vae = AutoencoderKL().cuda().eval()`."""
    return frozenset(
        dotted_text(target.target)
        for assign in module.nodes(cst.Assign)
        if isinstance(assign.value, cst.Call) and method_name(assign.value) == "eval"
        for target in assign.targets
    )


def _stops_learning(parameters: cst.Call, module: Module) -> bool:
    """`for p in vae.parameters(): p.requires_grad = False`."""
    loop = module.parent(parameters)
    if method_name(parameters) != "parameters" or not isinstance(loop, cst.For):
        return False
    return any(
        isinstance(node, cst.Assign)
        and dotted_text(node.targets[0].target).endswith(".requires_grad")
        and literal(node.value) is False
        for node in module.within(loop.body)
    )


def _trains(call: cst.Call, module: Module) -> bool:
    """`net.train()`, or `net.parameters()` for an optimizer."""
    method = method_name(call)
    if method == "train":
        return literal(argument(call, "mode", 0)) is not False
    if method == "requires_grad_":
        return literal(argument(call, "requires_grad", 0)) is not False
    if method not in ("parameters", "named_parameters"):
        return False
    around = (each for each in module.ancestors(call) if isinstance(each, cst.Call))
    return any(
        "optim" in dotted_text(each.func).lower()
        or not OPTIMIZERS.isdisjoint(module.resolve(each.func))
        for each in around
    )


def _is_wrapped(name: cst.Name, module: Module) -> bool:
    """Whether a network is given to a wrapper for training, such as `DistributedDataParallel`."""
    call = module.call_with(name)
    return call is not None and any(
        each in WRAPPERS and each != "copy.deepcopy" for each in module.resolve(call.func)
    )


def _grad_is_off(call: cst.Call, module: Module) -> bool:
    function = module.function(call)
    decorators = () if function is None else function.decorators
    return module.loops.grad_is_off(call) or any(
        module.loops.turns_grad_off(each.decorator) for each in decorators
    )


def lies_in(node: cst.CSTNode, definitions: Collection[cst.CSTNode], module: Module) -> bool:
    """Whether all functions and classes around a node are among these."""
    return all(
        above in definitions
        for above in module.ancestors(node)
        if isinstance(above, cst.FunctionDef | cst.ClassDef)
    )
