"""Distributed training in processes that the script spawns itself; the parent takes no step."""

import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(rank, world, port, steps):
    address = f"tcp://127.0.0.1:{port}"
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=world)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    torch.manual_seed(rank)
    for _ in range(steps):
        inputs = torch.randn(32, 64)
        optimizer.zero_grad(set_to_none=False)
        nn.functional.mse_loss(model(inputs), inputs[:, :4].sin()).backward()
        optimizer.step()
    dist.destroy_process_group()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    steps = int(os.environ.get("STEPS", "100000"))
    mp.spawn(train, args=(2, free_port(), steps), nprocs=2)
