"""On a GPU each step waits for a copy of 32 MB from memory that is not pinned, and for one read."""

import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
wide = 4096 if device == "cuda" else 256

net = nn.Sequential(nn.Linear(wide, wide), nn.ReLU(), nn.Linear(wide, wide)).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
batches = [torch.randn(wide // 2, wide) for _ in range(8)]
total = 0.0
for step in range(400):
    optimizer.zero_grad()
    inputs = batches[step % 8].to(device)  # planted: a blocking copy
    loss = net(inputs).square().mean()
    loss.backward()
    optimizer.step()
    total += loss.item()  # planted: one item a step
