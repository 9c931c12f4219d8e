# TL206: which copies of pinned batches Python waits for.

# every program:
import torch
from torch import nn
from torch.utils.data import DataLoader
from tqdm import tqdm

device = torch.device("cuda")
model = nn.Linear(3, 3).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

# head: a training step
loader = DataLoader(photos, num_workers=4, pin_memory=True)
for step, (images, labels) in enumerate(loader):
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()

    # case: to a device
    images = images.to(device)  # TL206 hint unsafe | says: the copy of `images`
    # becomes: images = images.to(device, non_blocking=True)

    # case: to the GPU
    images = images.cuda()  # TL206 hint unsafe
    # becomes: images = images.cuda(non_blocking=True)

    # case: with another type
    images = images.to(device, torch.float16)  # TL206 hint unsafe
    # becomes: images = images.to(device, torch.float16, non_blocking=True)

    # case: an item of it
    part = images[:9].to(device)  # TL206 hint unsafe

    # case: in the background
    images = images.to(device, non_blocking=True)

    # case: in the background if there is time
    images = images.to(device, non_blocking=args.pinned)

    # case: in the background, by position
    images = images.cuda(0, True)

    # case: computed before, which is in memory that nothing pins
    images = images.float().to(device)  # TL206 hint | says: `images` first with | no fix: before

    # case: computed on another line
    images = images.float()
    images = images.to(device, non_blocking=True)  # TL206 hint | no fix

    # case: joined on the host
    both = torch.cat([images[:4], images[4:]], dim=0)
    both = both.cuda(non_blocking=True)  # TL206 hint | no fix

    # case: joined with something else
    both = torch.cat([images, weights], dim=0).to(device)  # TL206 hint | says: data in host

    # case: made wider, which TL218 is about
    labels = labels.long().to(device)

    # case: made bytes into numbers, which TL218 is about
    images = (images.float() / 255).to(device)

    # case: another view of it
    images = images.squeeze(1).to(device=device)  # TL206 hint unsafe
    # becomes: images = images.squeeze(1).to(device=device, non_blocking=True)

    # case: several, which are one finding
    images = images.to(device)  # TL206 hint unsafe | see: labels.to(device)
    # becomes: images = images.to(device, non_blocking=True)
    labels = labels.to(device)
    # becomes: labels = labels.to(device, non_blocking=True)

    # case: like another tensor
    images = images.to(model.weight)

    # case: to the CPU
    images = images.to("cpu")

    # case: moved before
    images = images.cuda(non_blocking=True)
    images = images.to(device)

    # case: a number
    step = step.to(device)

    # case: what is not part of the batch
    weights = class_weights.to(device)

    # case: now and then
    if step % 100 == 0:
        images = images.to(device)

# head: a pinned loader
loader = DataLoader(photos, num_workers=4, pin_memory=True)

# case: a dict of tensors
for batch in loader:
    loss = criterion(model(batch["images"].to(device)), batch["labels"][0].to(device))  # TL206 hint
    loss.backward()
    optimizer.step()

# case: an object with tensors
for batch in loader:
    loss = criterion(model(batch.images.to(device)))  # TL206 hint
    loss.backward()
    optimizer.step()

# case: all tensors of a dict
for batch in loader:
    batch = {key: value.to(device) for key, value in batch.items()}  # TL206 hint
    loss = criterion(model(**batch))
    loss.backward()
    optimizer.step()

# case: all tensors of a list
for batch in loader:
    images, labels = (each.to(device) for each in batch)  # TL206 hint
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()

# case: all tensors in one statement
for images, labels in loader:
    images, labels = [each.to(device) for each in (images, labels)]
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()

# case: unpacked on another line
for batch in loader:
    images, labels = batch
    data = batch["more"]
    loss = criterion(model(images.to(device)), data.to(device))  # TL206 hint
    loss.backward()
    optimizer.step()

# case: with a progress bar
for images, labels in tqdm(loader):
    loss = criterion(model(images.to(device)), labels)  # TL206 hint
    loss.backward()
    optimizer.step()

# case: with a progress bar that has a name
bar = enumerate(loader)
if rank == 0:
    bar = tqdm(bar, total=9)
for step, (images, labels) in bar:
    loss = criterion(model(images.to(device)), labels)  # TL206 hint
    loss.backward()
    optimizer.step()

# case: drawn by hand
batches = iter(loader)
while True:
    images, labels = next(batches)
    loss = criterion(model(images.to(device)), labels)  # TL206 hint
    loss.backward()
    optimizer.step()

# case: of two loaders at once
for (images, labels), (more, _) in zip(loader, other_loader):
    loss = criterion(model(images.to(device)), more.to(device))  # TL206 hint
    loss.backward()
    optimizer.step()

# case: a whole batch, which may be anything
for batch in loader:
    loss = criterion(model(batch.to(device)))  # TL206 hint | no fix: an object
    loss.backward()
    optimizer.step()

# case: a whole batch by another name
for batch in loader:
    data = batch
    loss = criterion(model(data.to(device)))  # TL206 hint | no fix: an object
    loss.backward()
    optimizer.step()

# case: a whole batch that is counted
for step, batch in enumerate(loader):
    loss = criterion(model(batch.to(device)))  # TL206 hint | no fix: an object
    loss.backward()
    optimizer.step()

# case: a whole batch that is counted by a bar with a name
bar = enumerate(loader)
for step, batch in bar:
    loss = criterion(model(batch.to(device)))  # TL206 hint | no fix: an object
    loss.backward()
    optimizer.step()

# case: a whole batch that is drawn
batches = iter(loader)
while True:
    loss = criterion(model(next(batches).to(device)))  # TL206 hint | no fix: an object
    loss.backward()
    optimizer.step()

# case: drawn again when the loader is empty
batches = iter(loader)
for step in range(9):
    try:
        batch = next(batches)
    except StopIteration:
        batches = iter(loader)
        batch = next(batches)
    batch = [each.to(device) for each in batch]  # TL206 hint
    loss = criterion(model(*batch))
    loss.backward()
    optimizer.step()

# case: two parts of a batch in one statement
for batch in loader:
    images, labels = batch["image"], batch["label"]
    loss = criterion(model(images.to(device)), labels)  # TL206 hint
    loss.backward()
    optimizer.step()

# case: a batch that a function is passed
def forward_pass(data, net):
    images, labels = data
    images, labels = images.cuda(), labels.cuda()  # TL206 hint unsafe
    return criterion(net(images), labels)

for data in loader:
    loss = forward_pass(data, model)
    loss.backward()
    optimizer.step()

# case: what may be another batch, and one that was moved
def forward_pass(data, other):
    images, labels = data
    return criterion(model(images.cuda()), labels) + other["labels"][0].cuda()

for data in loader:
    loss = forward_pass(data, other)
    loss = loss + forward_pass(next(made), other)
    loss.backward()
    optimizer.step()

# case: of no loader
for images, labels in memory:
    loss = criterion(model(images.to(device)), labels)
    loss.backward()
    optimizer.step()

# case: of a function's own
for images, labels in draw(memory):
    loss = criterion(model(images.to(device)), labels)
    loss.backward()
    optimizer.step()

# case: of a file
with open_batch() as (images, labels):
    for step in range(9):
        loss = criterion(model(images.to(device)), labels)
        loss.backward()
        optimizer.step()

# case: in evaluation
with torch.no_grad():
    for images, labels in loader:
        score(model(images.to(device)), labels)

# case: by a model that is given a dict
class Trainer:
    def feed(self, data):
        self.images = data["images"].to(device)  # TL206 hint
        self.first = data[0].to(device)
        self.both = data[self.key].to(device)
        self.part = data["a":"b"].to(device)

    def feed_other(self):
        data = load()
        self.images = data["images"].to(device)

    def step(self):
        loss = criterion(model(self.images))
        loss.backward()
        optimizer.step()

trainer = Trainer()
for data in loader:
    trainer.feed(data)
    trainer.feed_other()
    trainer.step()

# head: none

# case: of a loader that does not pin
loader = DataLoader(photos, num_workers=4)
print("with pin_memory=True it would be faster")
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels)
    loss.backward()
    optimizer.step()

# case: of a loader that pins nothing
loader = DataLoader(photos, num_workers=4, pin_memory=False)
print("with pin_memory=True it would be faster")
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels)
    loss.backward()
    optimizer.step()

# case: of a loader with options
options = {"num_workers": 4, "pin_memory": True}
loader = DataLoader(photos, **options)
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels)  # TL206 hint
    loss.backward()
    optimizer.step()

# case: of a loader that pins if there is a GPU
loader = DataLoader(photos, num_workers=4, pin_memory=torch.cuda.is_available())
others = DataLoader(photos, num_workers=4, pin_memory=True)
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels)  # TL206 hint
    loss.backward()
    optimizer.step()

# case: of a loader of another file
from data import make_loader

loader = make_loader()
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels)  # TL206 hint
    loss.backward()
    optimizer.step()
# file: data.py
from torch.utils.data import DataLoader

def make_loader():
    return DataLoader(photos, num_workers=4, pin_memory=True)

# case: of a loader of another file, which pins nothing
from data import make_loader

loader = make_loader()
for images, labels in loader:
    images = images.float().to(device)  # TL206 hint | says: not pinned | no fix: the loader
    labels = labels.to(device)
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
# file: data.py
from torch.utils.data import DataLoader

def make_loader():
    return DataLoader(photos, num_workers=4)

# case: of a loader of another file, which is made again like it was
from data import make_loader, sharded

loader = sharded(make_loader())
for images, labels in loader:
    images = images.to(device)  # TL206 hint | says: not pinned
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
# file: data.py
from torch.utils.data import DataLoader

def make_loader():
    return DataLoader(photos, num_workers=4)

def sharded(loader):
    return DataLoader(loader.dataset, sampler=shards, pin_memory=loader.pin_memory)

# case: of a loader of another file, in the background in name only
from data import make_loader

loader = make_loader()
for images, labels in loader:
    images = images.to(device, non_blocking=True)  # TL206 hint | says: although it is
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
# file: data.py
from torch.utils.data import DataLoader

def make_loader():
    return DataLoader(photos, num_workers=4, pin_memory=False)

# case: of a loader of another file, which may pin
from data import make_loader

loader = make_loader()
for images, labels in loader:
    images = images.to(device)  # TL206 hint unsafe | says: waits … pin_memory
    # becomes: images = images.to(device, non_blocking=True)
    labels = labels.to(device, non_blocking=True)
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
# file: data.py
from torch.utils.data import DataLoader

def make_loader(args):
    return DataLoader(photos, num_workers=4, pin_memory=args.pin_memory)

# case: a whole batch of a generator that this file gets
from data import loader
loader = endless(loader)
for step in range(9):
    batch = next(loader)
    loss = criterion(model(batch.to(device)))  # TL206 hint
    loss.backward()
    optimizer.step()
# file: data.py
from torch.utils.data import DataLoader
loader = DataLoader(photos, num_workers=4)

# case: with Accelerate
from accelerate import Accelerator

loader = DataLoader(photos, num_workers=4, pin_memory=True)
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels)
    loss.backward()
    optimizer.step()

# case: in a test [path=tests/test_train.py]
loader = DataLoader(photos, num_workers=4, pin_memory=True)
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels)
    loss.backward()
    optimizer.step()

# case: in a program without an accelerator [bare]
from torch.utils.data import DataLoader

loader = DataLoader(photos, num_workers=4, pin_memory=True)
for images, labels in loader:
    loss = criterion(model(images.to(place)), labels)
    loss.backward()
    optimizer.step()

# head: data that no loader gives
import numpy as np
for step in range(9):
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()

    # case: rewards of this step, on the device at once
    rewards = torch.tensor(scores(step), device=device)  # TL206 hint | says: data in host | no fix

    # case: numbers that are given each time
    limit = torch.as_tensor(args.limit, dtype=torch.float32, device=x.device)  # TL206 hint

    # case: an array
    array = read(step)
    states = torch.from_numpy(array).float().to(device)  # TL206 hint

    # case: several tensors of data, which are one finding
    states = torch.as_tensor(seen(), device=device)  # TL206 hint | see: torch.as_tensor(earned
    rewards = torch.as_tensor(earned(), device=device)

    # case: pieces of a table in host memory
    rows = torch.stack([torch.tensor(row) for row in table])  # TL206 hint
    rows = rows.to(device)

    # case: pieces of a list in host memory
    pieces, others = [], []
    for part in parts:
        pieces.append(torch.ones(3, 3) * part)
        others.append(part)
    joined = torch.cat(pieces).to(device) + torch.cat(others).to(device)  # TL206 hint | says: `torch.cat` makes

    # case: a constant, which TL213 is about
    weights = torch.tensor([1.0, 2.0], device=device)

    # case: an array that is copied twice, which TL105 is about
    states = torch.tensor(np.asarray(table)).to(device)

    # case: a list of arrays, which TL106 is about
    states = torch.tensor([np.asarray(row) for row in table], device=device)

    # case: an array that NumPy makes anew, which TL205 is about
    order = torch.from_numpy(np.random.permutation(9)).to(device)

    # case: a tensor of the device
    states = torch.as_tensor(loss, device=device)

    # case: it stays in host memory
    states = torch.tensor(read(step))

    # case: nothing is given
    states = torch.tensor(*given, device=device)

    # case: what is not there yet
    if weights is None:
        weights = torch.as_tensor(args.weights, device=device)

    # case: data of one step in a hundred
    if step % 100 == 0:
        rewards = torch.tensor(scores(step), device=device)

# head: none

# case: sequences that a model is given as lists
class Model(nn.Module):
    def forward(self, sequences):
        x = torch.LongTensor(sequences).to(self.device)  # TL206 hint
        return self.embed(x)

model = Model()
for sequences, labels in loader:
    loss = criterion(model(sequences))
    loss.backward()
    optimizer.step()

# head: memory that is pinned where there is a GPU
loader = DataLoader(photos, num_workers=4, pin_memory=device.type == "cuda")
for images, labels in loader:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()

    # case: to the device
    images = images.to(device)  # TL206 hint unsafe

# head: the parts of objects
cameras = load_cameras(path)
for camera in cameras:
    loss = criterion(model(camera), x.cuda(non_blocking=True))
    loss.backward()
    optimizer.step()

    # case: a part that is moved each time
    image = camera.image.cuda()  # TL206 hint | no fix: where it could be kept | says: unless it is there already

    # case: a part that is moved to a device
    image = camera.image.to("cuda")  # TL206 hint

    # case: to where another tensor is, and to another type
    image = camera.image.to(torch.float32)
    image = camera.image.to()

    # case: a part, without waiting
    image = camera.image.cuda(non_blocking=True)

    # case: the object
    image = camera.cuda()

    # case: a part of this object
    table = self.table.cuda()

    # case: a part, now and then
    if step % 100 == 0:
        image = camera.image.cuda()

# head: a training step with a function that moves the batch
from data import make_loader

def train():
    for batch in make_loader():
        loss = criterion(model(**move_to_device(batch, device)))
        loss.backward()
        optimizer.step()

# case: all of a dict, in place
def move_to_device(batch, device):
    for key in batch:
        batch[key] = batch[key].to(device)  # TL206 hint | says: Python waits | no fix
    return batch

# case: all of a dict, by its items
def move_to_device(inputs, device):
    for key, value in inputs.items():
        if isinstance(value, torch.Tensor):
            inputs[key] = value.cuda()  # TL206 hint
    return inputs

# case: all of a dict, into a new one
def move_to_device(x, device):
    return {k: v.to(device) if torch.is_tensor(v) else v for k, v in x.items()}  # TL206 hint

# case: all of a list, by number
def move_to_device(x, device):
    for i in range(len(x)):
        x[i] = x[i].to(device)  # TL206 hint
    return x

# case: whatever it is, by calling itself
def move_to_device(x, device):
    if isinstance(x, torch.Tensor):
        return x.to(device)  # TL206 hint
    if isinstance(x, dict):
        return {key: move_to_device(value, device) for key, value in x.items()}
    return [move_to_device(each, device) for each in x]

# case: whatever it is, by a function for each tensor
def apply_to(f, x):
    if isinstance(x, dict):
        return {key: apply_to(f, value) for key, value in x.items()}
    return f(x)

def move_to_device(x, device):
    def to_cuda(tensor):
        return tensor.cuda()  # TL206 hint
    return apply_to(to_cuda, x)

# case: all tensors of an object that is a batch
class Batch:
    def to(self, device):
        for key, value in self.fields.items():
            self.fields[key] = value.to(device)  # TL206 hint
        return self

def move_to_device(x, device):
    return Batch(x).to(device)

# case: all of a dict, in the background
def move_to_device(x, device):
    return {key: value.to(device, non_blocking=True) for key, value in x.items()}

# case: if the caller wants it in the background
def move_to_device(x, device, wait=True):
    return {key: value.to(device, non_blocking=not wait) for key, value in x.items()}

# case: in a function that does something else
def move_to_device(x, device):
    return compute(x)

def compute(terms):
    return [each.to(device) for each in terms]

# case: all of a list, to the host
def move_to_device(x, device):
    return [each.to("cpu") for each in x]

# case: what was moved before
def move_to_device(x, device):
    return to_again([each.to(device, non_blocking=True) for each in x])

def to_again(batch):
    return batch[0]

# case: modules
def move_to_device(x, device):
    return {key: each(x) for key, each in to_models({"a": nn.Linear(3, 3)}).items()}

def to_models(x):
    for key in x:
        x[key] = x[key].eval().cuda()
    return x

# case: what nothing shows to be a tensor
def move_to_device(x, device):
    x = x.to(device)
    return x

# head: a training step on text
processor = AutoProcessor.from_pretrained("some/model")
for images, texts in loader:
    loss = model(**inputs).loss
    loss.backward()
    optimizer.step()

    # case: tokens
    inputs = tokenizer(texts, return_tensors="pt", padding=True).to(device)  # TL206 hint | no fix

    # case: a part of the tokens
    ids = tokenizer(texts, return_tensors="pt").input_ids.cuda()  # TL206 hint | says: `tokenizer`

    # case: tokens by another name
    tokens = self.tokenizer(texts, return_tensors="pt", truncation=True)
    ids = tokens["input_ids"].to(device)  # TL206 hint
    mask = tokens.attention_mask.to(device)

    # case: images
    inputs = processor(images=images, return_tensors="pt").to(device)  # TL206 hint

    # case: on the device already
    inputs = processor(images=images, return_tensors="pt", device=device).to(device)

    # case: of NumPy
    inputs = tokenizer(texts, return_tensors="np")
    inputs = inputs.to(device)

    # case: not moved
    inputs = tokenizer(texts, return_tensors="pt")
