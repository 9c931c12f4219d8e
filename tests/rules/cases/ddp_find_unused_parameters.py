# TL602: where DDP is told to look for unused parameters, and which models have some.

# every program:
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

# head: a program that trains
loss.backward()

# case: the class
model = DDP(model, device_ids=[rank], find_unused_parameters=True)  # TL602 hint unsafe | says: walks the autograd graph
# becomes: model = DDP(model, device_ids=[rank])

# case: the class by its long name
model = torch.nn.parallel.DistributedDataParallel(  # TL602 hint
    model,
    find_unused_parameters=True,
    # removed
    device_ids=[rank],
)

# case: a strategy of Lightning
import lightning as L
L.Trainer(devices=4, strategy="ddp_find_unused_parameters_true")  # TL602 hint unsafe
# becomes: L.Trainer(devices=4, strategy="ddp")

# case: a strategy of Lightning that starts processes in another way
from pytorch_lightning import Trainer
Trainer(strategy='ddp_spawn_find_unused_parameters_true')  # TL602 hint unsafe
# becomes: Trainer(strategy='ddp_spawn')

# case: a strategy of Fabric
from lightning.fabric import Fabric
Fabric(strategy="ddp_fork_find_unused_parameters_true")  # TL602 hint
Fabric(strategy="ddp_notebook_find_unused_parameters_true")  # TL602 hint

# case: an object for a strategy of Lightning
from lightning.pytorch.strategies import DDPStrategy
strategy = DDPStrategy(find_unused_parameters=True)  # TL602 hint unsafe
# becomes: strategy = DDPStrategy()

# case: an object for a strategy of Fabric
from lightning.fabric.strategies import DDPStrategy
strategy = DDPStrategy(find_unused_parameters=True)  # TL602 hint

# case: arguments for Accelerate
from accelerate import DistributedDataParallelKwargs
handlers = [DistributedDataParallelKwargs(find_unused_parameters=True)]  # TL602 hint
# becomes: handlers = [DistributedDataParallelKwargs()]

# case: a model of this file that always runs all layers
class Net(nn.Module):
    def forward(self, x):
        return self.out(self.hidden(x))
model = DDP(Net(), find_unused_parameters=True)  # TL602 hint

# case: a model without a forward of its own
class Net(nn.Sequential):
    pass
model = DDP(Net(), find_unused_parameters=True)  # TL602 hint

# case: a model of this file that chooses a head
class Net(nn.Module):
    def forward(self, x, task):
        if task == 0:
            return self.first(x)
        return self.second(x)
net = Net().cuda()
model = DDP(net, find_unused_parameters=True)

# case: a model of this file that chooses a layer in an expression
class Net(nn.Module):
    def forward(self, x, task):
        return self.first(x) if task == 0 else self.second(x)
model = DDP(Net(), find_unused_parameters=True)

# case: they are looked for once
model = DDP(model, find_unused_parameters=True, static_graph=True)

# case: the graph may change
model = DDP(model, find_unused_parameters=True, static_graph=False)  # TL602 hint

# case: off
model = DDP(model, find_unused_parameters=False)

# case: an option decides
model = DDP(model, find_unused_parameters=args.unused)

# case: another strategy
import lightning as L
L.Trainer(strategy="ddp_find_unused_parameters_false")

# case: a function of the project
from wrapping import wrap
model = wrap(model, find_unused_parameters=True)

# case: a test [path=tests/test_it.py]
model = DDP(model, find_unused_parameters=True)

# case: a discriminator
model = DDP(model, find_unused_parameters=True)
discriminator = DDP(Critic(), find_unused_parameters=True)

# case: layers that are skipped
model = DDP(Encoder(layerdrop=0.1), find_unused_parameters=True)

# case: layers of another file that are skipped
from encoder import Encoder
model = DDP(Encoder(), find_unused_parameters=True)
# file: encoder.py
class Encoder:
    layer_drop = 0.1

# case: layers that learn later
model = DDP(model, find_unused_parameters=True)
for p in backbone.parameters():
    p.requires_grad = True

# case: experts
model = DDP(MoE(experts=8), find_unused_parameters=True)

# head: none

# case: nothing trains
model = DDP(model, find_unused_parameters=True)
