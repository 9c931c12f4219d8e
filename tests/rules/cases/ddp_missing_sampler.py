# TL605: in which programs each process of DDP goes over all of the data.

# every program:
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

# head: a program with DDP
model = DDP(model)
loss.backward()

# case: a loader that shuffles
loader = DataLoader(dataset, batch_size=64, shuffle=True)  # TL605 hint | no fix: needs the epoch | says: `DistributedSampler`

# case: a loader that shuffles, by position
loader = DataLoader(dataset, 64, True)  # TL605 hint

# case: a dataset of this file
dataset = Pictures("train")
loader = DataLoader(dataset, shuffle=True)  # TL605 hint

# case: a part of the dataset, the same for all
train, val = torch.utils.data.random_split(dataset, [0.8, 0.2])
loader = DataLoader(train, shuffle=True)  # TL605 hint

# case: the loader is made in another file [bare]
from torch.utils.data import DataLoader
def make(dataset):
    return DataLoader(dataset, shuffle=True)  # TL605 hint
# file: main.py
from train import make
from torch.nn.parallel import DistributedDataParallel
model = DistributedDataParallel(model)
for x in make(dataset):
    model(x).mean().backward()

# case: no order of its own
loader = DataLoader(dataset, batch_size=64)

# case: an option decides
loader = DataLoader(dataset, shuffle=sampler is None, sampler=sampler)

# case: a sampler, and a loader for one process
from torch.utils.data.distributed import DistributedSampler
if distributed:
    loader = DataLoader(dataset, sampler=DistributedSampler(dataset))
else:
    loader = DataLoader(dataset, shuffle=True)

# case: a sampler in another file
from samplers import sampler_for
loader = DataLoader(dataset, shuffle=True)
# file: samplers.py
class DistributedWeightedSampler:
    pass

# case: a dataset that is made with the rank
loader = DataLoader(Pictures(rank=rank), shuffle=True)

# case: a dataset that is made with the rank before
dataset = Pictures("train", part=dist.get_rank())
loader = DataLoader(dataset, shuffle=True)

# case: Accelerate inserts a sampler
from accelerate import Accelerator
accelerator = Accelerator()
loader = DataLoader(dataset, shuffle=True)

# case: Lightning inserts a sampler
import lightning as L
class Net(L.LightningModule):
    pass
loader = DataLoader(dataset, shuffle=True)

# case: Fabric inserts a sampler
from lightning.fabric import Fabric
loader = Fabric(devices=2).setup_dataloaders(DataLoader(dataset, shuffle=True))

# case: an evaluation
def evaluate(model, dataset):
    for x in DataLoader(dataset, shuffle=True):
        model(x)

# case: a test [path=tests/test_it.py]
loader = DataLoader(dataset, shuffle=True)

# head: none

# case: one process
loader = DataLoader(dataset, shuffle=True)
loss.backward()

# case: nothing trains
model = DDP(model)
loader = DataLoader(dataset, shuffle=True)
