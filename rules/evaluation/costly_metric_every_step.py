"""Compute metrics over all predictions after the epoch, not on every step.

## What it does
Reports metrics that are computed on every training step and are costly: functions of
`sklearn.metrics`, `skimage.metrics`, `pesq`, `jiwer` and the like, which work on the CPU, and
`compute()` or a call of a metric of torchmetrics that keeps all predictions, such as `AUROC`.

## Why it is slow
These work on the CPU, and many of them sort all of their inputs; where the predictions are on a
GPU, the step also waits for the copy. A metric that keeps all
predictions sorts all of them on each step, so an epoch of `n` steps costs as much as `n / 2` passes
over all predictions; if they were not detached, their graphs stay in memory too.

## Example
```python
from sklearn.metrics import f1_score

for images, labels in loader:
    outputs = model(images.to(device))
    loss = criterion(outputs, labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    score += f1_score(labels, outputs.argmax(1).cpu(), average="macro")
```

## Use instead
```python
from sklearn.metrics import f1_score

for images, labels in loader:
    outputs = model(images.to(device))
    loss = criterion(outputs, labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    predicted.append(outputs.argmax(1).detach())
score = f1_score(targets, torch.cat(predicted).cpu(), average="macro")
```
With torchmetrics, call `metric.update(outputs.detach(), labels)` on each step and
`metric.compute()` once after the epoch.

## When it is silent
In evaluation; under `if step % 100 == 0` and similar conditions; in functions that nothing shows to
run on each step; for metrics of torchmetrics that keep counts, such as `Accuracy`; in tests. It is
a hint, since it costs little for a few numbers.

## Fix safety
There is no fix: a metric of an epoch is another number than the mean of those of its steps.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against fixed.py` compares with your own
version, on the CPU too.

## References
- torchmetrics documentation, "Metrics and memory management"
- scikit-learn documentation, `sklearn.metrics`
"""

import re
from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.uses import method_name, receiver
from torchlint.rule import Context, Effect, Module, Reported, Rule, Tier, because

_ON_THE_CPU = (
    "sklearn.metrics.", "skimage.metrics.", "pesq.", "pystoi.", "jiwer.", "editdistance.",
    "sacrebleu.", "nltk.translate.", "rouge_score.", "scipy.stats.spearmanr",
    "scipy.stats.kendalltau", "mir_eval.", "evaluate.load", "seqeval.",
)  # fmt: skip
_KEEPS_ALL = re.compile(
    r"AUROC|AveragePrecision|PrecisionRecallCurve|\bROC|FrechetInception|KernelInception|"
    r"InceptionScore|CalibrationError|SpearmanCorr|KendallRank|AtFixed|RetrievalMAP|"
    r"RetrievalNormalizedDCG|MeanAveragePrecision"
)

rule = Rule(
    code="TL714",
    effect=Effect.LARGE,
    summary="a costly metric is computed on every training step",
    tier=Tier.HINT,
    contexts=(Context.HOT,),
    triggers=(
        r"sklearn|skimage|torchmetrics|pesq|pystoi|jiwer|editdistance|sacrebleu|nltk|rouge|"
        r"spearmanr|kendalltau|mir_eval|evaluate|seqeval",
    ),
)


@rule.on(cst.Call)
def computes_a_metric(call: cst.Call, module: Module) -> Iterable[Reported]:
    names = module.resolve(call.func)
    for name in names:
        if name.startswith(_ON_THE_CPU):
            message = (
                f"`{name.rpartition('.')[2]}` computes a metric on the CPU on every step; collect "
                "what it needs, and compute it after the epoch."
            )
            return rule.report(module, call, message)
    metric = _metric(call)
    if metric is None or names:
        return because((), "this is no metric that is known")
    if _keeps_all(metric, module):
        message = (
            "This metric keeps all predictions, and is computed from all of them on every step; "
            "only `update` it here, with detached predictions, and `compute` it after the epoch."
        )
        return rule.report(module, call, message)
    return because((), "{:code} is not known as a metric that keeps all predictions", metric)


def _metric(call: cst.Call) -> cst.BaseExpression | None:
    """`auc` of `auc.compute()` and of `auc(outputs, labels)`."""
    if method_name(call) in ("compute", "forward"):
        return receiver(call)
    return call.func if len(call.args) == 2 else None


def _keeps_all(metric: cst.BaseExpression, module: Module) -> bool:
    if isinstance(metric, cst.Attribute):
        bindings = module.values.assigned(module.class_(metric), metric.attr.value)
    else:
        bindings = module.flow.reaching(metric)
    for each in bindings:
        made = each.value
        while isinstance(made, cst.Call) and isinstance(made.func, cst.Attribute):
            if module.resolve(made.func):
                break
            made = made.func.value  # `AUROC().to(device)`
        if isinstance(made, cst.Call) and _KEEPS_ALL.search(module.source(made)):
            return any(name.startswith("torchmetrics.") for name in module.resolve(made.func))
    return False
