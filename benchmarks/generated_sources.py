"""Python files to measure on: a training script of any length, and code without torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = '''\
"""Trains several small image classifiers, one after the other."""

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
from torchvision import datasets, transforms

'''

_UNIT = '''
class Block{n}(nn.Module):
    """Two convolutions and a shortcut."""

    def __init__(self, planes_in, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(planes_in, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or planes_in != planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(planes_in, planes, 1, stride=stride), nn.BatchNorm2d(planes)
            )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out)) + self.shortcut(x)
        return F.relu(out)


class Arrays{n}(Dataset):
    def __init__(self, size, train=True):
        self.images = np.random.rand(size, 3, 32, 32).astype(np.float32)
        self.labels = np.random.randint(0, 10, size)
        self.train = train

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        if self.train and np.random.rand() < 0.5:
            image = image[:, :, ::-1].copy()
        return torch.tensor(image), int(self.labels[index])


def accuracy_{n}(output, target):
    predicted = output.argmax(dim=1)
    return (predicted == target).float().mean().item()


def train_{n}(model, loader, optimizer, criterion, device, epoch):
    model.train()
    running, correct = 0.0, 0.0
    for step, (images, labels) in enumerate(loader):
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad(set_to_none=False)
        output = model(images)
        loss = criterion(output, labels)
        loss.backward()
        optimizer.step()
        running += loss.item()
        correct += accuracy_{n}(output, labels)
        if step % 100 == 0:
            print("epoch", epoch, "step", step, "loss", loss.item())
    return running / len(loader), correct / len(loader)


@torch.no_grad()
def evaluate_{n}(model, loader, criterion, device):
    model.eval()
    total = 0.0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        total += criterion(model(images), labels).item()
    return total / len(loader)


def run_{n}(args):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.DataParallel(nn.Sequential(Block{n}(3, 16), Block{n}(16, 32, 2))).to(device)
    transform = transforms.Compose([transforms.ToTensor()])
    train_set = datasets.CIFAR10(args.data, transform=transform)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(Arrays{n}(1000, train=False), batch_size=args.batch_size)
    criterion = nn.CrossEntropyLoss().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        loss, score = train_{n}(model, train_loader, optimizer, criterion, device, epoch)
        print(epoch, loss, score, evaluate_{n}(model, test_loader, criterion, device))

'''

_TAIL = """
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="data")
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()
{calls}

if __name__ == "__main__":
    main()
"""

_PLAIN = '''\
"""Accounts of branch {n}."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Account{n}:
    owner: str
    balance: float = 0.0

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError(f"cannot deposit {{amount}}")
        self.balance += amount
        return self.balance


'''

_PLAIN_UNIT = '''\
def load_{n}_{m}(path):
    """Reads the accounts of one month."""
    accounts = {{}}
    with Path(path).open(newline="") as file:
        for row in csv.DictReader(file):
            account = accounts.setdefault(row["owner"], Account{n}(row["owner"]))
            account.deposit(float(row["amount"]))
    return json.dumps([vars(account) for account in accounts.values()])


'''


def training_script(lines: int) -> str:
    """A script of about this many lines: functions and classes that repeat under new names."""
    units = max(1, round(lines / _UNIT.count("\n")))
    calls = "".join(f"    run_{n}(args)\n" for n in range(units))
    body = "".join(_UNIT.replace("{n}", str(n)) for n in range(units))
    return _HEAD + body + _TAIL.replace("{calls}", calls)


def write_plain_files(folder: Path, count: int) -> None:
    """Files of about 120 lines each that have nothing to do with torch."""
    folder.mkdir()
    for n in range(count):
        parts = [_PLAIN.format(n=n), *(_PLAIN_UNIT.format(n=n, m=m) for m in range(10))]
        (folder / f"branch_{n:03}.py").write_text("".join(parts), encoding="utf-8")
