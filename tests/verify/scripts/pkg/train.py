"""Runs only as a module: its network is in a neighbour, which is where the fix is."""

import argparse

import torch
from torch import nn

from .net import network


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100_000)
    args = parser.parse_args()
    if args.steps < 0:
        from . import unused  # noqa: F401
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(args.steps):
        pictures, labels = torch.randn(4, 3, 24, 24), torch.randint(4, (4,))
        loss = nn.functional.cross_entropy(model(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
