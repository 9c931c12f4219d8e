"""Nothing to gain: large products of matrices that are compiled and in bfloat16 already."""

import torch
import torch.nn.functional as F
from torch import nn


def main():
    torch.manual_seed(0)
    inputs = torch.randn(8192, 1024)
    targets = torch.randint(0, 64, (8192,))
    model = nn.Sequential(
        nn.Linear(1024, 1024),
        nn.ReLU(),
        nn.Linear(1024, 1024),
        nn.ReLU(),
        nn.Linear(1024, 1024),
        nn.ReLU(),
        nn.Linear(1024, 64),
    )
    model = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    for step in range(1_000_000):
        start = step % 8 * 1024
        x, y = inputs[start : start + 1024], targets[start : start + 1024]
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
