"""A compiled function gets another Python number in each step, and is compiled again for it."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
# By default dynamo gives up after eight times, and the function is no longer compiled.
torch._dynamo.config.cache_size_limit = 10_000
torch._dynamo.config.accumulated_cache_size_limit = 10_000


def decayed(loss, step):  # planted: compiled in each step
    return loss * (1.0 - step / 10_000)


compiled = torch.compile(decayed, backend="eager", dynamic=False)
net = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
inputs = torch.randn(256, 256)
targets = torch.randint(0, 10, (256,))
for step in range(400):
    optimizer.zero_grad()
    loss = compiled(nn.functional.cross_entropy(net(inputs), targets), step)
    loss.backward()
    optimizer.step()
