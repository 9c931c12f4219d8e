"""Profile a few steps, not the whole training.

## What it does
Reports a profiler that records all steps of a training: `with torch.profiler.profile()` or
`torch.autograd.profiler.profile()` around the loop over epochs, without a schedule, and
`emit_nvtx()`; Lightning's `Trainer(profiler="advanced")` and `"pytorch"`; and `gradcheck` on each
step. As hints it reports a profiler around a single step loop, and
`torch.cuda.memory._record_memory_history()` that stays on.

## Why it is slow
A profiler takes the time of each operation and keeps it until the end. With torch 2.13 on a CPU,
the steps of a network of ten small layers took two to three times as long, the evaluation at the
end included, and 500 of them took 446 MB of memory. `gradcheck` computes its function twice for
each number of the input.

## Example
```python
with torch.profiler.profile() as profiler:
    for epoch in range(epochs):
        for images, labels in loader:
            loss = criterion(model(images.to(device)), labels.to(device))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
```

## Use instead
```python
few = torch.profiler.schedule(wait=10, warmup=2, active=3, repeat=1)
with torch.profiler.profile(schedule=few) as profiler:
    for epoch in range(epochs):
        for images, labels in loader:
            loss = criterion(model(images.to(device)), labels.to(device))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
```

## When it is silent
With `schedule=…`, `**options`, or `enabled=…` that is no literal; under any condition, such as
`if args.profile`; in a function that the file does not use, or only under a condition; for a loop
that `break` ends or that has at most 1000 rounds by a literal; if the name of the file or function
says that it measures (`profile`, `bench`, …); in tests. For a memory history, if the file also
stops it. `record_function` and Lightning's `"simple"` profiler cost little.

## Fix safety
There is no fix: which steps to profile is yours to say.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against plain.py` compares with your own
version, on the CPU as well as on a GPU. The numbers are bitwise equal.

## References
- `torch.profiler.profile`, `torch.profiler.schedule`
- PyTorch performance tuning guide, "Disable debugging APIs"
"""

from torchlint.rule import Context, Match, Rule, Tier, because, calls, configures

from ._profiled import is_to_measure, records_all, takes_one_pass, trains_under
from ._switches import is_optional

_HISTORY = "torch.cuda.memory._record_memory_history"
_CHECKS = ("torch.autograd.gradcheck", "torch.autograd.gradgradcheck")


def _runs_each_step(match: Match) -> bool:
    around = match.module.step_loop(match.node)
    return around is not None or because(False, "no loop around it trains")


def _stays_on(match: Match) -> bool:
    """Whether no call switches the history of the memory off again."""
    module = match.module
    for call in module.calls_by_name.get(_HISTORY, ()):
        if module.literal(module.argument(call, "enabled", 0)) in (None, False):
            return because(False, "the history is stopped again, by {}", call)
    return True


def _message(match: Match) -> str:
    if match.argument is not None:
        return "This profiler records the whole training; choose it by an option of the script."
    if match.module.calls(match.call, _HISTORY):
        return "Each allocation records where it was made; stop that after a few steps."
    if match.module.calls(match.call, *_CHECKS):
        return "`gradcheck` computes its function twice for each input number; move it to a test."
    return "The profiler records all steps; pass it a `schedule`, or profile a few steps."


rule = Rule(
    code="TL703",
    summary="a profiler records the whole training",
    finds=(
        calls(
            "torch.profiler.profile",
            "torch.autograd.profiler.profile",
            "torch.autograd.profiler.emit_nvtx",
            where=(records_all, trains_under),
            hint_if=(takes_one_pass,),
        ),
        calls(*_CHECKS, where=(_runs_each_step,)),
        calls(_HISTORY, tier=Tier.HINT, where=(_stays_on,)),
        configures("profiler", "advanced", "pytorch"),
    ),
    unless=(is_to_measure, is_optional),
    message=_message,
    change="which steps to profile is yours to say",
    contexts=(Context.TRAINS,),
)
