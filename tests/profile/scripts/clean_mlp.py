"""A perceptron over a data set in memory; nothing in it costs more than it must."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

net = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256), nn.ReLU())
head = nn.Linear(256, 10)
model = nn.Sequential(net, head)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
images = torch.randn(64 * 50, 256)
labels = torch.randint(0, 10, (64 * 50,))
batches = list(zip(images.split(64), labels.split(64), strict=True))
total = torch.zeros(())
for _ in range(8):
    for inputs, targets in batches:
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        total += loss.detach()
