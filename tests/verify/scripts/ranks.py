"""Distributed training under torchrun, with gloo."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    inputs = torch.randn(1024, 64)
    data = TensorDataset(inputs, inputs.argmax(dim=1))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=32, sampler=sampler)
    model = DistributedDataParallel(
        nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64))
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(int(os.environ.get("STEPS", "100000"))):
        sampler.set_epoch(epoch)
        for batch, labels in loader:
            optimizer.zero_grad(set_to_none=False)
            nn.functional.cross_entropy(model(batch), labels).backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
