"""Trains a compiled model; a larger last batch makes it compile a second time."""

import os

import torch
from torch import nn


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
    compiled = torch.compile(model, backend="aot_eager")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(int(os.environ.get("STEPS", "100000"))):
        inputs = torch.randn(96 if step % 8 == 7 else 64, 64)
        optimizer.zero_grad(set_to_none=False)
        loss = nn.functional.mse_loss(compiled(inputs), inputs.cumsum(dim=1).sin())
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
