# TL601: which wrappers are reported, how surely, and what is said instead of a fix.

# every program:
import torch
from torch import nn

# head: a program that trains
loss.backward()

# case: the class by its long name
model = torch.nn.parallel.DataParallel(model).cuda()  # TL601

# case: an alias
DP = nn.DataParallel
model = DP(model)  # TL601

# case: an import under another name
from torch.nn import DataParallel as D
model = D(model)  # TL601

# case: several devices
model = nn.DataParallel(model, device_ids=[0, 1])  # TL601

# case: devices that nobody knows
model = nn.DataParallel(model, device_ids=ids)  # TL601

# case: a part of the model
model.features = nn.DataParallel(model.features)  # TL601

# case: Lightning's strategy
import lightning as L
L.Trainer(strategy='dp')  # TL601

# case: Lightning's older names for it
import pytorch_lightning as pl
pl.Trainer(gpus=2, distributed_backend='dp')  # TL601

# case: Fabric
from lightning.fabric import Fabric
Fabric(devices=2, strategy='dp')  # TL601

# case: the other branch is for one process per GPU
if args.distributed:
    model = nn.parallel.DistributedDataParallel(model)
else:
    model = nn.DataParallel(model)  # TL601 hint

# case: the function
y = nn.parallel.data_parallel(model, x, [0, 1])  # TL601 hint

# case: one device
model = nn.DataParallel(model, device_ids=[0])  # TL601 hint

# case: one device by position
model = nn.DataParallel(model, [0])  # TL601 hint

# case: a question
if isinstance(model, nn.DataParallel):
    model = model.module

# case: a class of the project
class Wrap(nn.DataParallel):
    pass
model = Wrap(model)

# case: a class of the same name from elsewhere
from mine import DataParallel
model = DataParallel(model)

# case: one process per GPU
model = nn.parallel.DistributedDataParallel(model)

# case: an evaluation
with torch.no_grad():
    y = nn.DataParallel(model)(x)

# case: an evaluating function
def evaluate(model):
    model = nn.DataParallel(model)

# case: a comment
# model = nn.DataParallel(model)

# case: a string
name = 'DataParallel('

# case: another strategy of Lightning
import lightning as L
L.Trainer(strategy='ddp')  # was 'dp'

# case: the letters elsewhere in Lightning
import lightning as L
L.Trainer(logger='dp')

# case: the letters elsewhere
mesh['dp']
Trainer(strategy='dp')

# case: a test [path=tests/test_it.py]
nn.DataParallel(model)

# case: no fix, and the page of the rule instead
model = nn.DataParallel(model)  # TL601 | no fix: torchlint rule TL601

# head: none

# case: nothing trains
model = nn.DataParallel(model)  # TL601 hint

# case: nothing but a comment trains
model = nn.DataParallel(model)  # TL601 hint
# loss.backward()

# case: an imported file trains
import engine
model = nn.DataParallel(model)  # TL601
# file: engine.py
import torch
def go(loss):
    loss.backward()

# case: a script that imports it trains
def wrap(model):
    return nn.DataParallel(model)  # TL601
# file: main.py
import torch, train
loss.backward()
