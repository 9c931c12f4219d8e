"""Loads in workers that are forked, spawned or come from a fork server.

Both this file and the dataset's have something to fix. `Witness` is defined in `__main__` and
pickled into the workers, where it compares what runs there with what runs in the parent.
"""

import argparse

import numpy as np
import torch
from pictures import Pictures
from torch import nn
from torch.utils.data import DataLoader


def collate(pictures):
    weights = torch.tensor(np.linspace(0, 1, len(pictures), dtype=np.float32) + 1)
    return torch.stack(pictures), weights


def looks():
    codes = [function.__code__ for function in (Pictures.__getitem__, collate)]
    return [(code.co_code, code.co_names, code.co_firstlineno) for code in codes]


class Witness:
    def __init__(self):
        self.seen = looks()

    def check(self):
        if looks() != self.seen:
            raise RuntimeError("this worker runs other code than its parent")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--start", choices=["fork", "spawn", "forkserver"], required=True)
    parser.add_argument("--epochs", type=int, default=10_000)
    args = parser.parse_args()
    torch.manual_seed(0)
    data = Pictures(4096, Witness())
    loader = DataLoader(
        data, 16, num_workers=2, multiprocessing_context=args.start, collate_fn=collate
    )
    model = nn.Sequential(nn.Flatten(), nn.Linear(768, 256), nn.ReLU(), nn.Linear(256, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(args.epochs):
        for pictures, weights in loader:
            loss = (model(pictures).squeeze(1) * weights).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
