# TL101: which loaders are reported, how surely, and when four workers are not offered.

# every program:
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset
from torchvision import datasets, transforms
from PIL import Image
import numpy as np

# case: a vision dataset decodes and transforms
loader = DataLoader(datasets.ImageFolder('train', transforms.ToTensor()), batch_size=8)  # TL101

# case: a literal 0
loader = DataLoader(datasets.MNIST('.'), batch_size=8, num_workers=0)  # TL101

# case: an alias of the class
import torch.utils.data as data
loader = data.DataLoader(datasets.MNIST('.'))  # TL101

# case: a sample is read from a file
class Photos(Dataset):
    def __getitem__(self, index):
        return Image.open(self.files[index])

loader = DataLoader(Photos(files), batch_size=8)  # TL101

# case: the file is read by a method that __getitem__ calls
class Words(Dataset):
    def read(self, index):
        with open(self.files[index]) as file:
            return file.read()

    def __getitem__(self, index):
        return self.read(index)

loader = DataLoader(Words())  # TL101

# case: the file is read by a function of the module
def read(name):
    return np.load(name)

class Clips(Dataset):
    def __getitem__(self, index):
        return read(self.files[index])

loader = DataLoader(Clips())  # TL101

# case: each sample is tokenized
class Texts(Dataset):
    def __getitem__(self, index):
        return self.tokenizer(self.texts[index])

loader = DataLoader(Texts())  # TL101

# case: a transform is given to a dataset that is quick without
class Pairs(Dataset):
    def __init__(self, items, transform=None):
        self.items, self.count = items, len(items)
        self.transform = transform

    def __getitem__(self, index):
        item = self.items[index]
        return self.transform(item) if self.transform else item

loader = DataLoader(Pairs(items, transform=crop))  # TL101

# case: no transform is given, so the cost is unknown
class Pairs(Dataset):
    def __init__(self, items, transform=None):
        self.items = items
        self.transform = transform

    def __getitem__(self, index):
        item = self.items[index]
        return self.transform(item) if self.transform else item

loader = DataLoader(Pairs(items))  # TL101 hint

# case: a part of a vision dataset
train, valid = torch.utils.data.random_split(datasets.CIFAR10("."), [0.9, 0.1])
loader = DataLoader(valid, batch_size=8)  # TL101

# case: one of a dict of datasets
sets = {name: datasets.ImageFolder(name) for name in ("train", "val")}
loader = DataLoader(sets["train"], batch_size=8)  # TL101

# case: datasets are joined
both = torch.utils.data.ConcatDataset([datasets.MNIST("."), datasets.EMNIST(".")])
loader = DataLoader(both)  # TL101

# case: the dataset of an object
class Data:
    def __init__(self):
        self.train = datasets.MNIST(".")

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=8)  # TL101

# case: a function returns the dataset
def build():
    return datasets.MNIST(".")

loader = DataLoader(build())  # TL101

# case: the callers of the function say which dataset
def make_loader(dataset):
    return DataLoader(dataset, batch_size=8)  # TL101

loader = make_loader(datasets.MNIST("."))

# case: a dataset that nothing is known of
loader = DataLoader(dataset, batch_size=8)  # TL101 hint

# case: a table of text with a collate function
import datasets as hub
texts = hub.load_dataset("glue", "mrpc").map(tokenize, batched=True)
loader = DataLoader(texts["train"], collate_fn=pad)  # TL101 hint

# case: a table that is transformed when it is read
import datasets as hub
images = hub.load_dataset("cifar10", split="train").with_transform(augment)
loader = DataLoader(images)  # TL101

# case: the keyword arguments are spelled out
options = {"batch_size": 8}
options.update({"shuffle": True})
loader = DataLoader(datasets.MNIST("."), **options)  # TL101

# case: the keyword arguments hold a 0
options = dict(batch_size=8)
options["num_workers"] = 0
loader = DataLoader(datasets.MNIST("."), **options)  # TL101

# case: a subclass of DataLoader that hands its arguments on
class Infinite(DataLoader):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)

loader = Infinite(datasets.MNIST("."), batch_size=8)  # TL101

# case: a subclass of DataLoader whose default is 0
class Infinite(DataLoader):
    def __init__(self, dataset, num_workers=0):
        super().__init__(dataset, num_workers=num_workers)

loader = Infinite(datasets.MNIST("."))  # TL101

# case: one batch of a loader that is rebuilt in a loop
for _ in range(3):
    x = next(iter(DataLoader(datasets.MNIST('.'))))  # TL101

# case: a name that is also looped over
loader = DataLoader(datasets.MNIST("."))  # TL101
first = next(iter(loader))
for batch in loader:
    train(batch)

# case: a comment that gives no reason
loader = DataLoader(datasets.MNIST('.'), num_workers=0)  # the training set  # TL101

# case: a comment where nothing says 0
loader = DataLoader(datasets.MNIST('.'))  # for debugging  # TL101

# case: one batch in each round, by name
loader = DataLoader(datasets.MNIST('.'))  # TL101
for _ in range(3):
    next(iter(loader))

# case: an iterator that somebody takes
loader = DataLoader(datasets.MNIST('.'))  # TL101
train(iter(loader))

# case: the next of something else
loader = DataLoader(datasets.MNIST('.'))  # TL101
x = next(cycle(loader))

# case: keyword arguments of the caller
def load(**kwargs):
    return DataLoader(datasets.MNIST('.'), **kwargs)

# case: keyword arguments that hold workers now and then
options = {"batch_size": 8}
if torch.cuda.is_available():
    options.update({"num_workers": 1, "pin_memory": True})
loader = DataLoader(datasets.MNIST("."), **options)

# case: keyword arguments that a condition brings
loader = DataLoader(datasets.MNIST('.'), **({'num_workers': 2} if cuda else {}))

# case: keyword arguments that somebody else fills
options = {"batch_size": 8}
fill(options)
loader = DataLoader(datasets.MNIST("."), **options)

# case: keyword arguments with a computed key
options = {"batch_size": 8}
options[name] = 4
loader = DataLoader(datasets.MNIST("."), **options)

# case: positional arguments of the caller
def load(*args):
    return DataLoader(datasets.MNIST('.'), *args)

# case: workers from the command line
loader = DataLoader(datasets.MNIST('.'), num_workers=args.workers)

# case: workers from an option that is 0 unless it is given
parser.add_argument("-num_workers", type=int, default=0)
loader = DataLoader(datasets.MNIST("."), num_workers=parser.parse_args().num_workers)  # TL101 hint | no fix: an option decides

# case: workers from an option that is 2 unless it is given
parser.add_argument("--num-workers", type=int, default=2)
loader = DataLoader(datasets.MNIST("."), num_workers=parser.parse_args().num_workers)

# case: workers from an option without a default
parser.add_argument("--num-workers", type=int)
loader = DataLoader(datasets.MNIST("."), num_workers=args.num_workers)

# case: workers from a parameter that defaults to 0
def load(workers=0):
    return DataLoader(datasets.MNIST("."), num_workers=workers)  # TL101 hint | no fix: an option decides | says: Unless the option `workers`

# case: workers from a parameter that callers of the file leave at 0
def load(workers=0):
    return DataLoader(datasets.MNIST("."), num_workers=workers)  # TL101 hint

train(load())

# case: workers from a parameter for which a caller of the file passes some
def load(workers=0):
    return DataLoader(datasets.MNIST("."), num_workers=workers)

train(load(), load(4))

# case: workers from a parameter for which a caller in another file passes some
def load(workers=0):
    return DataLoader(datasets.MNIST("."), num_workers=workers)
# file: main.py
from train import load
load(workers=8)

# case: workers from a constant
WORKERS = 0
def load():
    return DataLoader(datasets.MNIST("."), num_workers=WORKERS)  # TL101 | no fix: the number is set elsewhere

# case: workers from a constant with a reason
WORKERS = 0  # Windows
def load():
    return DataLoader(datasets.MNIST("."), num_workers=WORKERS)

# case: workers from a constant that is not always 0
workers = 0 if sys.platform == "win32" else 4
loader = DataLoader(datasets.MNIST("."), num_workers=workers)

# case: an option of another file
from options import parse
args = parse()
loader = DataLoader(datasets.MNIST("."), num_workers=args.num_workers)  # TL101 hint | says: Unless the option `num_workers`
# file: options.py
import argparse
def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument(
        "--num-workers", type=int, help="processes (per loader)", default=0
    )
    return parser.parse_args()

# case: an option of another file with another default
from options import parse
args = parse()
loader = DataLoader(datasets.MNIST("."), num_workers=args.num_workers)
# file: options.py
import argparse
def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-workers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()

# case: an option that the program raises
from options import parse
args = parse()
if args.num_workers == 0:
    args.num_workers = os.cpu_count()
loader = DataLoader(datasets.MNIST("."), num_workers=args.num_workers)
# file: options.py
import argparse
def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-workers", type=int, default=0)
    return parser.parse_args()

# case: a field of a dataclass, clamped
from options import Options
args = Options()
args.workers = min(max(0, args.workers), args.batch_size)
loader = DataLoader(datasets.MNIST("."), num_workers=args.workers)  # TL101 hint
# file: options.py
from dataclasses import dataclass
@dataclass
class Options:
    workers: int = 0        # -1: as many as there are processors, see options.yaml

# case: a field of a dataclass with a maker
from options import Options
args = Options()
loader = DataLoader(datasets.MNIST("."), num_workers=min(args.workers, 8))  # TL101 hint
# file: options.py
from dataclasses import dataclass, field
@dataclass
class Options:
    workers: int = field(default=0, metadata={"help": "processes"})

# case: a field of a dataclass that is not 0
from options import Options
args = Options()
loader = DataLoader(datasets.MNIST("."), num_workers=args.workers)
# file: options.py
from dataclasses import dataclass, field
@dataclass
class Options:
    workers: int = field(default=2, metadata={"help": "processes"})

# case: an option of click
import click
@click.command()
@click.option("--num-workers", default=0)
def main(num_workers):
    train(DataLoader(datasets.MNIST("."), num_workers=num_workers))  # TL101 hint

# case: an option of typer
import typer
def main(num_workers: int = typer.Option(0, help="processes")):
    train(DataLoader(datasets.MNIST("."), num_workers=num_workers))  # TL101 hint

# case: an option of absl
from absl import flags
flags.DEFINE_integer("num_workers", 0, "Processes.")
FLAGS = flags.FLAGS
def main(_):
    train(DataLoader(datasets.MNIST("."), num_workers=FLAGS.num_workers))  # TL101 hint

# case: a dict of settings
config = {"batch_size": 8, "num_workers": 0}
def main():
    train(DataLoader(datasets.MNIST("."), num_workers=config["num_workers"]))  # TL101 hint

# case: a dict of settings that has some
config = {"batch_size": 8, "num_workers": 2}
def main():
    train(DataLoader(datasets.MNIST("."), num_workers=config["num_workers"]))

# case: settings of another file, by attribute
from defaults import cfg
def main():
    train(DataLoader(datasets.MNIST("."), num_workers=cfg.DATA.NUM_WORKERS))  # TL101 hint
# file: defaults.py
from yacs.config import CfgNode
cfg = CfgNode()
cfg.DATA = CfgNode()
cfg.DATA.NUM_WORKERS = 0

# case: what no file sets is 0
def main(config):
    train(DataLoader(datasets.MNIST("."), num_workers=config.get("num_workers", 0)))  # TL101 hint

# case: settings of another file, which may be overwritten by those of a YAML file
from defaults import cfg
def main():
    train(DataLoader(datasets.MNIST("."), num_workers=cfg.DATA.NUM_WORKERS))
# file: defaults.py
import yaml
cfg.DATA.NUM_WORKERS = 0
cfg.update(yaml.safe_load(open("settings.yaml")))

# case: workers from a parameter that callers of the file fill by a dict
def main(dataset, num_workers: int = 0):
    train(DataLoader(datasets.MNIST("."), num_workers=num_workers))
parser.add_argument("--num-workers", type=int, default=4)
main(**vars(parser.parse_args()))

# case: the number of another loader
def wrap(loader, num_workers=0):
    return DataLoader(datasets.MNIST("."), num_workers=loader.num_workers)

# case: what no file sets is unknown
def main(config):
    train(DataLoader(datasets.MNIST("."), num_workers=config.get("num_workers")))

# case: what no file sets is 4
def main(args):
    train(DataLoader(datasets.MNIST("."), num_workers=getattr(args, "num_workers", 4)))

# case: an attribute that a constructor sets
class Data:
    def __init__(self, num_workers: int = 0):
        self.num_workers = num_workers
    def train_dataloader(self):
        return DataLoader(datasets.MNIST("."), num_workers=self.num_workers)  # TL101 hint

# case: an attribute that a constructor sets, by an option that gives some
class Data:
    def __init__(self, num_workers: int = 0):
        self.num_workers = num_workers
    def train_dataloader(self):
        return DataLoader(datasets.MNIST("."), num_workers=self.num_workers)
# file: main.py
from train import Data
parser.add_argument("--num_workers", type=int, default=8)
args = parser.parse_args()
Data(num_workers=args.num_workers)

# case: an option that is shared by several processes
parser.add_argument("--workers", type=int, default=0)
args = parser.parse_args()
args.workers = int((args.workers + gpus - 1) / gpus)
loader = DataLoader(datasets.MNIST("."), num_workers=args.workers // 2)  # TL101 hint

# case: the loader of graphs with an option that is 0
from torch_geometric.loader import DataListLoader, DataLoader as Graphs
parser.add_argument("--workers", type=int, default=0)
args = parser.parse_args()
make = DataListLoader if torch.cuda.device_count() > 1 else Graphs
loader = make(dataset=graphs, num_workers=args.workers)  # TL101 hint

# case: workers but for debugging
loader = DataLoader(datasets.MNIST('.'), num_workers=0 if debug else 4)

# case: workers by position
loader = DataLoader(datasets.MNIST('.'), 8, True, None, None, 4)

# case: tensors in memory
loader = DataLoader(TensorDataset(x, y), batch_size=8)

# case: a part of tensors in memory
loader = DataLoader(torch.utils.data.Subset(TensorDataset(x, y), indices))

# case: a list
loader = DataLoader([(1, 2), (3, 4)], batch_size=8)

# case: a list by name
pairs = [(i, i) for i in range(9)]
loader = DataLoader(pairs)

# case: a range
loader = DataLoader(range(100), batch_size=8)

# case: an array
loader = DataLoader(np.zeros((100, 3)), batch_size=8)

# case: a tensor of indices
def load(train_idx):
    return DataLoader(train_idx, batch_size=8)

# case: a dataset that only indexes
class Pairs(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __getitem__(self, index):
        return torch.as_tensor(self.x[index]), int(self.y[index])

loader = DataLoader(Pairs(x, y), batch_size=8)

# case: a table in Arrow files
import datasets as hub
loader = DataLoader(hub.load_dataset("glue", "mrpc")["train"], batch_size=8)

# case: an iterable dataset
class Stream(IterableDataset):
    def __iter__(self):
        return iter(open("log"))

loader = DataLoader(Stream())

# case: a dataset that can only be iterated
class Stream(Dataset):
    def __iter__(self):
        return iter(open("log"))

loader = DataLoader(Stream())

# case: a streamed table
import datasets as hub
loader = DataLoader(hub.load_dataset("c4", streaming=True), collate_fn=pad)

# case: either a vision dataset or a stream
class Stream(IterableDataset):
    def __iter__(self):
        return iter(open("log"))

data = datasets.MNIST(".") if small else Stream()
loader = DataLoader(data)

# case: a dataset that touches the GPU
class Photos(Dataset):
    def __getitem__(self, index):
        return transforms.functional.to_tensor(Image.open(self.files[index])).cuda()

loader = DataLoader(Photos())

# case: a dataset that keeps its tensors on the GPU
class Photos(Dataset):
    def __init__(self, x, device):
        self.x = x.to(device)

    def __getitem__(self, index):
        return transforms.functional.hflip(self.x[index])

loader = DataLoader(Photos())

# case: a comment on the line
loader = DataLoader(datasets.MNIST('.'), num_workers=0)  # h5py cannot fork

# case: a comment above the line
# deadlocks on Windows otherwise
loader = DataLoader(datasets.MNIST('.'), num_workers=0)

# case: a comment beside the argument
loader = DataLoader(
    datasets.MNIST("."),
    num_workers=0,  # for debugging
)

# case: the whole dataset in one batch
data = datasets.MNIST('.')
loader = DataLoader(data, batch_size=len(data))

# case: the whole dataset in one batch, by name
data = datasets.MNIST('.')
count = len(data)
loader = DataLoader(data, count)

# case: one batch
images, labels = next(iter(DataLoader(datasets.MNIST('.'), batch_size=8)))

# case: one batch, by name
loader = DataLoader(datasets.MNIST('.'))
images, labels = next(iter(loader))

# case: one batch, by a name that then means something else
loader = DataLoader(datasets.MNIST("."))
images, labels = next(iter(loader))
loader = other
for batch in loader:
    train(batch)

# case: one batch, by a name that is also a keyword and an attribute
loader = DataLoader(datasets.MNIST("."))
images, labels = next(iter(loader))
train(loader=other)
trainer.loader.start()

# case: only counted
def main():
    loader = DataLoader(datasets.MNIST('.'))
    total = len(loader) * epochs
    print(loader.dataset)

# case: a loader that other files may import is counted
loader = DataLoader(datasets.MNIST('.'))  # TL101
print(len(loader))

# case: counted and read
def main():
    loader = DataLoader(datasets.MNIST('.'))  # TL101
    total = len(loader) * epochs
    for batch in loader:
        train(batch)

# case: a look at a few batches
if __name__ == '__main__':
    loader = DataLoader(datasets.MNIST('.'))
    for i, sample in enumerate(loader):
        plt.imshow(sample['image'].numpy())
        if i == 1:
            break

# case: a loop that ends after a thousand batches
loader = DataLoader(datasets.MNIST('.'))  # TL101
for i, sample in enumerate(loader):
    train(sample)
    if i == 1000:
        break

# case: a loop that ends when it has had enough
loader = DataLoader(datasets.MNIST('.'))  # TL101
for i, sample in enumerate(loader):
    train(sample)
    if i == limit:
        break

# case: a few batches of each epoch
loader = DataLoader(datasets.MNIST('.'))  # TL101
for epoch in range(90):
    for i, sample in enumerate(loader):
        train(sample)
        if i == 3:
            break

# case: a few batches are trained on
loader = DataLoader(datasets.MNIST('.'))  # TL101
for i, sample in enumerate(loader):
    model(sample).backward()
    if i == 3:
        break

# case: a loop that does nothing
loader = DataLoader(datasets.MNIST('.'))
iterator = iter(loader)
images, labels = next(iterator)
images, labels = iterator.next()
for images, labels in tqdm(loader):
    # Train here.
    pass

# case: a loop that only prints
for images, labels in DataLoader(datasets.MNIST('.')):
    print(images.shape)

# case: one evaluation behind the training
loader = DataLoader(datasets.MNIST('.'))  # TL101 hint | says: overlaps with the evaluation
with torch.no_grad():
    for images, labels in loader:
        correct += (model(images).argmax(1) == labels).sum()

# case: an evaluation in each epoch
loader = DataLoader(datasets.MNIST('.'))  # TL101 | says: process that evaluates … overlaps with the evaluation
for epoch in range(90):
    train(model)
    with torch.no_grad():
        for images, labels in loader:
            model(images)

# case: one evaluation, by a function
def main():
    loader = DataLoader(datasets.MNIST('.'))  # TL101 hint
    evaluate(model, loader)
def evaluate(model, batches):
    for images, labels in enumerate(tqdm(batches)):
        model(images)
main()

# case: an evaluation in each epoch, by a function of another file
from engine import validate
loader = DataLoader(datasets.MNIST('.'))  # TL101 | says: overlaps with the evaluation
for epoch in range(90):
    validate(model, loader)

# case: the same loader for the training and an evaluation
loader = DataLoader(datasets.MNIST('.'))  # TL101 | says: overlaps with training
for images, labels in loader:
    train(images)
evaluate(model, loader)

# case: the loader of a training that draws samples from a generator
def sample_data(batches):
    while True:
        for batch in batches:
            yield batch
loader = DataLoader(datasets.MNIST('.'))  # TL101 | says: overlaps with training
for images, labels in sample_data(loader):
    train(images)

# case: the loader of a training that draws samples by way of a name
from data import sample_data
def train(batches):
    batches = sample_data(batches)
    step(next(batches))
loader = DataLoader(datasets.MNIST('.'))  # TL101 | says: overlaps with training
train(loader)

# case: a loader that is given to nobody knows what
loader = DataLoader(datasets.MNIST('.'))  # TL101 | says: overlaps with training
fit(model, loader)

# case: a subclass of DataLoader that takes no workers
class Plain(DataLoader):
    def __init__(self, dataset):
        super().__init__(dataset)

loader = Plain(datasets.MNIST("."))

# case: a subclass of DataLoader with workers of its own
class Quick(DataLoader):
    def __init__(self, dataset, **kwargs):
        super().__init__(dataset, num_workers=4, **kwargs)

loader = Quick(datasets.MNIST("."))

# case: a subclass of DataLoader whose default is not 0
class Quick(DataLoader):
    def __init__(self, dataset, num_workers=4):
        super().__init__(dataset, num_workers=num_workers)

loader = Quick(datasets.MNIST("."))

# case: the loader of another library
from torch_geometric.loader import DataLoader as Graphs
loader = Graphs(graphs)

# case: the arguments of something else
from project import Options
options = Options(dataloader_num_workers=0)

# case: the arguments of a trainer that says nothing
from transformers import TrainingArguments
arguments = TrainingArguments('out', dataloader_pin_memory=True)

# case: a loader in tests/train.py [path=tests/train.py]
loader = DataLoader(datasets.MNIST('.'))

# case: a loader in test_train.py [path=test_train.py]
loader = DataLoader(datasets.MNIST('.'))

# case: a loader in docs/train.py [path=docs/train.py]
loader = DataLoader(datasets.MNIST('.'))

# case: the fix: appended
loader = DataLoader(datasets.MNIST('.'), batch_size=8)  # TL101 unsafe
# becomes: loader = DataLoader(datasets.MNIST('.'), batch_size=8, num_workers=4)

# case: the fix: in the place of a 0
loader = DataLoader(datasets.MNIST('.'), num_workers=0, timeout=9)  # TL101 unsafe
# becomes: loader = DataLoader(datasets.MNIST('.'), num_workers=4, timeout=9)

# case: the fix: in the place of a 0 by position
loader = DataLoader(datasets.MNIST('.'), 8, True, None, None, 0)  # TL101 unsafe
# becomes: loader = DataLoader(datasets.MNIST('.'), 8, True, None, None, 4)

# case: the fix: in the dict that holds the 0
options = {'num_workers': 0}
# becomes: options = {'num_workers': 4}
loader = DataLoader(datasets.MNIST('.'), **options)  # TL101 unsafe

# case: the fix: on a line of its own
loader = DataLoader(  # TL101 unsafe
    datasets.MNIST('.'),
    batch_size=8,  # small
    # added: num_workers=4,
)

# case: the fix: for a trainer
from transformers import TrainingArguments
def main():
    arguments = TrainingArguments('out', dataloader_num_workers=0)  # TL101 hint unsafe
# becomes:     arguments = TrainingArguments('out', dataloader_num_workers=4)

# case: the fix says what changes
loader = DataLoader(datasets.MNIST('.'))  # TL101 unsafe | fix says: random numbers

# case: no fix: the steps change what the dataset is made with
def main(stage):
    loader = DataLoader(datasets.MNIST(".", transform=stage))  # TL101 | no fix: workers have copies
    for x, y in loader:
        model(x).mean().backward()
        optimizer.step()
        stage.advance()

# case: the steps only read what the dataset is made with
def main(stage):
    loader = DataLoader(datasets.MNIST(".", transform=stage))  # TL101 unsafe
    for x, y in loader:
        model(x).mean().backward()
        optimizer.step()
        noise = stage.level()

# case: no fix: the loop runs when the file is imported
loader = DataLoader(datasets.MNIST('.'))  # TL101 | no fix: __main__
for batch in loader:
    train(batch)

# case: no fix: a function that runs when the file is imported
def main():
    for batch in DataLoader(datasets.MNIST(".")):  # TL101 | no fix: __main__
        train(batch)

main()

# case: no fix: a function that such a function calls
def train():
    for batch in DataLoader(datasets.MNIST(".")):  # TL101 | no fix: __main__
        train(batch)

def main():
    train()

main()

# case: no fix: a function that runs on import reads the loader
loader = DataLoader(datasets.MNIST("."))  # TL101 | no fix: __main__

def train():
    for batch in loader:
        train(batch)

train()

# case: no fix: a method of an object that such a function makes
class Trainer:
    def __init__(self):
        self.loader = DataLoader(datasets.MNIST("."))  # TL101 | no fix: __main__

trainer = Trainer()

# case: no fix: a lambda collates
loader = DataLoader(datasets.MNIST('.'), collate_fn=lambda batch: batch)  # TL101 | no fix: collate_fn

# case: no fix: a local function collates
def load():
    def collate(batch):
        return batch

    return DataLoader(datasets.MNIST("."), collate_fn=collate)  # TL101 | no fix: collate_fn

# case: no fix: a lambda sets workers up
loader = DataLoader(datasets.MNIST('.'), worker_init_fn=lambda index: None)  # TL101 | no fix: local function

# case: no fix: a lambda in the dataset's transform
crop = transforms.Compose([transforms.Lambda(lambda image: image)])
loader = DataLoader(datasets.MNIST(".", transform=crop))  # TL101 | no fix: local function

# case: no fix: a lambda that the dataset is given
class Photos(Dataset):
    def __init__(self, files, transform=None):
        self.files = files
        self.transform = transform

    def __getitem__(self, index):
        return Image.open(self.files[index])

loader = DataLoader(Photos(files, transform=lambda image: image))  # TL101 | no fix: local function

# case: no fix: a lambda that the dataset keeps
class Photos(Dataset):
    def __init__(self, files, transform=None):
        self.files = files
        self.transform = lambda image: image

    def __getitem__(self, index):
        return Image.open(self.files[index])

loader = DataLoader(Photos(files))  # TL101 | no fix: local function

# case: no fix: a dataset defined in a function
def load():
    class Photos(Dataset):
        def __getitem__(self, index):
            return Image.open(str(index))

    return DataLoader(Photos())  # TL101 | no fix: inside a function

# case: no fix: an open file
class Photos(Dataset):
    def __init__(self, files):
        self.files = open(files)

    def __getitem__(self, index):
        return Image.open(self.files[index])

loader = DataLoader(Photos(files))  # TL101 | no fix: open file

# case: no fix: a database
import sqlite3
class Photos(Dataset):
    def __init__(self, files):
        self.files = sqlite3.connect(files)

    def __getitem__(self, index):
        return Image.open(self.files[index])

loader = DataLoader(Photos(files))  # TL101 | no fix: database

# case: no fix: a random generator
class Photos(Dataset):
    def __init__(self, files):
        self.files = np.random.default_rng(0)

    def __getitem__(self, index):
        return Image.open(self.files[index])

loader = DataLoader(Photos(files))  # TL101 | no fix: generator

# case: no fix: a cache that __getitem__ fills
class Photos(Dataset):
    def __getitem__(self, index):
        if index not in self.cache:
            self.cache[index] = Image.open(self.files[index])
        return self.cache[index]

loader = DataLoader(Photos())  # TL101 | no fix: writes to `self.cache`

# case: no fix: a counter that __getitem__ keeps
class Photos(Dataset):
    def __getitem__(self, index):
        self.count += 1
        return Image.open(self.files[index])

loader = DataLoader(Photos())  # TL101 | no fix: writes to `self.count`

# case: no fix: a list that __getitem__ appends to
class Photos(Dataset):
    def __getitem__(self, index):
        self.seen.append(index)
        return Image.open(self.files[index])

loader = DataLoader(Photos())  # TL101 | no fix: writes to `self.seen`

# case: an unknown dataset with transforms
from demos import Digits
from torchvision import transforms
dataset = Digits("data", transform=transforms.ToTensor())
loader = DataLoader(dataset)  # TL101 | says: `transform` changes each sample

# case: no fix: an unknown dataset
loader = DataLoader(dataset)  # TL101 hint | no fix: the dataset is unknown

# case: a fix: the loop runs behind a guard
def main():
    for batch in DataLoader(datasets.MNIST(".")):  # TL101 unsafe
        train(batch)

if __name__ == "__main__":
    main()

# case: a fix: nothing calls the function on import
def train():
    for batch in DataLoader(datasets.MNIST(".")):  # TL101 unsafe
        train(batch)

# case: a fix: nothing runs the function that reads the loader
loader = DataLoader(datasets.MNIST("."))  # TL101 unsafe

def train():
    for batch in loader:
        train(batch)

# case: a fix: only the function itself calls the function
def train(rounds):
    for batch in DataLoader(datasets.MNIST(".")):  # TL101 unsafe
        train(batch)
    train(rounds - 1)

# case: a fix: a function of the module collates
def collate(batch):
    return batch

loader = DataLoader(datasets.MNIST("."), collate_fn=collate)  # TL101 unsafe

# case: a loader class of another file that hands its arguments on
from loaders import FastDataLoader
loader = FastDataLoader(datasets.MNIST('.'))  # TL101
# file: loaders.py
from torch.utils.data import DataLoader

class FastDataLoader(DataLoader):
    pass

# case: no fix: a loop over a loader in a script without a guard
for x in DataLoader(datasets.MNIST('.')):  # TL101 | no fix: without an `if __name__
    model(x).mean().backward()

# case: no fix: a counted loop over a loader in a script without a guard
for step, x in enumerate(DataLoader(datasets.MNIST('.'))):  # TL101 | no fix: without an `if __name__
    model(x).mean().backward()

# case: a loop over a loader behind a guard
if __name__ == '__main__':
    for x in DataLoader(datasets.MNIST('.')):  # TL101 unsafe
        model(x).mean().backward()

# case: a loader class of another file, for a dataset whose cost is unknown
from loaders import FastDataLoader

class Pairs(Dataset):
    def __getitem__(self, index):
        return self.compute(self.items[index])

loader = FastDataLoader(Pairs())  # TL101 hint unsafe
# file: loaders.py
from torch.utils.data import DataLoader

class FastDataLoader(DataLoader):
    pass

class SlowDataLoader(DataLoader):
    pass

# case: a loader class of another file with workers of its own
from loaders import FastDataLoader
loader = FastDataLoader(datasets.MNIST('.'))
# file: loaders.py
from torch.utils.data import DataLoader

class FastDataLoader(DataLoader):
    def __init__(self, data):
        super().__init__(data, num_workers=4)

# case: a loader class of a file that is not checked
from loaders import FastDataLoader
loader = FastDataLoader(datasets.MNIST('.'))

# head: a dataset of another file
from data import Photos

# case: a dataset of another file that reads files
loader = DataLoader(Photos(files))  # TL101 unsafe | says: Image.open
# file: data.py
from torch.utils.data import *
from PIL import Image

class Photos(Dataset):
    def __getitem__(self, index):
        return Image.open(self.files[index])

# case: a dataset that another file hands on
loader = DataLoader(Photos(files))  # TL101
# file: data.py
from photos import Photos
# file: photos.py
from torch.utils.data import *
from PIL import Image

class Photos(Dataset):
    def __getitem__(self, index):
        return Image.open(self.files[index])

# case: a dataset of a file that is not checked
loader = DataLoader(Photos(files))  # TL101 hint | no fix

# case: a dataset of a file that is not checked, with work to be seen here
from torchvision import transforms
loader = DataLoader(Photos(files, transform=transforms.ToTensor()))  # TL101 unsafe

# case: one of two datasets of another file
loader = DataLoader(Photos(files))  # TL101 unsafe | says: Image.open
# file: data.py
from torch.utils.data import *
from PIL import Image

class Labels(Dataset):
    def __getitem__(self, index):
        return self.labels[index]

class Photos(Dataset):
    def __getitem__(self, index):
        return Image.open(self.files[index])

# case: no fix: a dataset of a file that is not checked, in a script without a guard
for x in DataLoader(Photos(files)):  # TL101 hint | no fix: without an `if __name__
    model(x).mean().backward()

# case: no fix: a dataset of another file in a script without a guard
for x in DataLoader(Photos(files)):  # TL101 | no fix: without an `if __name__
    model(x).mean().backward()
# file: data.py
import h5py
from torch.utils.data import *
from PIL import Image

class Photos(Dataset):
    def __init__(self, files):
        self.files = files
        self.rest = h5py.File('rest.h5')

    def __getitem__(self, index):
        return Image.open(self.files[index])

# case: a dataset of another file whose cost is unknown, and a transform
from torchvision import transforms
loader = DataLoader(Photos(files, transform=transforms.ToTensor()))  # TL101
# file: data.py
from torch.utils.data import *
from PIL import Image

class Photos(Dataset):
    def __getitem__(self, index):
        return self.compute(self.files[index])

# case: a dataset of another file whose cost is unknown
loader = DataLoader(Photos(files))  # TL101 hint
# file: data.py
from torch.utils.data import *
from PIL import Image

class Photos(Dataset):
    def __getitem__(self, index):
        return self.compute(self.files[index])

# case: an iterable dataset of another file
loader = DataLoader(Photos(files))
# file: data.py
from torch.utils.data import IterableDataset

class Photos(IterableDataset):
    def __iter__(self):
        return iter(())

# case: an iterable dataset of another file with transforms
from torchvision import transforms
loader = DataLoader(Photos(files, transform=transforms.ToTensor()))
# file: data.py
from torch.utils.data import IterableDataset

class Photos(IterableDataset):
    def __iter__(self):
        return iter(())

# case: no fix: a dataset of another file that cannot be sent
loader = DataLoader(Photos(files))  # TL101 | no fix: HDF5
# file: data.py
import h5py
from torch.utils.data import *
from PIL import Image

class Photos(Dataset):
    def __init__(self, files):
        self.files = h5py.File(files)

    def __getitem__(self, index):
        return Image.open(self.files[index])

# head: a trainer of Transformers
from transformers import Seq2SeqTrainingArguments, Trainer, TrainingArguments

# case: the images of a dataset
class Photos(Dataset):
    def __getitem__(self, index):
        return Image.open(self.files[index])

def main():
    arguments = TrainingArguments("out")  # TL101 unsafe | says: `__getitem__` calls `Image.open`; set `dataloader_num_workers`
# becomes:     arguments = TrainingArguments("out", dataloader_num_workers=4)

# case: the images of a dataset, and a 0
class Photos(Dataset):
    def __getitem__(self, index):
        return Image.open(self.files[index])

def main():
    arguments = Seq2SeqTrainingArguments("out", dataloader_num_workers=0)  # TL101 unsafe
# becomes:     arguments = Seq2SeqTrainingArguments("out", dataloader_num_workers=4)

# case: a model beside the dataset
class Photos(Dataset):
    def __getitem__(self, index):
        return Image.open(self.files[index])

class Network(torch.nn.Module):
    pass

def main():
    arguments = TrainingArguments("out")  # TL101 unsafe

# case: a trainer of TRL
from trl import SFTConfig
class Photos(Dataset):
    def __getitem__(self, index):
        return Image.open(self.files[index])

def main():
    arguments = SFTConfig(output_dir="out")  # TL101 unsafe

# case: a trainer of TRL that waits for texts that its model generates
from trl import GRPOConfig
class Photos(Dataset):
    def __getitem__(self, index):
        return Image.open(self.files[index])

def main():
    arguments = GRPOConfig(output_dir="out")

# case: texts that are tokenized sample by sample
class Texts(Dataset):
    def __getitem__(self, index):
        return self.tokenizer(self.texts[index])

def main():
    arguments = TrainingArguments("out")  # TL101 hint unsafe

# case: texts that are encoded sample by sample
class Texts(Dataset):
    def __getitem__(self, index):
        return self.encode_plus(self.texts[index])

def main():
    arguments = TrainingArguments("out")  # TL101 hint

# case: samples that are prepared, whatever they are
class Texts(Dataset):
    def __getitem__(self, index):
        return self.preprocess(self.texts[index])

def main():
    arguments = TrainingArguments("out")  # TL101 hint

# case: texts and images
class Texts(Dataset):
    def __getitem__(self, index):
        return self.tokenizer(self.texts[index])

class Photos(Dataset):
    def __getitem__(self, index):
        return Image.open(self.files[index])

def main():
    arguments = TrainingArguments("out")  # TL101 | says: Image.open

# case: images that are transformed when they are read
def transform(rows):
    return {"pixel_values": [crop(image.convert("RGB")) for image in rows["image"]]}

def main():
    photos = load("photos").with_transform(transform)
    arguments = TrainingArguments("out")  # TL101 unsafe | says: `with_transform` transforms each sample

# case: a transform that another function makes
transform = augment(3)

def main():
    texts.set_transform(transform)
    arguments = TrainingArguments("out")  # TL101 hint unsafe

# case: something else that is transformed when it is read
def main():
    texts.set_transform(normalize)
    arguments = TrainingArguments("out")  # TL101 hint unsafe

# case: a collate function that prepares images
def collate(rows):
    return processor(text=[row["text"] for row in rows], images=[row["image"] for row in rows])

def main():
    arguments = TrainingArguments("out")  # TL101 unsafe | says: `collate` calls `processor`

# case: a collate function that reads images
def collate(rows):
    return [Image.open(row["file"]) for row in rows]

def main():
    arguments = TrainingArguments("out")  # TL101 | says: `collate` calls `Image.open`

# case: a collate function of texts
def collate(rows):
    return tokenizer.pad(rows, return_tensors="pt")

def main():
    arguments = TrainingArguments("out")

# case: another function that reads images
def show(rows):
    return [Image.open(row["file"]) for row in rows]

def main():
    arguments = TrainingArguments("out")

# case: texts that are tokenized before
texts = texts.map(lambda rows: tokenizer(rows["text"]), batched=True)

def main():
    arguments = TrainingArguments("out")

# case: texts that are tokenized before, and a 0
texts = texts.map(lambda rows: tokenizer(rows["text"]), batched=True)

def main():
    arguments = TrainingArguments("out", dataloader_num_workers=0)

# case: nobody knows of what, and a 0
def main():
    arguments = TrainingArguments("out", dataloader_num_workers=0)  # TL101 hint unsafe | says: in the training process; set

# case: nobody knows of what
def main():
    arguments = TrainingArguments("out")

# case: workers of the trainer
class Photos(Dataset):
    def __getitem__(self, index):
        return Image.open(self.files[index])

def main():
    arguments = TrainingArguments("out", dataloader_num_workers=4)
    others = TrainingArguments("out", dataloader_num_workers=options.workers)
    third = TrainingArguments("out", **options)

# case: samples in memory, and on the GPU
class Rows(Dataset):
    def __getitem__(self, index):
        return self.rows[index]

class Points(Dataset):
    def __getitem__(self, index):
        return self.points[index].cuda()

def main():
    arguments = TrainingArguments("out")

# case: arguments that a parser fills in
class Photos(Dataset):
    def __getitem__(self, index):
        return Image.open(self.files[index])

def main():
    (arguments,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()

# case: no fix: the arguments of a trainer that runs on import
class Photos(Dataset):
    def __getitem__(self, index):
        return Image.open(self.files[index])

arguments = TrainingArguments("out")  # TL101 | no fix: __main__

# case: a fix: behind a guard
class Photos(Dataset):
    def __getitem__(self, index):
        return Image.open(self.files[index])

if __name__ == "__main__":
    arguments = TrainingArguments("out")  # TL101 unsafe

# case: no fix: the dataset of a trainer keeps an open file
class Photos(Dataset):
    def __init__(self, files):
        self.files = open(files)

    def __getitem__(self, index):
        return Image.open(self.files[index])

def main():
    arguments = TrainingArguments("out")  # TL101 | no fix: open file

# case: no fix: a local function transforms
def main():
    photos = load("photos").with_transform(lambda rows: augment(rows["image"]))
    arguments = TrainingArguments("out")  # TL101 | no fix: local function

# head: none

# case: a class of the same file whose samples cost an unknown amount
class Pairs(Dataset):
    def __getitem__(self, index):
        return make_pair(self.left[index], self.right[index])
dataset = Pairs()
def main():
    train(DataLoader(dataset))  # TL101 hint unsafe
    # becomes: train(DataLoader(dataset, num_workers=4))

# case: a class of the same file whose samples cost an unknown amount and that cannot be sent
class Pairs(Dataset):
    def __getitem__(self, index):
        self.seen = index
        return make_pair(self.left[index], self.right[index])
def main():
    train(DataLoader(Pairs()))  # TL101 hint | no fix: writes to `self.seen`

# case: a class of another file whose samples cost an unknown amount
from data import Pairs
def main():
    train(DataLoader(Pairs()))  # TL101 hint unsafe
# file: data.py
from torch.utils.data import Dataset
class Pairs(Dataset):
    def __getitem__(self, index):
        return make_pair(self.left[index], self.right[index])

# case: a class of another file that nobody finds
from elsewhere import Pairs
def main():
    train(DataLoader(Pairs()))  # TL101 hint | no fix: the dataset is unknown

# case: items of an HDF5 file
import h5py
class Images(Dataset):
    def __init__(self, path):
        self.images = h5py.File(path, "r")["images"]
    def __getitem__(self, index):
        return torch.from_numpy(self.images[index])
def main():
    train(DataLoader(Images("a.h5")))  # TL101 | says: reads `self.images` from a file | no fix: open HDF5 file

# case: items of one of several files
import h5py
class Images(Dataset):
    def __init__(self, paths):
        self.files = [h5py.File(path, "r") for path in paths]
        self.labels = self.files[0]
    def __getitem__(self, index):
        return torch.from_numpy(self.files[index % 3]["images"][index])
def main():
    train(DataLoader(Images(["a.h5"])))  # TL101 | says: reads `self.files` from a file

# case: items of a Zarr store, through a method and another attribute
import zarr
class Images(Dataset):
    def __init__(self, path):
        self.store = zarr.open(path)
        self.images = self.store["images"]
    def read(self, index):
        return self.images[index]
    def __getitem__(self, index):
        return torch.from_numpy(self.read(index))
def main():
    train(DataLoader(Images("a.zarr")))  # TL101 unsafe | says: `read` reads `self.images` from a file

# case: an HDF5 file that is read as a whole
import h5py
class Images(Dataset):
    def __init__(self, path):
        self.images = h5py.File(path, "r")["images"][:]
        self.labels = np.asarray(h5py.File(path, "r")["labels"])
    def __getitem__(self, index):
        return torch.from_numpy(self.images[index]), self.labels[index]
def main():
    train(DataLoader(Images("a.h5")))

# head: in a notebook [path=train.ipynb]
class Photos(Dataset):
    def __getitem__(self, index):
        return Image.open(self.files[index])

# case: that trains
loader = DataLoader(Photos(files))  # TL101 | no fix: the notebook itself defines a dataset
for x in loader:
    model(x).mean().backward()

# case: that does not train, but may be given to what does
loader = DataLoader(Photos(files))  # TL101 hint | no fix

# case: that evaluates
loader = DataLoader(Photos(files))  # TL101 hint | says: process that evaluates
with torch.no_grad():
    for x in loader:
        model(x)

# case: that gives its dataset to a trainer
from transformers import TrainingArguments
arguments = TrainingArguments('out')  # TL101 | no fix: the notebook itself defines a dataset

# head: in a notebook that imports its dataset [path=train.ipynb]
loader = DataLoader(datasets.MNIST('.'), batch_size=8)  # TL101 unsafe

# case: that trains without a guard of the main program
for x in loader:
    model(x).mean().backward()

# case: that has another class
class Meter:
    def update(self, value):
        self.total += value

for x in loader:
    model(x).mean().backward()

# head: none

# case: a trainer in a notebook needs no guard of the main program [path=train.ipynb]
from transformers import TrainingArguments
arguments = TrainingArguments('out', dataloader_num_workers=0)  # TL101 hint unsafe
