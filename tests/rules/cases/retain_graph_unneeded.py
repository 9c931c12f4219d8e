# TL406: which graphs are kept for nothing, and which are gone through again.

# every program:
import torch
from setup import criterion, head, loader, model, optimizer, outputs

# case: one backward pass
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward(retain_graph=True)  # TL406 hint suggest | says: stay in memory
    optimizer.step()
    optimizer.zero_grad()

# case: by position
for x, y in loader:
    criterion(model(x), y).backward(None, True)  # TL406 hint suggest

# case: in a function, with batches that move
def train(model, loader, optimizer, device):
    model.train()
    total = 0.0
    for step, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)  # TL406 hint
        optimizer.step()
        total += loss.item()
    return total

# case: a state that is not a tensor
state = {}
for x in loader:
    loss = model(x).mean()
    loss.backward(retain_graph=True)  # TL406 hint
    state["loss"] = loss.item()

# case: a model of a class that nobody knows
net = Network().to("cuda")
for x in loader:
    net(x).mean().backward(retain_graph=True)  # TL406 hint

# case: off
for x in loader:
    model(x).mean().backward(retain_graph=False)

# case: an option decides
for x in loader:
    model(x).mean().backward(retain_graph=keep)

# case: another backward pass
for x in loader:
    y = model(x)
    y.mean().backward(retain_graph=True)
    y.std().backward()

# case: another backward pass in an inner loop
for x in loader:
    y = model(x)
    for part in y:
        part.backward()
    y.mean().backward(retain_graph=True)

# case: another backward pass in a function
def step(y):
    y.std().backward()
    optimizer.step()
for x in loader:
    y = model(x)
    y.mean().backward(retain_graph=True)
    step(y)

# case: a tensor goes from one step to the next
state = None
for x in loader:
    state = model(x, state)
    state.mean().backward(retain_graph=True)  # TL406

# case: a tensor goes to the next step from the first
for index, x in enumerate(loader):
    features = model(x)
    loss = features.mean()
    if index > 0:
        loss = loss + criterion(features, previous)
    loss.backward(retain_graph=True)
    previous = features

# case: a tensor goes into the loop
features = model(x)
for y in loader:
    criterion(head(features), y).backward(retain_graph=True)

# case: a tensor is kept
class Trainer:
    def train(self, loader):
        for x in loader:
            self.state = self.model(x, self.state)
            self.state.mean().backward(retain_graph=True)  # TL406

# case: a tensor is kept in a list
for x in loader:
    loss = model(x, outputs).mean()
    loss.backward(retain_graph=True)
    outputs[0] = model(x)

# case: gradients of gradients
for x in loader:
    loss = model(x).mean()
    loss.backward(retain_graph=True)
    penalty = torch.autograd.grad(loss, x)

# case: a recurrent network of another file
from net import Net
model = Net()
for x in loader:
    model(x).mean().backward(retain_graph=True)
# file: net.py
from torch import nn
class Net(nn.Module):
    def __init__(self):
        self.layer = nn.LSTM(8, 8)

# case: no loop
model(x).mean().backward(retain_graph=True)

# case: a test [path=tests/test_it.py]
for x in loader:
    model(x).mean().backward(retain_graph=True)

# case: a network keeps its state with its graph
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.LSTMCell(3, 3)
        self.state = torch.zeros(8, 3), torch.zeros(8, 3)
    def forward(self, x):
        x = self.scale.detach() * x
        self.state = self.cell(x, self.state)
        return self.state[0]
net = Net().cuda()
for x in loader:
    net(x).mean().backward(retain_graph=True)  # TL406 | see: self.state | says: all steps before | no fix: must be detached
    optimizer.step()

# case: a network that detaches its state
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.GRUCell(3, 3)
        self.state = torch.zeros(8, 3)
    def forward(self, x):
        self.state = self.cell(x, self.state.detach())
        return self.state
net = Net().cuda()
for x in loader:
    net(x).mean().backward(retain_graph=True)

# case: a network whose state the loop sets
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.GRUCell(3, 3)
        self.state = torch.zeros(8, 3)
    def forward(self, x):
        self.state = self.cell(x, self.state)
        return self.state
net = Net().cuda()
for x in loader:
    net.state = torch.zeros(8, 3)
    net(x).mean().backward(retain_graph=True)

# case: the loop keeps a state with its graph
net = torch.nn.LSTM(3, 3).cuda()
state = None
for x in loader:
    out, state = net(x, state)
    out.mean().backward(retain_graph=True)  # TL406 | see: out, state = net
    optimizer.step()

# case: the loop detaches the state
net = torch.nn.LSTM(3, 3).cuda()
state = None
for x in loader:
    out, state = net(x, state)
    state = tuple(each.detach() for each in state)
    out.mean().backward(retain_graph=True)
    optimizer.step()

# case: what the loop carries is of no network
worst = torch.zeros(())
for x in loader:
    worst = torch.maximum(model(x).mean(), worst)
    worst.backward(retain_graph=True)
    optimizer.step()

# case: the loop begins each time anew
net = torch.nn.LSTM(3, 3).cuda()
for x in loader:
    state = None
    for part in x:
        out, state = net(part, state)
    out.mean().backward(retain_graph=True)
    optimizer.step()
