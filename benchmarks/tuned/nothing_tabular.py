"""Nothing to gain: a small compiled model, a table in memory, one thread, a fused Adam."""

import torch
import torch.nn.functional as F
from torch import nn


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    inputs = torch.randn(16384, 32)
    targets = inputs[:, :1] * inputs[:, 1:2]
    layers = [nn.Linear(32, 64)]
    for _ in range(24):
        layers += [nn.ReLU(), nn.Linear(64, 64)]
    model = nn.Sequential(*layers, nn.ReLU(), nn.Linear(64, 1))
    model = torch.compile(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    for step in range(1_000_000):
        start = step % 256 * 64
        x, y = inputs[start : start + 64], targets[start : start + 64]
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
