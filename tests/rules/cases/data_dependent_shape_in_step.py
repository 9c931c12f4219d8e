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
    loss = losses[labels > 0].mean()  # TL215 | says: The size of this depends on values | marks: losses[labels > 0]
    loss.backward()

    # case: by masks with names
    known = labels > 0
    both = known & (labels < 3)
    other = ~known
    finite = torch.isfinite(losses)
    loss = losses[known].mean()  # TL215
    loss = loss + losses[both].mean()  # TL215
    loss = loss + losses[other].mean()  # TL215
    loss = loss + losses[finite].mean()  # TL215
    loss = loss + losses[labels.ne(3)].mean()  # TL215
    losses[known] *= 2  # TL215 hint
    loss.backward()

    # case: by functions
    places = torch.nonzero(labels)  # TL215 hint
    rows, columns = torch.where(labels > 0)  # TL215 hint
    chosen = torch.masked_select(losses, labels > 0)  # TL215 hint
    places = torch.argwhere(labels)  # TL215 hint
    classes = torch.unique(labels, return_inverse=True)  # TL215 hint
    runs = torch.unique_consecutive(input=labels)  # TL215 hint
    losses.mean().backward()

    # case: by methods
    places = (labels > 0).nonzero()  # TL215 hint
    chosen = losses.masked_select(labels > 0)  # TL215 hint
    places = labels.argwhere()  # TL215 hint
    classes = labels.unique(return_counts=True)  # TL215 hint
    runs = labels.unique_consecutive()  # TL215 hint
    losses.mean().backward()

    # case: chosen elements of which only the loss is computed
    chosen = losses.masked_select(labels > 0)  # TL215
    chosen = chosen.abs()
    loss = nn.functional.mse_loss(images[labels > 0] - 1, chosen, reduction="sum")  # TL215
    loss.backward()

    # case: a mask of truths, in another shape
    mask = torch.eye(len(labels), dtype=torch.bool).to("cuda")
    loss = losses[~mask].sum() + losses[labels.bool().view(-1)].sum()  # TL215  # TL215
    loss = loss + losses[labels.view(-1)].sum() + losses[-mask].sum()
    loss.backward()

    # case: what is called a mask
    loss = losses[batch.train_mask].sum()  # TL215
    loss = loss + losses[batch.train_index].sum()
    loss.backward()

    # case: repeats and classes
    more = images.repeat_interleave(labels, dim=0)  # TL215 hint
    more = torch.repeat_interleave(images, labels, dim=0)  # TL215 hint
    more = images.repeat_interleave(3, dim=0)
    more = images.repeat_interleave(labels, dim=0, output_size=9)
    hot = nn.functional.one_hot(labels)  # TL215 | says: pass `num_classes`
    hot = nn.functional.one_hot(labels, -1)  # TL215
    hot = nn.functional.one_hot(labels, 10)
    counts = torch.bincount(labels)  # TL215 hint
    losses.mean().backward()

    # case: for each sample
    for i in range(images.shape[0]):
        loss = loss + losses[i, labels > i].sum() + images[i][labels > i].sum()  # TL215 | says: The loop in line 9 makes it wait once for each sample.
    loss.backward()

    # case: where with three arguments
    loss = torch.where(labels > 0, losses, 0.0).mean()
    loss.backward()

    # case: what is set by a mask
    losses[labels < 0] = 0
    losses.mean().backward()

    # case: a tensor that is put where a mask holds
    losses[labels < 0] = losses.detach()[labels < 0]  # TL215 hint | says: use `torch.where(mask, new, old)` # TL215 hint
    losses[labels < 0] = step
    losses[labels < 0] = losses.mean()  # TL215 hint
    losses.mean().backward()

    # case: by the word for a mask in a batch
    package = render(images)
    seen, radii = package["visibility_filter"], package["radii"]
    points.radii[seen] = torch.max(points.radii[seen], radii[seen])  # TL215 hint # TL215 hint # TL215 hint
    losses.mean().backward()

    # case: until a step
    if step < args.refine_until:
        known = losses[labels > 0].mean()  # TL215
    if step < args.warmup_until:
        known = losses[labels > 0].mean()
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
        return self.head(x[x > 0])  # TL215 hint

def train(model, loader):
    for images in loader:
        model(images).mean().backward()

# case: a helper that a step calls
from helpers import masked
for images, labels in loader:
    masked(model(images.cuda()), labels.cuda()).backward()
# file: helpers.py
def masked(output, labels):
    return output[labels > 0].mean()  # TL215 | see: for images

# case: what torch takes is a tensor
class Loss(nn.Module):
    @staticmethod
    def chosen(soft, hard):
        return torch.log(torch.clamp(soft[hard == 1], min=0.1)).sum()  # TL215
    def forward(self, soft, hard):
        return self.chosen(soft, hard)

for images, labels in loader:
    loss = criterion(model(images.cuda()), labels.cuda())
    loss.backward()

# case: a helper that gets nothing of the device
from helpers import masked
loader = torch.utils.data.DataLoader(photos)
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

# case: what is far from a step, of which nothing shows where it is
from losses import Criterion
for images, labels in loader:
    loss = Criterion()(model(images.cuda()), labels)
    loss.backward()
# file: losses.py
import torch
from boxes import inside
class Criterion(torch.nn.Module):
    def forward(self, outputs, labels):
        return self.all_losses(outputs, labels)
    def all_losses(self, outputs, labels):
        return self.box_loss(self.scaled(outputs), labels)
    def box_loss(self, outputs, labels):
        return inside(outputs, labels)
# file: boxes.py
def inside(boxes, labels):
    return chosen(boxes)
def chosen(boxes):
    return boxes[boxes > 0]  # TL215 hint

# case: in a helper of a model that nothing shows to be called by a step
from nets import Net
def train(model, loader):
    for images in loader:
        model(images.cuda()).mean().backward()
# file: nets.py
import torch
from boxes import chosen
class Net(torch.nn.Module):
    def forward(self, x):
        assert x.isfinite().all()
        return chosen(torch.clamp(x, min=0))
# file: boxes.py
import torch
def chosen(boxes):
    places = torch.nonzero(torch.sum(boxes, dim=1))  # TL215 hint
    return boxes[places]

# case: arrays in a step
import numpy as np
for images, labels in loader:
    rows = np.asarray(labels)
    tables = read_tables(rows)
    kept = np.sqrt(rows)[rows > 3]
    model(images.cuda()).mean().backward()
