"""Two ranks send a mask that never changes before each forward pass; start with torchrun.

With the argument `norm` the model has a batch norm as well, whose statistics change; with `off` no
buffers are sent.
"""

import sys

import torch
from torch import distributed, nn

torch.manual_seed(0)
torch.set_num_threads(1)
distributed.init_process_group("gloo")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.ones(1024, 1024).tril())
        self.head = nn.Linear(64, 4)
        self.norm = nn.BatchNorm1d(64) if "norm" in sys.argv else nn.Identity()

    def forward(self, images):
        return self.head(self.norm(images)) * self.mask[0, 0]


options = {"broadcast_buffers": False} if "off" in sys.argv else {}
model = nn.parallel.DistributedDataParallel(Net(), **options)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
images = torch.randn(16, 64)
labels = torch.randint(0, 4, (16,))
for _ in range(400):
    loss = nn.functional.cross_entropy(model(images), labels)  # planted
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
distributed.destroy_process_group()
