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

# case: the class for lists of graphs
from torch_geometric.nn import DataParallel as Graphs
from torch_geometric.nn.data_parallel import DataParallel as SameGraphs
model = Graphs(model) if several else SameGraphs(model)  # TL601 # TL601

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
    model = nn.DataParallel(model)  # TL601 | says: start the program with one process per GPU

# case: the function
y = nn.parallel.data_parallel(model, x, [0, 1])  # TL601 hint

# case: one device
model = nn.DataParallel(model, device_ids=[0])

# case: one device by position
model = nn.DataParallel(model, [0])

# case: one device unless a caller passes more
def wrap(model, gpu_ids=[0]):
    return nn.DataParallel(model, device_ids=gpu_ids)  # TL601 hint

# case: one device, by name
gpu_ids = [0]
model = nn.DataParallel(model, gpu_ids)  # TL601 hint

# case: two devices unless a caller passes others
def wrap(model, gpu_ids=[0, 1]):
    return nn.DataParallel(model, device_ids=gpu_ids)  # TL601

# case: a parameter without a default
def wrap(model, gpu_ids):
    return nn.DataParallel(model, device_ids=gpu_ids)  # TL601

# case: a question
if isinstance(model, nn.DataParallel):
    model = model.module

# case: a class of the file
class Wrap(nn.DataParallel):
    def __getattr__(self, name):
        return getattr(self.module, name)
model = Wrap(model)  # TL601 hint | no fix: torchlint rule TL601 | says: use DistributedDataParallel

# case: a class of the file that inherits from another, for the parts of a model
class Wrap(torch.nn.parallel.DataParallel):
    pass
class Quiet(Wrap):
    pass
model = {name: Quiet(part) for name, part in parts}  # TL601 hint

# case: a class of the file, with one device
class Wrap(nn.DataParallel):
    pass
model = Wrap(model, device_ids=[0])

# case: a class of the file that nothing is made of
class Wrap(nn.DataParallel):
    pass

# case: a class of the file that inherits from another module
class Wrap(nn.Module):
    parallel = nn.DataParallel
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
model = nn.DataParallel(model)  # TL601 | no fix: torchlint rule TL601 | says: use DistributedDataParallel

# case: a sampler that is only called with gradients off
sampler = nn.DataParallel(Sampler(model)).to(device)  # TL601 hint | says: for an evaluation
with torch.no_grad():
    images = sampler(noise)

# case: a network that is given to functions that evaluate
net = nn.DataParallel(net)  # TL601 hint | says: one process per GPU on a part
net.eval()
@torch.no_grad()
def features(batches, net):
    return [net(batch) for batch in batches]
def score(net):
    return features(batches, net)
score(net)
print(evaluate_all(net))

# case: a network with the name of the module that its class comes from
from net import Net
net = Net()
net = nn.DataParallel(net)  # TL601 hint
evaluate(net)

# case: a method that is called with gradients off
net = nn.DataParallel(net)  # TL601 hint
with torch.no_grad():
    mean = net.mean_latent(100)

# case: it is given to an evaluation as it is made
from metrics import evaluate
evaluate(nn.DataParallel(net).eval())  # TL601 hint

# case: a network that is called in evaluation
net = nn.DataParallel(net)  # TL601 hint
net.module.load_state_dict(torch.load('net.pt'))
net.eval()
if isinstance(net, nn.DataParallel):
    print(net(x))

# case: a network that a function is given with gradients off
net = nn.DataParallel(net)  # TL601 hint
with torch.no_grad():
    show(net)

# case: a network that is given to an evaluation which reads it by another name
net = nn.DataParallel(net)  # TL601 hint
@torch.no_grad()
def features(generator, batches):
    return [net(batch) for batch in batches]
features(net, batches)

# case: a network of the module that a function evaluates
net = nn.DataParallel(net)  # TL601 hint
def evaluate(x):
    return net.score(x)

# case: what a method of the wrapped network returns
history = nn.DataParallel(net).fit(x)  # TL601
evaluate(history)

# case: a network that a function is given among others
net = nn.DataParallel(net)  # TL601
def go(*nets):
    return nets[0](x)
go(net)

# case: a network that a function gives to itself
def go(net, depth):
    return go(net, depth + 1)
net = nn.DataParallel(net)  # TL601
go(net, 0)

# case: a network in evaluation that the loss goes through
net = nn.DataParallel(net)  # TL601
net.eval()
for x in batches:
    net(model(x)).mean().backward()

# case: a network that is evaluated and trained
net = nn.DataParallel(net)  # TL601
with torch.no_grad():
    net(x)
for x in batches:
    net(x).mean().backward()

# case: a network that is evaluated, and trained by a function
net = nn.DataParallel(net)  # TL601
def step(net, x):
    return net(x).mean()
evaluate(net)
step(net, x).backward()

# case: a network that is given to functions that train and evaluate
from engine import train_and_validate
def train_and_test(net, batches):
    for batch in batches:
        step(net, batch)
net = nn.DataParallel(net)  # TL601
train_and_validate(net)
other = nn.DataParallel(other)  # TL601
train_and_test(other, batches)

# case: a network that is given to nobody knows what
net = nn.DataParallel(net)  # TL601
evaluate(net)
fit(net)

# case: a network whose parameters go to an optimizer
net = nn.DataParallel(net)  # TL601
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
evaluate(net)

# case: a network that nothing is done with here
net = nn.DataParallel(net)  # TL601
net.eval()

# case: a network that is kept
net = nn.DataParallel(net)  # TL601
evaluate(net)
trainer.net = net

# head: none

# case: nothing trains
model = nn.DataParallel(model)  # TL601 hint

# case: only a comment trains
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

# head: a program that trains
loss.backward()

# case: one device that a name means, and several
model = torch.nn.DataParallel(model, device_ids=[rank])
model = torch.nn.DataParallel(model, device_ids=[*ranks])  # TL601
