# TL305: in which programs the layout is worth a try.

# every program:
import torch
from torch import nn

# head: a convolutional network in mixed precision
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)).cuda()
scaler = torch.amp.GradScaler("cuda")
def train(loader, optimizer):

    # case: a step loop
    for x, y in loader:  # TL305 pedantic | no fix: change together | marks: loader
        scaler.scale(net(x.cuda()).sum()).backward()
        scaler.step(optimizer)

    # case: only the first step of a file
    for x, y in loader:  # TL305 pedantic
        scaler.scale(net(x.cuda()).sum()).backward()
        scaler.step(optimizer)
    for x, y in loader:
        scaler.scale(net(x.cuda()).sum()).backward()
        scaler.step(optimizer)

    # case: the model is converted
    net.to(memory_format=torch.channels_last)
    for x, y in loader:
        scaler.scale(net(x.cuda()).sum()).backward()
        scaler.step(optimizer)

    # case: a compiler chooses the layout
    model = torch.compile(net)
    for x, y in loader:
        scaler.scale(model(x.cuda()).sum()).backward()
        scaler.step(optimizer)

    # case: other convolutions too
    model = nn.Sequential(net, nn.Conv1d(8, 8, 3))
    for x, y in loader:
        scaler.scale(model(x.cuda()).sum()).backward()
        scaler.step(optimizer)

    # case: a comment
    # net.to(memory_format=torch.channels_last) was no faster; torch.compile and Conv3d() neither
    for x, y in loader:  # TL305 pedantic
        scaler.scale(net(x.cuda()).sum()).backward()
        scaler.step(optimizer)

    # case: no step
    return [net(x) for x in loader]

    # case: another file of the program converts it
    import layout
    for x, y in loader:
        scaler.scale(net(x.cuda()).sum()).backward()
        scaler.step(optimizer)
    # file: layout.py
    import torch
    def convert(net):
        return net.to(memory_format=torch.channels_last)

    # case: a test [path=tests/test_train.py]
    for x, y in loader:
        scaler.scale(net(x.cuda()).sum()).backward()
        scaler.step(optimizer)

# head: none

# case: a network of the model zoo
from torchvision import models
net = models.resnet18().cuda()
for x in loader:  # TL305 pedantic
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = net(x.cuda()).sum()
    loss.backward()

# case: a network of the model zoo by its name
from torchvision import models
net = models.__dict__[args.arch]().cuda()
accelerator = Accelerator(mixed_precision="fp16")
for x in loader:  # TL305 pedantic
    accelerator.backward(net(x).sum())

# case: full precision
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)).cuda()
for x in loader:
    net(x.cuda()).sum().backward()

# case: on the CPU
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))
for x in loader:
    with torch.autocast("cpu"):
        loss = net(x).sum()
    loss.backward()

# case: patches of a transformer
net = nn.Sequential(nn.Conv2d(3, 8, 16, stride=16), nn.Flatten(2), nn.TransformerEncoderLayer(8, 8))
for x in loader:
    with torch.autocast("cuda"):
        loss = net(x.cuda()).sum()
    loss.backward()
