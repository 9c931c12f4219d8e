"""Two ranks add up four gradients for each step, and exchange each of them; start with torchrun.

With the argument `no_sync` they exchange only the last sum.
"""

import sys
from contextlib import nullcontext

import torch
from torch import distributed, nn

torch.manual_seed(0)
torch.set_num_threads(1)
distributed.init_process_group("gloo")
net = nn.Sequential(*(nn.Linear(256, 256) for _ in range(8)), nn.Linear(256, 10))
model = nn.parallel.DistributedDataParallel(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
images = torch.randn(16, 256)
labels = torch.randint(0, 10, (16,))
sums = "no_sync" in sys.argv
for index in range(1600):
    is_last = index % 4 == 3
    with model.no_sync() if sums and not is_last else nullcontext():
        loss = nn.functional.cross_entropy(model(images), labels)
        (loss / 4).backward()
    if is_last:
        optimizer.step()
        optimizer.zero_grad()
distributed.destroy_process_group()
