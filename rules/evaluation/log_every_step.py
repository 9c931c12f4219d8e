"""Write logs every few dozen steps, not on every step.

## What it does
Reports what writes a log on every training step: `add_scalar` and `add_text` of TensorBoard,
`wandb.log`, `accelerator.log`, `log_metrics` of MLflow and the like, `print`, and `info` of a
logger. Also `set_postfix` and `set_description` of a progress bar, which draw it again each time,
and `torch.cuda.memory_allocated()` and the like. All of one function are one finding, at the first
of them.

## Why it is slow
Python makes a text or a record of each number, and passes it to a file, a queue or another process.
On a CPU, `add_scalar` of TensorBoard took 85 microseconds, `add_text` 290, and a line of `logging`
23; `wandb.log` takes longer. Meanwhile Python asks the GPU for nothing. That is little next to a
step of a second, and much where a step takes a few milliseconds, as in reinforcement learning and
for small models. A curve of many thousand points shows no more than one of a few hundred, either.

A bar of tqdm is drawn ten times per second at most, but `set_postfix` draws it at once, unless it
is told `refresh=False`. Each question about the memory makes a dict of all statistics that the
allocator keeps, of which there are more than a hundred.

## Example
```python
for step, (images, labels) in enumerate(loader):
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    writer.add_scalar("lr", scheduler.get_last_lr()[0], step)
    writer.add_scalar("epoch", epoch, step)
```

## Use instead
```python
for step, (images, labels) in enumerate(loader):
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 50 == 0:
        writer.add_scalar("lr", scheduler.get_last_lr()[0], step)
        writer.add_scalar("epoch", epoch, step)
```

## When it is silent
Under `if step % 100 == 0` and all other conditions, unless they are a switch (`if args.wandb`,
`if writer is not None`) or ask for the main process; under `if debug` and `if verbose`; between
epochs, and in loops over epochs of one step each; in functions that keep their answers
(`@lru_cache`); in evaluation; in tests; for `self.log` of Lightning, which writes every 50 steps;
for `debug` and `warning` of a logger; for `set_postfix(…, refresh=False)`; where a number is read
from the GPU for it: that costs more, and TL201 speaks of it.

## Fix safety
There is no fix: only you know how often you look at the log.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against rarer.py` compares with your own
version, on the CPU as well as on a GPU.

## References
- PyTorch documentation, `torch.utils.tensorboard`
- Lightning documentation, `Trainer(log_every_n_steps=50)`
- tqdm documentation, `set_postfix`: `refresh`
"""

import re
from typing import Final

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.steps.guards import asked_for, asks_for_identity, words
from torchlint.analysis.training.syncs import operand_at, shown, sync_of
from torchlint.rule import Context, Effect, Match, Rule, Tier, Triggers, because, calls, method

from ._few_rounds import has_few_rounds

_WRITERS: Final = ("add_scalar", "add_scalars", "add_text", "log_metric", "log_metrics", "log_dict")
_DRAWN: Final = ("set_description", "set_description_str", "set_postfix", "set_postfix_str")
_MEMORY: Final = (
    "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated",
    "memory_reserved", "memory_stats", "memory_summary",
)  # fmt: skip
_TRACKER: Final = re.compile(
    r"(?:^|_|\.)(?:accelerator|comet|experiment|fabric|mlflow|neptune|run|swanlab|tracker|wandb)"
    r"(?:_?logger)?$"
)
_LOGGER: Final = re.compile(r"(?:^|_|\.)log(?:ger|ging)?$", re.IGNORECASE)
_ONE_PROCESS: Final = re.compile(r"rank|main|master|process", re.IGNORECASE)


def _is_written_at_once(match: Match) -> bool:
    """Whether the object is no Lightning module, whose `log_dict` writes now and then."""
    lightning = dotted_text(match.receiver) == "self"
    return not lightning or because(False, "`self.{}` may write now and then", match.call.func)


def _is_of_tracker(match: Match) -> bool:
    """`accelerator.log(…)`, `self.wandb_logger.log(…)`."""
    named = _TRACKER.search(dotted_text(match.receiver).lower()) is not None
    return named or because(False, "{:code} is not known to write a log", match.receiver)


def _is_of_logger(match: Match) -> bool:
    """`logging.info(…)`, `self.logger.info(…)`."""
    named = _LOGGER.search(dotted_text(match.receiver)) is not None
    return named or because(False, "{:code} is not known to write a log", match.receiver)


def _is_drawn_at_once(match: Match) -> bool:
    """Whether a progress bar is drawn again however short the step was."""
    refresh = match.module.argument(match.call, "refresh")
    waits = refresh is not None and match.module.literal(refresh) is not True
    return not waits or because(False, "it says when the bar is drawn: {:code}", refresh)


def _is_read_from_device(match: Match) -> bool:
    """Whether a number is read from the device for it, of which other rules speak."""
    module = match.module
    for each in module.within(match.call):
        read = isinstance(each, cst.Call) and sync_of(each, module)
        operands = (operand_at(part, module) for part in shown(each, module))
        if read or any(each is not None and each.sure for each in operands):
            return because(True, "a number is read from the device for it: other rules see that")
    return False


def _depends_on_step(match: Match) -> bool:
    """Whether a condition around it may hold on few steps: all but switches, and what asks for the
    main process."""
    for each in match.module.conditions(match.call):
        if isinstance(each, cst.ExceptHandler) or not all(map(_is_switch, asked_for(each.test))):
            return because(True, "{} may hold on few steps", each)
    return False


def _is_switch(test: cst.BaseExpression) -> bool:
    """`writer`, `self.use_wandb`, `writer is not None`, `rank == 0`, `is_main_process()`."""
    if isinstance(test, cst.Name | cst.Attribute | cst.Subscript) or asks_for_identity(test):
        return True
    return any(map(_ONE_PROCESS.search, words(test)))


def _runs_once(match: Match) -> bool:
    """Whether the function keeps its answers, and so runs once for each argument."""
    function = match.module.function(match.call)
    decorators = () if function is None else function.decorators
    kept = any("cache" in match.module.source(each.decorator) for each in decorators)
    return kept and because(True, "{} keeps its answers", function)


rule = Rule(
    code="TL715",
    effect=Effect.TINY,
    summary="a log is written on every training step",
    tier=Tier.HINT,
    finds=(
        method(*_WRITERS, where=(_is_written_at_once,)),
        method("log", where=(_is_of_tracker,)),
        method("info", where=(_is_of_logger,)),
        calls("builtins.print"),
        method(
            *_DRAWN,
            where=(_is_drawn_at_once,),
            message="The progress bar is drawn again on every step, however short it is; pass "
            "`refresh=False`, and it is drawn ten times per second.",
        ),
        calls(
            *(f"torch.cuda.{name}" for name in _MEMORY),
            message="All statistics of the allocator are collected on every step; ask for them "
            "every few dozen steps.",
        ),
    ),
    unless=(_depends_on_step, has_few_rounds, _runs_once, _is_read_from_device),
    message="A log is written on every step; write it every few dozen steps.",
    change="only you know how often it is needed",
    together="this is written on every step as well",
    contexts=(Context.HOT,),
    triggers=Triggers(
        on_demand=(
            rf"\.(?:{'|'.join((*_WRITERS, *_DRAWN))}|log|info)\(|\bprint\("
            rf"|\b(?:{'|'.join(_MEMORY)})\(",
        )
    ),
)
