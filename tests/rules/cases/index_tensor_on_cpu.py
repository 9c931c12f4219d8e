# TL217: which indices of tensors on the device are in host memory.

# every program:
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader

device = torch.device("cuda")
model = nn.Linear(3, 3).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(photos, num_workers=4)

# head: a training step
for step, (images, labels) in enumerate(loader):
    images = images.to(device)
    output = model(images)
    loss = criterion(output, labels.to(device))
    loss.backward()
    optimizer.step()

    # case: a random order
    mixed = images[torch.randperm(9)]  # TL217 unsafe | says: is in host memory | marks: torch.randperm(9)
    # becomes: mixed = images[torch.randperm(9, device=images.device)]

    # case: random numbers
    mixed = images[torch.randint(0, 9, (3,))]  # TL217 unsafe
    # becomes: mixed = images[torch.randint(0, 9, (3,), device=images.device)]

    # case: a range
    part = images[torch.arange(9)]  # TL217 safe
    # becomes: part = images[torch.arange(9, device=images.device)]

    # case: a range of an array, and the actions
    part = output[np.arange(len(output)), labels]  # TL217 hint unsafe # TL217 | no fix: other lines
    # becomes: part = output[torch.arange(len(output), device=output.device), labels]

    # case: what is written
    images[torch.arange(9)] = 0  # TL217 safe

    # case: a range of an array, with a type
    part = images[np.arange(9, dtype=np.int64)]  # TL217 | no fix: `torch.arange` with `device=`

    # case: another array
    part = images[np.random.permutation(9)]  # TL217 | no fix: other lines

    # case: the places where an array holds
    wanted = np.where(np.asarray(rows) != 0)
    part = output[wanted]  # TL217 | no fix: other lines

    # case: an order that is drawn on another line
    order = torch.randperm(9)
    mixed = images[order[:3]]  # TL217 | no fix: other lines

    # case: a mask of the batch
    part = images[labels > 0]

    # case: a mask with a name
    chosen = torch.zeros(9, dtype=torch.bool)
    part = images[~chosen] + images[chosen]

    # case: next to an array that has to be copied as well
    actions = np.load("actions.npy")
    part = output[np.arange(9), actions]  # TL217 hint unsafe # TL217 | no fix: other lines

    # case: of a tensor without a name
    part = model(images)[torch.arange(9)]  # TL217 | no fix: other lines

    # case: with a generator
    mixed = images[torch.randperm(9, generator=generator)]  # TL217 | no fix: choose the CPU

    # case: on the CPU, as it says
    mixed = images[torch.randperm(9, device="cpu")]  # TL217 | no fix: choose the CPU

    # case: on the device
    mixed = images[torch.randperm(9, device=device)]

    # case: on the device, on another line
    order = torch.randperm(9).to(device)
    mixed = images[order]

    # case: a number, a slice, a list
    part = images[0], images[1:9], images[[1, 2]], images[step], images[..., None]

    # case: an item of an array
    part = images[np.arange(9)[0]]

    # case: what nobody knows
    part = images[chosen]

    # case: of a tensor in host memory
    part = labels[torch.randperm(9)]

    # case: of a list
    names = classes[torch.randint(0, 9, ())]

    # case: of an array
    part = np.zeros(9)[np.arange(3)]

    # case: now and then
    if step % 100 == 0:
        part = images[torch.arange(9)]

# head: none

# case: rows of a loader
features = load().to(device)
for rows in DataLoader(range(9), 3, shuffle=True):
    loss = criterion(model(features[rows]))  # TL217 | no fix
    loss.backward()
    optimizer.step()

# case: in a loss that is given tensors of the device
def hard(scores):
    return scores[torch.arange(len(scores))].mean()  # TL217 safe

for images, labels in loader:
    loss = hard(model(images.to(device)))
    loss.backward()
    optimizer.step()

# case: in a loss that is given tensors in host memory
def hard(scores):
    return scores[torch.arange(len(scores))].mean()

for images, labels in loader:
    loss = criterion(model(images.to(device))) + hard(labels)
    loss.backward()
    optimizer.step()

# case: in a loss that nobody calls
def hard(scores):
    return scores[torch.arange(len(scores))].mean()

# case: without torch by its name [bare]
import numpy as np
from torch.cuda import synchronize

for images, labels in loader:
    images = images.cuda()
    loss = criterion(model(images[np.arange(9)]))  # TL217 | no fix: `torch.arange` with `device=`
    loss.backward()
    optimizer.step()

# case: in a test [path=tests/test_train.py]
for images, labels in loader:
    loss = criterion(model(images.to(device))[torch.arange(9)])
    loss.backward()
    optimizer.step()

# case: in a program without an accelerator [bare]
import torch

model = torch.nn.Linear(3, 3)
for images, labels in loader:
    output = model(images)
    loss = criterion(output[torch.arange(9)])
    loss.backward()
    optimizer.step()

# case: what a matcher of DETR gave
from criterion import Criterion
criterion = Criterion(matcher)
for images, targets in loader:
    loss = sum(criterion(model(images.to(device)), targets).values())
    loss.backward()
    optimizer.step()
# file: criterion.py
import torch
from matching import Matcher
class Criterion(torch.nn.Module):
    def __init__(self, matcher):
        super().__init__()
        self.matcher = matcher
    def loss_labels(self, outputs, targets, indices):
        idx = self._get_src_permutation_idx(indices)
        chosen = torch.cat([t["labels"][J] for t, (_, J) in zip(targets, indices)])  # TL217 hint | says: made of what the matcher gave | no fix: other lines
        classes = torch.zeros(3, 3, device=outputs.device)
        classes[idx] = chosen  # TL217 hint
        moved = [(i.to(outputs.device), j.to(outputs.device)) for i, j in indices]
        boxes = outputs[moved[0][0]]
        for number, (source, target) in enumerate(indices):
            part = targets[number]["boxes"][target.long()]  # TL217 hint
        first = targets[0]
        return {"labels": (classes - boxes).sum()}
    def loss_moved(self, outputs, picks):
        return outputs[picks]
    def _get_src_permutation_idx(self, indices):
        return torch.cat([source for source, _ in indices])
    def forward(self, outputs, targets):
        indices = self.matcher(outputs, targets)
        picked = outputs[indices[0][0]]  # TL217 hint
        losses = self.loss_labels(outputs, targets, indices)
        return {key: losses[key] * 2 for key in losses}
# file: matching.py
import torch
from scipy.optimize import linear_sum_assignment
class Matcher(torch.nn.Module):
    def forward(self, outputs, targets):
        cost = torch.cdist(outputs, targets).cpu()
        return [tuple(map(torch.as_tensor, linear_sum_assignment(each))) for each in cost]

# case: what a matcher on the device gave
from criterion import Criterion
criterion = Criterion(matcher)
for images, targets in loader:
    loss = criterion(model(images.to(device)), targets)
    loss.backward()
    optimizer.step()
# file: criterion.py
import torch
class Criterion(torch.nn.Module):
    def forward(self, outputs, targets):
        indices = self.matcher(outputs, targets)
        return outputs[indices].sum()

# case: in a model, of what nothing is known
from net import Net
model = Net().to(device)
for images, labels in loader:
    loss = model(images.to(device), labels.to(device)).sum()
    loss.backward()
    optimizer.step()
# file: net.py
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rel = torch.nn.Parameter(torch.zeros(9, 3))
        self.sizes = [1, 2, 3]
        self.table = torch.zeros(9)
    def forward(self, x, y):
        points = self.pool(x)
        order = torch.randperm(points.shape[0])
        points = points[order]  # TL217 hint
        mixed = unpack(y)[torch.randint(9, (3,))]  # TL217 hint
        size = self.sizes[x.shape[0]]
        again = self.table[torch.randperm(9)]
        return points + mixed + rel_pos(size, self.rel)
def rel_pos(size, table):
    coords = torch.arange(size)[:, None] - torch.arange(size)[None, :] + (size - 1)
    other = table[size]
    if size > 9:
        table = torch.nn.functional.interpolate(table[None], size=size)[0]
    return table[coords.long()]  # TL217 hint

# case: outside of a model, of what nothing is known
for images, labels in loader:
    loss = model(images.to(device)).sum()
    loss.backward()
    optimizer.step()
    kept = memory.states[torch.randint(9, (3,))]
