"""Tensors that pass through threads, copies, checkpoints and hooks stay where they are."""

import copy
import queue
import threading

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 2)).cuda()
mean = copy.deepcopy(model)
batches = queue.Queue(2)
seen = {}


def fill():
    while True:
        batches.put(torch.randn(16, 8).pin_memory().cuda(non_blocking=True))


threading.Thread(target=fill, daemon=True).start()
optimizer = torch.optim.Adam(model.parameters(), fused=True)
model[0].register_forward_hook(lambda module, args, out: seen.update(forward=out.device))
model[0].weight.register_hook(lambda grad: seen.update(backward=grad.device))
for step in range(40):
    x = batches.get()
    loss = checkpoint(model, x, use_reentrant=False).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for one, other in zip(mean.parameters(), model.parameters(), strict=True):
            one.lerp_(other, 0.1)
    on_device = [x, *mean.parameters(), *(each.grad for each in model.parameters())]
    assert {each.device.type for each in on_device} == {"cuda"}
    assert {each.type for each in seen.values()} == {"cuda"}
