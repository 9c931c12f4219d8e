"""Features are built per sample in the training process, for a tiny model in two threads."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Sensors(Dataset):
    def __init__(self, count):
        rng = np.random.default_rng(0)
        self.signals = rng.standard_normal((count, 512)).astype(np.float32)
        self.targets = rng.standard_normal(count).astype(np.float32)

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, index):
        signal = self.signals[index]
        spectrum = np.abs(np.fft.rfft(signal * np.hanning(len(signal))))
        bands = [band.mean() for band in np.array_split(spectrum, 16)]
        levels = np.percentile(signal, np.linspace(5, 95, 16))
        steps = [np.std(signal[lag:] - signal[:-lag]) for lag in range(1, 17)]
        shifts = [np.dot(signal[lag:], signal[: len(signal) - lag]) for lag in range(1, 49)]
        row = np.concatenate([bands, levels, steps, shifts])
        return row.astype(np.float32), self.targets[index]


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return x + F.gelu(self.linear(self.norm(x)))


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(
        Sensors(4096), batch_size=32, shuffle=True, num_workers=2, persistent_workers=True
    )
    model = nn.Sequential(*[Residual(96) for _ in range(40)], nn.Linear(96, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    for epoch in range(1000):
        for step, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            prediction = model(x).squeeze(1)
            loss = F.mse_loss(prediction, y)
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
