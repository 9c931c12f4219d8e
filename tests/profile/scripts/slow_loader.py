"""Its dataset takes 2 ms for each batch, of steps that take about 2 ms more."""

from __future__ import annotations

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BATCH = 8
SAMPLE_S = 0.002 / BATCH


class Slow(Dataset):  # type: ignore[type-arg]
    """Samples that cost processor time, as decoding an image does."""

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(0)
        self.inputs = torch.randn(64 * BATCH, 256, generator=generator)

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        ready = time.perf_counter() + SAMPLE_S
        while time.perf_counter() < ready:
            pass
        return self.inputs[index], self.inputs[index, :1]


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Slow(), batch_size=BATCH, shuffle=True)
    for _ in range(12):
        for inputs, targets in loader:  # waits
            optimizer.zero_grad()
            nn.functional.mse_loss(model(inputs), targets).backward()
            optimizer.step()


if __name__ == "__main__":
    main()
