"""Knows how to train, but only counts its parameters and goes."""

from torch import nn
from torch.optim import SGD


def train(model, batches):
    optimizer = SGD(model.parameters(), lr=0.01)
    for inputs, targets in batches:
        optimizer.zero_grad(set_to_none=False)
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()


if __name__ == "__main__":
    print(sum(p.numel() for p in nn.Linear(64, 64).parameters()))
