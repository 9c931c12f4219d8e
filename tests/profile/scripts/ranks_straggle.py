"""Rank 1 has three times the work of rank 0; start it with torchrun."""

import torch
from torch import distributed, nn

torch.manual_seed(0)
torch.set_num_threads(1)
distributed.init_process_group("gloo")
net = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU())
model = nn.Sequential(net, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
count = 48 if distributed.get_rank() == 1 else 16
images = torch.randn(count, 3, 32, 32)
labels = torch.randint(0, 10, (count,))
for _ in range(400):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
distributed.destroy_process_group()
