"""Hundreds of small parameters are zeroed, clipped and updated one by one."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return x + F.gelu(self.linear(self.norm(x)))


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    inputs = torch.randn(16384, 32)
    targets = inputs[:, :8].sin() + inputs[:, 8:16]
    model = nn.Sequential(*[Block(32) for _ in range(80)], nn.Linear(32, 8))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, amsgrad=True, fused=True)
    for step in range(1_000_000):
        rows = torch.randint(0, len(inputs), (64,))
        x, y = inputs[rows], targets[rows]
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


if __name__ == "__main__":
    main()
