# TL901: scripts that leave a GPU idle, since nothing in the program mentions one.

# head: a script that trains
import torch
from torch import nn
from torch.utils.data import DataLoader
model = nn.Sequential(nn.Conv2d(3, 64, 3), nn.Flatten(), nn.LazyLinear(10))
loader = DataLoader(dataset, batch_size=64)

# case: a step loop
for images, labels in loader:  # TL901 hint | no fix: what is created | says: moves the model | marks: loader
    criterion(model(images), labels).backward()
    optimizer.step()

# case: two step loops
for images, labels in loader:  # TL901 hint
    criterion(model(images), labels).backward()
    optimizer.step()
for images, labels in loader:
    criterion(model(images), labels).backward()
    optimizer.step()

# case: a script that moves its batches
for images, labels in loader:
    criterion(model(images.cuda()), labels.cuda()).backward()
    optimizer.step()

# case: a script that moves to somewhere
for images, labels in loader:
    criterion(model(images.to(place)), labels.to(place)).backward()
    optimizer.step()

# case: a script that says why
# on the CPU: the network is tiny
for images, labels in loader:
    criterion(model(images), labels).backward()
    optimizer.step()

# case: a device that an option chooses
for images, labels in loader:
    criterion(model(images), labels).backward()
    optimizer.step()
args.device = None

# case: an owner of the training
from accelerate import Accelerator
for images, labels in loader:
    criterion(model(images), labels).backward()
    optimizer.step()

# case: an environment
import gymnasium as gym
for images, labels in loader:
    criterion(model(images), labels).backward()
    optimizer.step()

# case: a test [path=tests/test_train.py]
for images, labels in loader:
    criterion(model(images), labels).backward()
    optimizer.step()

# case: a program that does not train
for images, labels in loader:
    criterion(model(images), labels)

# case: a file of the program moves them
from helpers import load
for images, labels in map(load, loader):
    criterion(model(images), labels).backward()
    optimizer.step()
# file: helpers.py
def load(batch):
    return [each.cuda() for each in batch]

# head: none

# case: no batches
import torch
from torch import nn
model = nn.Conv2d(3, 64, 3)
for step in range(100):
    model(images).mean().backward()
    optimizer.step()

# case: linear layers
import torch
from torch import nn
from torch.utils.data import DataLoader
model = nn.Linear(3, 64)
for images, labels in DataLoader(dataset):
    criterion(model(images), labels).backward()
    optimizer.step()

# case: a model of another file
import torch
from network import Network
from torch.utils.data import DataLoader
model = Network()
for texts, labels in DataLoader(dataset):  # TL901 hint
    criterion(model(texts), labels).backward()
    optimizer.step()
# file: network.py
from torch import nn
class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.LSTM(64, 64)

# case: no script
import torch
from torch import nn
from torch.utils.data import DataLoader
def train(dataset):
    model = nn.Conv2d(3, 64, 3)
    for images, labels in DataLoader(dataset):
        criterion(model(images), labels).backward()
        optimizer.step()
