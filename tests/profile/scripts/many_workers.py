"""Loads with more workers than most machines that run tests have processors. They compute, so they
take time from the steps, and torch itself warns of them."""

from __future__ import annotations

import os
import time
import warnings

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

WORKERS = 3 * len(os.sched_getaffinity(0)) if len(os.sched_getaffinity(0)) < 4 else 16
BATCH = 8
SAMPLE_S = 0.02 / BATCH


class Slow(Dataset):  # type: ignore[type-arg]
    """Samples that cost processor time, as decoding an image does."""

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(0)
        self.inputs = torch.randn(100 * BATCH, 256, generator=generator)

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        ready = time.process_time() + SAMPLE_S
        while time.process_time() < ready:
            pass
        return self.inputs[index], self.inputs[index, :1]


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    warnings.filterwarnings("ignore", "This DataLoader will create")
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(
        Slow(), batch_size=BATCH, shuffle=True, num_workers=WORKERS, persistent_workers=True
    )
    for _ in range(6):
        for inputs, targets in loader:  # waits
            optimizer.zero_grad()
            nn.functional.mse_loss(model(inputs), targets).backward()
            optimizer.step()


if __name__ == "__main__":
    main()
