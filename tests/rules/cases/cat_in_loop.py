# TL212: tensors and arrays that grow in a loop by being concatenated.

# every program:
import numpy as np
import torch

loader = torch.utils.data.DataLoader(dataset)

# case: over a loader
features = torch.empty(0, 512)
for images, labels in loader:
    features = torch.cat([features, model(images)])  # TL212 | says: append to a list | marks: torch.cat([features, model(images)])

# case: with the arguments of a tuple, and another order
scores = torch.tensor([])
for images, labels in tqdm(loader):
    scores = torch.cat((model(images), scores), dim=0)  # TL212

# case: under other names
first, second, third, fourth = None, [], torch.zeros((0, 3), device="cuda"), torch.Tensor()
for images, labels in loader:
    first = torch.concat([first, images])  # TL212
    second = torch.vstack([second, images])  # TL212
    third = torch.hstack([third, images])  # TL212
    fourth = torch.concatenate([fourth, images])  # TL212

# case: arrays
rows, columns, items = np.empty((0, 3)), np.array([]), np.zeros([0, 3])
for images, labels in loader:
    rows = np.vstack([rows, labels])  # TL212
    columns = np.append(columns, labels)  # TL212
    items = np.concatenate([items, labels])  # TL212

# case: the first batch starts it
scores = None
for images, labels in loader:
    if scores is None:
        scores = model(images)
    else:
        scores = torch.cat([scores, model(images)])  # TL212

# case: the first batch starts it, in one line
scores = torch.tensor([]).to("cuda")
for images, labels in loader:
    scores = torch.cat([scores, model(images)]) if len(scores) else model(images)  # TL212

# case: an empty tensor of the device
scores = torch.tensor([]).cuda()
for images, labels in loader:
    scores = torch.cat([scores, model(images)])  # TL212
    print(scores.shape)

# case: a training loop
losses = torch.tensor([])
while True:
    loss = criterion(model(images))
    loss.backward()
    optimizer.step()
    losses = torch.cat([losses, loss.detach().view(1)])  # TL212

# case: a loop that is counted
points = torch.empty(0, 3)
for index in range(100):
    points = torch.cat([points, sample(index)])  # TL212
more = torch.empty(0, 3)
for index in range(10, 100, 3):
    more = torch.cat([more, sample(index)])  # TL212

# case: few rounds
points = torch.empty(0, 3)
for index in range(3):
    points = torch.cat([points, sample(index)])

# case: an unknown number of rounds
points = torch.empty(0, 3)
for index in range(count):
    points = torch.cat([points, sample(index)])  # TL212 hint
more = torch.empty(0, 3)
while total < count:
    more = torch.cat([more, sample(total)])  # TL212 hint
    total += 1

# case: an outer loop has many rounds
points = torch.empty(0, 3)
for images, labels in loader:
    for index in range(3):
        points = torch.cat([points, sample(index)])  # TL212

# case: it starts again for each batch
for images, labels in loader:
    points = torch.empty(0, 3)
    for index in range(3):
        points = torch.cat([points, sample(index)])

# case: parts of a batch
output = torch.empty(0)
for part in images.split(100):
    output = torch.cat([output, model(part)])

# case: an unknown iterable
output = torch.empty(0)
for crop in crops:
    output = torch.cat([output, model(crop)])

# case: what was collected is read by the loop
tokens = torch.empty(1, 0, dtype=torch.long)
for index in range(100):
    following = model(tokens).argmax(-1)
    tokens = torch.cat([tokens, following], dim=1)

# case: what was collected is shown on each round
scores = torch.tensor([])
for images, labels in loader:
    scores = torch.cat([scores, model(images)])
    print(scores.mean())

# case: what was collected is shown now and then
scores = torch.tensor([])
for images, labels in loader:
    scores = torch.cat([scores, model(images)])
    if images.shape[0] > 1:
        print(scores.mean())

# case: what was collected is read later
scores = torch.tensor([])
for images, labels in loader:
    scores = torch.cat([scores, model(images)])  # TL212
print(scores.mean())

# case: it does not start empty
features = stem(images)
for images, labels in loader:
    features = torch.cat([features, model(images)])
same = images
for images, labels in loader:
    same = torch.cat([same, model(images)])
borders = torch.zeros(1, 4)
for images, labels in loader:
    borders = torch.cat([borders, model(images)])

# case: what it starts with is unknown
def join(features, loader):
    for images, labels in loader:
        features = torch.cat([features, model(images)])
    return features

# case: it starts with something else that is called
features = make([])
for images, labels in loader:
    features = torch.cat([features, model(images)])

# case: a list, joined once
parts = []
for images, labels in loader:
    parts.append(model(images))
parts = torch.cat(parts)

# case: other results
scores = torch.tensor([])
for images, labels in loader:
    both = torch.cat([scores, model(images)])
    pair = torch.cat([images, images])
    images = torch.cat(halves)
    show(torch.cat([scores, images]))
    empty = torch.cat()

# case: outside a loop
scores = torch.tensor([])
scores = torch.cat([scores, model(images)])

# case: a window of the last ones
window = torch.tensor([])
for images, labels in loader:
    window = torch.cat([window, model(images)])[-100:]

# case: a test [path=tests/test_eval.py]
scores = torch.tensor([])
for images, labels in loader:
    scores = torch.cat([scores, model(images)])

# case: a loop on one line
scores = torch.tensor([])
for images, labels in loader: scores = torch.cat([scores, model(images)])  # TL212

# case: after a condition, on one line
scores = torch.tensor([])
for images, labels in loader:
    if labels is not None: scores = torch.cat([scores, model(images)])  # TL212

# case: a call that begins on a line of its own
scores = torch.tensor([])
for images, labels in loader:
    scores = (
        torch.cat([scores, model(images)])  # TL212
    )

# case: a function between the start and the loop
def collect(loader):
    scores = torch.tensor([])
    def of(images):
        return model(images)
    for images, labels in loader:
        scores = torch.cat([scores, of(images)])  # TL212
    return scores

# case: not parsed: nothing begins empty [bare, unread]
import torch
scores = model(first)
for images in loader:
    scores = torch.cat([scores, model(images)])
