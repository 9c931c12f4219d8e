"""Anomaly detection is left on, gradients are zeroed in place, and Adam updates one by one."""

import torch
import torch.nn.functional as F
from torch import nn


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, x):
        return x + self.second(F.silu(self.first(self.norm(x))))


def main():
    torch.manual_seed(0)
    torch.autograd.set_detect_anomaly(True)
    inputs = torch.randn(10_000, 96)
    targets = (inputs[:, :1] * inputs[:, 1:2]).tanh()
    model = nn.Sequential(*[Residual(96) for _ in range(40)], nn.Linear(96, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=False)
    for step in range(1_000_000):
        rows = torch.randint(0, len(inputs), (128,))
        x, y = inputs[rows], targets[rows]
        optimizer.zero_grad(set_to_none=False)
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
