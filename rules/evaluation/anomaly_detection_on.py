"""Switch anomaly detection on to find a NaN, and off again to train.

## What it does
Reports autograd's anomaly detection where only editing the code switches it off:
`torch.autograd.set_detect_anomaly(True)`, `with torch.autograd.detect_anomaly()` and Lightning's
`Trainer(detect_anomaly=True)`.

## Why it is slow
With it, each operation of the forward pass records a Python traceback, and each one of the
backward pass checks its gradients for NaN, which waits for the GPU.

## Example
```python
torch.autograd.set_detect_anomaly(True)
for images, labels in loader:
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
```

## Use instead
```python
for images, labels in loader:
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
```
To keep it at hand, let an option decide: `torch.autograd.set_detect_anomaly(args.debug)`.

## When it is silent
Under any condition, such as `if args.debug`, and in `except` blocks; where the value is not a
literal; in tests; in programs that do not train.

## Fix safety
**Unsafe**: a NaN no longer raises an error. There is no fix for a `with` block.

## How verify confirms it
It measures the removed line, on the CPU as well as on a GPU. The numbers are bitwise equal.

## References
- PyTorch documentation, "Automatic differentiation package: anomaly detection"
- PyTorch performance tuning guide, "Disable debugging APIs"
"""

from torchlint.rule import Applicability, Argument, Context, Effect, Rule, calls, configures, remove

rule = Rule(
    code="TL702",
    effect=Effect.LARGE,
    summary="autograd checks every operation for NaN while training",
    fix=Applicability.UNSAFE,
    finds=(
        calls("torch.autograd.set_detect_anomaly", Argument("mode", 0, bad=True, required=True)),
        calls("torch.autograd.detect_anomaly"),
        configures("anomaly detection", True),
    ),
    message="Anomaly detection records a traceback of each operation and checks its gradients; "
    "remove it, or let an option switch it on.",
    change=remove,
    contexts=(Context.TRAINS, Context.UNCONDITIONAL),
)
