"""Runs a network over recordings and trains nothing: its forward pass ends a step."""

import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Recordings(Dataset):
    """Windows of one long signal."""

    def __init__(self, count, length):
        steps = np.random.default_rng(0).standard_normal(count + length)
        self.signal = np.cumsum(steps).astype(np.float32)
        self.count, self.length = count, length

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return torch.tensor(self.signal[index : index + self.length])


@torch.inference_mode()
def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4096, 64), nn.ReLU(), nn.Linear(64, 4)).eval()
    loader = DataLoader(Recordings(1024, 4096), batch_size=64)
    counts = torch.zeros(4, dtype=torch.long)
    for _ in range(int(os.environ.get("STEPS", "100000"))):
        for windows in loader:
            counts += torch.bincount(model(windows).argmax(dim=1), minlength=4)
    print(counts)


if __name__ == "__main__":
    main()
