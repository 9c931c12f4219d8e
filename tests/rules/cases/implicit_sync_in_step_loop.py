# TL204: which decisions by tensors are reported, which are left alone.

# every program:
import math
import torch
from torch import nn
from torch.utils.data import DataLoader

device = torch.device("cuda")
model = nn.Linear(3, 3).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(photos, num_workers=4)

# head: a training step, and what is reported in it
for step, (images, labels) in enumerate(loader):
    images, labels = images.to(device), labels.to(device)
    output = model(images)
    loss = criterion(output, labels)
    loss.backward()
    optimizer.step()

    # case: a comparison
    if loss > 10:  # TL204 | says: the host waits for the GPU on every step | marks: loss > 10
        count += 1

    # case: a loss of a function that nobody knows
    other = loss_of(output)
    other.backward()
    if other > 10:  # TL204
        count += 1

    # case: a reduction
    if (output > 0).any():  # TL204
        count += 1

    # case: by a function of torch
    if torch.all(output > 0):  # TL204
        count += 1

    # case: negated, beside something else
    if step > 3 and not (output > 0).all():  # TL204 | marks: (output > 0).all()
        count += 1

    # case: in an `elif`
    if quick:
        count += 1
    elif output.sum() == 0:  # TL204
        count += 2

    # case: in an expression
    scale = 2 if loss > 10 else 1  # TL204

    # case: an assertion
    assert (labels >= 0).all()  # TL204

    # case: by `bool`
    found = bool((output > 0).any())  # TL204

    # case: by a name
    valid = (labels >= 0).sum()
    if valid > 3:  # TL204
        count += 1

    # case: by an item of something computed
    if output.sigmoid()[0] > 3:  # TL204
        count += 1

    # case: by something computed of it
    share = (labels >= 0).sum() / 4
    if 0.5 < share:  # TL204
        count += 1

    # case: by an item as it was passed on
    if images[0] > 3:  # TL204
        count += 1

    # case: by an attribute, which may be a number
    if output.classes > 3:
        count += 1

    # case: by what may be missing
    share = None
    if quick:
        share = (labels >= 0).float().mean()
    if share:  # TL204
        count += 1

    # case: Python's `max` of a tensor and a number
    count = max((labels >= 0).sum().float(), 1)  # TL204 | says: `.clamp()`

    # case: Python's `max` of numbers, and of one tensor
    count = max(len(images), 1) + max(output)

    # case: by a name for the decision
    none_valid = (labels >= 0).sum() == 0
    if none_valid:  # TL204
        count += 1

    # case: by an item that neither a list nor a tuple has
    if output[0, 1] > 3:  # TL204
        count += 1

    # case: for a value, not a condition
    found = not (output > 0).any()  # TL204
    found = (output > 0).any() and quick  # TL204
    found = quick and -output.sum()
    found = bool(not (output > 0).any())  # TL204

    # case: for each of several
    found = all((each > 0).any() for each in [output, labels])  # TL204
    names = [each for each in [output] if each.sum() > 0]  # TL204
    found = all([])

    # case: while it is so
    while (output > 0).any():  # TL204 hint
        output = output - 1

    # case: whether tensors are equal
    same = torch.equal(output, labels)  # TL204
    if torch.allclose(output, labels):  # TL204
        count += 1
    same = torch.equal(torch.ones(3), torch.zeros(3))

    # case: a check for numbers that are not finite
    if torch.isnan(loss).any():  # TL204 hint | says: gradient scaler
        count += 1

    # case: such a check without a reduction
    if torch.isnan(loss):  # TL204 hint | marks: torch.isnan(loss)
        print("no number")
    assert not loss.isinf()  # TL204 hint

    # case: such a check by Python
    if not math.isfinite(loss):  # TL204 hint | marks: math.isfinite(loss)
        raise ValueError
    if math.isfinite():
        pass
    reduced = reduce_dict(criterion(output))
    total = sum(reduced.values())
    if not math.isfinite(total):  # TL204 hint
        pass
    if not math.isfinite(counted(reduced)):
        pass
    if math.isfinite(sum(each.item() for each in reduced.values())):
        count += 1

    # case: such a check ends the loop
    if not torch.isfinite(loss).all():  # TL204 hint
        break

    # case: such a check skips the rest of a step
    if not torch.isfinite(loss):  # TL204 hint
        continue
    if loss > 10:  # TL204
        count += 1

    # case: such a check of an array
    if numpy.isnan(history) or math.isnan(count):
        count += 1

    # case: the host's own check of such a number is not a decision by a tensor
    if not math.isfinite(loss.item()):
        count += 1

    # case: under a condition that holds now and then
    if step % 100 == 0:
        if loss > 10:
            count += 1

    # case: what the host knows
    if output.shape[0] > 3 or output.dim() == 2 or len(output) > 3 or images is None:
        count += 1

    # case: a number that was read
    value = loss.item()
    if value > 10:
        count += 1

    # case: a list of tensors
    kept = [output]
    if kept:
        count += 1

    # case: a tensor in host memory
    if images.cpu().sum() > 3:
        count += 1

    # case: a mode that is compared with a text
    if output.mode == "train":
        count += 1

    # case: a number or a tensor
    total = 0
    if quick:
        total = loss
    if total > 0:
        count += 1

    # case: an early stop
    if loss < 0.01:
        break

    # case: an early stop by a flag
    if loss < 0.01:
        stop = True
    if stop:
        break

    # case: in evaluation
    model.eval()
    if output.sum() > 0:
        count += 1

    # case: a model's output as it is
    if output:
        count += 1

    # case: is it among them
    if loss in seen:
        count += 1

    # case: the bound of a slice
    longest = labels.max()
    first = images[:, :longest]  # TL204 | says: a size or a bound | marks: longest
    first = images[:, labels.sum() - 1 :]  # TL204
    first = images[: images.shape[1]]
    first = images[: longest.item()]
    first = images[: output.width] + images[: model.width(images)]

    # case: a size
    longest = labels.max()
    mask = torch.arange(longest, device=device)  # TL204
    mask = torch.zeros(4, longest)  # TL204
    mask = torch.zeros((4, longest + 1), device=device)  # TL204
    mask = images.new_zeros(longest)  # TL204
    mask = images.expand(longest, -1)  # TL204
    hot = nn.functional.one_hot(images, longest)  # TL204
    for place in range(longest):  # TL204
        count += 1
    mask = torch.zeros(longest.tolist())
    mask = torch.arange(len(images), device=longest.device)

    # case: a factor, a function of `math`, the place of the largest
    rate = output.mean()
    total = torch.add(images, labels, alpha=rate)  # TL204 | says: multiply by the tensor
    total = images.add_(labels, alpha=0.1) + mix(images, alpha=rate)
    root = math.sqrt(output.sum())  # TL204 | says: the same function of torch
    best = images[output.argmax()]  # TL204
    best = images[output.argmax(1)]

    # case: the lengths of a CTC loss
    lengths = torch.full((4,), 8)
    other = nn.functional.ctc_loss(output, labels, lengths, labels)  # TL204 | says: before they are moved
    other = nn.functional.ctc_loss(output, labels, lengths, lengths)

    # case: for each sample
    for i in range(images.shape[0]):
        images[i, labels[i] :] = 0  # TL204 | says: The loop in line 17 makes it wait once for each sample.
        images[i] = images[i, : bounds[0]]

    # case: elements of something unknown
    for name, bound in pairs(images):
        first = images[: bound[1]] + images[: batch.bounds[0]] + images[: batch["bound"]]

# head: a training loop that calls a helper
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
    note(loss, step, [])

# case: a helper that returns early
def note(value, step, more):
    if value.sum() == 0:  # TL204 | see: for images in loader:
        return 0
    if step > 3:
        return 1
    if more:
        return 2

# case: a helper that compares what it computes
def note(value, step, more):
    if value.exp() > 10:  # TL204
        print("large")
    if step > 3 or value > more:
        print("late")

# head: a training loop that gives a helper lengths
for images, lengths in loader:
    images, lengths = images.to(device), lengths.to(device)
    loss = model(images * mask_of(lengths)[0]).mean()
    loss.backward()

# case: a helper that finds the longest if it is not told
def mask_of(lengths, longest=None):
    if longest is None:
        longest = lengths.max()  # TL204 hint
    return torch.arange(longest, device=lengths.device) < lengths[:, None]

# case: a helper that finds it in an expression
def mask_of(lengths, longest=None, quick=1):
    longest = longest or lengths.max()  # TL204 hint
    other = lengths.sum() if quick > 2 else 3
    return torch.arange(longest).to(lengths) < lengths[:, None] + torch.ones(other, 1)

# case: a helper that is told a number
def mask_of(lengths, longest=8):
    return torch.arange(longest, device=lengths.device) < lengths[:, None]

# head: none

# case: a mask that no caller is known to give
class Attention(nn.Module):
    def forward(self, x, mask=None):
        if mask is None or torch.all(mask == 1):
            return x
        if mask is not None and mask.any():
            return x + 1
        if x.sum() > 0:  # TL204 hint
            return x + 2
for images in loader:
    loss = criterion(images)
    loss.backward()

# case: what a batch holds, in a model
class Segments(nn.Module):
    def forward(self, batch):
        if batch["marked"].sum() > 0:  # TL204 hint
            return batch["image"]
        if count(batch) > 3:
            return 0
for images in loader:
    loss = criterion(images)
    loss.backward()

# case: a batch that a function moves, as its name says
from segments import Segments
net = Segments()
for batch in loader:
    loss = net(to_device(batch, device))
    loss.backward()
# file: segments.py
from torch import nn
class Segments(nn.Module):
    def forward(self, batch):
        return batch["image"] if batch["marked"].sum() > 0 else 0  # TL204

# case: in a test [path=tests/test_train.py]
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
    assert loss > 0

# case: after the loop
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
if loss > 10:
    print("large")

# case: a program that uses no accelerator [bare]
import torch
from torch import nn
model = nn.Linear(3, 3)
for images in loader:
    loss = model(images).mean()
    loss.backward()
    if loss > 3:
        print("large")

# head: none

# case: a buffer, and one that is given a number
class Average(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("updates", torch.tensor(0))
        self.register_buffer("other", torch.tensor(0))
        self.other = 0
    def forward(self, images):
        if self.updates >= 0:  # TL204
            self.updates += 1
        if self.other >= 0:
            self.other += 1
        if self.updates:  # TL204
            return images
        return self.net(images)
average = Average().to(device)
for images in loader:
    loss = average(images.to(device)).mean()
    loss.backward()
    optimizer.step()

# case: what takes tensors in a network that nothing shows to be called
class Agree(torch.nn.Module):
    def forward(self, outputs):
        if torch.equal(outputs["chosen"], outputs["teacher"]):  # TL204 hint
            return 0
        return outputs["chosen"].sum()

def train(model, criterion, loader):
    for images in loader:
        criterion(model(images.cuda())).backward()

# case: a helper of a network that takes both for tensors
from boxes import joined
class Match(torch.nn.Module):
    def forward(self, outputs, targets):
        return joined(outputs, unknown(targets))

def train(model, criterion, loader):
    for images, targets in loader:
        criterion(model(images.cuda()), targets).backward()
# file: boxes.py
import torch
def joined(one, other):
    assert (one[:, 2:] >= one[:, :2]).all()  # TL204 hint
    assert (other[:, 2:] >= other[:, :2]).all()  # TL204 hint
    return torch.min(one[:, None, :2], other[:, :2])
