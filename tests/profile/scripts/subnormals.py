"""A filter whose state decays and never reaches zero: processors take long for such numbers."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
DECAY = 0.999

net = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, foreach=True)
images = torch.randn(64 * 50, 256)
labels = torch.randint(0, 10, (64 * 50,))
batches = list(zip(images.split(64), labels.split(64), strict=True))
state = torch.full((64, 4096), 1e-38)
for _ in range(8):
    for inputs, targets in batches:
        for _ in range(8):
            state = state * DECAY  # subnormal
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(net(inputs) + state.sum(), targets)
        loss.backward()
        optimizer.step()
