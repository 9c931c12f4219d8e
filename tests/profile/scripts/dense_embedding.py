"""A large table of which each step looks up a few hundred rows, beside a small one."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(50_000, 64)
        self.places = nn.Embedding(20, 64)
        self.head = nn.Linear(64, 4)

    def forward(self, items, places):
        seen = self.items(items)  # planted
        return self.head(seen.mean(1) + self.places(places))


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
items, places = torch.randint(0, 50_000, (400, 64, 8)), torch.randint(0, 20, (400, 64))
targets = torch.randint(0, 4, (64,))
for step in range(400):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(items[step], places[step]), targets)
    loss.backward()
    optimizer.step()
