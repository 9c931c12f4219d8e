"""Train in float32 unless the problem needs float64.

## What it does
Reports `model.double()`, `model.to(torch.float64)`, `torch.set_default_dtype(torch.float64)` and
`torch.set_default_tensor_type(torch.DoubleTensor)` in a program that trains on a GPU. It is a hint:
somebody may need the digits.

## Why it is slow
Each number takes twice the memory and twice the time to read and write. On a CPU, a linear layer
took 1.8 times as long, forward and backward. Most GPUs have few units for float64: those for games
and graphics compute it at 1/32 or 1/64 of the speed of float32, and tensor cores for it exist in
data centres only. Networks train as well in float32, and usually in less. Often `.double()` was
only meant to fit data that NumPy made in float64: convert the data instead.

## Example
```python
inputs = torch.from_numpy(np.random.rand(1000, 8)).to(device)
model = nn.Linear(8, 1).to(device).double()
loss = model(inputs).square().mean()
loss.backward()
```

## Use instead
```python
inputs = torch.from_numpy(np.random.rand(1000, 8).astype(np.float32)).to(device)
model = nn.Linear(8, 1).to(device)
loss = model(inputs).square().mean()
loss.backward()
```

## When it is silent
Under any condition, such as `if args.double`; in a file that sets another default as well; in tests
and evaluation; for single tensors, such as sums, metrics and noise schedules; if the program does
not train, or uses no accelerator; if one of its files mentions differential equations, physics,
Gaussian processes, second derivatives or decompositions, which may need float64.

## Fix safety
There is no fix: all numbers change, and the data must change with the model.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against single.py` compares with your own
version, on the CPU as well as on a GPU.

## References
- NVIDIA CUDA C++ programming guide, "Arithmetic Instructions": operations per clock cycle by type
- `torch.set_default_dtype`
"""

from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Context, Effect, Match, Rule, Tier, because, calls, method

_DOUBLE = {f"torch.{name}" for name in ("float64", "double", "DoubleTensor", "cuda.DoubleTensor")}
_DEFAULTS = ("torch.set_default_dtype", "torch.set_default_tensor_type")


def _of_a_model(match: Match) -> bool:
    value = match.module.value(match.receiver)
    model = value.has(Kind.MODULE) and value.only(Kind.MODULE | Kind.PARAMETER)
    return model or because(False, "nothing shows that {:code} is a model", match.receiver)


def _takes_double(match: Match) -> bool:
    """Whether float64 is passed, as a type, a tensor class or the name of one."""
    module = match.module
    given = [arg.value for arg in match.call.args]
    names = {name for each in given for name in module.resolve(each)}
    double = bool(_DOUBLE & names) or any(module.literal(each) in _DOUBLE for each in given)
    return double or because(False, "it is not given float64, as far as the file shows")


def _is_the_only_one(match: Match) -> bool:
    """Whether the file sets the default once; if it does so again, each may hold for a while."""
    calls = [call for name in _DEFAULTS for call in match.module.calls_by_name.get(name, ())]
    other = next((call for call in calls if call is not match.node), None)
    return other is None or because(False, "the file sets the default again, by {}", other)


rule = Rule(
    code="TL506",
    effect=Effect.LARGE,
    summary="a network trains in float64",
    tier=Tier.HINT,
    finds=(
        method("double", where=(_of_a_model,)),
        method("to", where=(_of_a_model, _takes_double)),
        calls(*_DEFAULTS, where=(_takes_double, _is_the_only_one)),
    ),
    message="The network trains in float64, in which most GPUs are many times slower; train in "
    "float32.",
    contexts=(
        Context.ACCELERATOR,
        Context.TRAINS,
        Context.OUTSIDE_EVALUATION,
        Context.UNCONDITIONAL,
    ),
    program_lacks={
        "a problem that may need float64": (
            r"(?i)gradcheck|gpytorch|botorch|torchdiffeq|odeint|\bpinns?\b|\b[op]de\b|physic|molecul|"
            r"hamiltonian|quantum|navier|hessian|\bLBFGS\b|linalg\.|cholesky|\.eigh?\(|\.svd\("
        )
    },
    triggers=(
        r"set_default_(?:dtype|tensor_type)|\.double\(|\.to\([^)\n]{0,80}(?:float64|double)",
    ),
)
