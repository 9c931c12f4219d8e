"""Trains in epochs of 20 steps; what comes at the end of one is not seen in the first steps."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(160, 16), torch.randint(0, 4, (160,)))
model = nn.Linear(16, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)


def evaluate() -> float:
    model.eval()
    with torch.no_grad():
        right = model(data.tensors[0]).argmax(1) == data.tensors[1]
    model.train()
    return float(right.float().mean())


for _ in range(10_000):
    for inputs, labels in DataLoader(data, batch_size=8):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
    schedule.step()
    evaluate()
