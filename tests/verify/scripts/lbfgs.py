"""LBFGS evaluates its closure several times in each step."""

import os

import torch
from torch import nn


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=4)
    for _ in range(int(os.environ.get("STEPS", "100000"))):
        inputs = torch.randn(256, 16)
        targets = inputs.sum(dim=1, keepdim=True).sin()

        def closure(inputs=inputs, targets=targets):
            optimizer.zero_grad(set_to_none=False)
            loss = nn.functional.mse_loss(model(inputs), targets)
            loss.backward()
            return loss

        optimizer.step(closure)


if __name__ == "__main__":
    main()
