"""Most of the forward pass is one layer: `wide`, a product of matrices forty times the others."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.narrow = nn.Linear(64, 256)
        self.wide = nn.Linear(256, 2560)
        self.head = nn.Linear(2560, 6)

    def forward(self, inputs):
        return self.head(self.wide(self.narrow(inputs)))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
inputs = torch.randn(128, 64)
targets = torch.randint(0, 6, (128,))
for _ in range(400):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(inputs), targets)
    loss.backward()
    optimizer.step()
