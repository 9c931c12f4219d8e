"""Takes its seed from the system's entropy, so no two runs compute the same."""

import os

import torch
from torch import nn


def main():
    torch.manual_seed(int.from_bytes(os.urandom(4), "little"))
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(int(os.environ.get("STEPS", "100000"))):
        inputs = torch.randn(256, 64)
        optimizer.zero_grad(set_to_none=False)
        nn.functional.mse_loss(model(inputs), inputs[:, :4].sin()).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
