"""Accelerate wraps model, optimizer and loader, and accumulates."""

import os

import torch
from accelerate import Accelerator
from curves import Curves
from torch import nn
from torch.utils.data import DataLoader


def main():
    torch.manual_seed(0)
    accelerator = Accelerator(gradient_accumulation_steps=2, cpu=True)
    model = nn.Sequential(nn.Linear(4096, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = DataLoader(Curves(512), batch_size=8, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for _ in range(int(os.environ.get("STEPS", "100000"))):
        for batch in loader:
            with accelerator.accumulate(model):
                slopes = model(batch["points"]).squeeze(1)
                loss = nn.functional.mse_loss(slopes, batch["labels"])
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()


if __name__ == "__main__":
    main()
