"""A table that the last layer shares, one of which all rows are looked up, and a sparse one."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20_000, 32)
        self.kinds = nn.Embedding(1000, 32)
        self.users = nn.Embedding(50_000, 32, sparse=True)
        self.head = nn.Linear(32, 20_000, bias=False)
        self.head.weight = self.words.weight

    def forward(self, words, kinds, users):
        return self.head(self.words(words) + self.kinds(kinds) + self.users(users))


net = Net()
users = list(net.users.parameters())
others = [each for each in net.parameters() if each is not users[0]]
optimizers = [torch.optim.Adam(others, lr=0.01), torch.optim.SparseAdam(users, lr=0.01)]
kinds = torch.arange(1000)[:256]
for _ in range(400):
    for optimizer in optimizers:
        optimizer.zero_grad()
    words, users = torch.randint(0, 20_000, (256,)), torch.randint(0, 50_000, (256,))
    nn.functional.cross_entropy(net(words, kinds, users), words).backward()
    for optimizer in optimizers:
        optimizer.step()
