"""Each step dumps the weights as JSON; a default Adam updates many parameters."""

import json
import os

import torch
import torch.nn.functional as F
from torch import nn


def main():
    torch.manual_seed(0)
    inputs = torch.randn(20_000, 48)
    targets = inputs[:, :3].abs().log1p()
    layers = []
    for _ in range(64):
        layers += [nn.Linear(48, 48), nn.LayerNorm(48), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(48, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    seen = 0.0
    stream = open(os.devnull, "w")
    for step in range(1_000_000):
        rows = torch.randint(0, len(inputs), (64,))
        x, y = inputs[rows], targets[rows]
        optimizer.zero_grad()
        prediction = model(x)
        loss = F.mse_loss(prediction, y)
        loss.backward()
        optimizer.step()
        seen += loss.item()
        if step % 50 == 0:
            json.dump(
                {"step": step, "weights": [w.tolist() for w in model[:48].parameters()]}, stream
            )


if __name__ == "__main__":
    main()
