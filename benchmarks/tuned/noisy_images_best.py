"""Images are blurred in the training process; a float32 network has its channels first."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class NoisyImages(Dataset):
    def __init__(self, count):
        rng = np.random.default_rng(0)
        self.images = rng.integers(0, 256, (count, 72, 72), dtype=np.uint8)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        image = self.images[index].astype(np.float32) / 255.0
        for _ in range(4):
            image = (image + np.roll(image, 1, 0) + np.roll(image, 1, 1)) / 3.0
        top, left = rng.integers(0, 9, 2)
        clean = image[top : top + 64, left : left + 64]
        if rng.random() < 0.5:
            clean = clean[:, ::-1]
        clean = (clean - clean.mean()) / (clean.std() + 1e-5)
        noisy = clean + rng.normal(0.0, 0.3, clean.shape)
        rows = [np.roll(noisy, down, 0) for down in (-1, 0, 1)]
        around = [np.roll(row, right, 1) for row in rows for right in range(-2, 3)]
        noisy = np.median(around, axis=0)
        return noisy[None].astype(np.float32), clean[None].astype(np.float32)


class Denoiser(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.enter = nn.Conv2d(1, width, 3, padding=1)
        self.down = nn.Conv2d(width, width, 3, padding=1)
        self.middle = nn.Conv2d(width, width, 3, padding=1)
        self.up = nn.Conv2d(width, width, 3, padding=1)
        self.leave = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        x = F.relu(self.enter(x))
        small = F.relu(self.down(F.max_pool2d(x, 2)))
        small = F.relu(self.middle(small))
        x = x + F.interpolate(small, scale_factor=2, mode="bilinear")
        return self.leave(F.relu(self.up(x)))


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(
        NoisyImages(2048), batch_size=16, shuffle=True, num_workers=1, persistent_workers=True
    )
    model = Denoiser(width=32)
    model.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(1000):
        for step, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                restored = model(x)
                loss = F.mse_loss(restored, y)
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
