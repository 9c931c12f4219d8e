# TL506: which programs train in float64.

# every program:
import torch
from torch import nn

# head: a program that trains on a GPU
model = nn.Linear(8, 1).cuda()
def train(loader):
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()

# case: a model
model.double()  # TL506 hint | marks: model.double()

# case: a model by its type
model = model.to(torch.float64)  # TL506 hint

# case: a model with its device
model = model.to(device, dtype=torch.double)  # TL506 hint

# case: a model that is passed
def prepare(model):
    return model.double()  # TL506 hint

# case: a parameter that may be anything
def prepare(x):
    return x.to(torch.float64)

# case: a model, or what it computes
found = nn.Linear(8, 1) if raw else model(x)
found = found.to(torch.float64)

# case: what is made at once
net = nn.Linear(8, 1).double()  # TL506 hint

# case: all that is made
torch.set_default_dtype(torch.float64)  # TL506 hint

# case: all that is made, in the older way
torch.set_default_tensor_type(torch.DoubleTensor)  # TL506 hint

# case: all that is made, in the older way, on a GPU
torch.set_default_tensor_type("torch.cuda.DoubleTensor")  # TL506 hint

# case: single precision
torch.set_default_dtype(torch.float32)

# case: a model in single precision
model.to(torch.float32)

# case: a name for the type
kind = torch.float64
torch.set_default_dtype(kind)  # TL506 hint

# case: a type that is chosen
torch.set_default_dtype(args.double)

# case: for a while
torch.set_default_dtype(torch.float64)
weights = window(64)
torch.set_default_dtype(torch.float32)

# case: for a while, in two ways
torch.set_default_tensor_type("torch.DoubleTensor")
weights = window(64)
torch.set_default_dtype(torch.float32)

# case: a tensor
total = x.double() + x.to(torch.float64)

# case: an option asks for it
if args.double:
    model.double()

# case: in evaluation
def evaluate(model, loader):
    model.double()

# case: a problem that needs it
from torchdiffeq import odeint
model.double()

# case: a problem that needs it, in another file
import solve
model.double()
# file: solve.py
import torch
x = torch.linalg.solve(a, b)

# case: a test [path=tests/test_model.py]
model.double()

# head: none

# case: a program that does not train
model = nn.Linear(8, 1).cuda()
model.double()

# case: a program on a CPU
model = nn.Linear(8, 1)
model.double()
loss.backward()

# case: none of its words [unread]
model = nn.Linear(8, 1)
model.to(device)
