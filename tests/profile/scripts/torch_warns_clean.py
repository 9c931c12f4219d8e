"""What torch warns of is done once, before the training."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

net = nn.Linear(64, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
inputs = torch.tensor([np.ones(64, dtype=np.float32) for _ in range(32)])
edges = torch.searchsorted(torch.arange(9.0), torch.rand(4, 4).t())
for _ in range(400):
    optimizer.zero_grad()
    loss = net(inputs).square().mean()
    loss.backward()
    optimizer.step()
