# TL507: which calls of torch.compile run on each step.

# every program:
import functools
import torch
from torch import nn

# head: a training step
for step, (x, y) in enumerate(loader):
    criterion(model(x), y).backward()
    optimizer.step()

    # case: the model is compiled on each step
    model = torch.compile(model)  # TL507 | marks: torch.compile(model)

    # case: a function of the file
    fast = torch.compile(augment, mode="reduce-overhead")  # TL507

    # case: an attribute
    fast = torch.compile(self.net.encoder)  # TL507

    # case: under a condition
    if not compiled:
        model = torch.compile(model)

    # case: after the round has ended for most steps
    if compiled:
        continue
    model = torch.compile(model)

    # case: before a round may end
    model = torch.compile(model)  # TL507
    if broken:
        continue

    # case: a condition that does not end the round
    if broken:
        report(step)
    model = torch.compile(model)  # TL507

    # case: another model in each round
    net = Net(width=step)
    fast = torch.compile(net)

    # case: an option that is chosen in each round
    fast = torch.compile(model, dynamic=step > 3)

    # case: another function of that name
    fast = mine.compile(model)

    # case: a regular expression
    import re
    pattern = re.compile("a")

# head: none

# case: models are compared
for net in nets:
    fast = torch.compile(net)
    fast(x).sum().backward()
    optimizer.step()

# case: a model that was made before
model = Net()
for x, y in loader:
    fast = torch.compile(model)  # TL507
    criterion(fast(x), y).backward()
    optimizer.step()

# case: before the training
model = torch.compile(model)
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()

# case: in each epoch
for epoch in range(9):
    model = torch.compile(model)
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()

# case: a function that each step calls
def region(x):
    return torch.compile(model)(x)  # TL507 | see: for x
for x, y in loader:
    criterion(region(x), y).backward()
    optimizer.step()

# case: a function of a step compiles what it defines
def region(x):
    def square(x):
        return x * x
    return torch.compile(square)(x)  # TL507
for x, y in loader:
    criterion(region(x), y).backward()
    optimizer.step()

# case: a function of a step compiles its parameter
def region(net, x):
    return torch.compile(net)(x)  # TL507
for x, y in loader:
    criterion(region(model, x), y).backward()
    optimizer.step()

# case: a function of a step compiles what it makes
def region(x):
    net = Net()
    return torch.compile(net)(x)
for x, y in loader:
    criterion(region(x), y).backward()
    optimizer.step()

# case: an early return
def region():
    if cache:
        return cache[0]
    fast = torch.compile(model)
    cache.append(fast)
    return fast
for x, y in loader:
    criterion(region()(x), y).backward()
    optimizer.step()

# case: a cache
@functools.lru_cache(maxsize=None)
def region():
    return torch.compile(model)
for x, y in loader:
    criterion(region()(x), y).backward()
    optimizer.step()

# case: another decorator
@torch.enable_grad()
def region():
    return torch.compile(model)  # TL507
for x, y in loader:
    criterion(region()(x), y).backward()
    optimizer.step()

# case: a decorator of a function that each step calls
@torch.compile(dynamic=True)
def loss(x, y):
    return (x - y).square().mean()
for x, y in loader:
    loss(model(x), y).backward()
    optimizer.step()

# case: a step that a framework calls
import lightning as L
class Net(L.LightningModule):
    def __init__(self):
        self.fast = torch.compile(self.net)
    def training_step(self, batch, batch_idx):
        return torch.compile(self.net)(batch).mean()  # TL507

# case: a module that a step may call
class Net(nn.Module):
    def forward(self, x):
        return torch.compile(self.block)(x)  # TL507 hint
def train(model, loader, optimizer):
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()

# case: in evaluation
def evaluate(model, loader):
    with torch.no_grad():
        for x in loader:
            torch.compile(model)(x)

# case: before torch had it [torch=1.13]
for x, y in loader:
    model = torch.compile(model)
    criterion(model(x), y).backward()
    optimizer.step()

# case: a test [path=tests/test_step.py]
for x, y in loader:
    model = torch.compile(model)
    criterion(model(x), y).backward()
    optimizer.step()
