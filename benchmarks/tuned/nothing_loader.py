"""Nothing to gain: costly samples that two processes load already, for a tiny model."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Signals(Dataset):
    def __init__(self, count):
        rng = np.random.default_rng(0)
        self.signals = rng.standard_normal((count, 2048)).astype(np.float32)
        self.targets = rng.standard_normal((count, 1)).astype(np.float32)

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, index):
        signal = np.sort(self.signals[index])
        spectrum = np.abs(np.fft.rfft(self.signals[index]))
        shifts = [np.dot(signal[lag:], signal[: 2048 - lag]) for lag in range(1, 128)]
        row = np.concatenate([signal[::32], spectrum[1:1024:16], np.array(shifts) / 2048])
        return row.astype(np.float32), self.targets[index]


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(
        Signals(8192), batch_size=128, shuffle=True, num_workers=2, persistent_workers=True
    )
    model = nn.Sequential(nn.Linear(255, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    for epoch in range(1000):
        for step, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
