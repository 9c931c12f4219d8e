# TL510: which results of torch.compile nobody uses.

# every program:
import torch
from torch import nn

# head: none

# case: a statement of its own
def train(model, loader):
    torch.compile(model, mode="max-autotune")  # TL510 unsafe
    # becomes: model = torch.compile(model, mode="max-autotune")
    for x, y in loader:
        step(model, x, y)

# case: a statement of its own at the top level
model = Net()
torch.compile(model)  # TL510 unsafe
# becomes: model = torch.compile(model)
train(model)

# case: an attribute
class Trainer:
    def __init__(self, net):
        self.net = net
        torch.compile(self.net)  # TL510 unsafe
        # becomes: self.net = torch.compile(self.net)

# case: another name for it that is never read
def train(model, loader):
    fast = torch.compile(model)  # TL510 unsafe
    # becomes: model = torch.compile(model)
    for x, y in loader:
        step(model, x, y)

# case: another name for it that is read
def train(model, loader):
    fast = torch.compile(model)
    for x, y in loader:
        step(fast, x, y)

# case: a name that a function inside reads
def train(model, loader):
    fast = torch.compile(model)
    def step(x):
        return fast(x)
    return run(step, loader)

# case: the caller keeps the other model
def prepare(model):
    model = torch.compile(model)  # TL510 | no fix: nothing here uses the model

# case: the caller keeps the other model, after another use here
def prepare(model):
    print(model)
    torch.compile(model)  # TL510 | no fix: nothing here uses the model

# case: a model of another function
model = Net()
def prepare():
    torch.compile(model)  # TL510 | no fix: nothing here uses the model
    step(model)

# case: all models of a list
for model in models:
    torch.compile(model)  # TL510 | no fix: nothing here uses the model

# case: a model without a name
torch.compile(models[0])  # TL510 | no fix: no name of its own

# case: a function of a module
torch.compile(losses.focal)  # TL510 | no fix: no name of its own

# case: it is returned, stored and passed on
def prepare(self, model):
    self.fast = torch.compile(model)
    models.append(torch.compile(model))
    table["fast"] = torch.compile(model)
    first, second = torch.compile(model), model
    kept = also = torch.compile(model)
    return torch.compile(model), first, second

# case: a decorator
@torch.compile
def loss(x):
    return x.mean()

# case: a decorator with arguments, on the top level
@torch.compile(dynamic=True)
def loss(x):
    return x.mean()

# case: options alone make a decorator
torch.compile()

# case: a method that compiles in place
model.compile()

# case: a name of the class
class Losses:
    focal = torch.compile(plain)
if __name__ == "__main__":
    train(Losses())

# case: a name that others can import
fast = torch.compile(plain)

# case: a name of a script
model = Net()
fast = torch.compile(model)  # TL510 unsafe
# becomes: model = torch.compile(model)
if __name__ == "__main__":
    train(model)

# case: a name of a script that trains at the top level
model = Net()
fast = torch.compile(model)  # TL510
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()

# case: a name that the function gives to the file
def prepare(model):
    global fast
    fast = torch.compile(model)

# case: before torch had it [torch=1.13]
torch.compile(model)

# case: a test [path=tests/test_compile.py]
torch.compile(model)

# case: behind a word in quotes
if cfg["compile"]: torch.compile(model)  # TL510

# case: only methods of it are called
class Trainer:
    def __init__(self, policy, config):
        self.policy = policy
        if config.compile:
            self.policy = torch.compile(self.policy)  # TL510 hint | says: but `compute_loss` runs instead | no fix: not known
        self.optimizer = torch.optim.AdamW(self.policy.parameters())

    def step(self, batch):
        self.policy.train()
        return self.policy.compute_loss(batch)

# case: only parts of it run
def main(model, loader):
    model = torch.compile(model)  # TL510 hint | says: `encoder.embed`
    for x, y in loader:
        loss = criterion(model.encoder.embed(x), y)

# case: it was given away before
class Agent:
    def __init__(self, config):
        self.world = World(config)
        self.behavior = Behavior(self.world)
        self.world = torch.compile(self.world)  # TL510 hint
        self.reward = lambda x: reward(self.world, x)

    def train(self, data):
        post, metrics = self.world.learn(data)

# case: it is called, also as forward and by another object
class Trainer:
    def __init__(self, net, head):
        self.net = torch.compile(net)
        self.head = torch.compile(head)
        self.policy = torch.compile(net)

    def step(self, batch):
        loss = self.head.loss(self.head.forward(batch), batch)
        loss = loss + self.policy.loss(batch)
        return loss, self.net.loss(self.net(batch), batch)

def run(trainer, x):
    return trainer.policy(x)

# case: something else gets it, or is asked of it
def main(model, loader):
    model = torch.compile(model)
    logits = model.score(x)
    evaluate(model, loader)

def prepare(model, config):
    model = torch.compile(model)
    optimizer = model.configure_optimizers(config)
    model.load_state_dict(config)
    state = model.state_dict(config)
    keep(optimizer, state)
