"""`unused` is in the optimizer and not in the loss; `encoder` gets gradients that nobody takes."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 256))
        self.head = nn.Linear(256, 4)
        self.unused = nn.Linear(256, 8)

    def forward(self, inputs):
        return self.head(self.encoder(inputs))


net = Net()
optimizer = torch.optim.SGD([*net.head.parameters(), *net.unused.parameters()], lr=0.01)
inputs = torch.randn(256, 128)
targets = torch.randint(0, 4, (256,))
for _ in range(400):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(inputs), targets)
    loss.backward()
    optimizer.step()
