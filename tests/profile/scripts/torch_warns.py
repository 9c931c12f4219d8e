"""Each step makes a tensor from a list of arrays, which torch warns of once."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

net = nn.Linear(64, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
rows = [np.ones(64, dtype=np.float32) for _ in range(32)]
for _ in range(400):
    optimizer.zero_grad()
    inputs = torch.tensor(rows)  # planted
    loss = net(inputs).square().mean()
    loss.backward()
    optimizer.step()
