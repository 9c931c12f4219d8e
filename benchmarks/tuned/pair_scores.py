"""Attention in float64 is written by hand, and each step prints whole tensors."""

import math
import os

import torch
import torch.nn.functional as F
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        mask = torch.ones(length, length, dtype=torch.bool).triu(1)
        self.register_buffer("mask", mask)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x):
        q = self.split(self.query(x))
        k = self.split(self.key(x))
        v = self.split(self.value(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        scores = scores.masked_fill(self.mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return x + (weights @ v).transpose(1, 2).flatten(2)


def main():
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    series = torch.randn(512, 512, 32).cumsum(dim=1) * 0.1
    model = nn.Sequential(
        SelfAttention(32, 4, 512),
        nn.LayerNorm(32),
        SelfAttention(32, 4, 512),
        nn.LayerNorm(32),
        nn.Linear(32, 1),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    seen = 0.0
    sink = open(os.devnull, "w")
    for step in range(1_000_000):
        x = series[torch.randint(0, len(series), (2,))]
        y = x.mean(dim=-1).tanh()
        optimizer.zero_grad()
        prediction = model(x).squeeze(-1)
        loss = F.mse_loss(prediction, y)
        loss.backward()
        optimizer.step()
        seen += loss.item()
        print(step, loss.item(), prediction.tolist(), x[0].tolist(), file=sink)


if __name__ == "__main__":
    main()
