# TL205: which tensors are created on the device, and where that is done for them.

# every program:
import numpy as np
import torch
from torch import nn
from torch.autograd import Variable
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda")
model = nn.Linear(3, 3).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(photos, num_workers=4)

# head: a training step
for step, (images, labels) in enumerate(loader):
    images, labels = images.to(device), labels.to(device)
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()

    # case: zeros
    a = torch.zeros(3, 4).to(device)  # TL205 safe | says: `torch.zeros` … pass `device=`
    # becomes: a = torch.zeros(3, 4, device=device)

    # case: a range
    a = torch.LongTensor(range(len(labels))).to(device)  # TL205 | no fix: arange | says: Python counts

    # case: a list
    a = torch.LongTensor([1, 2, 3]).to(device)

    # case: a length
    a = torch.LongTensor(3).fill_(len(labels))

    # case: nothing to copy
    a = torch.empty(0).to(device)

    # case: what is not there yet
    if total is None:
        total = torch.zeros(3).to(device)  # TL205 hint safe

    # case: an array that is filled in a loop
    grid = np.zeros((9, 9))
    for i in range(9):
        grid[i, i] = labels[i]
    a = torch.from_numpy(grid).to(device)

    # case: ones on the GPU
    a = torch.ones(3).cuda()  # TL205 safe
    # becomes: a = torch.ones(3, device="cuda")

    # case: on the GPU of a process
    a = torch.full((3,), 0.5).to(rank)  # TL205 safe
    # becomes: a = torch.full((3,), 0.5, device=rank)

    # case: by a keyword, in the background
    a = torch.eye(3).to(device=device, non_blocking=True)  # TL205 safe
    # becomes: a = torch.eye(3, device=device)

    # case: on the device of another tensor
    a = torch.empty(images.shape).to(images.device)  # TL205 safe
    # becomes: a = torch.empty(images.shape, device=images.device)

    # case: on a device of a list
    a = torch.empty(3).to(devices[0])  # TL205 safe

    # case: on a device that a function tells
    a = torch.empty(3).to(get_device())  # TL205 safe

    # case: on a device whose name is computed
    a = torch.empty(3).to(f"cuda:{rank}")  # TL205 safe

    # case: indices
    a = torch.triu_indices(3, 3).to(device)  # TL205 safe

    # case: a range from zero
    a = torch.arange(n).to(device)  # TL205 safe

    # case: a range of integers
    a = torch.arange(1, 7, 2).to(device)  # TL205 safe

    # case: a range of integers, with a type
    a = torch.arange(1, 7, dtype=torch.int64).to(device)  # TL205 safe

    # case: a range that may be of floats
    a = torch.arange(low, high, width).to(device)  # TL205 unsafe

    # case: numbers that each device rounds
    a = torch.linspace(0, 1, 9).to(device)  # TL205 unsafe

    # case: random numbers
    a = torch.randn(3, 4).to(device)  # TL205 unsafe
    # becomes: a = torch.randn(3, 4, device=device)

    # case: a random order
    a = torch.randperm(9).cuda()  # TL205 unsafe

    # case: with a type
    a = torch.zeros(3).to(device, torch.float16)  # TL205 safe
    # becomes: a = torch.zeros(3, dtype=torch.float16, device=device)

    # case: with a type that would round twice
    a = torch.full((3,), 0.1).to(device, torch.float16)  # TL205 | no fix: changes the type

    # case: with a second type
    a = torch.zeros(3, dtype=torch.int64).to(device, torch.float16)  # TL205 | no fix: changes the type

    # case: like another tensor
    a = torch.zeros(3).to(images)  # TL205 safe
    # becomes: a = torch.zeros(3, dtype=images.dtype, device=images.device)

    # case: like what a function returns
    a = torch.zeros(3).to(described(images))  # TL205 | no fix: a tensor, a device or a type

    # case: of the type of another tensor
    a = torch.ones(3).type_as(images)  # TL205 safe
    # becomes: a = torch.ones(3, dtype=images.dtype, device=images.device)

    # case: of the type of what a call returns
    a = torch.ones(3).type_as(model(images))  # TL205 | no fix: would be computed twice

    # case: with a gradient
    a = torch.zeros(3, requires_grad=True).to(device)  # TL205 | no fix: gradient

    # case: pinned first
    a = torch.zeros(3, pin_memory=True).to(device)  # TL205 | no fix: pinned

    # case: on a GPU that may be None
    a = torch.zeros(3).cuda(args.gpu)  # TL205 | no fix: current GPU

    # case: over several lines, whose comments stay
    a = torch.zeros(  # TL205 safe
        3,
        4,  # boxes
    # added:     device=device,
    ).to(device)
    # becomes: )

    # case: a comment before the copy
    a = (
        torch.zeros(3)  # TL205 | no fix: comment
        # to the GPU
        .to(device)
    )

    # case: in parentheses
    a = (torch.zeros(3)).to(device)  # TL205 safe
    # becomes: a = (torch.zeros(3, device=device))

    # case: reshaped before
    a = torch.arange(9).view(3, 3).unsqueeze(0).to(device)  # TL205 | no fix: before the copy

    # case: computed before, with numbers
    a = (-torch.ones(3) * 2).long()[:, None].to(device)  # TL205 | no fix: before the copy

    # case: compared before
    a = (torch.rand(3) < 0.5).to(device)  # TL205 | no fix: before the copy

    # case: of another type before
    a = torch.zeros(3).to(torch.int64).to(device)  # TL205 | no fix: before the copy

    # case: filled before
    a = torch.zeros(3).fill_(label).to(device)  # TL205 | no fix: before the copy

    # case: copied on the next line
    a = torch.randn(3)  # TL205 | no fix: another line
    a = a.to(device)

    # case: copied later if there is a GPU
    a = torch.randn(3)  # TL205 | no fix: another line
    if images.is_cuda:
        a = a.cuda()
    loss = loss + a.sum()

    # case: reshaped, and copied later
    a = torch.eye(3)[None, :, :]  # TL205 | no fix: another line
    a = a.repeat(3, 1, 1).to(device)

    # case: filled from the device, and copied
    padded = torch.zeros(9, 9)  # TL205 | no fix: another line | says: buffer in host memory
    padded[:3, :3] = images
    images = padded.to(images.device)

    # case: filled from the device, and copied to any device
    padded = torch.zeros(9, 9)  # TL205 | no fix: another line | says: and then back
    padded[0][:3] = model(images)
    images = padded.to(device)

    # case: filled by Python, which is faster in host memory
    mask = torch.zeros(9, 9)
    mask[0, :3] = 1
    mask = mask.to(device)

    # case: filled from host memory
    mask = torch.zeros(9, 9)
    mask[0, :3] = torch.tensor(lengths)
    mask = mask.to(device)

    # case: filled from the device, and used there
    padded = torch.zeros(9, 9)
    padded[:3, :3] = images
    show(padded)

    # case: used in host memory before the copy
    order = torch.randperm(9)
    names = pick(order)
    order = order.to(device)

    # case: used as an index in host memory before the copy
    order = torch.randperm(9)
    part = faces[order].to(device)

    # case: scattered by what is in host memory
    a = torch.zeros(3, 4).scatter_(1, classes, 1).to(device)

    # case: with what may be a tensor in host memory
    a = (torch.ones(3) * weights).to(device)

    # case: an item chosen by what is in host memory
    a = torch.eye(9)[classes].to(device)

    # case: an attribute of it
    a = torch.zeros(3).data.shape.to(device)

    # case: of two targets
    a = b = torch.randn(3)
    a = a.to(device)

    # case: kept as an attribute
    self.a = torch.randn(3)
    self.a = self.a.to(device)

    # case: copied to another place on each round of an inner loop
    noise = torch.randn(3)
    for part in parts:
        part.add_(noise.to(device))

    # case: copied in a function
    noise = torch.randn(3)

    def add(x):
        return x + noise.to(device)

    # case: never copied
    a = torch.zeros(3)

    # case: on the CPU
    a = torch.zeros(3).to("cpu")

    # case: on a CPU by name
    a = torch.zeros(3).to(cpu_device)

    # case: only of another type
    a = torch.zeros(3).to(torch.float16)

    # case: of the type of another tensor only
    a = torch.zeros(3).to(images.dtype)

    # case: of a type by name
    a = torch.zeros(3).to(self.dtype)

    # case: of a layout
    a = torch.zeros(3).to(memory_format=torch.channels_last)

    # case: like a tensor in host memory
    host = torch.tensor([1.0])
    a = torch.zeros(3).type_as(host)

    # case: created on the device
    a = torch.zeros(3, device=device).to(images.device)

    # case: with a generator of its own
    a = torch.randn(3, generator=generator).to(device)

    # case: into memory that is there
    a = torch.zeros(3, out=buffer).to(device)

    # case: under a device
    with torch.device("cuda"):
        a = torch.zeros(3).to(images.device)

    # case: under something else
    with torch.no_grad():
        a = torch.zeros(3).to(device)  # TL205 safe

    # case: of data, which is copied in either case
    a = torch.tensor(values).to(device)

    # case: of an array
    a = torch.from_numpy(array).to(device)

    # case: of numbers that NumPy creates
    a = torch.from_numpy(np.eye(3).flatten().astype(np.float32)).to(device)  # TL205 | no fix: only you know | says: NumPy creates

    # case: of numbers that are written out, for NumPy, in an old wrapper
    a = Variable(torch.from_numpy(np.array([1, 0, 0]))).view(1, 3)  # TL205 | no fix
    if images.is_cuda:
        a = a.cuda()

    # case: of numbers that NumPy creates, in another wrapper
    a = Wrapper(torch.from_numpy(np.eye(3))).to(device)

    # case: of numbers that NumPy is given
    a = torch.from_numpy(np.array(rows)).to(device)

    # case: of numbers that NumPy draws
    a = torch.from_numpy(np.random.rand(3)).to(device)  # TL205 | no fix
    a = torch.from_numpy(np.random.permutation(len(images))).to(device)  # TL205 | no fix

    # case: of an array that NumPy shuffles
    a = torch.from_numpy(np.random.permutation(array)).to(device)
    a = torch.from_numpy(np.random.choice(array, 3)).to(device)

    # case: of a grid
    x = np.arange(8) * 16
    y = np.arange(8) * 16 + 8
    x, y = np.meshgrid(x, y)
    a = torch.from_numpy(np.stack((x, y))).float().to(device)  # TL205 | no fix
    a = torch.from_numpy(np.vstack([x.ravel(), y.ravel()]).T).to(device)  # TL205
    a = torch.from_numpy(np.stack(np.meshgrid(np.arange(8), np.linspace(0, 1, 8)))).to(device)  # TL205
    a = torch.from_numpy(np.mgrid[0:8, 0:8]).to(device)  # TL205
    a = torch.from_numpy(1 - np.tri(8)).to(device)  # TL205
    a = torch.from_numpy(np.stack((x, y), axis=-1)).to(device)  # TL205
    a = torch.from_numpy(np.stack((x, y), 0)).to(device)  # TL205
    a = torch.from_numpy(np.stack(np.meshgrid(x, y, indexing="ij"))).to(device)  # TL205

    # case: of a grid that holds data
    x = np.arange(8) * scales
    a = torch.from_numpy(np.stack((x, x))).to(device)
    a = torch.from_numpy(np.stack([np.arange(8), scales])).to(device)
    a = torch.from_numpy(np.stack(scales)).to(device)
    a = torch.from_numpy(np.stack(scales).T).to(device)
    a = torch.from_numpy(np.hstack(tup=scales)).to(device)
    a = torch.from_numpy(np.ogrid[0:8]).to(device)
    a = torch.from_numpy(np.ones(8).real).to(device)

    # case: of an array that grows
    grown = np.concatenate((grown, grown))
    a = torch.from_numpy(grown).to(device)

    # case: of an array into which something is written
    mask = np.zeros(8)
    mask[places] = 1
    a = torch.from_numpy(mask).to(device)

    # case: of one of two arrays
    mask = np.zeros(8)
    if scales:
        mask = np.asarray(scales)
    a = torch.from_numpy(mask).to(device)

    # case: of numbers that NumPy creates, and changes
    a = torch.from_numpy(np.eye(3).clip(0, limit)).to(device)

    # case: of numbers that NumPy creates, and that stay
    a = torch.from_numpy(np.eye(3))

    # case: a module
    a = nn.Linear(3, 3).to(device)

    # case: by arguments that nobody sees
    a = torch.zeros(3).to(*where)

    # case: like what is on the device
    a = torch.zeros_like(images).to(device)

    # case: like what may be on the device
    a = torch.zeros_like(state).to(device)

    # case: like what is in host memory
    host = torch.tensor([1.0])
    a = torch.zeros_like(host).to(device)  # TL205 safe
    # becomes: a = torch.zeros_like(host, device=device)

    # case: like what is in host memory, where it stays
    host = torch.tensor([1.0])
    a = torch.zeros_like(host)

    # case: random, and like what is in host memory
    host = torch.tensor([1.0])
    a = torch.rand_like(host).to(device)  # TL205 unsafe

    # case: now and then
    if step % 100 == 0:
        a = torch.zeros(3).to(device)  # TL205 hint safe

# head: none

# case: at the top level, once
a = torch.randn(1, 3).to(device)

# case: at the top level, in a loop
for step in range(9):
    a = torch.randn(1, 3).to(device)  # TL205 hint unsafe

optimizer.step()

# case: in a function
def draw(n):
    return torch.randn(n).to(device)  # TL205 hint unsafe

optimizer.step()

# case: of a grid with a factor that is a number, and with others
class Anchors(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.stride = 16
        self.scale = scale

    def forward(self, x):
        y = x + torch.from_numpy(np.arange(8) * self.stride).to(x.device)  # TL205 hint
        y = y + torch.from_numpy(np.arange(8) * self.scale).to(x.device)
        return y + torch.from_numpy(self.stride * self.stride).to(x.device)

# case: of numbers that NumPy creates, once
def build():
    return torch.from_numpy(np.eye(3)).to(device)

# case: in a module
class Noise(nn.Module):
    def __init__(self):
        self.scale = torch.ones(3).to(device)  # TL205 hint safe

    def forward(self, x):
        return x + self.scale * torch.randn(x.shape).to(x.device)  # TL205 hint unsafe

# case: in a module, for evaluation
class Noise(nn.Module):
    def forward(self, x):
        if not self.training:
            return x + torch.ones(3).to(x.device)  # TL205 hint safe
        return x

# case: in a module, now and then
class Noise(nn.Module):
    def forward(self, x):
        if self.step % 100 == 0:
            return x + torch.ones(3).to(x.device)  # TL205 hint safe
        return x

# case: in another function that is called forward
def forward(x):
    return x + torch.ones(3).to(x.device)  # TL205 hint safe

# case: in an object that is not a module
class Car:
    def forward(self, x):
        return x + torch.ones(3).to(x.device)  # TL205 hint safe

# case: like a parameter that may be a device
def draw(n, where):
    return torch.zeros(n).to(where)  # TL205 hint | no fix: a tensor, a device or a type

optimizer.step()

# case: like a parameter that is a tensor
def draw(n, x: torch.Tensor):
    return torch.zeros(n).to(x)  # TL205 hint safe

optimizer.step()

# case: like what is in host memory, in a function
def draw():
    host = torch.tensor([1.0])
    return torch.zeros_like(host).to(device)  # TL205 hint safe

optimizer.step()

# case: filled with a parameter, and copied to its device
def pad(x):
    padded = torch.zeros(9, 9)  # TL205 hint | no fix: another line | says: and then back
    padded[:3, :3] = x
    return padded.to(x.device)

optimizer.step()

# case: filled with a parameter, and made like it
def pad(x):
    padded = torch.zeros(9, 9)  # TL205 hint | no fix: another line | says: and then back
    padded[:3, :3] = x
    return padded.type_as(x)

optimizer.step()

# case: filled with a parameter, and copied elsewhere
def pad(x):
    padded = torch.zeros(9, 9)
    padded[:3, :3] = x
    return padded.to(device)

# case: filled with a parameter, and copied to the GPU
def pad(x):
    padded = torch.zeros(9, 9)
    padded[:3, :3] = x
    return padded.cuda()

# case: copied in a function of its own
def pad(n):
    padding = torch.zeros(n)

    def add(x):
        return x + padding.to(device)

    return add

# case: in a dataset
class Data(Dataset):
    def __getitem__(self, i):
        return torch.zeros(3).to(device)

# case: the device is chosen for all
def draw(n):
    torch.set_default_device(device)
    return torch.zeros(n).to(device)

# case: in a test [path=tests/test_model.py]
def test_model():
    assert model(torch.zeros(3).to(device)).sum() > 0

# case: in a program without an accelerator [bare]
import torch

def draw(n, target):
    return torch.zeros(n).type_as(target)

# case: where nothing is moved [bare, unread]
import torch

def build():
    return torch.zeros(3, device="cuda")

# head: a helper of a training step
def label(images, n):
    targets = torch.zeros(n).to(device)  # TL205 safe
    return targets

# case: it runs on each step
for images, _ in loader:
    loss = criterion(model(images), label(images, 3))
    loss.backward()
    optimizer.step()

# head: none

# case: a mask in a file of its own, whose callers nobody can follow
# file: masks.py
import torch
def of_lengths(lengths, size):
    return torch.arange(size).to(lengths.device)[None] < lengths[:, None]  # TL205 hint safe
def square(x):
    return torch.ones(x.shape[1], x.shape[1]).type_as(x).tril()  # TL205 hint
# file: use.py
import torch
from masks import of_lengths
torch.cuda.set_device(0)
registered = {"mask": of_lengths}

# case: a file of its own that moves what it creates to a device of the program [bare, unread]
import torch
def draw(n, device):
    return torch.zeros(n).to(device)
class Sampler:
    def draw(self, n):
        return torch.zeros(n).to(self.device)

# head: none

# case: a table that a function of the file makes each time
def mask_of(lengths):
    mask = torch.zeros(len(lengths), 9)
    for row, length in enumerate(lengths):
        mask[row, :length] = 1
    return mask

for images, lengths in loader:
    mask = mask_of(lengths).to(device)  # TL205 | no fix: given the device
    loss = criterion(model(images) * mask)
    loss.backward()
    optimizer.step()

# case: a table that a loss makes each time
class Guided(nn.Module):
    def masks(self, lengths):
        made = torch.zeros((len(lengths), 9))
        for row, length in enumerate(lengths):
            made[row, :length] = 1
        return made

    def forward(self, x, lengths):
        masks = self.masks(lengths).to(x.device)  # TL205 hint | says: A function of this file
        return (x * masks).mean()

# case: a window that a function of the file computes of numbers
def weights(size, sigma):
    made = torch.Tensor([2.7 ** (-((x - size // 2) ** 2) / sigma) for x in range(size)])
    return made / made.sum()

def create_window(size, channels):
    line = weights(size, 1.5).unsqueeze(1)
    return line.mm(line.t()).float().expand(channels, 1, size, size).contiguous()

def load_window(size, channels):
    return torch.zeros(read(size), channels).float() / 2

def ssim(image, size):
    window = create_window(size, image.size(1))
    if image.is_cuda:
        window = window.cuda(image.get_device())  # TL205 | no fix | says: A function of this file
    other = load_window(size, 3).to(image.device)
    return (image * window * other).mean()

for images, labels in loader:
    images = images.to(device)
    loss = criterion(model(images), labels) + ssim(images, 11)
    loss.backward()
    optimizer.step()

# case: a window that is kept
def create_window(size):
    return torch.hann_window(size)

class Similarity(nn.Module):
    def forward(self, image):
        if image.size(1) == self.size:
            window = self.window
        else:
            window = create_window(image.size(1))
            window = window.to(image.device)
            self.window, self.size = window, image.size(1)
            self.window = window
        if image.ndim == 3:
            self.line = create_window(3).to(image.device)
        return image * window

# case: over several lines
class Steps(nn.Module):
    def forward(self, t):
        rates = torch.exp(
            -torch.arange(0, 128) / 128  # TL205 hint | no fix
        ).to(device=t.device)
        return t[:, None] * rates[None]

# case: what is computed of a new tensor alone, and of another one, too
for images, labels in loader:
    drawn = torch.randn(len(images))  # TL205 | no fix
    sigma = drawn.exp()
    share = sigma / (1 + sigma)
    noise = torch.randn(len(images))
    noise = noise / (1 + other)
    loss = criterion(model(images.to(device)) * share.to(device), noise.to(device))
    loss.backward()
    optimizer.step()

# case: what a function of the file is given
def first(x):
    return x[0]

for images, labels in loader:
    part = first(images).to(device)
    loss = criterion(model(part), labels)
    loss.backward()
    optimizer.step()

# case: a table that is made before the training
def table():
    return torch.zeros(9)

weights = table().to(device)
