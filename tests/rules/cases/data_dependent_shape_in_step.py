# TL215: results whose size depends on values.

# every program:
import numpy as np
import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 8)).cuda()

# head: a training step
for step, (images, labels) in enumerate(loader):
    images, labels = images.cuda(), labels.cuda()
    losses = nn.functional.cross_entropy(model(images), labels, reduction="none")

    # case: by a mask
    loss = losses[labels > 0].mean()  # TL215 pedantic | says: The size of this depends on values | marks: losses[labels > 0]
    loss.backward()

    # case: by masks with names
    known = labels > 0
    both = known & (labels < 3)
    other = ~known
    finite = torch.isfinite(losses)
    loss = losses[known].mean()  # TL215 pedantic
    loss = loss + losses[both].mean()  # TL215 pedantic
    loss = loss + losses[other].mean()  # TL215 pedantic
    loss = loss + losses[finite].mean()  # TL215 pedantic
    loss = loss + losses[labels.ne(3)].mean()  # TL215 pedantic
    losses[known] *= 2  # TL215 pedantic
    loss.backward()

    # case: by functions
    places = torch.nonzero(labels)  # TL215 pedantic
    rows, columns = torch.where(labels > 0)  # TL215 pedantic
    chosen = torch.masked_select(losses, labels > 0)  # TL215 pedantic
    places = torch.argwhere(labels)  # TL215 pedantic
    classes = torch.unique(labels, return_inverse=True)  # TL215 pedantic
    runs = torch.unique_consecutive(input=labels)  # TL215 pedantic
    losses.mean().backward()

    # case: by methods
    places = (labels > 0).nonzero()  # TL215 pedantic
    chosen = losses.masked_select(labels > 0)  # TL215 pedantic
    places = labels.argwhere()  # TL215 pedantic
    classes = labels.unique(return_counts=True)  # TL215 pedantic
    runs = labels.unique_consecutive()  # TL215 pedantic
    losses.mean().backward()

    # case: where with three arguments
    loss = torch.where(labels > 0, losses, 0.0).mean()
    loss.backward()

    # case: what is set by a mask
    losses[labels < 0] = 0
    losses.mean().backward()

    # case: other items
    loss = losses[0] + losses[1:].mean() + losses[labels.argmax()] + losses[-labels]
    loss = loss + losses[labels - 1].mean() + losses[torch.argmax(losses)]
    loss.backward()

    # case: on the host
    names = np.unique(files)
    places = np.nonzero(names)
    rows = np.where(names)
    places = torch.nonzero(torch.arange(9))
    places = names.nonzero()
    count = weights[weights > 0].sum()
    items = [names for name in names if names[name > 3]]
    losses.mean().backward()

    # case: now and then
    if step % 100 == 0:
        print(torch.unique(labels))
    losses.mean().backward()

# head: none

# case: a model that nothing shows to be called by a step
class Net(nn.Module):
    def forward(self, x):
        x = x.cuda()
        return self.head(x[x > 0])  # TL215 pedantic

def train(model, loader):
    for images in loader:
        model(images).mean().backward()

# case: a helper that a step calls
from helpers import masked
for images, labels in loader:
    masked(model(images.cuda()), labels.cuda()).backward()
# file: helpers.py
def masked(output, labels):
    return output[labels > 0].mean()  # TL215 pedantic | see: for images

# case: a helper that gets nothing of the device
from helpers import masked
for images, labels in loader:
    (model(images.cuda()) * masked(images, labels)).backward()
# file: helpers.py
def masked(images, labels):
    return images[labels > 0].mean()

# case: in evaluation
def evaluate(model, loader):
    model.eval()
    for images, labels in loader:
        places = torch.nonzero(model(images.cuda()))

# case: a test [path=tests/test_train.py]
for images, labels in loader:
    losses = model(images.cuda())
    losses[labels.cuda() > 0].mean().backward()

# case: on a CPU [bare]
import torch
model = torch.nn.Linear(8, 8)
for images, labels in loader:
    losses = model(images)
    places = torch.nonzero(losses)
    losses[losses > 0].mean().backward()
