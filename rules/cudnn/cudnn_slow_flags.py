"""Leave cuDNN on, and ask for determinism only where a run must repeat exactly.

## What it does
Reports `torch.backends.cudnn.enabled = False`. As a hint it reports code that restricts training to
deterministic algorithms: `cudnn.deterministic = True`, `torch.use_deterministic_algorithms(True)`,
`torch.set_deterministic_debug_mode("error")`, and the arguments for it of Lightning's `Trainer`, of
Hugging Face's `TrainingArguments` and of Accelerate's `set_seed`.

## Why it is slow
Without cuDNN, PyTorch computes convolutions and recurrent layers with kernels of its own, which are
slower and cannot use tensor cores as well. With determinism, cuDNN may only use algorithms that
give the same bits on each run. For some shapes these are the slow ones, above all in the backward
pass. Where people copy the line together with a seed, every run pays for it.

## Example
```python
torch.backends.cudnn.enabled = False
model = torchvision.models.resnet50().cuda()
```

## Use instead
```python
model = torchvision.models.resnet50().cuda()
```
To repeat a run exactly now and then, let an option decide, and train without it.

## When it is silent
- A condition decides whether cuDNN is off, or the file switches it on again.
- The file has `create_graph=True`, since gradients of gradients of recurrent layers do not work
  with cuDNN.
- The caller asks for determinism: the function is called so, or an `if` tests a variable that is
  called so, or a parameter that is False by default.
- In tests and evaluation; in programs that do not train, use no accelerator, or have neither
  convolutions nor recurrent layers.

`enabled = False` with a comment is a hint. If a command-line option that is off by default decides
about determinism, such as `--seed`, the hint says that runs with it are slower.

## Fix safety
There is no fix: only you know whether a run must repeat, and what went wrong with cuDNN.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against changed.py` compares with your own
version; it needs a GPU.

## References
- PyTorch notes, "Reproducibility": deterministic algorithms are often slower
- PyTorch documentation, `torch.backends.cudnn`
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import libcst as cst

from torchlint.analysis.training.guards import words
from torchlint.rule import Argument, Context, Match, Rule, Tier, calls, configures, sets

from ._requests import only_on_request, unasked_options

if TYPE_CHECKING:
    from collections.abc import Iterator

_CUDNN: Final = "torch.backends.cudnn"
_SWITCH: Final = sets(f"{_CUDNN}.enabled")
_ASKS_FOR_IT: Final = re.compile(r"determin|reproduc", re.IGNORECASE)
_ON: Final = (1, 2, "warn", "error")


def _always(match: Match) -> bool:
    return next(match.module.conditions(match.node), None) is None


def _stays(match: Match) -> bool:
    """Whether the file does not switch it elsewhere, as around a part that does without cuDNN."""
    return all(each.node is match.node for each in _SWITCH.matches(match.module))


def _works_with_cudnn(match: Match) -> bool:
    return not match.module.spelled("create_graph")


def _has_comment(match: Match) -> bool:
    line = match.module.statement(match.node)
    if not isinstance(line, cst.SimpleStatementLine):
        return False
    above = (each.comment for each in line.leading_lines)
    return any((line.trailing_whitespace.comment, *above))


def _is_asked_for(match: Match) -> bool:
    """Whether the caller asks for determinism, by the name of the function or by a parameter."""
    function = match.module.function(match.node)
    asked = [] if function is None else [function.name.value]
    for test in _tests(match):
        names = (each for each in match.module.within(test) if isinstance(each, cst.Name))
        asked += [
            each.value for each in names if not isinstance(match.module.parent(each), cst.Attribute)
        ]
    return any(map(_ASKS_FOR_IT.search, asked)) or only_on_request(match.node, match.module)


def _tests(match: Match) -> Iterator[cst.BaseExpression]:
    """The conditions under which it is set."""
    for above in match.module.conditions(match.node):
        if isinstance(above, cst.If | cst.IfExp):
            yield above.test


def _message(match: Match) -> str:
    if isinstance(match.node, cst.Assign) and match.module.literal(match.node.value) is False:
        return "Without cuDNN, convolutions and recurrent layers are slow; remove this line."
    options = match.module.once(unasked_options)
    asked = (word for test in _tests(match) for word in words(test) if word in options)
    option = next(asked, None)
    if option is None:
        advice = "do so only where a run must repeat exactly"
    else:
        advice = f"start without `--{option.replace('_', '-')}` unless a run must repeat exactly"
    return f"This allows deterministic algorithms only, which are often slower; {advice}."


rule = Rule(
    code="TL303",
    name="cudnn-slow-flags",
    family="cudnn",
    summary="cuDNN is off, or restricted to deterministic algorithms",
    finds=(
        sets(
            f"{_CUDNN}.enabled",
            False,
            where=(_always, _stays, _works_with_cudnn),
            hint_if=(_has_comment,),
        ),
        sets(f"{_CUDNN}.deterministic", True, tier=Tier.HINT),
        calls("torch.use_deterministic_algorithms", Argument("mode", 0, bad=True), tier=Tier.HINT),
        calls(
            "torch.set_deterministic_debug_mode",
            Argument("debug_mode", 0, bad=_ON),
            tier=Tier.HINT,
        ),
        configures("determinism", True, "warn", tier=Tier.HINT),
    ),
    unless=(_is_asked_for,),
    message=_message,
    change="only you know whether a run must repeat, and why cuDNN is off",
    contexts=(Context.ACCELERATOR, Context.TRAINS, Context.OUTSIDE_EVALUATION),
    program_has={
        "layers of cuDNN": r"(?m)^[^#\n]*(?:[Cc]onv(?:_?[Tt]ranspose)?[123]d\b|"
        r"\b(?:LSTM|GRU|RNN|torchvision|timm|diffusers)\b)"
    },
    off_in_tests=True,
    needs_gpu=True,
)
