"""Trains at import time, without a guard and without arguments."""

import os

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(int(os.environ.get("STEPS", "100000"))):
    inputs = torch.randn(64, 64)
    optimizer.zero_grad(set_to_none=False)
    loss = nn.functional.mse_loss(model(inputs), inputs[:, :4].sin())
    loss.backward()
    optimizer.step()
