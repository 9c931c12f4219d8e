"""Takes arguments, has a guard, evaluates and lowers its learning rate between epochs."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train_one_epoch(model, loader, optimizer):
    for inputs, labels in loader:
        optimizer.zero_grad(set_to_none=False)
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


@torch.no_grad()
def accuracy(model, loader):
    hits = sum((model(inputs).argmax(1) == labels).sum() for inputs, labels in loader)
    return int(hits) / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--width", type=int, default=256)
    args = parser.parse_args()
    inputs = torch.randn(640, 32)
    loader = DataLoader(TensorDataset(inputs, inputs.argmax(1)), batch_size=64, shuffle=True)
    model = nn.Sequential(nn.Linear(32, args.width), nn.Dropout(0.1), nn.Linear(args.width, 32))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10)
    for epoch in range(args.epochs):
        train_one_epoch(model, loader, optimizer)
        scheduler.step()
        print(f"epoch {epoch}: {accuracy(model, loader):.1%}")


if __name__ == "__main__":
    main()
