"""Two of four equal blocks are checkpointed, so each of them runs twice."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128)) for _ in range(4)
        )
        self.head = nn.Linear(128, 4)

    def forward(self, hidden):
        for index, block in enumerate(self.blocks):
            if index < 2:
                hidden = hidden + checkpoint(block, hidden, use_reentrant=False)
            else:
                hidden = hidden + block(hidden)
        return self.head(hidden)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
inputs = torch.randn(128, 128)
targets = torch.randint(0, 4, (128,))
for _ in range(400):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(inputs), targets)
    loss.backward()
    optimizer.step()
