"""Makes cycles in each step, in a process with many objects, so that the collector runs often."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Sample:
    def __init__(self, index):
        self.index = index
        self.itself = self


data_set = [[Sample(index), {"index": index}] for index in range(20_000)]
net = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
inputs = torch.randn(256, 128)
targets = torch.randint(0, 4, (256,))
kept = []
for _ in range(400):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(inputs), targets)
    loss.backward()
    optimizer.step()
    for index in range(5000):
        Sample(index)
    kept.append([Sample(index) for index in range(500)])
