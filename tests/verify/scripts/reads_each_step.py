"""Reads its loss on every step; reading a batch takes the host about as long as a GPU its step."""

import os
import time

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
batches = [torch.randn(8, 16) for _ in range(10)]
running = 0.0
begun = time.perf_counter()
for step in range(int(os.environ.get("STEPS", "100000"))):
    time.sleep(0.002)
    inputs = batches[step % 10].to(device, non_blocking=True)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), inputs[:, :4].sin())
    loss.backward()
    optimizer.step()
    running += loss.item()
print(running / (step + 1), 1000 * (time.perf_counter() - begun) / (step + 1))
