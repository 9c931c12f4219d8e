"""Measures a dataset and has no network at all: only its loader can end a step."""

import os

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    """Random pictures of 3 x 64 x 64 numbers."""

    def __init__(self, count):
        rng = np.random.default_rng(0)
        self.pictures = np.stack([rng.random((3, 64, 64)) for _ in range(count)])

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        return torch.tensor(self.pictures[index].astype(np.float32))


def main():
    loader = DataLoader(Pictures(512), batch_size=32)
    for _ in range(int(os.environ.get("STEPS", "100000"))):
        total, squares = torch.zeros(3), torch.zeros(3)
        for pictures in loader:
            total += pictures.mean(dim=(0, 2, 3))
            squares += pictures.square().mean(dim=(0, 2, 3))
    print(total / len(loader), squares / len(loader))


if __name__ == "__main__":
    main()
