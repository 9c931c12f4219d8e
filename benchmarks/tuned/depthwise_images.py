"""Large depthwise convolutions have channels first, and all images are copied in each step."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width)
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        mixed = self.depthwise(x).permute(0, 2, 3, 1)
        mixed = self.mix(F.relu(self.norm(mixed)))
        return x + mixed.permute(0, 3, 1, 2)


class DepthwiseNet(nn.Module):
    def __init__(self, width, blocks):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 4, stride=4)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(blocks)])
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    images = rng.random((1024, 3, 64, 64), dtype=np.float32)
    labels = rng.integers(0, 10, 1024)
    model = DepthwiseNet(width=64, blocks=16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    for step in range(1_000_000):
        rows = torch.randint(0, len(images), (8,))
        x = torch.tensor(images)[rows]
        y = torch.tensor(labels)[rows]
        optimizer.zero_grad()
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
