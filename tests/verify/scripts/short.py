"""Ends by itself after 15 steps."""

import torch
from torch import nn


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(15):
        inputs = torch.randn(256, 64)
        optimizer.zero_grad(set_to_none=False)
        nn.functional.mse_loss(model(inputs), inputs[:, :4].sin()).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
