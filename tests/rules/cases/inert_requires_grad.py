# TL405: which assignments freeze nothing, what freezes instead, and which ones work.

# every program:
import torch
import torchvision
from torch import nn
model = build()

# case: a model of torchvision
resnet = torchvision.models.resnet18()
resnet.requires_grad = False  # TL405 hint unsafe | says: freezes nothing … call
# becomes: resnet.requires_grad_(False)

# case: a layer of a class
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(3, 4)

    def freeze(self):
        self.embed.requires_grad = False  # comment  # TL405 hint unsafe
        # becomes: self.embed.requires_grad_(False)  # comment

# case: an object of a class of the file
class Net(nn.Module):
    pass

net = Net()
net.requires_grad = False  # TL405 hint

# case: a part that is called what parts are called
def freeze(model):
    model.backbone.requires_grad = False  # TL405 hint
    model.layer4.requires_grad = False  # TL405 hint
    model.fc.requires_grad = False  # TL405 hint

# case: a thing whose parameters are asked for
def freeze(text):
    text.requires_grad = False  # TL405 hint
    return list(text.parameters())

# case: an item
encoders = [nn.Linear(2, 2), nn.Linear(2, 2)]
encoders[0].requires_grad = False  # TL405 hint
# becomes: encoders[0].requires_grad_(False)

# case: one of several statements on a line
model.eval(); model.requires_grad = False  # TL405 hint
# becomes: model.eval(); model.requires_grad_(False)

# case: misspelled on parameters
for p in model.parameters():
    p.require_grad = False  # TL405 hint unsafe
    # becomes: p.requires_grad_(False)

# case: misspelled on parameters with names
for name, p in model.named_parameters():
    if "bias" not in name:
        p.requires_grads = False  # TL405 hint
        # becomes: p.requires_grad_(False)

# case: misspelled on a tensor that the class made
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.scale.require_grad = False  # TL405 hint
        # becomes: self.scale.requires_grad_(False)

# case: misspelled on a module
model.require_grad = False  # TL405 hint
# becomes: model.requires_grad_(False)

# case: the method is assigned to
model.requires_grad_ = False  # TL405 hint
# becomes: model.requires_grad_(False)

# case: the parameters of another module are frozen
for p in model.decoder.parameters():
    p.requires_grad = False
model.encoder.requires_grad = False  # TL405 hint

# case: a loop over the parameters does something else
for p in model.parameters():
    p.data.clamp_(-1, 1)
model.requires_grad = False  # TL405 hint

# case: a parameter
model.fc.weight.requires_grad = False

# case: parameters of a module
for p in model.parameters():
    p.requires_grad = False

# case: a parameter of a class
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.position = nn.Parameter(torch.zeros(4))
        self.position.requires_grad = False

# case: a tensor, also by the name of a module
grid = torch.zeros(3)
grid.requires_grad = False
head = torch.zeros(3)
head.requires_grad = False

# case: what may be a tensor or a module
head = torch.zeros(3) if random else nn.Linear(3, 3)
head.requires_grad = False

# case: a thing that nobody knows
thing.requires_grad = False
thing.layer.requires_grad = False

# case: a weight of a model whose parts nobody knows
model.logit_scale.requires_grad = False

# case: nothing is frozen
model.requires_grad = True

# case: an option decides
model.requires_grad = args.train

# case: a class with such a property
class Net(nn.Module):
    @property
    def requires_grad(self):
        return True

    @requires_grad.setter
    def requires_grad(self, value):
        for p in self.parameters():
            p.requires_grad_(value)

net = Net()
net.requires_grad = False

# case: it is frozen in a loop as well
model.requires_grad = False
for p in model.parameters():
    p.requires_grad = False

# case: it is frozen in a loop with names as well
model.requires_grad = False
for name, p in model.named_parameters():
    p.requires_grad_(False)

# case: it is frozen by the method as well
model.encoder.requires_grad = False
model.encoder.requires_grad_(False)

# case: several targets
model.requires_grad = p.requires_grad = False
model.require_grad = model.require_grads = False
grid = torch.zeros(3)
grid.require_grad = grid.require_grads = False

# case: an attribute of an object of the project
args.require_grad = False

# case: an unpacked pair
model.requires_grad, other = False, True

# case: a variable
requires_grad = False

# case: a test [path=tests/test_it.py]
model.requires_grad = False
