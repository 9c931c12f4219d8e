"""The main thread waits while another one trains."""

import os
import threading

import torch
from torch import nn


def train(steps):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(steps):
        inputs = torch.randn(128, 64)
        optimizer.zero_grad(set_to_none=False)
        loss = nn.functional.mse_loss(model(inputs), inputs[:, :4].sin())
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    trainer = threading.Thread(target=train, args=(int(os.environ.get("STEPS", "100000")),))
    trainer.start()
    trainer.join()
