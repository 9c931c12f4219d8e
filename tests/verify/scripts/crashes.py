"""Its sixth batch lacks the labels."""

import torch
from torch import nn


def batch(step):
    inputs = torch.randn(256, 64)
    return {"inputs": inputs} if step == 5 else {"inputs": inputs, "labels": inputs[:, :4].sin()}


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(100_000):
        data = batch(step)
        optimizer.zero_grad(set_to_none=False)
        nn.functional.mse_loss(model(data["inputs"]), data["labels"]).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
