"""Create layers in `__init__`, not on each forward pass.

## What it does
Reports layers with parameters, such as `nn.Linear` and `nn.BatchNorm2d`, that the `forward` of a
module creates and calls. A dropout that is created there is a hint; other layers without
parameters cost little there and are not reported.

## Why it is slow
Each forward pass allocates the parameters and draws random numbers for them, on the CPU unless
`device=` is passed, and then copies them. Measured on a CPU, a linear layer of 512 by 512 takes
nine times as long as one that exists already. Worse, no optimizer knows these parameters: the layer
is another random one on each step and never learns.

## Example
```python
class Head(nn.Module):
    def forward(self, x):
        return nn.Linear(512, 10).to(x.device)(x)
```

## Use instead
```python
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(512, 10)

    def forward(self, x):
        return self.linear(x)
```
For a normalization without parameters that learn, call the function, such as `F.layer_norm`.

## When it is silent
- The layer is created once: under an `if` around `self.linear = nn.Linear(…)`.
- The layer is not called where it is created, but returned, kept in a list or passed on.
- Code sets or reads its weights, as in `conv.weight = kernel`.
- It has no parameters: `nn.LayerNorm(8, elementwise_affine=False)`.
- The function is not `forward`, or its class is not an `nn.Module` as far as the file shows; in
  tests.

## Fix safety
There is no fix: in `__init__` the layer needs sizes that may only be known in `forward`, and from
then on it learns, so that the training gives another result.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against changed.py` compares the speed with
your own version; the losses differ.

## References
- PyTorch documentation, `torch.nn.Module`: submodules are assigned in `__init__`
- `torch.nn.LazyLinear`, for sizes that only `forward` knows
"""

import ast
import re
from typing import Final

import libcst as cst

from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.analysis.layers.layer_lists import assign_targets
from torchlint.analysis.torch_api import BATCH_NORMS, CONVOLUTIONS, LINEAR
from torchlint.analysis.uses import method_behind, method_name, reads_of_targets
from torchlint.analysis.values.call_values import MODULE_METHODS
from torchlint.rule import Match, Module, Outline, Rule, Tier, Triggers, because, calls


def _in_forward(match: Match) -> bool:
    """Whether a match is in `forward` itself, not in a function inside it."""
    function = match.module.function(match.node)
    if function is None or function.name.value != "forward":
        return because(False, "it is not created in a `forward`")
    alone = "nothing shows that the class of this `forward` inherits from `nn.Module`"
    return _is_in_network(function, match.module) or because(False, alone)


def _is_called(match: Match) -> bool:
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


def _named(names: str) -> frozenset[str]:
    return frozenset(f"torch.nn.{name}" for name in names.split())


_LEARNING: Final = (CONVOLUTIONS | LINEAR | BATCH_NORMS) | _named(
    "Bilinear Embedding EmbeddingBag GRU GRUCell GroupNorm LSTM LSTMCell LayerNorm PReLU RMSNorm "
    "MultiheadAttention RNN RNNCell Transformer TransformerDecoder TransformerDecoderLayer "
    "TransformerEncoder TransformerEncoderLayer"
)
_DROPOUTS: Final = _named("AlphaDropout Dropout Dropout1d Dropout2d Dropout3d")
_LAYERS: Final = "|".join(name.rpartition(".")[2] for name in sorted(_LEARNING | _DROPOUTS))
_BUILT: Final = re.compile(rf"(?:{_LAYERS})\(".encode())
_FORWARD: Final = re.compile(rb"(?m)^([ \t]*)def[ \t]+forward\b")
_NOT_BUILT: Final = "no `forward` in the file creates a layer"


def _learns(match: Match) -> bool:
    switches = ("affine", "elementwise_affine")
    passed = (match.module.argument(match.call, switch) for switch in switches)
    learns = all(match.module.literal(each) is not False for each in passed)
    return learns or because(False, "the layer is created without parameters")


def _has_words_in_forward(text: bytes) -> bool:
    """Whether the name of a layer is in the block of a `forward`."""
    for start in _FORWARD.finditer(text):
        # The block goes on where a line is indented more, is empty, or closes what is open.
        end = re.compile(rb"\n%b(?![ \t\n#)\]}])" % start[1]).search(text, start.end())
        if _BUILT.search(text, start.end(), len(text) if end is None else end.start()):
            return True
    return because(False, _NOT_BUILT)


def _may_build_in_forward(outline: Outline) -> bool:
    """Whether the call of a layer is in a `forward`, whatever it is called in this file."""
    forwards = [each for each in outline.nodes(ast.FunctionDef) if each.name == "forward"]
    within = {node for each in forwards for node in ast.walk(each)}
    builds = any(call in within for call in outline.calls(*_LEARNING, *_DROPOUTS))
    return builds or because(False, _NOT_BUILT)


rule = Rule(
    code="TL308",
    summary="a layer that `forward` creates again on each pass",
    finds=(
        calls(*sorted(_LEARNING), where=(_in_forward, _learns, _is_called)),
        calls(
            *sorted(_DROPOUTS),
            where=(_in_forward, _is_called),
            tier=Tier.HINT,
            message="A dropout that `forward` creates also drops values in evaluation; create it "
            "in `__init__`.",
        ),
    ),
    message="Each forward pass creates this layer with new random weights that nobody trains; "
    "create it in `__init__`.",
    change="in `__init__` the layer learns, so the training gives another result",
    triggers=Triggers(check=_has_words_in_forward, outline=_may_build_in_forward),
)


# layers that are built and called -----------------------------------------------------------------


def _is_in_network(node: cst.CSTNode, module: Module) -> bool:
    """Whether code is in a class that inherits from `nn.Module`, as far as the file shows."""
    class_ = module.class_(node)
    bases = [] if class_ is None else module.definitions.bases(class_)
    return any(base.startswith("torch.nn.") or base.endswith(ANY.module_classes) for base in bases)


def _whole(layer: cst.BaseExpression, module: Module) -> cst.BaseExpression:
    """`nn.Linear(8, 8).to(device)` for the layer in it, and an `nn.Sequential` for its layers."""
    while True:
        outer, container = method_behind(layer, module), module.call_with(layer)
        if outer and method_name(outer) in MODULE_METHODS:
            layer = outer
        elif container and module.calls(container, "torch.nn.Sequential"):
            layer = container
        else:
            return layer
