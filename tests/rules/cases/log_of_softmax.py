# TL309: which logarithms of a softmax are reported, and what the fix writes.

# every program:
import torch
from torch import nn
import torch.nn.functional as F

# head: a loss
def loss_of(x, y):
    x.sum().backward()

    # case: both are functions
    return F.nll_loss(torch.log(F.softmax(x, dim=1)), y)  # TL309 unsafe | fix says: Call `log_softmax`
    # becomes: return F.nll_loss(F.log_softmax(x, dim=1), y)

    # case: the softmax of torch
    return torch.log(torch.softmax(x, -1, dtype=torch.float32))  # TL309 unsafe
    # becomes: return torch.log_softmax(x, -1, dtype=torch.float32)

    # case: both are methods
    return x.softmax(-1).log()  # TL309 unsafe
    # becomes: return x.log_softmax(-1)

    # case: one is a method
    return (F.softmax(x, 1)).log() + torch.log(input=(x + 1).softmax(dim=1))  # TL309 # TL309
    # becomes: return F.log_softmax(x, 1) + (x + 1).log_softmax(dim=1)

    # case: without a dimension
    return torch.log(F.softmax(x))  # TL309
    # becomes: return F.log_softmax(x)

    # case: a layer that is created for it
    return torch.log(nn.Softmax(dim=1)(x))  # TL309 unsafe
    # becomes: return nn.LogSoftmax(dim=1)(x)

    # case: the layer has a name
    softmax = nn.Softmax(dim=1)
    return softmax(x).log()  # TL309 | no fix: a name of its own

    # case: the function has a name
    from torch.nn.functional import softmax
    return torch.log(softmax(x, 1))  # TL309 | no fix: a name of its own

    # case: the logarithm has a name
    from torch import log
    return log(F.softmax(x, 1))  # TL309 unsafe
    # becomes: return F.log_softmax(x, 1)

    # case: the result has a name
    p = F.softmax(x, dim=1)
    return -torch.log(p).mean()  # TL309 | no fix: there is something between

    # case: a comment inside
    return torch.log(  # of the probabilities  # TL309 | no fix: a comment
        F.softmax(x, dim=1)
    )

    # case: several lines
    return torch.log(  # TL309 unsafe
        F.softmax(x, dim=1)
    )

    # case: a constant is added
    return torch.log(F.softmax(x, dim=1) + 1e-8)  # TL309 hint | no fix: there is something between

    # case: a constant with a name is added
    p = x.softmax(1)
    p = p + self.eps
    return p.log()  # TL309 hint

    # case: the probabilities are clamped
    return torch.clamp(F.softmax(x, 1), 1e-8).log() + x.softmax(1).clamp(min=1e-8).log()  # TL309 hint # TL309 hint

    # case: the probabilities are used elsewhere
    p = F.softmax(x, dim=1)
    return -(p * torch.log(p)).sum()

    # case: the probabilities of another branch
    if y is None:
        p = F.softmax(x, dim=1)
    else:
        p = y
    return torch.log(p)

    # case: each of several values
    p = F.softmax(x, dim=1)
    for p in F.softmax(x, dim=1):
        y += p.log()
    return y

    # case: one of several values
    p, q = F.softmax(x, dim=1)
    return torch.log(p)

    # case: a mean over several models
    return torch.log((F.softmax(x, 1) + F.softmax(y, 1)) / 2)

    # case: a sum of probabilities
    return torch.log(F.softmax(x, 1) + F.softmax(y, 1))

    # case: a number that is not small
    return torch.log(F.softmax(x, 1) + 1) + torch.log(F.softmax(x, 1) + 0.5)

    # case: a difference
    return torch.log(F.softmax(x, 1) - 1e-8)

    # case: other functions of the probabilities
    return torch.log(F.softmax(x, 1).sum(1)) + torch.log2(F.softmax(x, 1)) + torch.log(x)

    # case: another layer
    return torch.log(nn.Sigmoid()(x)) + torch.log(nn.Sequential(nn.Linear(8, 8), nn.Softmax(1))(x))

    # case: in one step
    return F.log_softmax(x, 1) + F.cross_entropy(x, y) + torch.log(F.sigmoid(x)).mean()

    # case: beside other logarithms
    return torch.log(x) + torch.log(F.softmax(x, 1)) + x.log()  # TL309

    # case: a softmax of another library
    from mine import ops
    return torch.log(ops.softmax(x, 1)) + ops.log(x)

    # case: a logarithm of NumPy
    import numpy as np
    return np.log(F.softmax(x, 1).numpy())

    # case: nothing is given
    return torch.log(*x) + torch.log() + torch.clamp().log()

# head: none

# case: a layer of the module
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=1)
        self.act = nn.ReLU()
        self.start = nn.Parameter(torch.log(F.softmax(torch.zeros(8), 0)))
    def forward(self, x):
        x = torch.log(self.softmax(x))  # TL309 | no fix: a name of its own
        return x + torch.log(self.act(x))
def train(loss):
    loss.backward()

# case: a method of the module
class Net(nn.Module):
    def softmax(self, x):
        return x
    def forward(self, x):
        return torch.log(self.softmax(x))
def train(loss):
    loss.backward()

# case: a layer that is one of two
class Net(nn.Module):
    def __init__(self, soft):
        super().__init__()
        self.act = nn.Softmax(dim=1) if soft else nn.ReLU()
    def forward(self, x):
        return torch.log(self.act(x))
def train(loss):
    loss.backward()

# case: a loss in a program that does not train
def loss_of(x):
    return torch.log(F.softmax(x, dim=1))  # TL309 hint

# case: in evaluation
def evaluate(x, loss):
    return torch.log(F.softmax(x, dim=1))
def train(loss):
    loss.backward()

# case: at the top level
torch.log(F.softmax(x, dim=1)).mean().backward()  # TL309

# case: a test [path=tests/test_loss.py]
def check(x):
    x.backward()
    return torch.log(F.softmax(x, dim=1))
