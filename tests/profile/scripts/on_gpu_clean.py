"""Its batches are on the device, and nothing is read."""

import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
wide = 4096 if device == "cuda" else 256

net = nn.Sequential(nn.Linear(wide, wide), nn.ReLU(), nn.Linear(wide, wide)).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
inputs = torch.randn(wide // 2, wide, device=device)
total = torch.zeros((), device=device)
for _ in range(400):
    optimizer.zero_grad()
    loss = net(inputs).square().mean()
    loss.backward()
    optimizer.step()
    total += loss.detach()
