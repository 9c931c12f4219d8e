"""Loads in workers that are forked, spawned and come from a fork server, or as the words say.

Both this file and the dataset's have something to fix. `Witness` is defined in `__main__` and
pickled into the workers, where it compares what runs there with what runs in the parent.
"""

import sys

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
    torch.manual_seed(0)
    data = Pictures(4096, Witness())
    loaders = [
        DataLoader(data, 16, num_workers=1, multiprocessing_context=start, collate_fn=collate)
        for start in sys.argv[1:] or ("fork", "spawn", "forkserver")
    ]
    model = nn.Sequential(nn.Flatten(), nn.Linear(768, 256), nn.ReLU(), nn.Linear(256, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    while True:
        for batches in zip(*loaders, strict=True):
            losses = [
                (model(pictures).squeeze(1) * weights).square().mean()
                for pictures, weights in batches
            ]
            optimizer.zero_grad()
            sum(losses).backward()
            optimizer.step()


if __name__ == "__main__":
    main()
