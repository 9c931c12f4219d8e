"""Update metrics on every step, and compute them at the end of the epoch.

## What it does
Reports `compute()` of a metric of torchmetrics or torcheval on every training step, if the metric
keeps all predictions (`AUROC`, `AveragePrecision`, `ROC`, …); as a hint, that of any other one.

## Why it is slow
Such a metric keeps the predictions of all steps, and each `compute()` sorts them again, so it takes
longer from step to step. On a CPU, a step of a small network took 1 ms without it; with `AUROC` it
took 2 ms at the beginning of an epoch of 20,000 samples, and 6 to 7 ms at its end. With several
processes, each call also gathers the states of all of them.

## Example
```python
import torchmetrics

auroc = torchmetrics.AUROC(task="binary")
for images, labels in loader:
    outputs = model(images)
    loss = criterion(outputs, labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    auroc.update(outputs.detach(), labels)
    area = auroc.compute()
```

## Use instead
```python
auroc = torchmetrics.AUROC(task="binary")
for images, labels in loader:
    outputs = model(images)
    loss = criterion(outputs, labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    auroc.update(outputs.detach(), labels)
area = auroc.compute()
auroc.reset()
```
With `thresholds=200`, these metrics keep a table in place of the predictions.

## When it is silent
Under `if step % 100 == 0` and similar conditions; after the loop; in evaluation; in tests; for
metrics that are not made in the same file. With `thresholds=` it is a hint.

## Fix safety
There is no fix: the value of each step may be shown somewhere.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against later.py` compares with your own
version, on the CPU as well as on a GPU.

## References
- torchmetrics documentation, "Structure Overview"
- torcheval documentation, "`Metric.compute`"
"""

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.uses import receiver
from torchlint.rule import Context, Effect, Match, Module, Rule, because, method, once

_KEEPING = frozenset(
    "AUROC AveragePrecision BinaryAUROC BinaryAUPRC BinaryAveragePrecision CalibrationError "
    "FrechetInceptionDistance InceptionScore KendallRankCorrCoef KernelInceptionDistance "
    "MeanAveragePrecision MulticlassAUROC MulticlassAveragePrecision MultilabelAUROC "
    "MultilabelAveragePrecision PrecisionRecallCurve ROC RetrievalMAP RetrievalNormalizedDCG "
    "SpearmanCorrCoef".split()
)


@once
def _metrics(module: Module) -> dict[str, cst.BaseExpression]:
    """What is made of a class of a library of metrics, by the name that it gets."""
    return {
        dotted_text(target.target): each.value
        for each in module.nodes(cst.Assign)
        for target in each.targets
        if any(
            name.startswith(("torchmetrics.", "torcheval.metrics."))
            for call in module.calls_within(each.value)
            for name in module.resolve(call.func)
        )
    }


def _is_metric(match: Match) -> bool:
    made = _metrics(match.module).get(dotted_text(receiver(match.call)))
    return made is not None or because(False, "it is not known to be a metric of a library")


def _keeps_little(match: Match) -> bool:
    """Whether the metric does not keep all predictions."""
    made = _metrics(match.module)[dotted_text(receiver(match.call))]
    calls = match.module.calls_within(made)
    if any(match.module.argument(each, "thresholds", None) is not None for each in calls):
        return because(True, "it keeps a table of thresholds, {}", made)
    keeps = any(dotted_text(each.func).rpartition(".")[2] in _KEEPING for each in calls)
    return not keeps and because(True, "it is not known to keep all predictions, {}", made)


rule = Rule(
    code="TL706",
    summary="a metric is computed on every training step",
    effect=Effect.LARGE,
    finds=(method("compute", where=(_is_metric,), hint_if=(_keeps_little,)),),
    message="This computes a metric of all steps so far on every step; compute it after the loop, "
    "and only update it here.",
    change="the value of each step may be shown somewhere",
    contexts=(Context.HOT,),
)
