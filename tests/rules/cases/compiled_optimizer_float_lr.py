# TL511: which compiled optimizers have a learning rate that compiles them again.

# every program:
import torch
from torch.optim.lr_scheduler import StepLR

# head: none

# case: a compiled function
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)  # TL511 hint unsafe
# becomes: optimizer = torch.optim.SGD(model.parameters(), lr=torch.tensor(0.1), momentum=0.9)
scheduler = StepLR(optimizer, 100)
@torch.compile
def update():
    optimizer.step()

# case: the method itself
optimizer = torch.optim.Adam(model.parameters(), 1e-3)  # TL511 hint unsafe
# becomes: optimizer = torch.optim.Adam(model.parameters(), torch.tensor(1e-3))
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer=optimizer, max_lr=0.1)
update = torch.compile(optimizer.step)

# case: a rate of the command line
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr * 4)  # TL511 hint unsafe
# becomes: optimizer = torch.optim.SGD(model.parameters(), lr=torch.tensor(args.lr * 4))
scheduler = StepLR(optimizer, 100)
update = torch.compile(optimizer.step)

# case: the default rate
optimizer = torch.optim.Adam(model.parameters())  # TL511 hint | no fix: not written here
scheduler = StepLR(optimizer, 100)
update = torch.compile(optimizer.step)

# case: an attribute
class Trainer:
    def __init__(self, model):
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)  # TL511 hint
        self.scheduler = StepLR(self.optimizer, 100)
    @torch.compile
    def update(self):
        self.optimizer.step()

# case: a function inside
def train(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # TL511 hint
    scheduler = StepLR(optimizer, 100)
    @torch.compile(fullgraph=False)
    def update():
        optimizer.step()

# case: several parameters at once
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=True)  # TL511 hint | no fix: foreach
scheduler = StepLR(optimizer, 100)
update = torch.compile(optimizer.step)

# case: torch has no name [bare]
from torch import compile, optim
optimizer = optim.SGD(model.parameters(), lr=0.1)  # TL511 hint | no fix: not written here
scheduler = optim.lr_scheduler.StepLR(optimizer, 100)
update = compile(optimizer.step)

# case: a tensor
optimizer = torch.optim.SGD(model.parameters(), lr=torch.tensor(0.1))
scheduler = StepLR(optimizer, 100)
update = torch.compile(optimizer.step)

# case: a name for a tensor
rate = torch.tensor(0.1)
optimizer = torch.optim.SGD(model.parameters(), lr=rate)
scheduler = StepLR(optimizer, 100)
update = torch.compile(optimizer.step)

# case: a fused kernel
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
scheduler = StepLR(optimizer, 100)
update = torch.compile(optimizer.step)

# case: keywords that nobody knows
optimizer = torch.optim.SGD(model.parameters(), **options)
scheduler = StepLR(optimizer, 100)
update = torch.compile(optimizer.step)

# case: a rate that stays
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
update = torch.compile(optimizer.step)

# case: a scheduler of another optimizer
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = StepLR(other, 100)
wrapped = torch.jit.ignore(optimizer)
update = torch.compile(optimizer.step)

# case: a step that is not compiled
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = StepLR(optimizer, 100)
model = torch.compile(model)
schedule = torch.compile(optimizer.rates)
def update():
    run(optimizer.step)
    optimizer.step()

# case: gradients that are cleared in a compiled function
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = StepLR(optimizer, 100)
@torch.compile
def clear():
    optimizer.zero_grad()

# case: an optimizer that another one replaces
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.step()
optimizer = torch.optim.SGD(model.parameters(), lr=torch.tensor(0.1))
scheduler = StepLR(optimizer, 100)
update = torch.compile(optimizer.step)

# case: the attribute of another object
class Trainer:
    def __init__(self, model, other):
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        self.scheduler = StepLR(other.optimizer, 100)
        self.update = torch.compile(self.optimizer.step)

# case: an optimizer in a table
table["slow"] = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = StepLR(table["slow"], 100)
update = torch.compile(table["slow"].step)

# case: an optimizer without a name
run(torch.optim.SGD(model.parameters(), lr=0.1))
scheduler = StepLR(optimizer, 100)
update = torch.compile(optimizer.step)

# case: an optimizer of another library
optimizer = apex.optimizers.FusedSGD(model.parameters(), lr=0.1)
scheduler = StepLR(optimizer, 100)
update = torch.compile(optimizer.step)

# case: before torch took tensors [torch=2.2]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = StepLR(optimizer, 100)
update = torch.compile(optimizer.step)

# case: a test [path=tests/test_update.py]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = StepLR(optimizer, 100)
update = torch.compile(optimizer.step)
