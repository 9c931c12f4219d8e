# TL603: which backward passes of DDP average gradients that are only accumulated.

# every program:
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

# head: a program with DDP
model = DDP(model)

# case: a step after every eighth batch
for index, x in enumerate(loader):
    loss = model(x).mean() / 8
    loss.backward()  # TL603 hint | no fix: the forward pass | says: `no_sync()` for the others
    if (index + 1) % 8 == 0:
        optimizer.step()
        optimizer.zero_grad()

# case: with a scaler, and at the end
for index, x in enumerate(loader):
    scaler.scale(model(x).mean()).backward()  # TL603 hint
    if index % accumulate == 0 or index + 1 == len(loader):
        scaler.step(optimizer)
        scaler.update()

# case: a loop over small batches
while True:
    for micro_step in range(gradient_accumulation_steps):
        model(next(batches)).mean().backward()  # TL603 hint
    optimizer.step()

# case: the model is wrapped in another file [bare]
import torch
def train(model, loader, optimizer):
    for index, x in enumerate(loader):
        model(x).mean().backward()  # TL603 hint
        if index % 4 == 0:
            optimizer.step()
# file: main.py
from train import train
from torch.nn.parallel import DistributedDataParallel
train(DistributedDataParallel(model), loader, optimizer)

# case: gradients stay in their process
for index, x in enumerate(loader):
    with model.no_sync() if index % 8 else nothing():
        model(x).mean().backward()
    if index % 8 == 0:
        optimizer.step()

# case: the switch of DDP itself
for micro_step in range(accumulation_steps):
    model.require_backward_grad_sync = micro_step == accumulation_steps - 1
    model(next(batches)).mean().backward()
optimizer.step()

# case: Accelerate sees to it
for index, x in enumerate(loader):
    with accelerator.accumulate(model):
        accelerator.backward(model(x).mean())
        if index % 8 == 0:
            optimizer.step()

# case: another thing is accumulated
for index, x in enumerate(loader):
    model(x).mean().backward()  # TL603 hint
    if index % 8 == 0:
        optimizer.step()
evaluator.accumulate()

# case: sharded parameters
from torch.distributed.fsdp import FSDP
for index, x in enumerate(loader):
    model(x).mean().backward()
    if index % 8 == 0:
        optimizer.step()

# case: a step after each batch
for index, x in enumerate(loader):
    model(x).mean().backward()
    optimizer.step()
    if index % 8 == 0:
        print(index)

# case: one of two optimizers steps on each batch
for index, x in enumerate(loader):
    model(x).mean().backward()
    critic_optimizer.step()
    if index % 8 == 0:
        optimizer.step()

# case: the backward pass is rare as well
for index, x in enumerate(loader):
    y = model(x)
    if index % 8 == 0:
        y.mean().backward()
        optimizer.step()

# case: steps under a condition that does not count
for index, x in enumerate(loader):
    model(x).mean().backward()
    if valid - 1:
        optimizer.step()

# case: several backward passes for a step
while True:
    for scale in (0.5, 1.0):
        model(x * scale).mean().backward()
    optimizer.step()

# case: a loop that runs while there is something
while accum < 8:
    model(next(batches)).mean().backward()

# case: no loop
model(x).mean().backward()

# case: a test [path=tests/test_it.py]
for index, x in enumerate(loader):
    model(x).mean().backward()
    if index % 8 == 0:
        optimizer.step()

# head: none

# case: one process
for index, x in enumerate(loader):
    model(x).mean().backward()
    if index % 8 == 0:
        optimizer.step()
