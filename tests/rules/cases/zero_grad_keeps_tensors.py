# TL401: which `zero_grad` calls are reported for which torch, and what the fix writes.

# every program:
import torch
from torch import nn, optim

# case: an optimizer under another name
o = optim.Adam(ps)
o.zero_grad(set_to_none=False)  # TL401 unsafe

# case: a parameter that sounds like an optimizer
def step(loss, optimizer):
    optimizer.zero_grad(set_to_none=False)  # TL401 unsafe

# case: an attribute
class Trainer:
    def __init__(self, model):
        self.opt_g = optim.SGD(model.parameters(), lr=0.1)

    def step(self):
        self.opt_g.zero_grad(set_to_none=False)  # TL401 unsafe

# case: a module
net = nn.Linear(2, 2)
net.zero_grad(set_to_none=False)  # TL401 unsafe

# case: a module of the file
class Net(nn.Module):
    pass

net = Net()
net.zero_grad(set_to_none=False)  # TL401 unsafe

# case: a module's own method
class Net(nn.Module):
    def reset(self):
        self.zero_grad(set_to_none=False)  # TL401 unsafe

# case: an optimizer of a family of packages that keep torch's method
from accelerate.optimizer import AcceleratedOptimizer
optimizer = AcceleratedOptimizer(base)
optimizer.zero_grad(set_to_none=False)  # TL401 unsafe

# case: something else with the method
meter.zero_grad(set_to_none=False)

# case: a function of that name
zero_grad(False)

# case: an optimizer from a package that nobody knows
from fancy import FancyOptimizer
optimizer = FancyOptimizer(ps)
optimizer.zero_grad(set_to_none=False)

# case: an optimizer of the project
class MyOptimizer(optim.Optimizer):
    pass

optimizer = MyOptimizer(ps)
optimizer.zero_grad(set_to_none=False)

# case: an optimizer of the project in an attribute
from mine import MyOptim

class Trainer:
    def __init__(self, ps):
        self.optimizer = MyOptim(ps)

    def step(self):
        self.optimizer.zero_grad(set_to_none=False)

# case: a module with its own zero_grad
class Net(nn.Module):
    def zero_grad(self, set_to_none=False):
        pass

net = Net()
net.zero_grad(set_to_none=False)

# case: a class that is not a module
class Meter:
    def reset(self):
        self.zero_grad(set_to_none=False)

# case: FSDP
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
model = FSDP(model)
model.zero_grad(set_to_none=False)  # TL401 hint | no fix: keep gradients in buffers of their own

# case: DeepSpeed
import deepspeed
model, optimizer, _, _ = deepspeed.initialize(model=model)
optimizer.zero_grad(set_to_none=False)  # TL401 hint | no fix

# case: Accelerate
from accelerate import Accelerator
accelerator = Accelerator()
optimizer = accelerator.prepare(optim.SGD(model.parameters(), lr=0.1))
optimizer.zero_grad(set_to_none=False)  # TL401 hint | no fix

# case: DeepSpeed with torch 1.13 [torch=1.13]
import deepspeed
model, optimizer, _, _ = deepspeed.initialize(model=model)
optimizer.zero_grad()  # TL401 hint | no fix

# case: a test [path=tests/test_it.py]
optimizer = optim.SGD(model.parameters(), lr=0.1)
optimizer.zero_grad(False)

# case: a bare call with torch 1.6 [torch=1.6]
optimizer = optim.SGD(model.parameters(), lr=0.1)
optimizer.zero_grad()

# case: a bare call with torch 1.7 [torch=1.7]
optimizer = optim.SGD(model.parameters(), lr=0.1)
optimizer.zero_grad()  # TL401

# case: a bare call with torch 1.13 [torch=1.13]
optimizer = optim.SGD(model.parameters(), lr=0.1)
optimizer.zero_grad()  # TL401 | says: With torch 1.13, which this project allows, gradients are filled with zeros

# case: a bare call with torch 2.0 [torch=2.0]
optimizer = optim.SGD(model.parameters(), lr=0.1)
optimizer.zero_grad()

# case: older torch has to be told [torch=1.10]
optimizer = optim.SGD(model.parameters(), lr=0.1)
optimizer.zero_grad(set_to_none=False)  # TL401 unsafe
# becomes: optimizer.zero_grad(set_to_none=True)

# case: older torch has to be told by keyword [torch=1.10]
optimizer = optim.SGD(model.parameters(), lr=0.1)
optimizer.zero_grad(False)  # TL401 unsafe
# becomes: optimizer.zero_grad(set_to_none=True)

# case: older torch has to be told where nothing was said [torch=1.10]
optimizer = optim.SGD(model.parameters(), lr=0.1)
optimizer.zero_grad()  # TL401 unsafe
# becomes: optimizer.zero_grad(set_to_none=True)

# head: an optimizer of torch
optimizer = optim.SGD(model.parameters(), lr=0.1)

# case: an optimizer, by keyword
optimizer.zero_grad(set_to_none=False)  # TL401 unsafe

# case: gradients are read behind a test for None
def norm(model):
    return sum(p.grad.norm() for p in model.parameters() if p.grad is not None)
optimizer.zero_grad(set_to_none=False)  # TL401 unsafe

# case: gradients are freed by hand elsewhere
for p in ps:
    p.grad = None
optimizer.zero_grad(set_to_none=False)  # TL401 unsafe

# case: torch computes gradients of gradients
g = torch.autograd.grad(loss, x)
optimizer.zero_grad(set_to_none=False)  # TL401 unsafe

# case: clipping, which asks for None itself
nn.utils.clip_grad_norm_(ps, 1.0)
optimizer.zero_grad(set_to_none=False)  # TL401 unsafe

# case: bare, which frees since torch 2.0
optimizer.zero_grad()

# case: already freed
optimizer.zero_grad(set_to_none=True)

# case: already freed, by position
optimizer.zero_grad(True)

# case: as somebody decides
optimizer.zero_grad(set_to_none=flag)

# case: arguments that nobody sees
optimizer.zero_grad(*args, **options)

# case: one argument that nobody sees
optimizer.zero_grad(*[], set_to_none=False)

# case: keywords that nobody sees
optimizer.zero_grad(False, **options)

# case: another method of the optimizer
optimizer.step(set_to_none=False)
optimizer.zero_grad()

# case: gradients are added up in place
for p, g in zip(ps, gs):
    p.grad += g
optimizer.zero_grad(set_to_none=False)

# case: gradients are read without a test for None
total = sum(p.grad.norm() for p in ps)
optimizer.zero_grad(set_to_none=False)

# case: CUDA graphs want gradients to stay where they are
g = torch.cuda.CUDAGraph()
optimizer.zero_grad(set_to_none=False)

# case: the argument goes
optimizer.zero_grad(set_to_none=False)  # why  # TL401 unsafe
# becomes: optimizer.zero_grad()  # why

# case: the argument goes by position too
optimizer.zero_grad(False)  # TL401 unsafe
# becomes: optimizer.zero_grad()
