"""Collect tensors in a list, and concatenate them once.

## What it does
Reports a tensor or an array that grows in a loop by being concatenated with itself:
`outputs = torch.cat([outputs, output])`, also by `torch.vstack`, `torch.hstack`, `np.concatenate`
and `np.append`, if it starts empty before the loop.

## Why it is slow
Each round allocates a new tensor and copies all that was collected so far. The copies of n rounds
add up to n²/2 pieces, where one concatenation at the end copies each piece once. Measured on a CPU
for 300 small pieces: 317 times as slow.

## Example
```python
features = torch.empty(0, 512, device=device)
with torch.no_grad():
    for images, _ in loader:
        features = torch.cat([features, model(images.to(device))])
```

## Use instead
```python
parts = []
with torch.no_grad():
    for images, _ in loader:
        parts.append(model(images.to(device)))
features = torch.cat(parts)
```

## When it is silent
Where the loop also reads what was collected so far, as a decoder does that feeds its output back to
the model; for a tensor that does not start empty, such as a skip connection; for a loop that is
known to be short, or of which nothing is known; in tests and documentation. A loop over a loader, a
training loop and `range(100)` give a finding. A loop over `range(n)` and a `while` loop give a
hint, since they may be short.

## Fix safety
There is no fix: an empty result needs another shape, and the list a name.

## How verify confirms it
There is no fix to measure. Give it your own change: `torchlint verify train.py --with
change.patch`.

## References
- NumPy documentation, `numpy.append`: "Note that append does not occur in-place: a new array is
  allocated and filled"
"""

from torchlint.rule import Rule, calls

from ._growing import is_read_meanwhile, may_grow, may_have_growing, may_stay_small

_JOINS = ("cat", "concat", "concatenate", "vstack", "hstack")

rule = Rule(
    code="TL212",
    summary="a tensor grows in a loop by being copied as a whole on every round",
    finds=(
        calls(
            *(f"torch.{each}" for each in _JOINS),
            *(f"numpy.{each}" for each in (*_JOINS, "append")),
            where=(may_grow,),
            hint_if=(may_stay_small,),
        ),
    ),
    unless=(is_read_meanwhile,),
    message="Each round copies all that was collected so far; append to a list, and concatenate it "
    "once after the loop.",
)
rule.narrow(may_have_growing)
