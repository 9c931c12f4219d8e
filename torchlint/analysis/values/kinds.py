"""The kinds of value that rules care about, and the words people use for them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Flag, auto


class Kind(Flag):
    """What an expression can be. Several flags mean: one of these."""

    NOTHING = 0
    DEVICE = auto()
    """A tensor on the accelerator, if the project uses one: a model's output, `x.cuda()`."""
    CPU = auto()
    """A tensor in host memory: `x.cpu()`, a batch that was not moved."""
    TENSOR = auto()
    """A tensor on an unknown device."""
    LIKELY = auto()
    """What an unknown function made of device tensors."""
    ARRAY = auto()
    """A NumPy array that others may hold too."""
    FRESH = auto()
    """A NumPy array that nothing else refers to yet."""
    SCALAR = auto()
    """A NumPy scalar or small array."""
    HOST = auto()
    """A Python number, string, None, shape, device: anything that lives on the host."""
    MODULE = auto()
    OPTIMIZER = auto()
    LOADER = auto()
    DATASET = auto()
    CONTAINER = auto()
    """A list, tuple, dict or set; `element` says of what."""
    PARAMETER = auto()
    """Whatever the caller passed; `parameters` says for which parameters."""
    UNKNOWN = auto()


TENSORS = Kind.DEVICE | Kind.CPU | Kind.TENSOR
ARRAYS = Kind.ARRAY | Kind.FRESH
ON_HOST = Kind.HOST | ARRAYS | Kind.SCALAR | Kind.CPU


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of an expression's value.

    `parameters` are the parameters of the enclosing function that it is computed from; those with
    an `@` in front name the device that it is on; `classes` the dotted names of the classes of the
    project, and of torch's modules, that it can be an instance of, `dtype` the array's element type
    where the code says it.
    """

    kind: Kind
    parameters: frozenset[str] = frozenset()
    classes: tuple[str, ...] = ()
    element: Value | None = None
    dtype: str | None = None

    def __or__(self, other: Value) -> Value:
        if self == other or other == NO_VALUE:
            return self
        if self == NO_VALUE:
            return other
        if self.element is None or other.element is None:
            element = self.element or other.element
        else:
            element = self.element | other.element
        return Value(
            self.kind | other.kind,
            self.parameters | other.parameters,
            tuple(dict.fromkeys(self.classes + other.classes)),
            element,
            self.dtype if self.dtype == other.dtype else None,
        )

    def has(self, kind: Kind) -> bool:
        """Whether it can be one of these."""
        return self.kind._value_ & kind._value_ != 0  # `&` of flags takes twenty times as long

    def only(self, kind: Kind) -> bool:
        """Whether it is known, and can only be one of these."""
        return self.kind._value_ != 0 and self.kind._value_ & ~kind._value_ == 0

    def without(self, kind: Kind) -> Value:
        return replace(self, kind=self.kind & ~kind)

    @property
    def is_array(self) -> bool:
        return self.has(ARRAYS) and self.only(ARRAYS | Kind.SCALAR)


def placing(parameters: frozenset[str]) -> frozenset[str]:
    """Those of a value's parameters that name the device that it is on."""
    return frozenset(each for each in parameters if each.startswith("@"))


UNKNOWN_VALUE = Value(Kind.UNKNOWN)
HOST_VALUE = Value(Kind.HOST)
DEVICE_VALUE = Value(Kind.DEVICE)
CPU_VALUE = Value(Kind.CPU)
NO_VALUE = Value(Kind.NOTHING)

_MODULE_WORDS = re.compile(
    r"(?:^|_)(?:models?|net|network|module|generator|discriminator|encoder|decoder|backbone|"
    r"classifier|actor|critic|policy|student|teacher|unet|vae|gan|head|pipe|pipeline)(?:_?[a-zA-Z]|_?\d+)?$"
    r"|^net_?[A-Z]\w?$|^model_(?:avg|base|best|chunked|compiled|copy|ddp|dp|ema|engine|eval|fn|"
    r"forward|fsdp|lora|main|module|new|old|orig?|original|parallel|raw|ref|reference|single|split|"
    r"student|teacher|to_train|train|unwrapped|with\w*_loss|without_\w+|wrapped|wrapper)$"
)
"""`model_names` and `model_parser` are not modules."""
_MAKES = re.compile(
    r"^_*(?:build|configure|construct|create|define|get|initiali[sz]e|instantiate|load|make|prepare|"
    r"setup|set_up|unwrap|wrap)_"
)
_ACTS = re.compile(
    r"^_*(?:apply|call|check|compute|download|eval|evaluate|export|find|finetune|fit|freeze|list|"
    r"log|optimi[sz]e|pretrain|print|profile|register|reset|run|save|set|test|train|unfreeze|"
    r"update|validate)_"
)
"""`train_model(x)` is not a call of a model."""
_LOSS_WORDS = re.compile(
    r"(?:^|_)(?:criterion|criterions?|loss_(?:fn|func|function)|objective)(?:_\w{1,80})?$"
    r"|^criterion\w*$"
)
_OPTIMIZER_WORDS = re.compile(r"optim|(?:^|_)opt(?:_?\w)?$|^solver$")
_LOADER_WORDS = re.compile(
    r"(?:^|_)(?:data_?)?loaders?(?:_|$|\d)|dataloader|(?:^|_)dl$|data_iter$|_loader|"
    r"^(?:train|val|valid|test)_(?:iter|iterator|batches|data_iter)$|^trainloader$|^testloader$"
    r"|^valloader$|^batches$|^iterator$",
)
_SETTINGS_WORDS = re.compile(
    r"^(?:self|cls)$|(?:args?|cfg|config|conf|opts?|options|hparams|settings|flags|accelerator|fabric|"
    r"trainer|agent)$",
    re.IGNORECASE,
)
_COUNT_WORDS = re.compile(
    r"^(?:num|n)_|(?:^|_)(?:epochs?|steps?|iters?|iterations?|count|counter|batch_size|version|name|"
    r"names|path|seed)$"
)


_TENSORS_WORDS = re.compile(r"(?:^|_)(?:i|o|x|y|in|out)?(?:lens|lengths|masks?)$")


def sounds_like_tensors(name: str) -> bool:
    """Whether an input of a model is called like a tensor of which there is one element for each
    sample: `lengths`, `attention_mask`."""
    return bool(_TENSORS_WORDS.search(name))


def kind_by_name(name: str) -> Kind:
    """What the words of a name say: a module, an optimizer or a loader; else nothing."""
    if _sounds_like_module(name):
        return Kind.MODULE
    if sounds_like_optimizer(name):
        return Kind.OPTIMIZER
    return Kind.LOADER if sounds_like_loader(name) else Kind.NOTHING


def _sounds_like_module(name: str) -> bool:
    if _MAKES.search(name):
        return False
    runs = _MODULE_WORDS.search(name) is not None and not _ACTS.search(name)
    return runs or _LOSS_WORDS.search(name) is not None


def makes_module(name: str) -> bool:
    """Whether a function is called for the module that it gives: `build_model`, `get_network`."""
    verb = _MAKES.search(name)
    return verb is not None and _sounds_like_module(name[verb.end() :])


def sounds_like_settings(name: str) -> bool:
    """Whether a name is called like what holds the settings of a program, and its device."""
    return bool(_SETTINGS_WORDS.search(name))


def sounds_like_count(name: str) -> bool:
    """Whether the words of an attribute say a number that the host knows: `num_tokens`, `step`."""
    return bool(_COUNT_WORDS.search(name))


def sounds_like_optimizer(name: str) -> bool:
    return bool(_OPTIMIZER_WORDS.search(name.lower()))


def sounds_like_loader(name: str) -> bool:
    return bool(_LOADER_WORDS.search(name.lower()))
