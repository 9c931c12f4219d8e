# TL404: loops that compute with the gradients one by one.

# every program:
import torch
import torch.distributed as dist

model.to("cuda")

# head: before each optimizer step
for step, (images, labels) in enumerate(loader):
    criterion(model(images.cuda()), labels.cuda()).backward()

    # case: gradients are clipped
    for p in model.parameters():
        p.grad.clamp_(-1, 1)  # TL404 pedantic | says: one by one on every step; `torch.nn
    optimizer.step()

    # case: a norm is read for each
    total = 0.0
    for p in model.parameters():
        norm = p.grad.detach().data.norm(2)  # TL404 hint | says: and waits for the GPU for each
        total += norm.item() ** 2
    optimizer.step()

    # case: a norm is read for each by `float`
    total = 0.0
    for p in model.parameters():
        total += float(p.grad.norm()) ** 2  # TL404 hint
    optimizer.step()

    # case: norms in a list
    parameters = [p for p in model.parameters() if p.requires_grad]
    norm = torch.stack([p.grad.norm() for p in parameters]).norm()  # TL404 pedantic | marks: p.grad.norm()
    total = sum(torch.norm(p.grad).item() for p in parameters)  # TL404 hint | marks: torch.norm(p.grad)
    norms = {name: torch.linalg.vector_norm(p.grad) for name, p in model.named_parameters()}  # TL404 pedantic
    optimizer.step()

    # case: one finding for each loop
    for name, p in model.named_parameters():
        if p.grad is not None:
            norm = p.grad.data.norm(2)  # TL404 pedantic
            p.grad.data.mul_(clip / (norm + 1e-6))
    optimizer.step()

    # case: an update by hand
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-rate)  # TL404 pedantic
    optimizer.step()

    # case: now and then
    if step % 100 == 0:
        print(sum(p.grad.norm().item() for p in model.parameters()))
    optimizer.step()

    # case: the gradients are averaged over the processes
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad.div_(dist.get_world_size())
    optimizer.step()

    # case: all at once
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    torch._foreach_mul_([p.grad for p in model.parameters()], 0.5)
    optimizer.step()

    # case: gradients are removed or looked for
    for p in model.parameters():
        p.grad = None
        p.grad.zero_()
        assert p.grad is not None
    optimizer.step()

    # case: something else than the gradients
    for p in model.parameters():
        p.data.clamp_(-0.01, 0.01)
        penalty = penalty + torch.norm(p)
    optimizer.step()

    # case: other tensors
    for x in images:
        x.grad.clamp_(-1, 1)
        total += torch.norm(x.grad)
    norms = [x.grad.norm() for x in images]
    optimizer.step()

    # case: outside a loop over parameters
    images.grad.clamp_(-1, 1)
    norm = model.weight.grad.norm()
    optimizer.step()

# head: none

# case: a helper in another file
from clipping import clip
for images, labels in loader:
    criterion(model(images.cuda()), labels.cuda()).backward()
    clip(model)
    optimizer.step()
# file: clipping.py
def clip(model):
    for p in model.parameters():
        p.grad.clamp_(-1, 1)  # TL404 pedantic | see: for images

# case: a function that is made for each parameter
for images, labels in loader:
    criterion(model(images.cuda()), labels.cuda()).backward()
    for p in model.parameters():
        def clip(p):
            p.grad.clamp_(-1, 1)
        clip(p)
    optimizer.step()

# case: nobody calls it
def clip(model):
    for p in model.parameters():
        p.grad.clamp_(-1, 1)

# case: the step of an optimizer
class Plain(torch.optim.Optimizer):
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.data.add_(p.grad, alpha=-group["lr"])  # TL404 pedantic | says: This optimizer updates
        for p in self.model.parameters():
            p.grad.mul_(0.5)  # TL404 pedantic

optimizer = Plain(model.parameters())
for images, labels in loader:
    criterion(model(images.cuda()), labels.cuda()).backward()
    optimizer.step()

# case: a trainer of its own
class Trainer(Base):
    def train(self, loader):
        for images, labels in loader:
            criterion(model(images.cuda()), labels.cuda()).backward()
            for p in self.model.parameters():
                p.grad.mul_(0.5)  # TL404 pedantic
            optimizer.step()

# case: a test [path=tests/test_train.py]
for images, labels in loader:
    criterion(model(images.cuda()), labels.cuda()).backward()
    for p in model.parameters():
        p.grad.clamp_(-1, 1)

# case: in a function that is given the parameters
def total_norm(parameters, kind=2.0):
    parameters = [p for p in parameters if p.grad is not None]
    norms = [torch.norm(p.grad.detach(), kind) for p in parameters]  # TL404 pedantic
    return torch.norm(torch.stack(norms), kind)

for images, labels in loader:
    criterion(model(images.cuda()), labels.cuda()).backward()
    total_norm(model.parameters())
    optimizer.step()

# case: in a function that is given something else
def total_norm(tensors, kind=2.0):
    return torch.stack([torch.norm(p.grad.detach(), kind) for p in tensors]).norm()

for images, labels in loader:
    criterion(model(images.cuda()), labels.cuda()).backward()
    total_norm(outputs)
    optimizer.step()

# case: an optimizer by hand
def adam(params, grads, averages, beta):
    for number, param in enumerate(params):
        average, grad = averages[number], grads[number]
        average.mul_(beta).add_(grad, alpha=1 - beta)  # TL404 pedantic
        param.add_(average, alpha=-0.1)

for images, labels in loader:
    criterion(model(images.cuda()), labels.cuda()).backward()
    adam(list(model.parameters()), [p.grad for p in model.parameters()], averages, 0.9)
