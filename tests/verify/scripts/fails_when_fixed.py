"""Another file reads gradients after `zero_grad`: with None in their place it crashes."""

import torch
from gradient_log import largest
from torch import nn


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(100_000):
        inputs = torch.randn(256, 64)
        loss = nn.functional.mse_loss(model(inputs), inputs[:, :4].sin())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        if step % 10 == 0:
            largest(model)


if __name__ == "__main__":
    main()
