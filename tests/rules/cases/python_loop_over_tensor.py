# TL210: Python that goes over a tensor element by element.

# every program:
import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 8)).cuda()

# head: a training step
correct, total = 0, 0.0
for step, (images, labels) in enumerate(loader):
    images, labels = images.cuda(), labels.cuda()
    output = model(images)
    loss = nn.functional.cross_entropy(output, labels)
    loss.backward()
    optimizer.step()

    # case: a sum of a comparison
    correct += sum(output.argmax(1) == labels)  # TL210 unsafe | says: Python's `sum` goes over
    # becomes: correct += (output.argmax(1) == labels).sum()

    # case: a sum of a comparison that becomes a number
    correct += sum(output.argmax(1) == labels).item()  # TL210 safe
    # becomes: correct += (output.argmax(1) == labels).sum().item()
    correct += int(sum(labels == 3))  # TL210 safe
    # becomes: correct += int((labels == 3).sum())
    total += float(sum(labels == 3))  # TL210 safe
    # becomes: total += float((labels == 3).sum())

    # case: a sum that becomes something else
    history.append(sum(labels == 3))  # TL210 unsafe
    # becomes: history.append((labels == 3).sum())
    correct += sum(labels == 3).sqrt()  # TL210 unsafe
    # becomes: correct += (labels == 3).sum().sqrt()
    shape = sum(labels == 3).shape  # TL210 unsafe
    # becomes: shape = (labels == 3).sum().shape

    # case: a sum of floats that becomes a number
    total += sum(output.argmax(1).float()).item()  # TL210 unsafe
    # becomes: total += output.argmax(1).float().sum().item()

    # case: by a name
    hits = output.argmax(1) == labels
    correct += sum(hits)  # TL210 unsafe
    # becomes: correct += hits.sum()

    # case: any and all
    if any(labels < 0):  # TL210 safe
    # becomes: if bool((labels < 0).any()):
        print(all(labels >= 0))  # TL210 safe
        # becomes: print(bool((labels >= 0).all()))

    # case: the largest and the smallest
    top, low = max(output.argmax(1)), min(labels * 2)  # TL210 unsafe  # TL210 unsafe
    # becomes: top, low = output.argmax(1).max(), (labels * 2).min()

    # case: the largest of a comparison
    top = int(max(labels == 3))  # TL210 unsafe

    # case: sorted and sets
    order = sorted(output.argmax(1))  # TL210 | no fix: the list may not take | says: use `torch.sort`
    classes = set(output.argmax(1))  # TL210 | no fix: the set may not take | says: use `torch.unique`

    # case: a sum over lists
    total += sum([loss, loss])
    total += sum(p.norm() for p in model.parameters())
    total += sum(losses.values())

    # case: two arguments
    top = max(labels * 2, loss)
    total += sum(labels == 3, 0)
    top = max(*labels)
    top = max(*(labels * 2))

    # case: what a model returns may be a tuple
    total += sum(output)
    total += sum(model(images) + model(labels))
    parts = output.chunk(2)
    total += sum(parts)

    # case: on the host
    sizes = [len(x) for x in names]
    total += sum(sizes)
    total += sum(counts == 3)

    # case: now and then
    if step % 100 == 0:
        print(sum(output.argmax(1) == labels))

    # case: each element is read
    for label in labels.argmax(1):  # TL210 hint | no fix: not known | says: Each round of this loop waits
        total += label.item()

    # case: each element is read, with its index, or with another
    for i, label in enumerate(labels.argmax(1)):  # TL210 hint
        total += label.item()
    for name, label in zip(names, labels.argmax(1)):  # TL210 hint
        total += label.item()

    # case: each sample is looked at
    for i in range(images.shape[0]):  # TL210 hint
        counts = torch.unique(images[i])
    for i in range(images.size(0)):  # TL210 hint
        places = images[i].nonzero(as_tuple=True)
    for i in range(len(labels.argmax(1))):  # TL210 hint
        mine = images[labels == i]
    for i in range(images.shape[0]):  # TL210 hint
        mine = images[~(labels == i)]
    for i in range(images.shape[0]):  # TL210 hint
        mine = images[(labels > 0) & known]
    for i in range(images.shape[0]):  # TL210 hint
        mine = images[labels.eq(i)]
    n = images.shape[0]
    for i in range(1, n):  # TL210 hint
        chosen = labels == i
        mine = images[chosen]
    n, c, h, w = images.shape
    for i in range(n):  # TL210 hint
        mine = images[i, : labels[i]]
    n, c, h, w = images.size()
    for i in range(n):  # TL210 hint
        mine = images[i, labels[i] :]

    # case: each sample is added to the same tensor
    sums = torch.zeros(9, 8, device="cuda")
    for i in range(images.shape[0]):  # TL210 hint | says: adds one sample … add once
        sums.index_add_(0, labels[i], images[i])
    for i, places in enumerate(labels.argmax(1)):  # TL210 hint
        sums.scatter_add_(0, places, images[i])

    # case: each sample is added to a tensor of its own, to one in host memory, or once
    sums = torch.zeros(9, 8, device="cuda")
    counts = torch.zeros(9)
    for i in range(images.shape[0]):
        mine = torch.zeros(9, 8, device="cuda")
        mine.index_add_(0, labels[i], images[i])
        sums[i].index_add_(0, labels[i], images[i])
        counts.index_add_(0, names[i], steps[i])
        sums.add_(images[i])
    sums.index_add_(0, labels, images)
    for t in range(8):
        sums.index_add_(0, labels[t], images[t])

    # case: in a comprehension
    counts = [len(torch.unique(images[i])) for i in range(images.shape[0])]  # TL210 hint
    total += sum(x.item() for x in labels.argmax(1))  # TL210 hint

    # case: one finding for nested loops
    for i in range(images.shape[0]):  # TL210 hint
        for k in range(images.shape[0]):
            total += labels[i].item()

    # case: a loop that ends early
    for i in range(images.shape[0]):
        if labels[i].item() == 0:
            break

    # case: a loop without a wait
    hidden = torch.zeros(8, device="cuda")
    for t in range(images.shape[0]):
        hidden = model(images[t].float() + hidden)
        mine = images[t, :3]
        mine = images[names[t]]
        mine = images[t, : len(names)]

    # case: a loop over something else
    for t in range(images.shape[1]):
        total += labels[t].item()
    for t in range(8):
        total += labels[t].item()
    for t in range(images.size(1)):
        total += labels[t].item()
    for t in range(images.strides[0]):
        total += labels[t].item()
    for t in range(*images.shape[:1]):
        total += labels[t].item()
    for t in range(later):
        total += labels[t].item()
    for name in names:
        total += labels[name].item()
    for t in range(images.stride(0)):
        total += labels[t].item()
    for t in range(images.size()):
        total += labels[t].item()
    for t in range(len(names)):
        total += labels[t].item()
    for t in range(names[0]):
        total += labels[t].item()
    for name, t in zip(names, steps):
        total += labels[t].item()
    c, n, h = images.shape
    for t in range(n):
        total += labels[t].item()
    for out in model(images):
        total += out.item()
    n = images.shape[1]
    for t in range(n):
        total += labels[t].item()

    # case: what the loop reads is on the host
    lengths = labels.argmax(1).tolist()
    for i in range(images.shape[0]):
        mine = images[i, : lengths[i]]
        total += weights[i].item()
        limit = 3 if names else labels.argmax()
        mine = images[i, :limit]

# head: none

# case: a helper that a step calls
from helpers import assign
for images, labels in loader:
    images, labels = images.cuda(), labels.cuda()
    nn.functional.mse_loss(model(images), assign(images, labels)).backward()
    optimizer.step()
# file: helpers.py
def assign(images, labels):
    for i in range(images.shape[0]):  # TL210 hint | see: for images
        chosen = labels[labels == i]
    return images

# case: a loss that goes over lengths
class Loss(nn.Module):
    def forward(self, weights, lengths):
        return (weights * self.masks(lengths)).sum()
    def masks(self, lengths):
        masks = torch.zeros(len(lengths), max(lengths))  # TL210 hint
        for i, (length, other) in enumerate(zip(lengths, lengths)):  # TL210 hint
            masks[i, :length] = other
        return masks
for images, labels in loader:
    criterion(model(images.cuda()), labels.cuda()).backward()
    optimizer.step()

# case: a helper that gets nothing of the device
from helpers import assign
for images, labels in loader:
    nn.functional.mse_loss(model(images.cuda()), assign(images, labels, 3)).backward()
    optimizer.step()
# file: helpers.py
def assign(images, labels, count):
    for i in range(images.shape[0]):
        chosen = labels[labels == i]
    for i in range(count):
        chosen = labels[labels == i]
    return images

# case: nobody calls it
def accuracy(output, labels):
    return sum(output.argmax(1) == labels)

# case: in evaluation
def evaluate(model, loader):
    model.eval()
    for images, labels in loader:
        correct += sum(model(images).argmax(1) == labels)

# case: a test [path=tests/test_train.py]
for images, labels in loader:
    nn.functional.mse_loss(model(images.cuda()), labels.cuda()).backward()
    correct += sum(labels.cuda() == 1)

# case: a network for each part of a tensor
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Linear(3, 3)
        self.cell = torch.nn.GRUCell(3, 3)
        self.heads = torch.nn.ModuleList([torch.nn.Linear(3, 3)])

    def forward(self, frames, images):
        encoded = torch.stack([self.encoder(frame) for frame in frames])  # TL210 hint | says: `self.encoder` is called once | marks: self.encoder(frame)
        cameras = []
        for number, name in enumerate(self.cameras):
            cameras.append(self.heads[0](images[:, number]))  # TL210 hint | no fix: whether one operation
        for number in range(images.shape[1]):
            image = images[:, number]
            cameras.append(self.encoder(image))  # TL210 hint
        state = images[:, 0]
        for number in range(images.shape[1]):
            state = self.cell(images[:, number], state)
        levels = [self.encoder(frames[level]) for level in range(3)]
        others = torch.stack([head(state) for head in self.heads])
        joined = torch.cat([self.encoder(frame) for frame in frames])
        named = torch.stack([self.encoder(images[:, name]) for name in self.names])
        return encoded, torch.stack(cameras), levels, others, joined, named

for images, labels in loader:
    loss = Net()(images.cuda(), images.cuda())[0].sum()
    loss.backward()
    optimizer.step()

# case: each round of the loop is a step
for images, labels in loader:
    images = images.cuda()
    for number in range(3):
        model(images[:, number]).sum().backward()
        optimizer.step()

# case: loops that fill a tensor
class Loss(nn.Module):
    def forward(self, features, labels, weights):
        n = features.shape[0]
        mask = torch.eq(labels.view(-1, 1), labels.view(1, -1)).float()
        weighted, rows, states = torch.zeros_like(mask), torch.zeros_like(mask), torch.zeros_like(mask)
        for i in range(n):  # TL210 hint | says: writes its part of a tensor
            for j in range(n):
                weighted[i][j] = weights[i][labels[j]]
        for i in range(features.size(0)):  # TL210 hint
            rows[i, 1:] = features[i].exp()
        for i in range(n):
            states[i] = states[i - 1] + features[i]
        last = features[0]
        for i in range(n):
            last = last + features[i]
            rows[i] = last
        for i in range(n):
            names = {}
            names[i] = features[i]
        return weighted + rows + states
for images, labels in loader:
    images, labels = images.cuda(), labels.cuda()
    Loss()(model(images), labels, images).sum().backward()
    optimizer.step()
