# TL607: which loops send one gradient after the other on each step.

# every program:
import torch
import torch.distributed as dist

# head: the end of a step
for images, labels in loader:
    loss = criterion(model(images), labels)
    loss.backward()

    # case: in the loop
    for p in model.parameters():
        dist.all_reduce(p.grad)  # TL607 | no fix: wrapped where it is made | says: one message per parameter … buckets

    # case: with names, an operation and a check
    for name, p in model.named_parameters():
        if p.requires_grad and p.grad is not None:
            dist.all_reduce(p.grad.data, op=dist.ReduceOp.SUM)  # TL607
            p.grad.data /= size

    # case: with an early end of the round
    for p in model.parameters():
        if p.grad is None:
            continue
        dist.all_reduce(tensor=p.grad)  # TL607

    # case: parameters of an optimizer
    for group in optimizer.param_groups:
        for p in group["params"]:
            dist.all_reduce(p.grad)  # TL607
        for q in group['params']:
            dist.all_reduce(q.grad)  # TL607

    # case: groups of an optimizer
    for p in optimizer.param_groups[0]["params"]:
        torch.distributed.all_reduce(p.grad)  # TL607

    # case: only in one of several processes
    if args.distributed:
        for p in model.parameters():
            dist.all_reduce(p.grad)  # TL607

    # case: the calls do not wait
    handles = []
    for p in model.parameters():
        handles.append(dist.all_reduce(p.grad, async_op=True))  # TL607 hint

    # case: a list of parameters
    for p in params:
        dist.all_reduce(p.grad)  # TL607 hint

    # case: a list of gradients
    for g in grads:
        dist.all_reduce(g.data)  # TL607 hint

    # case: a list of parameters that need gradients
    for p in [p for p in model.parameters() if p.requires_grad]:
        dist.all_reduce(p.grad)  # TL607

    # case: some of the parameters
    for name, p in model.named_parameters():
        if "norm" in name:
            dist.all_reduce(p.grad)

    # case: some of the parameters, in a list
    for p in [p for p in model.parameters() if p.sequence_parallel]:
        dist.all_reduce(p.grad)

    # case: without some of the parameters
    for p in model.parameters():
        if getattr(p, "expert", False):
            continue
        dist.all_reduce(p.grad)

    # case: in a group
    for p in model.parameters():
        dist.all_reduce(p.grad, group=tensor_parallel)

    # case: now and then
    if step % 100 == 0:
        for p in model.parameters():
            dist.all_reduce(p.grad)

    # case: losses
    for loss in losses:
        dist.all_reduce(loss)

    # case: weights
    for p in model.parameters():
        dist.all_reduce(p.data)

    # case: what is known of each gradient
    for g in gradients:
        dist.all_reduce(g.norm)

    # case: one gradient
    dist.all_reduce(scale.grad)

    # case: the gradient of another tensor
    for p in model.parameters():
        dist.all_reduce(scale.grad)

    # case: a gradient of each of other things
    for block in blocks:
        dist.all_reduce(block.grad)

    # case: a loop that counts
    while index < len(params):
        dist.all_reduce(params[index].grad)

    # case: what a call returns
    for p in model.parameters():
        dist.all_reduce(compress(p).grad)

    # case: all gradients at once
    flat = torch.cat([p.grad.flatten() for p in model.parameters()])
    dist.all_reduce(flat)

# head: none

# case: a function that is called on each step
def average_gradients(model):
    size = float(dist.get_world_size())
    for p in model.parameters():
        dist.all_reduce(p.grad.data, op=dist.ReduceOp.SUM)  # TL607
        p.grad.data /= size
def run(model, loader, optimizer):
    for images in loader:
        model(images).sum().backward()
        average_gradients(model)
        optimizer.step()

# case: a function that another file calls on each step
def average_gradients(params):
    for p in params:
        if p.grad is not None:
            dist.all_reduce(p.grad)  # TL607 hint
# file: main.py
from train import average_gradients
for images in loader:
    model(images).sum().backward()
    average_gradients(model.parameters())
    optimizer.step()

# case: a function that nobody calls
def average_gradients(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)

# case: the rest of the parameters is sharded
from torch.distributed.fsdp import FSDP
for images in loader:
    model(images).sum().backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)

# case: a test [path=tests/test_it.py]
for images in loader:
    model(images).sum().backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
