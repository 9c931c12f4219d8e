# TL508: what ends a graph in a compiled function.

# every program:
import time
import warnings
import torch
from torch import nn

# head: a compiled function
@torch.compile
def step(x, y):
    loss = nn.functional.mse_loss(x, y)

    # case: a number of a tensor
    return loss / loss.detach().item()  # TL508 hint | marks: loss.detach().item()

    # case: a number of what is passed
    return loss / y.item()  # TL508 hint

    # case: a text
    print("step")  # TL508 hint | says: ends its graph here

    # case: a warning
    warnings.warn("step")  # TL508 hint

    # case: the time
    start = time.time(), time.perf_counter()  # TL508 hint  # TL508 hint

    # case: a debugger
    breakpoint()  # TL508 hint

    # case: a wait for the GPU
    torch.cuda.synchronize()  # TL508 hint

    # case: a branch for a tensor
    if loss > 10:  # TL508 hint | marks: loss > 10
        return loss * 0
    return loss

    # case: a branch for a tensor, in an expression
    return loss * (0 if (loss > 10).any() else 1)  # TL508 hint

    # case: the truth of a tensor
    return loss, bool(loss > 10)  # TL508 hint | marks: loss > 10

    # case: what torch checks in the graph
    assert loss > 10, loss
    return loss

    # case: a branch for a sum
    if (x * x).sum() > 10:  # TL508 hint
        return loss * 2
    return loss

    # case: a branch for a number
    if max(len(x), 3) > 10:
        return loss * 2
    return loss

    # case: a branch for a shape
    if x.shape[0] > 10 and x.ndim == 2:
        return loss * 2
    return loss

    # case: a branch for a parameter that may be a number
    if y > 10:
        return loss * 2
    return loss

    # case: a number of an object that nobody knows
    return loss * table.mean().item()

    # case: a branch for what nobody knows
    if table.find(3) > 10:
        return loss * 2
    return loss

    # case: unless it is compiled
    if not torch.compiler.is_compiling():
        print(loss)
        if loss > 10:
            return loss * 2
    return loss

    # case: in a function inside
    def hook(grad):
        print(grad.sum().item())
    return loss.register_hook(lambda grad: print("called"))

# head: none

# case: a branch alone [bare]
import torch
@torch.compile
def step(x):
    return x * (0 if (x * x).sum() > 10 else 1)  # TL508 hint

# case: a number of an array in a compiled function
import numpy as np
@torch.compile
def scaled(x):
    return x * np.ones(3).sum().item()

# case: a function that is not compiled
def step(x, y):
    print((x > 3).any().item())
    return x if (x > 3).any() else y

# case: a function that is compiled by its name
def step(x):
    print("step")  # TL508 hint
    return x
fast = torch.compile(step, mode="max-autotune")

# case: a model
class Net(nn.Module):
    def forward(self, x):
        print("forward")  # TL508 hint
        return self.head(x)
    def head(self, x):
        print("head")
        return x
model = torch.compile(Net())

# case: torch raises an error instead
@torch.compile(fullgraph=True)
def step(x):
    print("step")
    return x

# case: torch raises no error
@torch.compile(fullgraph=False)
def step(x):
    print("step")  # TL508 hint
    return x

# case: numbers stay in graphs
import settings
@torch.compile
def step(x):
    return x * x.sum().item()
# file: settings.py
import torch
torch._dynamo.config.capture_scalar_outputs = True

# case: before torch had it [torch=1.13]
@torch.compile
def step(x):
    print("step")

# case: a test [path=tests/test_step.py]
@torch.compile
def step(x):
    print("step")
