# TL402: which loops only zero gradients, and when one call can take their place.

# every program:
import torch
from torch import nn, optim

model = nn.Linear(2, 2)
start = torch.zeros(2)

# head: a loop over the parameters
for p in model.parameters():

    # case: freed
    p.grad = None

    # case: freed where there is one
    if p.grad is not None:
        p.grad = None

    # case: a selection by something else
    if p.dim() > 1:
        p.grad.zero_()

    # case: one of two branches
    if p.grad is not None:
        p.grad.zero_()
    else:
        count += 1

    # case: a body that does more
    p.grad.zero_()
    count += 1

    # case: a body that reads
    norms.append(p.grad.norm())
    p.grad.zero_()

    # case: the gradient of something else
    other.grad.zero_()

    # case: another value
    p.grad.fill_(1)

    # case: nothing but a test
    p.grad.detach_()

    # case: the weights themselves
    p.data.zero_()

    # case: a test of something else
    if q.grad is not None:
        p.grad.zero_()

    # case: gradients are made once, outside of training
    p.grad = torch.zeros_like(p)

# head: a loop over the parameters that only zeroes gradients
for p in model.parameters():  # TL402

    # case: zero_ of the data
    p.grad.data.zero_()

    # case: filled with 0
    p.grad.fill_(0)

    # case: filled with 0.0
    p.grad.data.fill_(0.0)

    # case: detached first
    p.grad.detach_()
    p.grad.zero_()

    # case: detached first, on one line
    p.grad.detach_(); p.grad.zero_()

    # case: a test for None
    if p.grad is not None:
        p.grad.zero_()

    # case: a test for None that leaves
    if p.grad is None:
        continue
    p.grad.zero_()

    # case: a test for a gradient
    if p.requires_grad and p.grad is not None:
        p.grad.zero_()

# head: a loop that zeroes gradients, and what forbids to change it
for p in model.parameters():
    p.grad.zero_()

# case: gradients are added up by hand
for p, g in zip(params, gs):
    p.grad += g

# case: gradients are added up by a method
w.grad.data.add_(g)

# case: meta-learning
torch.autograd.grad(loss, params, create_graph=True)

# head: none

# case: gradients of gradients are not kept
for p in model.parameters():  # TL402
    p.grad.zero_()
loss.backward(create_graph=False)

# case: on the line of the loop
for p in model.parameters(): p.grad.zero_()  # TL402

# case: with names
for name, p in model.named_parameters():  # TL402
    p.grad.zero_()

# case: the parameters of one group
for p in group["params"]:  # TL402
    p.grad.zero_()

# case: new zeros on each step
while True:
    for p in model.parameters():  # TL402
        p.grad = torch.zeros_like(p)
    loss.backward()

# case: a selection by name
for name, p in model.named_parameters():
    if 'bias' in name:
        p.grad.zero_()

# case: a loop with an else
for p in model.parameters():
    p.grad.zero_()
else:
    done()

# case: two targets
while True:
    for p in model.parameters():
        p.grad = q.grad = torch.zeros_like(p)
    loss.backward()

# case: new zeros for something else
while True:
    for p in model.parameters():
        q.grad = torch.zeros_like(p)
    loss.backward()

# case: inputs, not parameters
for p in images:
    p.grad.zero_()

# case: something is made of zeros that is not zeros
while True:
    for p in model.parameters():
        p.grad = noise(p)
    loss.backward()

# case: a while loop
while p.grad:
    p.grad.zero_()

# case: a test [path=tests/test_it.py]
for p in model.parameters():
    p.grad.zero_()

# case: loops over groups are one finding
o = optim.SGD(model.parameters())
for group in o.param_groups:  # TL402
    for p in group["params"]:
        p.grad.zero_()

# case: the fix for a module
for p in model.parameters():  # TL402 unsafe
# becomes: model.zero_grad()
    p.grad.zero_()
# removed

# case: the fix for a module, with names
for n, p in model.named_parameters():  # TL402 unsafe
# becomes: model.zero_grad()
    p.grad.zero_()
# removed
step()

# case: the fix for an optimizer
o = optim.SGD(ps)
for g in o.param_groups:  # TL402 unsafe
# becomes: o.zero_grad()
    for p in g['params']:
# removed
        if p.grad is not None:
# removed
            p.grad.zero_()
# removed

# case: the fix for an attribute, in a block
class T:
    def __init__(self):
        self.net = nn.Linear(2, 2)
    def step(self):
        for p in self.net.parameters():  # TL402 unsafe
        # becomes: self.net.zero_grad()
            p.grad.zero_()
# removed
        go()

# case: the fix for a comment at the end stays
for p in model.parameters():  # TL402 unsafe
# becomes: model.zero_grad()  # as in the paper
    p.grad.zero_()  # as in the paper
# removed

# case: the fix for older torch has to be told [torch=1.10]
for p in model.parameters():  # TL402 unsafe
# becomes: model.zero_grad(set_to_none=True)
    p.grad.zero_()
# removed

# case: no fix: not all parameters of one owner
for p in params:  # TL402 | no fix: not over all parameters
    p.grad.zero_()

# case: no fix: some parameters of a module
for p in model.parameters(False):  # TL402 | no fix: not over all parameters
    p.grad.zero_()

# case: no fix: an owner that is computed
for p in nets[0].parameters():  # TL402 | no fix: not over all parameters
    p.grad.zero_()

# case: no fix: zero_grad itself
class Net(nn.Module):
    def zero_grad(self):
        for p in self.parameters():  # TL402 | no fix: body of a `zero_grad`
            p.grad.zero_()

# case: no fix: an owner that nothing is known of
for p in thing.parameters():  # TL402 | no fix: thing
    p.grad.zero_()

# case: no fix: a comment
for p in model.parameters():  # TL402 | no fix: a comment
    # as in the paper
    p.grad.zero_()

# case: no fix: gradients are read
for p in model.parameters():  # TL402 | no fix: reads gradients
    p.grad.zero_()
total = w.grad.norm()

# case: no fix: a torch that cannot free [torch=1.6]
for p in model.parameters():  # TL402 | no fix: cannot free
    p.grad.zero_()

# case: not parsed: gradients are read, and something else is zeroed [bare, unread]
for p in model.parameters():
    total += p.grad.norm()
buffer.zero_()
