"""Two ranks average each gradient by itself, after the backward pass; start it with torchrun."""

import torch
from torch import distributed, nn

torch.manual_seed(0)
torch.set_num_threads(1)
distributed.init_process_group("gloo")
model = nn.Sequential(*(nn.Linear(256, 256) for _ in range(8)), nn.Linear(256, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
images = torch.randn(32, 256)
labels = torch.randint(0, 10, (32,))
for _ in range(400):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    for parameter in model.parameters():
        distributed.all_reduce(parameter.grad)
    optimizer.step()
distributed.destroy_process_group()
