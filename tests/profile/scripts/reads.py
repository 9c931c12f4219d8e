"""Two reads a step in the loop, one in a helper, one in `forward`, and one in fifty steps."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(256, 512)
        self.second = nn.Linear(512, 10)

    def forward(self, inputs):
        hidden = self.first(inputs).relu()
        if hidden.max() > 1e6:  # planted: one bool a step
            hidden = hidden / 2
        return self.second(hidden)


def norm_of(parameter):
    return float(parameter.grad.norm())  # planted: one float a step


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
inputs = torch.randn(256, 256)
targets = torch.randint(0, 10, (256,))
total, hits, largest = 0.0, 0.0, 0.0
for step in range(400):
    optimizer.zero_grad()
    outputs = net(inputs)
    loss = nn.functional.cross_entropy(outputs, targets)
    loss.backward()
    optimizer.step()
    correct = (outputs.argmax(1) == targets).sum()
    total, hits = total + loss.item(), hits + correct.item()  # planted: two items a step
    largest = max(largest, norm_of(net.first.weight))
    if step % 50 == 0:
        progress = f"{step}: {loss:.4f}"  # planted: one format in fifty steps
