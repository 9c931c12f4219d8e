"""Leave cuDNN on, and ask for determinism only where a run must repeat exactly.

## What it does
Reports `torch.backends.cudnn.enabled = False`. As a hint it reports code that restricts training to
deterministic algorithms: `cudnn.deterministic = True`, `torch.use_deterministic_algorithms(True)`,
`torch.set_deterministic_debug_mode("error")`, `set_determinism` of MONAI, `enable_full_determinism`
of Transformers, and the arguments for it of Lightning's `Trainer`, of Hugging Face's
`TrainingArguments` and of Accelerate's `set_seed`. The functions of MONAI and Transformers switch
`cudnn.benchmark` off as well; if the lines above have switched it on, they are reported by default.

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

import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.analysis.steps.guards import words
from torchlint.rule import (
    Argument,
    Context,
    Effect,
    Match,
    Module,
    Rule,
    Tier,
    because,
    calls,
    configures,
    once,
    sets,
)

from ._options_off_by_default import only_on_request, unasked_options

_CUDNN: Final = "torch.backends.cudnn"
_ON: Final = (1, 2, "warn", "error")
_DETERMINISM: Final = re.compile(r"determin|reproduc", re.IGNORECASE)


def _always(match: Match) -> bool:
    above = next(match.module.conditions(match.node), None)
    return above is None or because(False, "cuDNN is off only under a condition, {}", above)


def _stays(match: Match) -> bool:
    """Whether the file does not switch it elsewhere, as around a part that does without cuDNN."""
    for other in _switches(match.module):
        if other.node is not match.node:
            return because(False, "the file sets `cudnn.enabled` again, in {:line}", other.node)
    return True


@once
def _switches(module: Module) -> list[Match]:
    return list(sets(f"{_CUDNN}.enabled").matches(module))


def _works_with_cudnn(match: Match) -> bool:
    names = match.module.spelled("create_graph")
    said = "{:line} takes gradients of gradients, which recurrent layers of cuDNN do not have"
    return not names or because(False, said, names[0])


def _has_comment(match: Match) -> bool:
    line = match.module.statement(match.node)
    if not isinstance(line, cst.SimpleStatementLine):
        return False
    above = (each.comment for each in line.leading_lines)
    commented = any((line.trailing_whitespace.comment, *above))
    return commented and because(True, "the comment may say why cuDNN has to be off")


def _seeds(match: Match) -> bool:
    """Whether it is not `set_determinism(seed=None)`, which switches determinism off."""
    seed = match.module.argument(match.call, "seed", 0)
    name = isinstance(seed, cst.Name) and seed.value == "None"
    return not name or because(False, "without a seed this switches determinism off")


def _leaves_benchmark(match: Match) -> bool:
    return _benchmark_before(match) is None and because(
        True, "nothing above it switches `cudnn.benchmark` on, which it switches off"
    )


def _benchmark_before(match: Match) -> Match | None:
    """What switches `cudnn.benchmark` on before a call, in the same function."""
    module, at = match.module, match.module.order(match.node)
    before = (
        each
        for each in sets(f"{_CUDNN}.benchmark", True).matches(module)
        if module.order(each.node) < at
        and module.function(each.node) is module.function(match.node)
    )
    return next(before, None)


def _undone(match: Match) -> str:
    before = _benchmark_before(match)
    if before is None:
        return _message(match)
    row = match.module.span(before.node)[0].row
    return (
        f"This switches `cudnn.benchmark` off again, which line {row} switches on, and allows "
        "deterministic algorithms only; call it only where a run must repeat exactly."
    )


def _is_asked_for(match: Match) -> bool:
    return _determinism_is_asked_for(match.node, match.module)


def _message(match: Match) -> str:
    option = _option_that_asks(match.node, match.module)
    advice = "do so only where" if option is None else f"start without `{option}` unless"
    return (
        "This allows deterministic algorithms only, which are often slower; "
        f"{advice} a run must repeat exactly."
    )


rule = Rule(
    code="TL303",
    effect=Effect.LARGE,
    summary="cuDNN is off, or restricted to deterministic algorithms",
    finds=(
        sets(
            f"{_CUDNN}.enabled",
            False,
            where=(_always, _stays, _works_with_cudnn),
            hint_if=(_has_comment,),
            message="Without cuDNN, convolutions and recurrent layers are slow; remove this line.",
        ),
        sets(f"{_CUDNN}.deterministic", True, tier=Tier.HINT),
        calls("torch.use_deterministic_algorithms", Argument("mode", 0, bad=True), tier=Tier.HINT),
        calls(
            "torch.set_deterministic_debug_mode",
            Argument("debug_mode", 0, bad=_ON),
            tier=Tier.HINT,
        ),
        configures("determinism", True, "warn", tier=Tier.HINT),
        calls(
            *(f"monai.utils.{module}set_determinism" for module in ("", "misc.")),
            *(f"transformers.{module}enable_full_determinism" for module in ("", "trainer_utils.")),
            where=(_seeds,),
            hint_if=(_leaves_benchmark,),
            message=_undone,
        ),
    ),
    unless=(_is_asked_for,),
    message=_message,
    change="only you know whether a run must repeat, and why cuDNN is off",
    contexts=(Context.ACCELERATOR, Context.TRAINS, Context.OUTSIDE_EVALUATION),
    program_has={
        "layers of cuDNN": r"(?m)^[^#\n]*(?:[Cc]onv(?:_?[Tt]ranspose)?[123]d\b|"
        r"\b(?:LSTM|GRU|RNN|torchvision|timm|diffusers|monai)\b)"
    },
    needs_gpu=True,
)


# who asks for determinism -------------------------------------------------------------------------


def _determinism_is_asked_for(node: cst.CSTNode, module: Module) -> bool:
    """Whether the caller asks for determinism, by the name of the function or by a parameter."""
    function = module.function(node)
    if function is not None and _DETERMINISM.search(function.name.value):
        return because(True, "who calls `{}` asks for determinism", function.name.value)
    parts = (part for test in _tests(node, module) for part in module.within(test))
    names = (part for part in parts if isinstance(part, cst.Name))
    for name in names:
        if _DETERMINISM.search(name.value) and not isinstance(module.parent(name), cst.Attribute):
            return because(True, "this runs only where {} asks for determinism", name)
    asked = only_on_request(node, module)
    said = "this runs only if the caller asks for it: {} tests a parameter that is False by default"
    return asked is not None and because(True, said, asked)


def _option_that_asks(node: cst.CSTNode, module: Module) -> str | None:
    """The option of the command line, off by default, that an `if` around a node tests."""
    options = unasked_options(module)
    asked = (word for test in _tests(node, module) for word in words(test) if word in options)
    return next((f"--{word.replace('_', '-')}" for word in asked), None)


def _tests(node: cst.CSTNode, module: Module) -> Iterator[cst.BaseExpression]:
    """The conditions under which a node runs."""
    for above in module.conditions(node):
        if isinstance(above, cst.If | cst.IfExp):
            yield above.test
