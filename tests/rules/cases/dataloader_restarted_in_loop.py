# TL104: loaders that a loop starts again and again.

# every program:
import torch
from torch.utils.data import DataLoader, Subset, SubsetRandomSampler

def train(model, images, optimizer):
    model(images).backward()
    optimizer.step()

# case: a batch on each step
loader = DataLoader(data, batch_size=8, shuffle=True)
for step in range(1000):
    images = next(iter(loader))  # TL104 | says: `next(iter(…))` … call `iter` once | marks: next(iter(loader))
    model(images).backward()

# case: workers
loader = DataLoader(data, batch_size=8, num_workers=args.workers)
for step in range(1000):
    images = next(iter(loader))  # TL104
    model(images).backward()

# case: shuffled and loaded by position
loader = DataLoader(data, 8, True)
while step < 1000:
    images = next(iter(loader))  # TL104
    model(images).backward()

# case: a sampler
loader = DataLoader(data, sampler=sampler)
while step < 1000:
    images = next(iter(loader))  # TL104
    model(images).backward()

# case: a function that takes a step
loader = DataLoader(data, num_workers=4)

def step():
    images = next(iter(loader))  # TL104
    model(images).backward()
    optimizer.step()

# case: the loader of an object
class Trainer:
    def __init__(self):
        self.batches = DataLoader(data, num_workers=4)

    def run(self):
        for step in range(1000):
            images = next(iter(self.batches))  # TL104
            model(images).backward()

# case: a loader that neither shuffles nor has workers
loader = DataLoader(data, batch_size=8, shuffle=False, num_workers=0)
for step in range(1000):
    images = next(iter(loader))  # TL104 hint
    model(images).backward()

# case: several updates of each batch
loader = DataLoader(data, num_workers=4)
for step in range(1000):
    images = next(iter(loader))  # TL104
    model(images).backward()
    for update in range(3):
        optimizer.step()

# case: a loader that an unknown function shuffles
loader = build(data, shuffle=True)
for step in range(1000):
    images = next(iter(loader))  # TL104 hint
    model(images).backward()

# case: a loader that a function is given
def fit(model, train_loader):
    for step in range(1000):
        images = next(iter(train_loader))  # TL104 hint
        model(images).backward()

# case: a loader of an unknown function
val_dl = build(data)
for step in range(1000):
    images = next(iter(val_dl))  # TL104 hint
    model(images).backward()

# case: the loader of something else
for step in range(1000):
    images = next(iter(experiment.loader))  # TL104 hint
    model(images).backward()

# case: a loop that does not train
loader = DataLoader(data, num_workers=4)
for i in range(100):
    images = next(iter(loader))  # TL104 hint
    draw(images)

# case: something else that is iterated over
for step in range(1000):
    first = next(iter(parameters))
    model(first).backward()

# case: other calls of next
loader = DataLoader(data, num_workers=4)
batches = iter(loader)
for step in range(1000):
    images = next(batches)
    model(images).backward()
    other = next(zip(loader))
    third = next(iter())
    fourth = next()

# case: an iterator that begins again at the end of the data
loader = DataLoader(data, num_workers=4)
batches = iter(loader)
for step in range(1000):
    try:
        images = next(batches)
    except StopIteration:
        batches = iter(loader)
        images = next(iter(loader))
    model(images).backward()

# case: one batch, to look at
loader = DataLoader(data, num_workers=4)
images = next(iter(loader))
for step in range(1000):
    model(images).backward()

# case: one batch in each epoch
loader = DataLoader(data, num_workers=4)
for epoch in range(90):
    shown = next(iter(loader))
    for images in loader:
        model(images).backward()

# case: now and then
loader = DataLoader(data, num_workers=4)
for step in range(1000):
    if step % 100 == 0:
        for i in range(3):
            draw(i)
        shown = next(iter(loader))
    model(images).backward()

# case: a loader that the loop builds
for task in tasks:
    loader = DataLoader(task, num_workers=4)
    images = next(iter(loader))
    model(images).backward()

# case: the loop goes over loaders
for loader in loaders:
    images = next(iter(loader))
    model(images).backward()

# case: a generator of this file
def stream(batches):
    while True:
        yield from batches

loader = stream(DataLoader(data, num_workers=4))
for step in range(1000):
    images = next(iter(loader))
    model(images).backward()

# case: a generator of another file
from data import InfiniteLoader
loader = InfiniteLoader(data)
for step in range(1000):
    images = next(iter(loader))
    model(images).backward()

# case: a function of this file that builds a loader
def build():
    return DataLoader(data, num_workers=4)

loader = build()
for step in range(1000):
    images = next(iter(loader))  # TL104 hint
    model(images).backward()

# case: a test [path=tests/test_data.py]
loader = DataLoader(data, num_workers=4)
for step in range(1000):
    images = next(iter(loader))
    model(images).backward()

# case: a loader that is built on each step
for step in range(1000):
    images = next(iter(DataLoader(data, 8, num_workers=4)))  # TL104 | says: build it before the loop | marks: DataLoader(data, 8, num_workers=4)
    model(images).backward()

# case: a loader that is built in each epoch
for epoch in range(90):
    loader = DataLoader(data, batch_size=args.size, num_workers=4)  # TL104 hint
    for images in loader:
        model(images).backward()

# case: the dataset is looked at before
describe(data)
for epoch in range(90):
    for images in DataLoader(data, num_workers=4):  # TL104 hint
        model(images).backward()

# case: a batch size that a function chooses
for epoch in range(90):
    for images in DataLoader(data, batch_size=choose(), num_workers=4):
        model(images).backward()

# case: workers that shall live on
for epoch in range(90):
    loader = DataLoader(data, batch_size=8, num_workers=4, persistent_workers=True)  # TL104
    print(len(data))
    for images in loader:
        model(images).backward()

# case: no workers, which costs nothing
for epoch in range(90):
    for images in DataLoader(data, batch_size=8):
        model(images).backward()

# case: no workers, and that is said
for epoch in range(90):
    for images in DataLoader(data, batch_size=8, num_workers=0):
        model(images).backward()

# case: an option decides
for epoch in range(90):
    for images in DataLoader(data, batch_size=8, num_workers=args.workers):
        model(images).backward()

# case: the indices of a fold
for fold, indices in enumerate(folds):
    loader = DataLoader(data, sampler=SubsetRandomSampler(indices), num_workers=4)
    for images in loader:
        model(images).backward()

# case: the subset of a fold
for fold, indices in enumerate(folds):
    for images in DataLoader(Subset(data, indices), num_workers=4):
        model(images).backward()

# case: a batch size that grows
for epoch in range(90):
    size = 8 * epoch
    for images in DataLoader(data, batch_size=size, num_workers=4):
        model(images).backward()

# case: a dataset for each round
for data in datasets:
    for images in DataLoader(data, num_workers=4):
        model(images).backward()

# case: a dataset that knows the epoch
for epoch in range(90):
    data.set_epoch(epoch)
    for images in DataLoader(data, num_workers=4):
        model(images).backward()

# case: a dataset that other code fills
for epoch in range(90):
    collect(environment, data)
    for images in DataLoader(data, num_workers=4):
        model(images).backward()

# case: a dataset of an object, which its methods may fill
for epoch in range(90):
    for images in DataLoader(agent.memory, num_workers=4):
        model(images).backward()

# case: several runs
for seed in range(5):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for images in DataLoader(data, num_workers=4):
        train(model, images, optimizer)

# case: a schedule for each round is not an optimizer
for epoch in range(90):
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    for images in DataLoader(data, num_workers=4):  # TL104 hint
        train(model, images, optimizer)

# case: a loader outside of loops
for images in DataLoader(data, num_workers=4):
    model(images).backward()

# case: a function that each epoch calls with the same dataset
def evaluate(data, model):
    for images in DataLoader(data, num_workers=4):  # TL104 hint | says: build it once
        model(images)
for epoch in range(90):
    evaluate(held_out, model)

# case: a method that each epoch calls, with workers by an option
class Runner:
    def __init__(self, args):
        self.workers = args.workers
    def train(self, data):
        for epoch in range(90):
            self.fit(data["train"], epoch)
    def fit(self, data, epoch):
        loader = DataLoader(data, shuffle=True, num_workers=self.workers)  # TL104 hint
        for images in loader:
            model(images).mean().backward()
parser.add_argument("--workers", type=int, default=4)

# case: a function that each epoch calls, without workers
def evaluate(data, model):
    for images in DataLoader(data, num_workers=0):
        model(images)
for epoch in range(90):
    evaluate(held_out, model)

# case: a function that is called once
def evaluate(data, model):
    for images in DataLoader(data, num_workers=4):
        model(images)
evaluate(held_out, model)

# case: a function that is called now and then
def evaluate(data, model):
    for images in DataLoader(data, num_workers=4):
        model(images)
for epoch in range(90):
    if epoch % 30 == 0:
        evaluate(held_out, model)

# case: a function that each round gives another dataset
def evaluate(data, model):
    for images in DataLoader(data, num_workers=4):
        model(images)
for data in datasets:
    evaluate(data, model)
for fold in range(5):
    evaluate(split(fold), model)

# case: a function whose dataset the loop changes
def fit(data, model):
    for images in DataLoader(data, num_workers=4):
        model(images).mean().backward()
for epoch in range(90):
    data.resample()
    fit(data, model)

# case: a function that changes its dataset
def fit(data, model):
    data.resample()
    for images in DataLoader(data, num_workers=4):
        model(images).mean().backward()
for epoch in range(90):
    fit(data, model)

# case: a function for several runs
def fit(data, model, optimizer):
    for images in DataLoader(data, num_workers=4):
        train(model, images, optimizer)
for seed in range(5):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    fit(data, model, optimizer)

# case: a function that makes its dataset
def fit(files):
    data = Photos(files)
    for images in DataLoader(data, num_workers=4):
        model(images).mean().backward()
for epoch in range(90):
    fit(files)

# case: a function that hands its loader on
def fit(data):
    return DataLoader(data, num_workers=4)
for epoch in range(90):
    fit(data)
