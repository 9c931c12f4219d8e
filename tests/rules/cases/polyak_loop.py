# TL216: loops that average parameters one by one.

# every program:
import copy

import torch

device = torch.device("cuda")
model.to(device)
average = copy.deepcopy(model)
averaged = list(average.parameters())
once = model.parameters()
named = dict(average.named_parameters())

# head: after each step
for step, (images, labels) in enumerate(loader):
    criterion(model(images.to(device)), labels.to(device)).backward()
    optimizer.step()

    # case: by a copy of the weighted sum
    for current, kept in zip(model.parameters(), average.parameters()):  # TL216 unsafe | says: one by one
    # becomes: torch.optim.swa_utils.get_ema_multi_avg_fn(1 - tau)(
    # added:     list(average.parameters()), list(model.parameters()), 0
    # added: )
        kept.data.copy_(tau * current.data + (1 - tau) * kept.data)
        # removed

    # case: in place, with alpha
    with torch.no_grad():
        for kept, current in zip(average.parameters(), model.parameters(), strict=True):  # TL216 unsafe
        # becomes: torch.optim.swa_utils.get_ema_multi_avg_fn(decay)(
        # added:     list(average.parameters()), list(model.parameters()), 0
        # added: )
            kept.mul_(decay).add_(current, alpha=1 - decay)
            # removed

    # case: by two numbers that add up to 1
    for kept, current in zip(average.parameters(), model.parameters()):  # TL216 unsafe
    # becomes: torch.optim.swa_utils.get_ema_multi_avg_fn(0.999)(
    # added:     list(average.parameters()), list(model.parameters()), 0
    # added: )
        kept.data.mul_(0.999).add_(current.data, alpha=0.001)
        # removed

    # case: by two numbers that do not
    for kept, current in zip(average.parameters(), model.parameters()):
        kept.data.mul_(0.9).add_(current.data, alpha=0.01)
        kept.data = 1 * kept.data + 0 * current.data

    # case: by a part of the difference
    for kept, current in zip(average.parameters(), model.parameters()):  # TL216 unsafe
    # becomes: torch.optim.swa_utils.get_ema_multi_avg_fn(1 - tau)(
    # added:     list(average.parameters()), list(model.parameters()), 0
    # added: )
        kept.add_(tau * (current - kept))
        # removed

    # case: by another difference, and by a sum
    for kept, current in zip(average.parameters(), model.parameters()):
        kept.add_(tau * (kept - current))
        kept.add_(tau * (current + kept))

    # case: in place, with a product
    for current, kept in zip(model.module.parameters(), average.parameters()):  # TL216 unsafe
    # becomes: torch.optim.swa_utils.get_ema_multi_avg_fn(m)(
    # added:     list(average.parameters()), list(model.module.parameters()), 0
    # added: )
        kept.data.mul_(m).add_((1 - m) * current.detach().data)
        # removed

    # case: by interpolation
    for kept, current in zip(average.parameters(), model.parameters()):  # TL216 unsafe
    # becomes: torch.optim.swa_utils.get_ema_multi_avg_fn(1 - self.tau)(
    # added:     list(average.parameters()), list(model.parameters()), 0
    # added: )
        kept.data.lerp_(current.data, self.tau)
        # removed

    # case: by interpolation with a computed weight
    for kept, current in zip(average.parameters(), model.parameters()):  # TL216 unsafe
    # becomes: torch.optim.swa_utils.get_ema_multi_avg_fn(1 - (1 - beta))(
    # added:     list(average.parameters()), list(model.parameters()), 0
    # added: )
        kept.data.lerp_(current.data, 1 - beta)
        # removed

    # case: by a copy of an interpolation
    for kept, current in zip(average.parameters(), model.parameters()):  # TL216 unsafe
    # becomes: torch.optim.swa_utils.get_ema_multi_avg_fn(beta)(
    # added:     list(average.parameters()), list(model.parameters()), 0
    # added: )
        kept.copy_(current.lerp(kept, beta))
        # removed

    # case: by the function that interpolates
    for current, kept in zip(model.parameters(), average.parameters()):  # TL216 unsafe
    # becomes: torch.optim.swa_utils.get_ema_multi_avg_fn(beta)(
    # added:     list(average.parameters()), list(model.parameters()), 0
    # added: )
        kept.data = torch.lerp(current.data, kept.data, beta)
        # removed

    # case: by an assignment
    for kept, current in zip(average.parameters(), model.parameters()):  # TL216 unsafe
    # becomes: torch.optim.swa_utils.get_ema_multi_avg_fn(0.99)(
    # added:     list(average.parameters()), list(model.parameters()), 0
    # added: )
        kept.data = (1.0 - 0.99) * current.data + kept.data * 0.99
        # removed

    # case: with a name for the rest of the weight
    rest = 1.0 - decay
    for kept, current in zip(average.parameters(), model.parameters()):  # TL216 unsafe
    # becomes: torch.optim.swa_utils.get_ema_multi_avg_fn(decay)(
    # added:     list(average.parameters()), list(model.parameters()), 0
    # added: )
        kept.mul_(decay).add_(current, alpha=rest)
        # removed

    # case: in two lines
    for kept, current in zip(average.parameters(), model.parameters()):  # TL216 | no fix: more than one
        kept *= decay
        kept += (1 - decay) * current.detach()

    # case: by the difference
    for kept, current in zip(average.parameters(), model.parameters()):  # TL216 unsafe
        kept.sub_((1 - decay) * (kept - current))

    # case: with a comment
    for kept, current in zip(average.parameters(), model.parameters()):  # TL216 | no fix: a comment
        # slowly
        kept.lerp_(current, tau)

    # case: dicts of parameters
    parameters = dict(model.named_parameters())
    averages = dict(average.named_parameters())
    for name in averages:  # TL216 | no fix: nothing shows that `averages` pairs
        averages[name].data.mul_(decay).add_(parameters[name].data, alpha=1 - decay)

    # case: averages in a dict of tensors
    for name, current in model.named_parameters():  # TL216 | no fix
        if current.requires_grad:
            new = (1.0 - decay) * current.data + decay * shadow[name]
            shadow[name] = new.clone()

    # case: a whole state
    for name, kept in average.state_dict().items():  # TL216 | no fix
        if kept.dtype.is_floating_point:
            kept.lerp_(model.state_dict()[name], tau)

    # case: three lists
    for kept, current, old in zip(average.parameters(), model.parameters(), olds.parameters()):  # TL216 | no fix
        kept.lerp_(current, tau)

    # case: what is zipped is not a list of parameters
    for kept, current in zip(average.parameters(), values):  # TL216 | no fix
        kept.lerp_(current, tau)

    # case: what is zipped is something else of a model
    for kept, current in zip(average.parameters(), model.heads()):  # TL216 | no fix
        kept.lerp_(current, tau)

    # case: something else of the two lists
    for pair in zip(average.parameters(), model.parameters()):  # TL216 | no fix
        pair[0].lerp_(pair[1], tau)

    # case: neither zip nor a pair
    for kept, current in pairs(average.parameters(), model.parameters()):  # TL216 | no fix
        kept.lerp_(current, tau)

    # case: another tensor takes part
    for kept, current in zip(average.parameters(), model.parameters()):  # TL216 | no fix: just the two parameters
        kept.lerp_(start, tau)

    # case: gradients are averaged
    for kept, current in zip(average.parameters(), model.parameters()):  # TL216 | no fix
        kept.grad.lerp_(current.grad, tau)

    # case: another tensor changes
    for kept, current in zip(average.parameters(), model.parameters()):  # TL216 | no fix
        other.copy_(kept.lerp(current, tau))

    # case: names for lists of parameters
    for kept, current in zip(averaged, list(model.parameters())):  # TL216 unsafe
    # becomes: torch.optim.swa_utils.get_ema_multi_avg_fn(1 - tau)(
    # added:     averaged, list(model.parameters()), 0
    # added: )
        kept.lerp_(current, tau)
        # removed

    # case: a name for what can be gone through only once
    for kept, current in zip(averaged, once):  # TL216 | no fix: nothing shows that `zip(averaged, once)` pairs
        kept.lerp_(current, tau)

    # case: the keys of a dict
    for name in named.keys():  # TL216 | no fix: nothing shows that `named.keys()` pairs
        named[name].data.mul_(tau).add_(current[name].data, alpha=1 - tau)

    # case: more than one average
    for kept, current in zip(average.parameters(), model.parameters()):  # TL216 | no fix: more than one average
        kept.lerp_(current, tau); history.append(kept)

    # case: a branch after the loop
    for kept, current in zip(average.parameters(), model.parameters()):  # TL216 | no fix
        kept.lerp_(current, tau)
    else:
        print("done")

    # case: now and then
    if step % 10 == 0:
        for kept, current in zip(average.parameters(), model.parameters()):
            kept.lerp_(current, tau)

    # case: all at once
    update(list(average.parameters()), list(model.parameters()), 0)
    torch._foreach_lerp_(list(average.parameters()), list(model.parameters()), tau)

    # case: plain copies
    for kept, current in zip(average.parameters(), model.parameters()):
        kept.data.copy_(current.data)

    # case: buffers
    for kept, current in zip(average.buffers(), model.buffers()):
        kept.lerp_(current, tau)

    # case: weights that do not add up
    for kept, current in zip(average.parameters(), model.parameters()):
        kept.mul_(momentum).add_(current, alpha=rate)
        kept.mul_(momentum).add_(current)
        kept.mul_().add_(current, alpha=1 - rate)
        kept.mul_(momentum).sub_(rate * current)
        kept.sub_(rate * (current - other))
        kept.data = momentum * kept.data + (2 - momentum) * current.data
        kept.data = momentum * kept.data + (1 + momentum) * current.data
        kept.data = momentum * kept.data + (1 - rate) * current.data
        kept.data = momentum * kept.data - (1 - momentum) * current.data
        kept.data = momentum / kept.data + (1 - momentum) / current.data
        kept.data.add_((1 - momentum) * current)
        kept.mul_(momentum).sub_((1 - momentum) * current)
        kept.div_(momentum).add_(current, alpha=1 - momentum)

    # case: two lines that do not add up
    for kept, current in zip(average.parameters(), model.parameters()):
        kept *= decay
        current += (1 - decay) * kept
        kept += (1 - rate) * current

    # case: two lines that subtract
    for kept, current in zip(average.parameters(), model.parameters()):
        kept *= decay
        kept -= (1 - decay) * current

    # case: two lines; the first adds
    for kept, current in zip(average.parameters(), model.parameters()):
        kept += decay
        kept += (1 - decay) * current

    # case: other calls
    for current in model.parameters():
        print(current)
        lerp_(current, tau)
        current.lerp(tau)
        current.add_()

# head: none

# case: a helper that a step calls
from targets import update
for images, labels in loader:
    criterion(model(images.to(device)), labels.to(device)).backward()
    optimizer.step()
    update(average, model, 0.005)
# file: targets.py
import torch as th

def update(target, source, tau):
    for kept, current in zip(target.parameters(), source.parameters()):  # TL216 unsafe | see: for images
        kept.data.copy_(tau * current.data + (1 - tau) * kept.data)

# case: the step of an optimizer
class Momentum(torch.optim.Optimizer):
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.buffer.mul_(group["momentum"]).add_(p.grad, alpha=1 - group["momentum"])

for images, labels in loader:
    criterion(model(images.to(device)), labels.to(device)).backward()
    optimizer.step()

# case: nobody calls it
def update(target, source, tau):
    for kept, current in zip(target.parameters(), source.parameters()):  # TL216 hint
        kept.data.copy_(tau * current.data + (1 - tau) * kept.data)

# case: a torch that has no function for it [torch=2.0]
for images, labels in loader:
    criterion(model(images.to(device)), labels.to(device)).backward()
    optimizer.step()
    for kept, current in zip(average.parameters(), model.parameters()):  # TL216 | no fix: needs torch 2.1
        kept.lerp_(current, tau)

# case: the state of a model, in a class whose callers nobody knows
class Average:
    def update(self, model):
        new = model.state_dict()
        for name, kept in self.module.state_dict().items():  # TL216 hint
            if kept.dtype.is_floating_point:
                kept *= self.decay
                kept += (1 - self.decay) * new[name].detach()

# case: a test [path=tests/test_train.py]
for images, labels in loader:
    criterion(model(images.to(device)), labels.to(device)).backward()
    for kept, current in zip(average.parameters(), model.parameters()):
        kept.lerp_(current, tau)

# case: an average of timm
from timm.utils import ModelEma
def train(model, loader, optimizer, model_ema, device):
    for step, (images, labels) in enumerate(loader):
        criterion(model(images.to(device)), labels.to(device)).backward()
        optimizer.step()
        if model_ema is not None:
            model_ema.update(model)  # TL216 hint | says: `ModelEmaV3` | no fix: it is made elsewhere
        meters.update(step)
    return model.parameters(), 1 + 1

# case: another average
from timm.utils import accuracy
def train(model, loader, optimizer, model_ema, device):
    for step, (images, labels) in enumerate(loader):
        criterion(model(images.to(device)), labels.to(device)).backward()
        optimizer.step()
        model_ema.update(model)
    return model.parameters(), 1 + 1

# case: an average of diffusers
from diffusers.training_utils import EMAModel
ema = EMAModel(model.parameters(), decay=1 - 0.1)  # TL216 hint | says: `foreach=True` | no fix: diffusers may be older
same = EMAModel(model.parameters(), decay=1 - 0.1, foreach=True)
told = EMAModel(model.parameters(), decay=1 - 0.1, foreach=args.foreach)
for images, labels in loader:
    criterion(model(images.to(device)), labels.to(device)).backward()
    optimizer.step()
    ema.step(model.parameters())

# case: an optimizer by hand
def adam(params, grads, averages, beta):
    for number, param in enumerate(params):
        average, grad = averages[number], grads[number]
        average.mul_(beta).add_(grad, alpha=1 - beta)
        param.add_(average, alpha=-0.1)

for images, labels in loader:
    criterion(model(images.to(device)), labels.to(device)).backward()
    adam(list(model.parameters()), [p.grad for p in model.parameters()], averages, 0.9)
    optimizer.step()
