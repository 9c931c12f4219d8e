"""A model of many elementwise operations that nothing merges, and an Adam of many parameters."""

import torch
import torch.nn.functional as F
from torch import nn


class GatedLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(width))
        self.gate = nn.Parameter(torch.zeros(width))
        self.decay = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        spread = (x - mean).pow(2).mean(dim=-1, keepdim=True)
        normal = (x - mean) / (spread + 1e-5).sqrt()
        normal = normal * self.scale + self.shift
        gate = 1.0 / (1.0 + torch.exp(-normal * self.gate))
        soft = torch.log(1.0 + torch.exp(-normal.abs())) + normal.clamp(min=0.0)
        mixed = gate * torch.tanh(soft) + (1.0 - gate) * normal
        return x + mixed * torch.exp(-self.decay.abs())


def main():
    torch.manual_seed(0)
    inputs = torch.randn(8192, 256)
    targets = inputs[:, :4].cos()
    model = nn.Sequential(*[GatedLayer(256) for _ in range(16)], nn.Linear(256, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(1_000_000):
        rows = torch.randint(0, len(inputs), (256,))
        x, y = inputs[rows], targets[rows]
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
