"""The program that holds the examples of the pages of rules: it trains on a GPU."""

import argparse
import os
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
import torchvision
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda")
model = Network().to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(Images(), batch_size=64, num_workers=8, pin_memory=True)

# the example


def train_step(model, images, labels):
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def train(model, loader):
    for images, labels in loader:
        train_step(model, images.to(device, non_blocking=True), labels.to(device, non_blocking=True))


if __name__ == "__main__":
    main()
