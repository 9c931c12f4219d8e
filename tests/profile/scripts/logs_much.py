"""Logs lines to a file in each step, for about a tenth of it."""

import logging
import os

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
logging.basicConfig(filename=os.devnull, level=logging.INFO)
log = logging.getLogger("train")

net = nn.Sequential(nn.Linear(128, 1024), nn.ReLU(), nn.Linear(1024, 128))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
inputs = torch.randn(256, 128)
for step in range(400):
    optimizer.zero_grad()
    loss = (net(inputs) - inputs).square().mean()
    loss.backward()
    optimizer.step()
    for name in range(50):
        log.info("step %d: parameter %d has been updated", step, name)
