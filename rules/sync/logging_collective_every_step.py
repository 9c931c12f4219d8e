"""Average a loss over the processes when it is logged, not on every step.

## What it does
Reports a loss or metric that all processes exchange on every training step although it is only
logged: `dist.all_reduce(loss)`, `accelerator.gather(loss).mean()`, `reduce_dict(losses)`, and
`self.log(…, sync_dist=True)` of Lightning.

## Why it is slow
In a collective each process waits for the slowest one, and the exchange of gradients has to wait in
line with it. A single number costs as much as a small tensor does: what takes the time is the start
and the wait. If the number is then read, the host waits as well, once more on every step.

## Example
```python
total = 0.0
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    mean_loss = loss.detach().clone()
    dist.all_reduce(mean_loss)
    total += mean_loss
```

## Use instead
```python
total = 0.0
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    total += loss.detach()
dist.all_reduce(total)
```
In Lightning, `self.log(…, on_step=False, on_epoch=True, sync_dist=True)` exchanges once per epoch.

## When it is silent
Under `if step % 100 == 0` and similar conditions; in evaluation; for what no name calls a loss or a
metric, such as gradients and counts of targets; if the backward pass comes later; if the result
decides something, as in early stopping; in tests and documentation. It is a hint where the
result goes somewhere that is not looked at, and where the same function exchanges something that
each step needs, which costs the wait in any case.

## Fix safety
There is no fix: how often the number is needed is yours to say.

## How verify confirms it
There is no fix to measure. Give it your own change, with several processes: `torchlint verify
train.py --with change.patch --nproc-per-node 2`.

## References
- PyTorch documentation, `torch.distributed`: "Collective functions"
- Lightning documentation, "Logging": `sync_dist` "may lead to a significant communication overhead"
- Threads in which the exchange of logged losses was the cost: joliGEN #374, timm #2340
"""

from torchlint.rule import Context, Match, Rule, because, method, passes

from ._exchanged import exchanges_a_metric, goes_elsewhere, is_only_logged

_COLLECTIVES = ("all_reduce", "all_gather", "gather", "gather_for_metrics", "reduce")
_OWN = ("reduce_dict", "reduce_mean", "reduce_tensor", "all_reduce_mean")
"""What people call their own functions around a collective."""


def _is_logged_on_each_step(match: Match) -> bool:
    on_step = match.module.argument(match.call, "on_step")
    if on_step is None or match.module.literal(on_step) is True:
        return True
    return because(False, "`on_step` is {:code} here", on_step)


def _joins_another(match: Match) -> bool:
    """Whether the function exchanges something that each step needs, which waits in any case."""
    module, function = match.module, match.module.function(match.call)
    calls = (call for name in _COLLECTIVES for call in module.calls_by_method.get(name, ()))
    for call in calls:
        near = module.function(call) is function and call.args
        if near and not exchanges_a_metric(Match(call, module)):
            return because(True, "the processes wait for each other anyway, in {}", call)
    return False


def _message(match: Match) -> str:
    if match.argument is not None:
        return (
            "`sync_dist=True` averages this value over all processes on every step; log it with "
            "`on_step=False, on_epoch=True`, or let each process log its own."
        )
    return (
        "All processes exchange this value on every step; where it is only shown, do so every few "
        "steps, or add it up and exchange the sum."
    )


rule = Rule(
    code="TL214",
    summary="processes exchange a loss or metric on every training step, only to log it",
    finds=(
        passes("sync_dist", True, where=(_is_logged_on_each_step,)),
        method(
            *_COLLECTIVES,
            *_OWN,
            where=(exchanges_a_metric, is_only_logged),
            hint_if=(goes_elsewhere, _joins_another),
        ),
    ),
    message=_message,
    contexts=(Context.HOT,),
    needs_gpu=True,
)
