"""Spectra are computed in the training process, wide layers are in float32, anomalies checked."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Clips(Dataset):
    def __init__(self, count):
        rng = np.random.default_rng(0)
        self.recording = rng.standard_normal(2_000_000).astype(np.float32)
        self.labels = rng.integers(0, 20, count)
        self.window = np.hanning(256).astype(np.float32)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        wave = self.recording[100 * index : 100 * index + 8192]
        frames = np.lib.stride_tricks.sliding_window_view(wave, 256)[:-1:31]
        power = np.abs(np.fft.rfft(frames * self.window, axis=1)) ** 2
        power = np.log1p(power[:, :128]).astype(np.float32)
        power = (power - power.mean()) / power.std()
        power = power.reshape(16, 16, 128).mean(axis=1)
        return torch.tensor(power.reshape(-1)), self.labels[index]


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(
        Clips(16384), batch_size=128, shuffle=True, num_workers=2, persistent_workers=True
    )
    model = nn.Sequential(
        nn.Linear(2048, 1024),
        nn.ReLU(),
        nn.Linear(1024, 1024),
        nn.ReLU(),
        nn.Linear(1024, 1024),
        nn.ReLU(),
        nn.Linear(1024, 20),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(1000):
        for step, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(x)
                loss = F.cross_entropy(logits, y)
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
