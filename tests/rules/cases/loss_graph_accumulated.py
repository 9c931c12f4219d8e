# TL203: where a loss is added up or kept together with its graph.

# every program:
import torch
from torch import nn
from torch.nn import functional as F

model = nn.Sequential(nn.Linear(8, 8), nn.ReLU())

# head: a training loop
total, weighted, seen, losses = 0.0, 0.0, 0, []
for step, (images, labels) in enumerate(loader):
    output = model(images)
    loss = F.cross_entropy(output, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    # case: a sum
    total += loss  # TL203 unsafe | says: `total` keeps the graph of each step; give it `loss.detach()`
    # becomes: total += loss.detach()

    # case: a sum that is written out
    total = total + loss  # TL203 unsafe
    # becomes: total = total + loss.detach()

    # case: a sum over samples
    total += loss * images.size(0)  # TL203 unsafe
    # becomes: total += loss.detach() * images.size(0)

    # case: a mean
    total += loss / len(loader)  # TL203 unsafe
    # becomes: total += loss.detach() / len(loader)

    # case: a list
    losses.append(loss)  # TL203 unsafe | says: `losses` keeps
    # becomes: losses.append(loss.detach())

    # case: a sum in a dict, and a list in one
    history["total"] += loss  # TL203 unsafe
    # becomes: history["total"] += loss.detach()
    history["loss"].append(loss)  # TL203 unsafe
    # becomes: history["loss"].append(loss.detach())

    # case: an attribute
    self.total += loss  # TL203 unsafe
    # becomes: self.total += loss.detach()

    # case: numbers and detached losses
    total += loss.item()
    weighted += float(loss)
    weighted += loss.detach()
    total += loss.data * images.size(0)
    seen += images.size(0)
    losses.append(loss.detach())

    # case: a name that is given the number first
    loss = loss.item()
    total += loss

    # case: the labels and the outputs
    losses.append(labels)
    losses.append(output)

    # case: a difference, and a product of tensors
    total -= loss
    total *= loss
    total = total * loss

    # case: a list of several things
    losses.append(loss, step)

    # case: a sum that is not a sum of its own
    total = weighted + loss

    # case: what a function returns
    make().append(loss)

    # case: without gradients
    with torch.no_grad():
        total += loss

    # case: now and then
    if step % 100 == 0:
        losses.append(loss)

    # case: a sum that is reset after some steps
    total += loss
    if step % 100 == 0:
        total = 0.0

    # case: a list that is emptied after some steps
    losses.append(loss)
    if step % 100 == 0:
        losses.clear()

    # case: other attributes are set
    self.total += loss  # TL203
    self.step, self.loss = step, None
    history["lr"] = rate
    history["loss"] += loss  # TL203

    # case: an attribute that is reset after some steps
    self.total += loss
    if step % 100 == 0:
        self.total = 0.0

    # case: a sum of this step
    parts = []
    parts.append(loss)

    # case: the items of a list that the loop makes
    parts = {"loss": 0.0}
    parts["loss"] += loss

# head: none

# case: a sum after the loop
for images, labels in loader:
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
total += loss

# case: parts of the loss
for images, labels in loader:
    weight = 0.5
    content, style = content_loss(model(images)), style_loss(model(images))
    penalty = model(labels).square().mean()
    loss = content + weight * penalty - style
    loss.backward()
    optimizer.step()
    contents += content  # TL203 unsafe
    # becomes: contents += content.detach()
    penalties.append(penalty)  # TL203 unsafe
    # becomes: penalties.append(penalty.detach())
    weights += weight
    both += content + style  # TL203 unsafe
    # becomes: both += content.detach() + style.detach()

# case: a part that is a number
for images, labels in loader:
    margin = 0.5
    loss = F.cross_entropy(model(images), labels) + margin
    loss.backward()
    margins += margin

# case: a loss that goes on from that of the step before
smooth = torch.zeros(())
for images, labels in loader:
    smooth = 0.9 * smooth + F.cross_entropy(model(images), labels)
    smooth.backward()
    losses.append(smooth)  # TL203

# case: losses that a loop goes over
for images, labels in loader:
    for loss in losses_of(model(images), labels):
        loss.backward()
        losses.append(loss)  # TL203

# case: a factor that is a tensor of its own
for images, labels in loader:
    mix = torch.rand((), device="cuda")
    loss = F.cross_entropy(model(images), labels)
    loss *= mix
    loss.backward()
    mixes.append(mix)

# case: the loss has no name
for images, labels in loader:
    compute().backward()
    losses.append(loss)

# case: only for some parameters
for images, labels in loader:
    loss = F.cross_entropy(model(images), labels)
    loss.backward(inputs=list(model.parameters()))
    losses.append(loss)  # TL203

# case: with a gradient of its own
for images, labels in loader:
    loss = F.cross_entropy(model(images), labels, reduction="none")
    gradient = torch.ones(8, device="cuda")
    loss.backward(gradient)
    gradients.append(gradient)
    losses.append(loss)  # TL203

# case: a weight that is a tensor of its own
for images, labels in loader:
    mix = torch.rand((), device="cuda")
    first = F.cross_entropy(model(images), labels)
    loss = mix * first
    loss.backward()
    mixes.append(mix)

# case: with a gradient scaler
for images, labels in loader:
    loss = F.cross_entropy(model(images), labels)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    total += loss  # TL203 unsafe

# case: with a framework's backward
for images, labels in loader:
    loss = F.cross_entropy(model(images), labels)
    accelerator.backward(loss)
    optimizer.step()
    total += loss  # TL203 unsafe

# case: the mean has the backward pass
for images, labels in loader:
    loss = F.cross_entropy(model(images), labels, reduction="none")
    loss.mean().backward()
    (loss / 4).backward()
    losses.append(loss)  # TL203 unsafe

# case: before its backward pass
for images, labels in loader:
    loss = F.cross_entropy(model(images), labels)
    total += loss  # TL203 unsafe
    loss.backward()

# case: divided for an accumulation over four batches
for step, (images, labels) in enumerate(loader):
    loss = F.cross_entropy(model(images), labels)
    loss = loss / 4
    loss.backward()
    total += loss  # TL203 unsafe
    if (step + 1) % 4 == 0:
        optimizer.step()

# case: a graph that is kept for another backward pass
for images, labels in loader:
    loss = F.cross_entropy(model(images), labels)
    loss.backward(retain_graph=True)
    losses.append(loss)

# case: derivatives of derivatives
for images, labels in loader:
    loss = F.cross_entropy(model(images), labels)
    loss.backward(create_graph=True)
    losses.append(loss)

# case: the backward pass goes over several steps
for images, labels in loader:
    loss = 0.0
    for image, label in zip(images, labels):
        hidden = model(image, hidden)
        loss += F.cross_entropy(hidden, label)
    loss.backward()
    optimizer.step()

# case: the backward pass of a sum over several batches
for step, (images, labels) in enumerate(loader):
    loss = F.cross_entropy(model(images), labels)
    total += loss
    if (step + 1) % 4 == 0:
        total.backward()
        optimizer.step()
        total = 0.0

# case: the sum of the losses of several heads
for images, labels in loader:
    total = 0.0
    for head in heads:
        loss = F.cross_entropy(head(images), labels)
        total += loss
    total.backward()
    optimizer.step()
    everything += total  # TL203 unsafe
    # becomes: everything += total.detach()

# case: a loss from outside the loop
loss = F.cross_entropy(model(images), labels)
for step in range(9):
    loss.backward()
    losses.append(loss)

# case: a loss whose backward pass is in another loop
for images, labels in loader:
    first = F.cross_entropy(model(images), labels)
    first.backward()
    for attempt in range(3):
        loss = F.cross_entropy(model(images), labels)
        losses.append(loss)
for loss in losses:
    loss.backward()

# case: a list that drops what is old
from collections import deque
recent = deque(maxlen=100)
for images, labels in loader:
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    recent.append(loss)

# case: losses that the loop walks over
for images, labels in loader:
    for name, total in totals.items():
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        total += loss

# case: not in a training loop
def loss_of(batches):
    for images, labels in batches:
        loss = F.cross_entropy(model(images), labels)
        total += loss
    return total

# case: a test [path=tests/test_train.py]
for images, labels in loader:
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    losses.append(loss)
