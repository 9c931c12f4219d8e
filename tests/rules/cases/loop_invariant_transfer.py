# TL211: what is moved to the device on each step although it stays the same.

# every program:
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda")
model = nn.Linear(3, 3).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(photos, num_workers=4)
weights = torch.tensor([0.2, 1.0, 3.0])

# head: a training step
for step, (images, labels) in enumerate(loader):
    images, labels = images.to(device), labels.to(device)
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()

    # case: a tensor
    a = weights.to(device)  # TL211 | no fix: host memory | says: the same on every step

    # case: a tensor on the GPU
    a = images * weights.cuda()  # TL211 | no fix

    # case: a tensor of the type of another
    a = images * weights.type_as(images)  # TL211 | no fix

    # case: a tensor on the device of another
    a = images * weights.to(images.device)  # TL211 | no fix

    # case: a module whose loss is computed
    loss = criterion.cuda()(model(images), labels)  # TL211 | no fix: where the module is made

    # case: a loss
    criterion.cuda()  # TL211 unsafe | says: visits all its parameters

    # case: a module, under a condition
    if distributed:
        model.cuda()  # TL211 | no fix: a block inside the loop

    # case: a module with another statement
    model.cuda(); model.train()  # TL211 unsafe

    # case: a module, and what it returns
    other = model.to(device).half()  # TL211 | no fix: where the module is made

    # case: a module in a tuple
    net, lossy = model.to(device), 1  # TL211 | no fix: where the module is made

    # case: a module, to save memory
    model.cpu()
    run(model)
    model.cuda()

    # case: a module, to save memory, by its device
    model.to("cpu")
    run(model)
    model.to(device)

    # case: a module of another type
    model.to(torch.float16)

    # case: a module that is made on each step
    probe = nn.Linear(3, 3)
    probe.to(device)

    # case: a tensor that the loop changes in part
    weights[0].fill_(0)
    a = weights.to(device)

    # case: a tensor that something else resembles
    other[0].fill_(0)
    a = weights.to(device)  # TL211

    # case: a tensor that is made on each step
    mask = torch.tensor([1.0])
    mask = mask.to(device)

    # case: a tensor of the loop
    a = labels.to(device)

    # case: a counter of the loop
    a = step.to(device)

    # case: a tensor that was moved before
    done = weights.to(device)  # TL211
    a = done.to(device)

    # case: a tensor that the loop fills
    weights[0] = step
    a = weights.to(device)

    # case: a tensor that the loop adds to
    weights += 1
    a = weights.to(device)

    # case: a tensor that the loop changes in place
    weights.uniform_()
    a = weights.to(device)

    # case: a state that goes on
    weights = weights.to(device)

    # case: to the CPU
    a = weights.to("cpu")

    # case: to each of several devices
    for place in places:
        a = weights.to(place)

    # case: an item
    a = weights[0].to(device)

    # case: a module that is made and moved on each step
    probe = nn.Linear(3, 3).to(device)

    # case: an attribute of something else
    a = settings.weights.to(device)

    # case: a name that comes from elsewhere
    a = unknown.to(device)

    # case: now and then
    if step % 100 == 0:
        a = weights.to(device)

# head: none

# case: a line of its own, whose comment goes with it
total = 0
# added: model.to(device)  # all of it
for images, labels in loader:
    # to the GPU
    model.to(device)  # all of it  # TL211 unsafe
    # removed
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()

# case: a module that is a parameter
def train(net, epochs):
    # added: net.cuda()
    for images, labels in loader:
        net.cuda()  # TL211 unsafe
        # removed
        loss = criterion(net(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()

# case: a module that is assigned
def train(net):
    for images, labels in loader:
        net = net.to(device)
        loss = criterion(net(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()

# case: a module before another statement of its line
epochs = 1
# added: model.to(device)
for images, labels in loader:
    model.to(device); model.train()  # TL211 unsafe
    # becomes: model.train()
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()

# case: a comment that goes on, above the loop
# to the end \
# added: model.to(device)
for images, labels in loader:
    model.to(device)  # TL211 unsafe
    # removed
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()

# case: at the end of the only round
def try_out(net):
    for images, labels in loader:
        loss = criterion(net(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        return net.to(device)

# case: what a module returns
class Blur(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.ones(1, 1, 3, 3) / 9

    def forward(self, x):
        return self.kernel.to(x.device)  # TL211

# case: before the loop
a = weights.to(device)
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device), weight=a)
    loss.backward()
    optimizer.step()

# case: a parameter, which may be anywhere
def train(class_weights):
    for images, labels in loader:
        output = model(images.to(device))
        loss = F.cross_entropy(output, labels.to(device), weight=class_weights.to(device))  # TL211 hint
        loss.backward()
        optimizer.step()

# case: in a loop that only evaluates
with torch.no_grad():
    for images, labels in loader:
        loss = F.cross_entropy(model(images.to(device)), labels.to(device), weight=weights.to(device))

# case: a constant of a module
class Blur(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.ones(1, 1, 3, 3) / 9

    def forward(self, x):
        return F.conv2d(x, self.kernel.to(x.device))  # TL211 | no fix | says: register it as a buffer

# case: a part and a view of a constant of a module
class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.ones(1, 1000, 64)

    def forward(self, x):
        x = x + self.table[:, : x.size(1)].to(x.device)  # TL211 | no fix | says: `self.table` is copied
        return x + self.table.expand(2, -1, -1).type_as(x).to(x.device)  # TL211 | no fix | marks: self.table.expand(2, -1, -1).type_as(x)

# case: a table or a parameter
class Positions(nn.Module):
    def __init__(self, learned):
        super().__init__()
        if learned:
            self.table = nn.Parameter(torch.zeros(1, 1000, 64))
        else:
            self.table = get_sinusoid_encoding_table(1000, 64)

    def forward(self, x):
        return x + self.table.type_as(x).to(x.device)  # TL211 hint | no fix | marks: self.table.type_as(x)

# case: a parameter, and one that a function makes
class Positions(nn.Module):
    def __init__(self, learned):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(1, 1000, 64))
        if learned:
            self.table = nn.Parameter(get_sinusoid_encoding_table(1000, 64))
        self.other = make(1000)

    def forward(self, x):
        return x + self.table.expand(2, -1, -1).to(x.device) + self.other.to(x.device)

# case: a constant of a module, made like its input
class Blur(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.ones(1, 1, 3, 3) / 9

    def forward(self, x):
        return F.conv2d(x, self.kernel.to(x))  # TL211 | no fix

# case: a constant of a file
def blur(x):
    return x * weights.to(x.device)

class Blur(nn.Module):
    def forward(self, x):
        return x * weights.to(x.device)  # TL211 | no fix

# case: a constant of a module, in a method that forward calls
class Blur(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.ones(1, 1, 3, 3) / 9

    def blur(self, x):
        return F.conv2d(x, self.kernel.to(x.device))  # TL211

    def sharpen(self, x):
        return F.conv2d(x, self.kernel.to(x.device))  # TL211 hint

    def forward(self, x):
        return self.blur(x)

# case: a constant of a module, which another class blurs
class Sharpen(nn.Module):
    def forward(self, x):
        return other.blur(x)

class Blur(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.ones(1, 1, 3, 3) / 9

    def blur(self, x):
        return F.conv2d(x, self.kernel.to(x.device))  # TL211 hint

# case: a constant of a module, only for evaluation
class Blur(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.ones(1, 1, 3, 3) / 9

    def forward(self, x):
        if not self.training:
            return F.conv2d(x, self.kernel.to(x.device))
        return x

# case: a constant of a module, now and then
class Blur(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.ones(1, 1, 3, 3) / 9

    def forward(self, x):
        if self.step % 100 == 0:
            return F.conv2d(x, self.kernel.to(x.device))
        return x

# case: a buffer
class Blur(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("kernel", torch.ones(1, 1, 3, 3) / 9)

    def forward(self, x):
        return F.conv2d(x, self.kernel.to(x.device))

# case: a buffer that is an attribute
class Blur(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = nn.Buffer(torch.ones(1, 1, 3, 3) / 9, persistent=False)

    def forward(self, x):
        return F.conv2d(x, self.kernel.to(x.device))

# case: a parameter of a module
class Blur(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = nn.Parameter(torch.ones(1, 1, 3, 3))

    def forward(self, x):
        return F.conv2d(x, self.kernel.to(x.device))

# case: a constant of a module that is moved once
class Blur(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.ones(1, 1, 3, 3) / 9

    def forward(self, x):
        self.kernel = self.kernel.to(x.device)
        return F.conv2d(x, self.kernel)

# case: what a module is given before each call
class Blur(nn.Module):
    def set_kernel(self, size):
        self.kernel = torch.ones(1, 1, size, size)

    def forward(self, x):
        return F.conv2d(x, self.kernel.to(x.device))

# case: what a module changes in place
class Blur(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.ones(1, 1, 3, 3) / 9

    def forward(self, x):
        self.kernel.uniform_()
        return F.conv2d(x, self.kernel.to(x.device))

# case: the input of a module
class Blur(nn.Module):
    def forward(self, x, kernel):
        return F.conv2d(x, kernel.to(x.device))

# case: a device that is given
class Blur(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.ones(1, 1, 3, 3) / 9

    def forward(self, x, device):
        return F.conv2d(x, self.kernel.to(device))

# case: an object that is not a module
class Blur:
    def __init__(self):
        self.kernel = torch.ones(1, 1, 3, 3) / 9

    def forward(self, x):
        return F.conv2d(x, self.kernel.to(x.device))  # TL211 hint

# case: in a dataset
class Photos(Dataset):
    def __init__(self):
        self.mean = torch.tensor([0.5])

    def __getitem__(self, index):
        return self.photos[index] - self.mean.to(device)

# case: a part of a module, on each step
class Learner:
    def __init__(self):
        self.vgg = nn.Linear(3, 3)

    def learn(self, images, labels):
        self.vgg.to(device)  # TL211 | no fix: where the module is made
        loss = criterion(self.vgg(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()

# case: a part of another object, on each step
class Learner:
    def __init__(self):
        self.model = nn.Linear(3, 3)

    def learn(self, images, labels, other):
        other.model.to(device)
        loss = criterion(self.model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()

# case: a part that another class makes
class Learner(Base):
    def learn(self, images, labels):
        self.model.to(device)
        loss = criterion(self.model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()

# case: in a test [path=tests/test_train.py]
for images, labels in loader:
    loss = F.cross_entropy(model(images.to(device)), labels, weight=weights.to(device))
    loss.backward()
    optimizer.step()

# case: in a program without an accelerator [bare]
import torch
from torch import nn

class Blur(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.ones(1, 1, 3, 3) / 9

    def forward(self, x):
        return torch.conv2d(x, self.kernel.to(x.device))

# case: a table of an object that is no module
class Schedule:
    def __init__(self, steps):
        self.weights = torch.linspace(0, 1, steps)

    def add_noise(self, x, noise, t):
        return x + noise * self.weights.to(x.device)[t]  # TL211 hint | no fix | says: keep it on

    def own(self, t):
        return self.weights.to(self.device)[t]

    def seldom(self, x, step):
        if step % 100 == 0:
            return x * self.weights.to(x.device)
