# TL218: which tensors are made wider before they are moved.

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
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()

    # case: integers
    labels = labels.long().to(device)  # TL218 hint unsafe | says: `labels` becomes int64 … `.long()`
    # becomes: labels = labels.to(device).long()

    # case: on the GPU, in the background
    labels = labels.long().cuda(non_blocking=True)  # TL218 hint unsafe
    # becomes: labels = labels.cuda(non_blocking=True).long()

    # case: the widest floats
    images = images.double().to(device)  # TL218 hint unsafe
    # becomes: images = images.to(device).double()

    # case: by a type
    labels = labels.type(torch.int64).to(device)  # TL218 hint unsafe
    # becomes: labels = labels.to(device).long()

    # case: by a type of tensors in host memory
    labels = labels.type(torch.LongTensor).cuda()  # TL218 hint unsafe
    # becomes: labels = labels.cuda().long()

    # case: by a type that it is given
    labels = labels.to(torch.long).to(device)  # TL218 hint unsafe
    # becomes: labels = labels.to(device).long()

    # case: an item
    part = labels[:, 0].long().to(device)  # TL218 hint unsafe
    # becomes: part = labels[:, 0].to(device).long()

    # case: what follows stays
    part = labels.long().to(device).view(-1)  # TL218 hint unsafe
    # becomes: part = labels.to(device).long().view(-1)

    # case: in parentheses
    part = (labels.long()).to(device)  # TL218 hint unsafe
    # becomes: part = (labels).to(device).long()

    # case: bytes that are divided on the device
    images = images.float().to(device) / 255  # TL218 hint unsafe
    # becomes: images = images.to(device).float() / 255

    # case: bytes that are divided before
    images = (images.float() / 255.0).to(device)  # TL218 hint | no fix: in between

    # case: bytes of an array
    frame = np.zeros((3, 3), dtype=np.uint8)
    frame = torch.from_numpy(frame).float().to(device)  # TL218 hint unsafe
    # becomes: frame = torch.from_numpy(frame).to(device).float()

    # case: floats, which may have been wider
    images = images.float().to(device)

    # case: floats by a type, which may have been wider
    images = images.type(torch.float32).to(device)

    # case: floats that are divided by something else
    images = images.float().to(device) / 127.5

    # case: floats that divide
    images = 255 / images.float().to(device)

    # case: floats that are multiplied
    images = images.float().to(device) * 255

    # case: computed in another way
    images = (images.long() * 255).to(device)

    # case: smaller floats
    images = images.half().to(device)

    # case: smaller floats by a type
    images = images.to(torch.bfloat16).to(device)

    # case: what a function makes of bytes
    frame = np.zeros((3, 3), dtype=np.uint8)
    frame = enlarged(frame).float().to(device)

    # case: what a method makes of nothing
    frame = camera.read().float().to(device)

    # case: bits that are read as integers
    labels = labels.view(torch.int64).to(device)

    # case: floats of an array that has them already
    frame = np.zeros((3, 3), dtype=np.float32)
    frame = torch.from_numpy(frame).double().to(device)

    # case: of an array that nobody knows
    frame = torch.from_numpy(load(step)).float().to(device)

    # case: of a tensor that is created
    rows = torch.arange(9).long().to(device)

    # case: of another type, by name
    labels = labels.to(kind).to(device)

    # case: with a copy
    labels = labels.to(torch.int64, copy=True).to(device)

    # case: the wider type after the move
    labels = labels.to(device).long()

    # case: only wider
    labels = labels.long()

    # case: to the CPU
    labels = labels.long().to("cpu")

    # case: of a function
    labels = widened(labels).to(device)

    # case: by a function of torch
    labels = torch.long(labels).to(device)

    # case: computed before
    labels = (labels + 1).long().to(device)

    # case: moved before
    labels = labels.to(device)
    labels = labels.long().to(images.device)

    # case: now and then
    if step % 100 == 0:
        labels = labels.long().to(device)

# head: none

# case: in evaluation
with torch.no_grad():
    for images, labels in loader:
        score(model(images.to(device)), labels.long().to(device))

# case: in a test [path=tests/test_train.py]
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.long().to(device))
    loss.backward()
    optimizer.step()

# case: in a program without an accelerator [bare]
from torch.utils.data import DataLoader

loader = DataLoader(photos, num_workers=4)
for images, labels in loader:
    loss = criterion(model(images), labels.long().to(place))
    loss.backward()
    optimizer.step()
