"""Turn the gradients of one model off while the other one is trained through it.

## What it does
Reports backward passes that compute gradients of a model which the next `zero_grad()` throws away,
where two models have an optimizer each and one is fed with the output of the other: the step of a
generator through its discriminator, that of an actor through its critic. It also reports the step
of a discriminator that goes back through the generator.

## Why it is slow
To train the generator, the backward pass must go through the discriminator. But it need not compute
the gradients of its weights, which is about half of the work of a backward pass. They are stored,
with `DistributedDataParallel` they are sent to the other processes, and then they are zeroed, since
the discriminator learns from other losses. The other way round, nothing of what the backward pass
does in the generator is used.

## Example
```python
optimizer_g = torch.optim.SGD(generator.parameters(), lr=0.1)
optimizer_d = torch.optim.SGD(discriminator.parameters(), lr=0.1)
for images, _ in loader:
    optimizer_d.zero_grad()
    fake = generator(torch.randn(64, 100, device=device))
    loss_d = (discriminator(fake.detach()) - discriminator(images.to(device))).mean()
    loss_d.backward()
    optimizer_d.step()
    optimizer_g.zero_grad()
    loss_g = -discriminator(fake).mean()
    loss_g.backward()
    optimizer_g.step()
```

## Use instead
```python
optimizer_g = torch.optim.SGD(generator.parameters(), lr=0.1)
optimizer_d = torch.optim.SGD(discriminator.parameters(), lr=0.1)
for images, _ in loader:
    optimizer_d.zero_grad()
    fake = generator(torch.randn(64, 100, device=device))
    loss_d = (discriminator(fake.detach()) - discriminator(images.to(device))).mean()
    loss_d.backward()
    optimizer_d.step()
    optimizer_g.zero_grad()
    discriminator.requires_grad_(False)
    loss_g = -discriminator(fake).mean()
    loss_g.backward()
    discriminator.requires_grad_(True)
    optimizer_g.step()
```

## When it is silent
In programs that turn gradients off or toggle optimizers; where the gradients are zeroed, or an
optimizer steps, in other functions; where one optimizer has the parameters of both models, or both
step after the same backward pass; in tests.
It is a hint: beside a large generator, a small discriminator costs little.

## Fix safety
There is no fix: `requires_grad_(False)` must stand before the forward pass of that loss, and code
that reads the gradients in between would miss them. No value changes otherwise.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against train_frozen.py` compares with your
own version.

## References
- PyTorch documentation, "Autograd mechanics: locally disabling gradient computation"
- pytorch-CycleGAN-and-pix2pix, `set_requires_grad`: "to avoid unnecessary calculations"
- OpenAI Spinning Up, which freezes the critics while it trains the policy
"""

from torchlint.rule import Match, Rule, Tier, because, method

from ._two_optimizers import wasted


def _throws_some_away(match: Match) -> bool:
    alone = "no model is known whose gradients from this are zeroed before a step uses them"
    return bool(wasted(match.call, match.module)) or because(False, alone)


def _message(match: Match) -> str:
    found = wasted(match.call, match.module)
    names = " and ".join(f"`{each.model}`" for each in found)
    thrown = f"The gradients of {names} that this computes are zeroed before any step uses them"
    if found[0].is_outer:
        return f"{thrown}; call `requires_grad_(False)` on it for this loss."
    return f"{thrown}; detach its output before `{found[0].trained}` takes it."


rule = Rule(
    code="TL407",
    summary="a backward pass computes gradients that are zeroed before any step uses them",
    tier=Tier.HINT,
    finds=(method("backward", "manual_backward", where=(_throws_some_away,)),),
    message=_message,
    change="gradients must be off in the forward pass of this loss already",
    program_lacks={
        "gradients that are switched off": r"requires_grad_\((?!True\b|\))|"
        r"\.requires_grad\s*=(?!\s*True\b)|set_requires_grad|toggle_(?:optimizer|grad)|\bfreeze\("
    },
)
