"""Observations become a tensor number by number, and returns are added up in a Python loop."""

import numpy as np
import torch
from torch import nn


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    observations = [rng.standard_normal(512).astype(np.float32) for _ in range(4096)]
    rewards = torch.from_numpy(rng.standard_normal(4096).astype(np.float32))
    model = nn.Sequential(
        nn.Linear(512, 128),
        nn.Tanh(),
        nn.Linear(128, 128),
        nn.Tanh(),
        nn.Linear(128, 6),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    seen = 0.0
    for step in range(1_000_000):
        rows = rng.integers(0, len(observations), 1024)
        x = torch.tensor([observations[row] for row in rows])
        picked = rewards[torch.from_numpy(rows)]
        total = 0.0
        for i in range(len(picked)):
            total += picked[i].item()
        seen += total
        scaled = torch.stack([row * 0.5 for row in x])
        optimizer.zero_grad()
        logits = model(scaled)
        chosen = torch.log_softmax(logits, dim=-1)[:, 0]
        loss = -(chosen * (picked - picked.mean())).mean()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
