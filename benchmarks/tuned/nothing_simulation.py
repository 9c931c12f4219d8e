"""Nothing to gain: the time goes to a simulation in plain Python, not to the training."""

import random

import torch
import torch.nn.functional as F
from torch import nn


def simulate(rng, steps):
    """A ball in a box: where it starts, and how far it is from there in the end."""
    left, up = rng.random(), rng.random()
    start = (left, up)
    side, rise = rng.uniform(-0.1, 0.1), rng.uniform(-0.1, 0.1)
    first = (side, rise)
    for _ in range(steps):
        left += side
        up += rise
        rise -= 0.002
        if left < 0.0 or left > 1.0:
            side = -side
        if up < 0.0 or up > 1.0:
            rise = -0.9 * rise
    return (*start, *first), abs(left - start[0]) + abs(up - start[1])


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng = random.Random(0)
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    for step in range(1_000_000):
        games = [simulate(rng, 4000) for _ in range(64)]
        x = torch.tensor([states for states, _ in games])
        y = torch.tensor([distance for _, distance in games])
        optimizer.zero_grad()
        loss = F.mse_loss(model(x).squeeze(1), y)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
