"""A small convolutional network; evaluates after each epoch, under `torch.inference_mode()`."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(16)
        self.middle = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.head = nn.Linear(32, 10)

    def forward(self, images):
        hidden = torch.relu(self.norm(self.stem(images)))
        return self.head(torch.relu(self.middle(hidden)).mean((2, 3)))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, foreach=True)
images = torch.randn(16 * 50, 3, 32, 32)
labels = torch.randint(0, 10, (16 * 50,))
batches = list(zip(images.split(16), labels.split(16), strict=True))
right = torch.zeros((), dtype=torch.long)
for _ in range(8):
    net.train()
    for inputs, targets in batches:
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(net(inputs), targets)
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.inference_mode():
        right += (net(images[:64]).argmax(1) == labels[:64]).sum()
