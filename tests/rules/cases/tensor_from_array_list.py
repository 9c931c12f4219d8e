# TL106: which lists are read number by number, and how they are joined.

# every program:
import numpy as np
import torch

# case: a tuple
x = torch.tensor((np.zeros(3), np.ones(3)))  # TL106

# case: a comprehension
x = torch.tensor([np.asarray(row) for row in rows])  # TL106

# case: a list by name
rows = [np.zeros(3), np.ones(3)]
x = torch.tensor(rows)  # TL106

# case: a list that grows
def load(names):
    rows = []
    for name in names:
        rows.append(np.load(name))
    return torch.tensor(rows)  # TL106

# case: slices of samples
def collate(batch):
    waves, labels, mels = [], [], []
    for wave, mel, label in batch:
        waves += [wave[:8192]]
        mels.append(mel[4 : 4 + 32])
        labels += [label]
    waves = torch.tensor(waves, dtype=torch.float)  # TL106 hint | no fix: only slices
    mels = torch.FloatTensor(mels)  # TL106 hint
    return waves, mels, torch.tensor(labels, dtype=torch.float)

# case: slices of ids, and slices elsewhere
def collate(batch):
    ids = []
    for sample in batch:
        ids += [sample[:512]]
    return torch.tensor(ids)

def windows(rows):
    return torch.tensor([row[:4] for row in rows], dtype=torch.float)

# case: an alias of typed constructors
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
x = Tensor([np.zeros(3), np.ones(3)])  # TL106

# case: numbers read from tensors
losses = [torch.zeros(()), torch.ones(())]
x = torch.tensor([loss.item() for loss in losses])  # TL106

# case: numbers
x = torch.tensor([1, 2, 3])

# case: token ids
x = torch.tensor([vocabulary[word] for word in words])

# case: numbers that lists are made of
x = torch.tensor([[1, 2], [3, 4]])

# case: the numbers of an array
x = torch.tensor([*np.zeros(3)])

# case: an empty list
x = torch.tensor([])

# case: a list that is empty when the tensor is made
rows = []
x = torch.tensor(rows)

# case: arrays and something else
x = torch.tensor([np.zeros(3), other])

# case: arrays and numbers
x = torch.tensor([np.zeros(3), 5.0])

# case: numbers of NumPy
x = torch.tensor([np.float32(1), np.float32(2)])

# case: means
x = torch.tensor([np.zeros(3).mean() for _ in range(3)])

# case: items that may be numbers
a = np.zeros(3)
x = torch.tensor([a[i] for i in range(3)])

# case: tensors
x = torch.tensor([torch.zeros(3), torch.ones(3)])

# case: something unknown
x = torch.tensor(rows)

# case: a list that others fill
rows = [np.zeros(3)]
rows.extend(more)
x = torch.tensor(rows)

# case: a list with an item that was replaced
rows = [np.zeros(3)]
rows[0] = other
x = torch.tensor(rows)

# case: a list that grows by something unknown
rows = [np.zeros(3)]
rows.append(other)
x = torch.tensor(rows)

# case: a deque of returns
from collections import deque
returns = deque()
returns.appendleft(np.zeros(3))
x = torch.tensor(returns)

# case: an array
x = torch.tensor(np.zeros(3))

# case: arrays that were joined
x = torch.tensor(np.stack([np.zeros(3), np.ones(3)]))

# case: the list of something unknown
x = torch.tensor(a.tolist())

# case: the list of a tensor
x = torch.tensor(torch.zeros(3).tolist())

# case: numbers read from something unknown
x = torch.tensor([m.item() for m in meters])

# case: numbers read from arrays
x = torch.tensor([a.item() for a in [np.zeros(1)]])

# case: a class of the project
from shapes import Tensor
x = Tensor([np.zeros(3)])

# case: a test [path=tests/test_model.py]
x = torch.tensor([np.zeros(3)])

# case: the fix of a list of one type that is written out
x = torch.tensor([np.zeros(3), np.ones(3)])  # TL106 safe
# becomes: x = torch.as_tensor(np.stack([np.zeros(3), np.ones(3)]))

# case: the fix of types that join differently in NumPy
x = torch.tensor([np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.float32)])  # TL106 unsafe
# becomes: x = torch.as_tensor(np.stack([np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.float32)]))

# case: the fix of a type that is unknown
x = torch.tensor([np.load('a.npy')])  # TL106 unsafe
# becomes: x = torch.as_tensor(np.stack([np.load('a.npy')]))

# case: the fix of a comprehension, which may be empty
x = torch.tensor([np.zeros(3) for _ in rows], dtype=torch.float32, device=device)  # TL106 unsafe
# becomes: x = torch.as_tensor(np.stack([np.zeros(3) for _ in rows]), dtype=torch.float32, device=device)

# case: the fix of options that as_tensor does not take
x = torch.tensor([np.zeros(3)], requires_grad=True)  # TL106 safe
# becomes: x = torch.tensor(np.stack([np.zeros(3)]), requires_grad=True)

# case: the fix of as_tensor
x = torch.as_tensor([np.zeros(3)])  # TL106 safe
# becomes: x = torch.as_tensor(np.stack([np.zeros(3)]))

# case: the fix of a typed constructor
x = torch.FloatTensor([np.zeros(3), np.ones(3)])  # TL106 safe
# becomes: x = torch.FloatTensor(np.stack([np.zeros(3), np.ones(3)]))

# case: the fix of the numbers of an array, with a type
a = np.zeros((3, 4))
x = torch.tensor(a.tolist(), dtype=torch.float32)  # TL106 unsafe
# becomes: x = torch.as_tensor(a, dtype=torch.float32)

# case: the fix of the numbers of an array, with the type in the name
x = torch.FloatTensor(np.zeros(3).tolist())  # TL106 unsafe
# becomes: x = torch.FloatTensor(np.zeros(3))

# case: the fix of numbers read from tensors
ts = [torch.zeros(()), torch.ones(())]
x = torch.tensor([t.item() for t in ts])  # TL106 unsafe
# becomes: x = torch.stack([t.detach() for t in ts])

# case: a list that made the type is only suggested away
x = torch.tensor(np.zeros((3, 4)).tolist())  # TL106 suggest

# case: no fix: arrays without NumPy [bare]
import torch

x = torch.tensor([t.numpy() for t in ts])  # TL106 | no fix: NumPy is not imported

# case: no fix: a list for constructors here and there
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
x = Tensor(np.zeros(3).tolist())  # TL106 | no fix: on the GPU

# case: no fix: numbers with a type
ts = [torch.zeros(())]
x = torch.tensor([t.item() for t in ts], dtype=torch.float64)  # TL106 | no fix: torch.stack

# case: no fix: numbers where torch has no name [bare]
from torch import tensor, zeros

ts = [zeros(())]
x = tensor([t.item() for t in ts])  # TL106 | no fix: torch.stack

# case: no fix: numbers for a typed constructor
ts = [torch.zeros(())]
x = torch.FloatTensor([t.item() for t in ts])  # TL106 | no fix: torch.stack

# case: a constructor imported by its name keeps it
from torch import tensor
x = tensor([np.zeros(3)])  # TL106 safe
# becomes: x = tensor(np.stack([np.zeros(3)]))

# case: a list of `list()`
rows = list()
rows.append(np.zeros(3))
x = torch.tensor(rows)  # TL106

# case: a list whose items go
rows = [np.zeros(3)]
rows.pop(first)
x = torch.tensor(rows)  # TL106

# case: a list that may be another one
rows = [np.zeros(3)]
if more:
    rows = load()
x = torch.tensor(rows)

# case: a list that begins with others, and one of a function
rows = list(others)
rows.append(np.zeros(3))
x = torch.tensor(rows)
columns = load()
columns.append(np.zeros(3))
x = torch.tensor(columns)

# case: a list of something unknown and of arrays
rows = [other]
rows += [np.zeros(3)]
x = torch.tensor(rows)

# case: a list that nothing is appended to
rows = [np.zeros(3)]
rows.append()
x = torch.tensor(rows)  # TL106

# case: the items of a list
for row in [np.zeros(3), np.ones(3)]:
    x = torch.tensor(row)

# case: a number that is read from an array
x = torch.tensor(np.zeros(1).item())

# case: a number of each tensor
ts = [torch.zeros(2), torch.ones(2)]
x = torch.tensor([t.item(0) for t in ts])

# case: numbers read from tensors and from something else
ts = [torch.zeros(()), other]
x = torch.tensor([t.item() for t in ts])

# case: numbers read from what is passed
def gather(ts):
    return torch.tensor([t.item() for t in ts])

# case: a list of numbers whose type is left open
x = torch.tensor(np.zeros((3, 4)).tolist(), dtype=None)  # TL106 suggest

# head: none

# case: a list that was filled, and joined under the same name [bare]
import numpy as np
import torch
def collate(batch):
    ids = []
    for item in batch:
        ids.append(np.array(item["ids"]))
    ids = pad_all(ids)
    ids = torch.tensor(ids)
    rows = []
    for item in batch:
        rows.append(np.array(item["ids"]))
    return ids, torch.tensor(rows)  # TL106

# case: not parsed: a name that is no list [bare, unread]
import numpy as np
import torch
n = np.prod(shape)
x = torch.tensor(n)

# case: not parsed: a list of numbers [bare, unread]
import numpy as np
import torch
x = torch.tensor([0, np.pi])

# case: not parsed: a list of names and no array around [bare, unread]
import torch
x = torch.tensor([a, b])
y = loss.item()
