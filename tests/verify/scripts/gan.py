"""Two optimizers with a gradient scaler each; gradients of two batches are added up.

The discriminator steps three times as often. The seventh step of the generator overflows, so its
scaler skips it: `optimizer.step` is then never called.
"""

import os
from functools import partial

import torch
from torch import nn


def perceptron(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, outputs))


def discriminate(real, generator, discriminator):
    fake = generator(torch.randn(len(real), 8)).detach()
    answers = discriminator(torch.cat([real, fake]))
    wanted = torch.cat([torch.ones(len(real), 1), torch.zeros(len(real), 1)])
    return nn.functional.binary_cross_entropy_with_logits(answers, wanted)


def generate(size, generator, discriminator):
    return nn.functional.softplus(-discriminator(generator(torch.randn(size, 8)))).mean()


def update(loss_of, optimizer, scaler, overflow=False):
    optimizer.zero_grad(set_to_none=False)
    for _ in range(2):
        loss = loss_of() / 2
        scaler.scale(loss * float("inf") if overflow else loss).backward()
    scaler.step(optimizer)
    scaler.update()


def main():
    torch.manual_seed(0)
    generator, discriminator = perceptron(8, 2), perceptron(2, 1)
    optimizer_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
    optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3)
    scaler_g = torch.amp.GradScaler("cpu", init_scale=2.0**8)
    scaler_d = torch.amp.GradScaler("cpu", init_scale=2.0**8)
    for step in range(int(os.environ.get("STEPS", "100000"))):
        for _ in range(3):
            angles = torch.rand(64) * 6.2832
            real = torch.stack([angles.cos(), angles.sin()], dim=1)
            judge = partial(discriminate, real, generator, discriminator)
            update(judge, optimizer_d, scaler_d)
        forge = partial(generate, 64, generator, discriminator)
        update(forge, optimizer_g, scaler_g, overflow=step == 6)
    print(f"scale {scaler_g.get_scale()}")


if __name__ == "__main__":
    main()
