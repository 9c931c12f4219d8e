"""Each step also evaluates a batch, in evaluation mode and with gradients on."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

net = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Dropout(0.1), nn.Linear(512, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
inputs = torch.randn(256, 128)
targets = torch.randint(0, 4, (256,))
held_out = torch.randn(128, 128)
total = torch.zeros(())
for _ in range(400):
    net.train()
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(inputs), targets)
    loss.backward()
    optimizer.step()
    net.eval()
    scores = net(held_out)
    total += scores.detach().mean()
