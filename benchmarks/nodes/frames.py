"""Ranks that copy a large array in each step, for `two_nodes.py`; gloo, on processors."""

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

ROWS = 8_000


def main():
    dist.init_process_group("gloo")
    frames = np.random.rand(4 * ROWS, 512).astype(np.float32)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10))
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    labels = torch.arange(32) % 10
    for step in range(100_000):
        first = step % 4 * ROWS
        frame = frames[first : first + ROWS]
        batch = torch.tensor(frame)
        loss = nn.functional.cross_entropy(model(batch[::250]), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
