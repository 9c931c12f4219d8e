# TL103: loaders that start their workers again in each epoch.

# every program:
import os
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

# head: a program that trains
def train(model, batches):
    for images, labels in batches:
        model(images).backward()

# case: a loop of epochs
loader = DataLoader(dataset, batch_size=8, num_workers=4)  # TL103 hint unsafe
# becomes: loader = DataLoader(dataset, batch_size=8, num_workers=4, persistent_workers=True)
for epoch in range(90):
    train(model, loader)

# case: workers by position
loader = DataLoader(dataset, 8, True, None, None, 4)  # TL103 hint
for epoch in range(90):
    train(model, loader)

# case: workers by the default of an option
from argparse import ArgumentParser
parser = ArgumentParser()
parser.add_argument("-j", "--num-workers", type=int, default=4)
args = parser.parse_args()
loader = DataLoader(dataset, num_workers=args.num_workers)  # TL103 hint
for epoch in range(90):
    train(model, loader)

# case: no workers by the default of an option
from argparse import ArgumentParser
parser = ArgumentParser()
parser.add_argument("--workers", type=int, default=0)
args = parser.parse_args()
loader = DataLoader(dataset, num_workers=args.workers)
other = DataLoader(dataset, num_workers=args.jobs)
for epoch in range(90):
    train(model, loader)
    train(model, other)

# case: workers that the callers of a function ask for
def build(dataset, workers, shuffle=True, **options):
    return DataLoader(dataset, num_workers=workers, shuffle=shuffle, **options)  # TL103 hint

loader = build(dataset, 2, shuffle=False)
for epoch in range(90):
    train(model, loader)

# case: workers by the default of a function
def build(dataset, workers=2):
    return DataLoader(dataset, num_workers=workers)  # TL103 hint

loader = build(dataset)
for epoch in range(90):
    train(model, loader)

# case: callers that ask for none, or for more than workers
def build(dataset, workers, **options):
    return DataLoader(dataset, num_workers=workers, **options)

def wrapped(dataset, **options):
    return DataLoader(dataset, num_workers=4, **options)

def other(dataset, **options):
    return DataLoader(dataset, num_workers=4, **OPTIONS)

loader, second, third = build(dataset, 0), wrapped(dataset, persistent_workers=True), other(dataset)
for epoch in range(90):
    train(model, loader)
    train(model, second)
    train(model, third)

# case: workers by a name
WORKERS = 8
loader = DataLoader(dataset, num_workers=WORKERS)  # TL103 hint
for epoch in range(90):
    train(model, loader)

# case: a worker for each processor
loader = DataLoader(dataset, num_workers=os.cpu_count())  # TL103 hint
for epoch in range(90):
    train(model, loader)

# case: a worker for each processor, in the words of multiprocessing
from multiprocessing import cpu_count
loader = DataLoader(dataset, num_workers=cpu_count())  # TL103 hint
for epoch in range(90):
    train(model, loader)

# case: the dataset is asked for its length and its classes
loader = DataLoader(dataset, num_workers=4)  # TL103 hint
for epoch in range(90):
    train(model, loader)
    print(len(loader.dataset), loader.dataset.classes, len(dataset), dataset.classes)

# case: the dataset is prepared once, before it is read
dataset.load()
dataset.transform = flip
loader = DataLoader(dataset, num_workers=4)  # TL103 hint
for epoch in range(90):
    train(model, loader)

# case: a dataset of images is named as a keyword
loader = DataLoader(dataset=Images(dataset=files), num_workers=4)  # TL103 hint
for epoch in range(90):
    train(model, loader)

# case: a sampler is told the epoch
loader = DataLoader(dataset, sampler=sampler, num_workers=4)  # TL103 hint
for epoch in range(90):
    sampler.set_epoch(epoch)
    train(model, loader)

# case: a function returns the loader, and another file trains
def make_loader(photos):
    return DataLoader(photos, num_workers=4)  # TL103 hint

# case: a function returns the loader together with others
def load_data(photos, others):
    training = DataLoader(photos, num_workers=4)  # TL103 hint
    stats = others.mean()
    return training, stats

# case: a function returns what it has read
def load_all(photos):
    loader = DataLoader(photos, num_workers=4)
    return [x for x in loader]

# case: kept
loader = DataLoader(dataset, num_workers=4, persistent_workers=True)
for epoch in range(90):
    train(model, loader)

# case: switched off by hand
loader = DataLoader(dataset, num_workers=4, persistent_workers=False)
for epoch in range(90):
    train(model, loader)

# case: an option decides how many workers there are
loader = DataLoader(dataset, num_workers=args.workers)
for epoch in range(90):
    train(model, loader)

# case: a name may mean no workers
workers = 4
if debug:
    workers = 0
loader = DataLoader(dataset, num_workers=workers)
for epoch in range(90):
    train(model, loader)

# case: a parameter with a default
def main(workers=4):
    loader = DataLoader(dataset, num_workers=workers)
    for epoch in range(90):
        train(model, loader)

# case: workers that a loop tries
for workers in 4, 8:
    loader = DataLoader(dataset, num_workers=workers)
    for epoch in range(90):
        train(model, loader)

# case: a number that a function chooses
loader = DataLoader(dataset, num_workers=min(os.cpu_count(), limit))
for epoch in range(90):
    train(model, loader)

# case: no workers
loader = DataLoader(dataset, num_workers=0)
for epoch in range(90):
    train(model, loader)

# case: no workers, without a word
loader = DataLoader(dataset)
for epoch in range(90):
    train(model, loader)

# case: a dict may bring the argument
loader = DataLoader(dataset, num_workers=4, **options)
for epoch in range(90):
    train(model, loader)

# case: one epoch
loader = DataLoader(dataset, num_workers=4)
train(model, loader)

# case: a loader for each fold
for fold in range(5):
    loader = DataLoader(Subset(dataset, folds[fold]), num_workers=4)
    train(model, loader)

# case: the dataset is told the epoch
loader = DataLoader(dataset, num_workers=4)
for epoch in range(90):
    dataset.set_epoch(epoch)
    train(model, loader)

# case: the dataset changes its transform
loader = DataLoader(dataset, num_workers=4)
for epoch in range(90):
    dataset.transform = weak if epoch < 5 else strong
    train(model, loader)

# case: the dataset changes, by way of the loader
loader = DataLoader(Images(files), num_workers=4)
for epoch in range(90):
    loader.dataset.transform = weak if epoch < 5 else strong
    train(model, loader)

# case: the dataset counts
loader = DataLoader(dataset, num_workers=4)
for epoch in range(90):
    train(model, loader)
    dataset.epoch += 1

# case: a function changes the dataset
def begin(epoch):
    dataset.shuffle(epoch)

loader = DataLoader(dataset, num_workers=4)
for epoch in range(90):
    begin(epoch)
    train(model, loader)

# case: the dataset of an object changes
class Trainer:
    def __init__(self):
        self.data = Images()
        self.loader = DataLoader(self.data, num_workers=4)

    def run(self):
        for epoch in range(90):
            self.data.epoch = epoch
            train(model, self.loader)

# case: a stream
class Lines(IterableDataset):
    def __iter__(self):
        yield from open("lines")

loader = DataLoader(Lines(), num_workers=4)
for epoch in range(90):
    train(model, loader)

# case: tensors, which need no workers at all
loader = DataLoader(TensorDataset(images, labels), num_workers=4)
for epoch in range(90):
    train(model, loader)

# case: no dataset at all
loader = DataLoader(num_workers=4)  # TL103 hint
for epoch in range(90):
    train(model, loader)

# case: three loaders
loaders = DataLoader(other), DataLoader(another)
loader = DataLoader(dataset, num_workers=4)  # TL103 hint
for epoch in range(90):
    train(model, loader)

# case: four loaders, whose workers would all stay
loaders = DataLoader(other), DataLoader(another), DataLoader(third)
loader = DataLoader(dataset, num_workers=4)
for epoch in range(90):
    train(model, loader)

# case: a loader of another library [bare]
import torch
from graphs import DataLoader
def train(model, batches):
    for images, labels in batches:
        model(images).backward()
loader = DataLoader(dataset, num_workers=4)
for epoch in range(90):
    train(model, loader)

# case: a torch without the argument [torch=1.6]
loader = DataLoader(dataset, num_workers=4)
for epoch in range(90):
    train(model, loader)

# case: the first torch with the argument [torch=1.7]
loader = DataLoader(dataset, num_workers=4)  # TL103 hint
for epoch in range(90):
    train(model, loader)

# case: a test [path=tests/test_data.py]
loader = DataLoader(dataset, num_workers=4)
for epoch in range(90):
    train(model, loader)

# head: a program that does not train
import torch

# case: it only evaluates
loader = DataLoader(dataset, num_workers=4)
for model in models:
    for images in loader:
        model(images)
