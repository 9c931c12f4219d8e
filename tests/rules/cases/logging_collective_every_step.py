# TL214: losses and metrics that the processes exchange on each step, only to log them.

# every program:
import functools

import torch
import torch.distributed as dist

# head: a training step
total, history = 0.0, []
for step, (images, labels) in enumerate(loader):
    loss = criterion(model(images.cuda()), labels.cuda())
    loss.backward()
    optimizer.step()

    # case: in place, and added up
    mean_loss = loss.detach().clone()
    dist.all_reduce(mean_loss)  # TL214 | says: where it is only shown, do so every few steps
    mean_loss /= dist.get_world_size()
    total += mean_loss.item()

    # case: in place, and shown now and then
    running_loss = loss.detach()
    dist.reduce(running_loss, 0)  # TL214
    if step % 100 == 0:
        print(running_loss)

    # case: in place, and kept now and then
    running_loss = loss.detach()
    dist.reduce(running_loss, 0)  # TL214
    if step % 100 == 0:
        kept = smooth(running_loss)[0]

    # case: in place, of an expression
    dist.all_reduce(loss.div_(dist.get_world_size()))  # TL214
    history.append(loss.item())

    # case: gathered by a framework
    total += accelerator.gather(loss).mean().item()  # TL214
    history.append(accelerator.reduce(loss.detach()).item())  # TL214
    logs["loss"] = accelerator.gather_for_metrics(loss)  # TL214
    accuracy = fabric.all_gather(batch_accuracy).mean()  # TL214
    print(f"{accuracy:.3f}")

    # case: by a function of their own
    reduced = utils.reduce_dict(loss_dict)  # TL214
    logger.update(reduced)
    logger.update(loss=misc.all_reduce_mean(loss))  # TL214
    writer.add_scalar("loss", dist_utils.reduce_tensor(loss.data), step)  # TL214

    # case: shown now and then
    reduced_loss = utils.reduce_mean(loss)  # TL214
    if step % 100 == 0:
        print(reduced_loss)

    # case: now and then
    if step % 100 == 0:
        dist.all_reduce(loss)
        print(loss)

    # case: nothing is made of it
    dist.all_reduce(loss)  # TL214 hint

    # case: an attribute of what is gathered
    print(accelerator.gather(loss).data)  # TL214

    # case: what it becomes is not known
    average = utils.reduce_mean(loss)  # TL214 hint
    keep(average, 1).show()

    # case: not a loss and not a metric
    dist.all_reduce(gradients)
    total += accelerator.gather(token_count).sum().item()
    dist.all_reduce(center)
    dist.all_gather(glossary, parts)

    # case: it decides
    mean_loss = accelerator.gather(loss).mean().item()
    if mean_loss > 10:
        optimizer.zero_grad()
    dist.all_reduce(loss)
    if loss < 1e-3:
        break

    # case: the loss of another word
    total += torch.gather(losses, 1, labels)
    total += functools.reduce(losses, 0)
    total += torch.distributed.nn.all_gather(loss)
    total += accelerator.gather()

# head: none

# case: the backward pass starts from it
for images, labels in loader:
    loss = criterion(model(images.cuda()), labels.cuda())
    dist.all_reduce(loss)
    loss.backward()
    total += loss.item()

# case: a copy before the backward pass
for images, labels in loader:
    loss = criterion(model(images.cuda()), labels.cuda())
    total += utils.reduce_mean(mean_loss)  # TL214
    loss.backward()

# case: another function has a backward pass of that name
def show(loss):
    total = utils.reduce_mean(loss)  # TL214
    print(f"{total:.3f}")

def train(loader):
    for images, labels in loader:
        loss = criterion(model(images.cuda()), labels.cuda())
        show(loss.detach())
        loss.backward()

# case: another function decides by the name
for images, labels in loader:
    loss = criterion(model(images.cuda()), labels.cuda())
    loss.backward()
    dist.all_reduce(loss)  # TL214
    print(loss)

def is_large(loss):
    if loss > 10:
        return True

# case: a helper that a step calls
from helpers import average
for images, labels in loader:
    loss = criterion(model(images.cuda()), labels.cuda())
    loss.backward()
    average(loss)
# file: helpers.py
import torch.distributed as dist

def average(loss):
    dist.all_reduce(loss)  # TL214 hint | see: for images
    return loss

def later():
    print(loss)

# case: beside a number that each step needs
for images, labels in loader:
    loss = criterion(model(images.cuda()), labels.cuda())
    tokens = labels.ne(0).sum()
    dist.all_reduce(tokens)
    (loss / tokens).backward()
    running_loss = loss.detach()
    dist.all_reduce(running_loss)  # TL214 hint
    print(running_loss)

# case: once per epoch
for epoch in range(9):
    for images, labels in loader:
        loss = criterion(model(images.cuda()), labels.cuda())
        loss.backward()
        total_loss += loss.detach()
    dist.all_reduce(total_loss)
    print(total_loss)

# case: a framework's log
import lightning as L
class Net(L.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self.loss(batch)
        self.log("loss", loss, sync_dist=True)  # TL214 | says: `sync_dist=True` averages this value
        self.log("step", loss, on_step=True, on_epoch=True, sync_dist=True)  # TL214
        self.log("epoch", loss, on_step=False, on_epoch=True, sync_dist=True)
        self.log("some", loss, on_step=self.verbose, sync_dist=True)
        self.log("own", loss, sync_dist=False)
        self.log("own", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch), sync_dist=True)

# case: a test [path=tests/test_train.py]
for images, labels in loader:
    loss = criterion(model(images.cuda()), labels.cuda())
    loss.backward()
    total += utils.reduce_mean(loss)

# head: none

# case: a loss that is gathered for the log, and one that is exchanged itself
for batch in loader:
    loss = model(batch.to(device)).mean()
    average = accelerator.gather(loss.repeat(8)).mean().item()  # TL214
    accelerator.backward(loss)
    optimizer.step()
    log({"loss": average})
for batch in loader:
    loss = model(batch.to(device)).mean()
    loss = accelerator.reduce(loss)
    accelerator.backward(loss)
    optimizer.step()
