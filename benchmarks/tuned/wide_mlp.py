"""Wide layers in float32, a table that is copied in each step, and a log of whole tensors."""

import logging
import os

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

log = logging.getLogger("training")


def main():
    torch.manual_seed(0)
    log.setLevel(logging.INFO)
    log.addHandler(logging.FileHandler(os.devnull))
    rng = np.random.default_rng(0)
    features = rng.standard_normal((8192, 1024), dtype=np.float32)
    targets = rng.integers(0, 100, 8192)
    model = nn.Sequential(
        nn.Linear(1024, 1024),
        nn.ReLU(),
        nn.Linear(1024, 1024),
        nn.ReLU(),
        nn.Linear(1024, 1024),
        nn.ReLU(),
        nn.Linear(1024, 100),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(1_000_000):
        rows = torch.randint(0, len(features), (256,))
        x = torch.tensor(features)[rows]
        y = torch.tensor(targets)[rows]
        optimizer.zero_grad()
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        loss.backward()
        optimizer.step()
        log.info("step %d: loss %s, logits %s", step, loss, logits.tolist())


if __name__ == "__main__":
    main()
