"""Images have another size in each step, for twenty steps; then the sizes come again."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
torch.backends.cudnn.benchmark = True


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3)
        self.body = nn.Conv2d(16, 16, 3)
        self.head = nn.Linear(16, 4)

    def forward(self, images):
        features = self.stem(images).relu()  # planted: a new shape in each step
        return self.head(self.body(features).relu().mean((2, 3)))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
targets = torch.randint(0, 4, (8,))
for step in range(400):
    size = 24 + step % 20
    images = torch.randn(8, 3, size, size)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(images), targets)
    loss.backward()
    optimizer.step()
