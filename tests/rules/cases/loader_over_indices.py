# TL113: loaders that only make batches of indices.

# every program:
import numpy as np
import torch
from torch.utils.data import DataLoader
from tqdm import tqdm

# head: a loop that trains
def train(model, images, loss):
    loss.backward()

# case: a range, by position
for rows in DataLoader(range(len(images)), 4096, shuffle=True):  # TL113 unsafe | marks: DataLoader(range(len(images)), 4096, shuffle=True)
# becomes: for rows in torch.randperm(len(images)).split(4096):
    train(model, images[rows], loss)

# case: a range that is not shuffled
for rows in DataLoader(range(x.size(0)), batch_size=args.batch_size):  # TL113 unsafe
# becomes: for rows in torch.arange(x.size(0)).split(args.batch_size):
    train(model, images[rows], loss)

# case: shuffled by position, below a progress bar
for rows in tqdm(DataLoader(range(n), 4096, True)):  # TL113 unsafe
# becomes: for rows in tqdm(torch.randperm(n).split(4096)):
    train(model, images[rows], loss)

# case: a tensor of indices
for step, rows in enumerate(DataLoader(torch.arange(n), batch_size=4096, shuffle=False)):  # TL113 unsafe
# becomes: for step, rows in enumerate(torch.arange(n).split(4096)):
    train(model, images[rows], loss)

# case: an array of indices
for rows in DataLoader(np.arange(n), batch_size=4096):  # TL113 unsafe
# becomes: for rows in torch.arange(n).split(4096):
    train(model, images[rows], loss)

# case: a loader with a name
loader = DataLoader(range(n), batch_size=4096)  # TL113 | no fix: where each epoch begins
for epoch in range(90):
    for rows in loader:
        train(model, images[rows], loss)

# case: a range with a name
samples = range(n)
for rows in DataLoader(samples, batch_size=4096):  # TL113 | no fix: written elsewhere
    train(model, images[rows], loss)

# case: a range with two ends
for rows in DataLoader(range(start, n), batch_size=4096):  # TL113 | no fix: written elsewhere
    train(model, images[rows], loss)

# case: options that split does not have
for rows in DataLoader(range(n), batch_size=4096, drop_last=True):  # TL113 | no fix: no such options
    train(model, images[rows], loss)

# case: an option decides whether it shuffles
for rows in DataLoader(range(n), batch_size=4096, shuffle=args.shuffle):  # TL113 | no fix: no such options
    train(model, images[rows], loss)

# case: a function of the file loops over the loader
def fit(model, batches):
    for rows in batches:
        train(model, images[rows], loss)

loader = DataLoader(range(n), batch_size=4096)  # TL113
fit(model, loader)

# case: some of the indices
for rows in DataLoader(train_idx, batch_size=4096, shuffle=True):  # TL113 hint | no fix: written elsewhere
    train(model, images[rows], loss)

# case: some of the indices, by a key
for rows in DataLoader(split_idx["train"], batch_size=4096):  # TL113 hint
    train(model, images[rows], loss)

# case: a range that is called indices
indices = range(n)
for rows in DataLoader(indices, batch_size=4096):  # TL113
    train(model, images[rows], loss)

# case: in evaluation
def evaluate(model):
    for rows in DataLoader(range(n), batch_size=4096):  # TL113 hint unsafe
        model(images[rows])

# case: without gradients
with torch.no_grad():
    for rows in DataLoader(range(n), batch_size=4096):  # TL113 hint unsafe
        model(images[rows])

# case: a dataset
for batch in DataLoader(images, batch_size=4096):
    train(model, batch, loss)

# case: a dataset that is given a range
for batch in DataLoader(Images(range(n)), batch_size=4096):
    train(model, batch, loss)

# case: a collate function loads what the indices name
for batch in DataLoader(range(n), batch_size=4096, collate_fn=graph.sample):
    train(model, batch, loss)

# case: a sampler chooses the indices
for rows in DataLoader(range(n), batch_size=4096, sampler=sampler):
    train(model, images[rows], loss)

# case: a batch sampler chooses the indices
for rows in DataLoader(range(n), batch_sampler=sampler):
    train(model, images[rows], loss)

# case: worker processes
for rows in DataLoader(range(n), batch_size=4096, num_workers=4):
    train(model, images[rows], loss)

# case: a dict may bring a collate function
for rows in DataLoader(range(n), batch_size=4096, **options):
    train(model, images[rows], loss)

# case: one index at a time
for row in DataLoader(range(n), shuffle=True):
    train(model, images[row], loss)

# case: one index at a time, written out
for row in DataLoader(range(n), batch_size=1, shuffle=True):
    train(model, images[row], loss)

# case: a toy
for row in DataLoader(range(10), batch_size=4):
    print(row)
    train(model, images[row], loss)

# case: a framework gets the loader, which splits it between the processes
loader = accelerator.prepare(DataLoader(range(n), batch_size=4096))
fit(model, loader)

# case: a function of another file gets the loader
loader = DataLoader(range(n), batch_size=4096)
fit(model, loader)
for rows in loader:
    train(model, images[rows], loss)

# case: nobody reads the loader
loader = DataLoader(range(n), batch_size=4096)

# case: a loader that is only looked at
for rows in DataLoader(range(n), batch_size=4096):
    print(rows)

# case: a loader of another library [bare]
import torch
from graphs import DataLoader
for rows in DataLoader(range(n), batch_size=4096):
    train(model, images[rows], loss)

# case: a number that runs through a loop
for count in range(n):
    for rows in DataLoader(count, batch_size=4096):
        train(model, images[rows], loss)

# case: a test [path=tests/test_data.py]
for rows in DataLoader(range(n), batch_size=4096):
    train(model, images[rows], loss)

# case: torch is not imported under a name [bare]
from torch.utils.data import DataLoader
def train(model, images, loss):
    loss.backward()
for rows in DataLoader(range(n), batch_size=4096):  # TL113 | no fix: does not import torch
    train(model, images[rows], loss)

# head: a program that does not train
import torch

# case: a table is walked through
for rows in DataLoader(range(n), batch_size=4096):  # TL113 hint
    table[rows] += 1
