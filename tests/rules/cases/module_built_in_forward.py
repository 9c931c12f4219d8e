# TL308: which layers that `forward` creates are reported, and which ways to create them are not.

# every program:
import torch
from torch import nn

# head: the forward pass of a module
class Net(nn.Module):
    def forward(self, x, device, width=None):

        # case: a layer that is called at once
        return nn.Linear(8, 8)(x)  # TL308 | no fix: in `__init__` the layer learns | says: new random weights … create it in `__init__`

        # case: several layers
        x = nn.LayerNorm(8)(nn.Linear(8, 8)(x))  # TL308 # TL308
        return x

        # case: a layer that is moved first
        return nn.Linear(8, 8).to(device).half()(x)  # TL308

        # case: a layer with a name
        project = nn.Conv2d(8, 8, 3)  # TL308
        return project(x) + project(-x)

        # case: a layer that is moved by its name
        project = nn.Conv2d(8, 8, 3)  # TL308
        project.to(device)
        return project(x)

        # case: a recurrent layer
        out, _ = nn.LSTM(8, 8)(x)  # TL308
        return out

        # case: a container of layers
        return nn.Sequential(
            nn.Linear(8, 8),  # TL308
            nn.BatchNorm1d(8, affine=True),  # TL308
        ).to(device)(x)

        # case: a container with a name
        net = nn.Sequential(nn.Linear(8, 8)).to(device)  # TL308
        return net(x)

        # case: an attribute that is replaced on each pass
        self.linear = nn.Linear(8, 8)  # TL308
        return self.linear(x)

        # case: a layer for some inputs
        if x.dim() == 2:
            x = nn.Linear(8, 8)(x)  # TL308
        return x

        # case: a dropout
        return nn.Dropout(0.5)(x)  # TL308 hint | says: also drops values in evaluation

        # case: layers without parameters
        x = nn.ReLU()(x)
        pool = nn.MaxPool2d(2)
        return nn.InstanceNorm2d(8)(pool(x))

        # case: an attribute that is created once
        if self.linear is None:
            self.linear = nn.Linear(x.shape[1], 8).to(device)
        return self.linear(x)

        # case: a layer that is returned
        return nn.Linear(8, 8)

        # case: a layer with a name that is returned
        project = nn.Linear(8, 8)
        x = project(x)
        return x, project

        # case: a layer that is only given a name
        project = nn.Linear(8, 8)
        return x

        # case: a layer that is only moved
        project = nn.Linear(8, 8)
        project.to(device)
        return x

        # case: a layer that is passed on
        return run(nn.Linear(8, 8), x)

        # case: a layer that a function may keep
        return cached(nn.Linear(8, 8))(x)

        # case: a dropout and an activation that are returned
        return nn.Dropout(0.5), nn.ReLU()

        # case: a layer in a list
        layers = [nn.Linear(8, 8) for _ in range(3)]
        return layers[0](x)

        # case: a layer whose weights come from elsewhere
        conv = nn.Conv2d(8, 8, 3, bias=False)
        conv.weight.data = self.kernel(x)
        return conv(x)

        # case: a layer whose weights are loaded
        conv = nn.Conv2d(8, 8, 3)
        conv.load_state_dict(self.states[device])
        return conv(x)

        # case: only the weights of a layer
        return x @ nn.Linear(8, 8).weight

        # case: a method of a layer
        return nn.Embedding(8, 8).forward(x)

        # case: a norm without parameters
        x = nn.LayerNorm(8, elementwise_affine=False)(x)
        return nn.BatchNorm1d(8, affine=False)(x)

        # case: a loss
        return nn.CrossEntropyLoss()(x, width)

        # case: the function
        return nn.functional.linear(x, self.weight)

        # case: a function inside it
        def project(y):
            return nn.Linear(8, 8)(y)
        return project

# head: none

# case: a class with another base
class Net(nn.Sequential):
    def forward(self, x):
        return nn.Linear(8, 8)(x)  # TL308

# case: outside of forward, in a file that also creates one there
class Net(nn.Module):
    def forward(self, x):
        return nn.Linear(8, 8)(x)  # TL308

    def project(self, x):
        return nn.Dropout(0.5)(nn.Linear(8, 8)(x))

y = nn.Linear(8, 8)(x)

# case: a base of this file
class Base(nn.Module):
    pass
class Net(Base):
    def forward(self, x):
        return nn.Linear(8, 8)(x)  # TL308

# case: a base of another library
from mmengine.model import BaseModule
class Net(BaseModule):
    def forward(self, x):
        return nn.Linear(8, 8)(x)  # TL308

# case: a class that is not a module
class Builder:
    def forward(self, x):
        return nn.Linear(8, 8)(x)

# case: a function of that name
def forward(x):
    return nn.Linear(8, 8)(x)

# case: a layer that is created once
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.size = nn.Linear(8, 8)(torch.zeros(1, 8)).shape
    def forward(self, x):
        return self.linear(x)

# case: layers in another method, and at the top level
class Net(nn.Module):
    def forward(self, x):
        return self.project(x)
    def project(self, x):
        return nn.ReLU()(nn.Dropout(0.5)(nn.Linear(8, 8)(x)))
print(nn.Linear(8, 8)(torch.zeros(1, 8)).shape)

# case: a layer of another library [bare]
import torch
from mine import nn
class Net(torch.nn.Module):
    def forward(self, x):
        return nn.Linear(8, 8)(x)

# case: a test [path=tests/test_net.py]
class Net(nn.Module):
    def forward(self, x):
        return nn.Linear(8, 8)(x)

# case: a function inside of `forward` comes first
class Net(nn.Module):
    def forward(self, x):
        def twice(value):
            return 2 * value
        return nn.Linear(8, 8)(twice(x))  # TL308

# case: layers by the name of their package
import torch.nn as layers
class Net(nn.Module):
    def forward(self, x):
        return layers.Linear(8, 8)(x)  # TL308
