"""Let distributions trust their arguments where each step makes them.

## What it does
Reports distributions of `torch.distributions` that are made of tensors of the device on every
training step, without `validate_args=False`.

## Why it is slow
A distribution checks that each of its parameters is allowed, such as a deviation above zero, and
`log_prob` checks the value that it is given. Python decides by the answer, so each check waits
until the GPU has computed all that was asked of it before. `torchlint rehearse` counts two waits
for `Normal(mean, deviation)`, three for `Beta` and for `OneHotCategorical`, one for `Categorical`,
and one for each `log_prob`. The checks also take two to four kernels each.

## Example
```python
for states, actions in loader:
    mean, deviation = model(states.to(device))
    chosen = torch.distributions.Normal(mean, deviation)
    loss = -chosen.log_prob(actions.to(device)).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```

## Use instead
```python
for states, actions in loader:
    mean, deviation = model(states.to(device))
    chosen = torch.distributions.Normal(mean, deviation, validate_args=False)
    loss = -chosen.log_prob(actions.to(device)).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```
`torch.distributions.Distribution.set_default_validate_args(False)` does it for a whole
program, once it works.

## When it is silent
For tensors of the host, and for numbers; where nothing shows that a tensor is on the device, it is
a hint; where `validate_args` is passed; in programs
that switch the checks off for all distributions, as `torch.compile` does, too; in evaluation; under
`if step % 100 == 0` and similar conditions; in tests.

## Fix safety
**Unsafe**: a NaN in a parameter raises an error at once with the checks, and goes on without them.

## How verify confirms it
It measures `validate_args=False`, which needs a GPU; `torchlint rehearse train.py` counts the waits
without one. The numbers are bitwise equal.

## References
- PyTorch documentation, `torch.distributions.Distribution.set_default_validate_args`
- PyTorch, `torch/distributions/distribution.py`, `Distribution.__init__` and `_validate_sample`
"""

from torchlint.analysis.training.syncs import Operand, operand_at, tensor_at
from torchlint.rule import (
    Applicability,
    Argument,
    Context,
    Match,
    Rule,
    Triggers,
    calls,
    pass_argument,
)

_CHECKED = tuple(
    f"torch.distributions.{name}"
    for name in (
        "Bernoulli Beta Binomial Categorical Cauchy ContinuousBernoulli Dirichlet Exponential "
        "Gamma Geometric Gumbel HalfNormal Laplace LogNormal MultivariateNormal NegativeBinomial "
        "Normal OneHotCategorical OneHotCategoricalStraightThrough Poisson RelaxedBernoulli "
        "StudentT Uniform VonMises"
    ).split()
)
_BY_FILE = tuple(
    f"torch.distributions.{name.lower()}.{name}"
    for name in ("Bernoulli", "Beta", "Categorical", "Dirichlet", "Normal", "Uniform")
)


def _operand(match: Match) -> Operand | None:
    """The first argument that is a tensor of the device, or one that is a tensor at all."""
    given = [arg.value for arg in match.call.args]
    for ask in (operand_at, tensor_at):
        found = (ask(each, match.module) for each in given)
        operand = next((each for each in found if each is not None), None)
        if operand is not None:
            return operand
    return None


rule = Rule(
    code="TL221",
    summary="a distribution checks its arguments on every training step",
    fix=Applicability.UNSAFE,
    finds=(
        calls(
            *_CHECKED,
            *_BY_FILE,
            Argument("validate_args", missing=True, bad=True),
            where=(_operand,),
        ),
    ),
    message=(
        "This looks on the host whether its parameters are allowed, and waits for the GPU on every "
        "step; pass `validate_args=False` once it works."
    ),
    change=pass_argument("validate_args", "False"),
    contexts=(Context.HOT, Context.ACCELERATOR),
    program_lacks={
        "what switches the checks off": (
            r"set_default_validate_args\(\s{0,20}(?:value=)?False|\btorch\.compile\b"
        )
    },
    triggers=Triggers(on_demand=(r"\bdistributions\b",)),
    may_change="a NaN in a parameter raises no error",
    needs_gpu=True,
)
