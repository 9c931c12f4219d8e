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
- The function is not `forward`, or its class is no `nn.Module` as far as the file shows; in tests.

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

import re
from typing import Final

from torchlint.analysis.torch_api import BATCH_NORMS, CONVOLUTIONS, LINEAR
from torchlint.rule import Match, Rule, Tier, because, calls, functions_in

from ._forward import in_forward, is_called


def _named(names: str) -> frozenset[str]:
    return frozenset(f"torch.nn.{name}" for name in names.split())


_LEARNING: Final = (CONVOLUTIONS | LINEAR | BATCH_NORMS) | _named(
    "Bilinear Embedding EmbeddingBag GRU GRUCell GroupNorm LSTM LSTMCell LayerNorm PReLU RMSNorm "
    "MultiheadAttention RNN RNNCell Transformer TransformerDecoder TransformerDecoderLayer "
    "TransformerEncoder TransformerEncoderLayer"
)
_DROPOUTS: Final = _named("AlphaDropout Dropout Dropout1d Dropout2d Dropout3d")
_NAMES: Final = "|".join(name.rpartition(".")[2] for name in sorted(_LEARNING | _DROPOUTS))
_BUILT: Final = re.compile(rf"(?:{_NAMES})\(".encode())
_BARE: Final = re.compile(rb"(?:^|[^\w.]|\bnn\w{0,9}\.)$")
"""What stands before `Linear(`; not `self.`, and not `My`."""


def _learns(match: Match) -> bool:
    switches = ("affine", "elementwise_affine")
    passed = (match.module.argument(match.call, switch) for switch in switches)
    learns = all(match.module.literal(each) is not False for each in passed)
    return learns or because(False, "the layer is created without parameters")


def _message(match: Match) -> str:
    names = match.module.resolve(match.call.func)
    if not _LEARNING.isdisjoint(names):
        made = "Each forward pass creates this layer with new random weights that nobody trains"
    else:
        made = "A dropout that `forward` creates also drops values in evaluation"
    return f"{made}; create it in `__init__`."


rule = Rule(
    code="TL308",
    summary="a layer that `forward` creates anew on each pass",
    finds=(
        calls(*sorted(_LEARNING), where=(in_forward, _learns, is_called)),
        calls(*sorted(_DROPOUTS), where=(in_forward, is_called), tier=Tier.HINT),
    ),
    message=_message,
    change="in `__init__` the layer learns, so the training gives another result",
)


@rule.narrow
def may_build_in_forward(text: bytes) -> bool:
    builds = any(
        _BARE.search(part[max(0, layer.start() - 12) : layer.start()])
        for start, end in functions_in(text)
        if (part := text[start:end].partition(b"\nclass ")[0]).lstrip().startswith(b"def forward")
        for layer in _BUILT.finditer(part)
    )
    return builds or because(False, "no `forward` in the file creates a layer")
