# TL501: which programs could train in mixed precision and say nothing of it.

# every program:
import torch
from torch import nn
device = torch.device("cuda")

# head: a program that trains convolutions
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU()).to(device)

# case: a loop at the top level
for x, y in loader:  # TL501 pedantic | marks: loader
    criterion(model(x), y).backward()
    optimizer.step()

# case: the first loop of two
for x, y in loader:  # TL501 pedantic
    criterion(model(x), y).backward()
    optimizer.step()
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()

# case: a function that takes a step
def step(x, y):  # TL501 pedantic | marks: step
    criterion(model(x), y).backward()
    optimizer.step()

# head: a training loop that another file calls
# file: loop.py
def train(model, loader, optimizer):
    for x, y in loader:  # TL501 pedantic
        loss(model(x), y).backward()
        optimizer.step()

# case: convolutions are made in one file and trained in another
import loop
model = nn.Conv2d(3, 8, 3).to(device)

# case: a model zoo
import loop, torchvision.models as models
model = models.resnet18().cuda()

# case: a network of a library, by its name
import loop
from monai.networks.nets import UNet
model = UNet(3, 1, 2, channels=(16, 32), strides=(2,)).cuda()

# case: a network of the zoo that is chosen by name
import loop, torchvision.models as models
model = models.__dict__[arch]().cuda()

# head: none

# case: a network of linear layers
model = nn.Linear(8, 8).to(device)
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()

# case: convolutions in a comment
model = nn.Linear(8, 8).to(device)  # nn.Conv2d(3, 8, 3)
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()

# head: a program that trains attention
model = nn.TransformerEncoder(layer, 6).to(device)
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()

# case: an autocast region in another file
import regions
# file: regions.py
import torch
region = torch.autocast("cuda")

# case: half precision throughout
model.half()

# case: a number format of the configuration
dtype = config["bfloat16"]

# case: DeepSpeed
import deepspeed

# case: double precision
torch.set_default_dtype(kind)

# case: Accelerate
from accelerate import Accelerator
accelerator = Accelerator()

# case: Fabric
import lightning as L
fabric = L.Fabric()

# case: Lightning
import lightning as L
class Net(L.LightningModule):
    pass

# case: Transformers
from transformers import TrainingArguments
args = TrainingArguments("out")

# case: fastai
from fastai.vision.all import *

# case: reinforcement learning
import gymnasium

# case: an environment of its own
state = env.step(action)

# case: a TPU
import torch_xla

# head: none

# case: on a CPU
device = torch.device("cpu")
# file: loop.py
from torch import nn
model = nn.Conv2d(3, 8, 3)
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()

# case: before autocast for all devices [torch=1.9]
model = nn.Conv2d(3, 8, 3).to(device)
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()

# case: a test [path=tests/test_loop.py]
model = nn.Conv2d(3, 8, 3).to(device)
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()
