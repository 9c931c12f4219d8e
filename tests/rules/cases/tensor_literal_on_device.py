# TL213: which constants are copied to the device on each step, and which the device can fill.

# every program:
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
    images, labels = images.to(device), labels.to(device)
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()

    # case: a float
    a = torch.tensor(0.0, device=device)  # TL213 hint safe | says: let `torch.full` fill it
    # becomes: a = torch.full((), 0.0, device=device)

    # case: an integer, whose type is written out
    a = torch.tensor(0, device=images.device)  # TL213 hint safe
    # becomes: a = torch.full((), 0, dtype=torch.int64, device=images.device)

    # case: a truth
    a = torch.tensor(True, device="cuda")  # TL213 hint safe
    # becomes: a = torch.full((), True, dtype=torch.bool, device="cuda")

    # case: an integer with a type
    a = torch.tensor(1, dtype=torch.float32, device=device)  # TL213 hint safe
    # becomes: a = torch.full((), 1, dtype=torch.float32, device=device)

    # case: less than zero
    a = torch.tensor(-1e4, device=device)  # TL213 hint safe
    # becomes: a = torch.full((), -1e4, device=device)

    # case: what is infinite
    a = torch.tensor(float("inf"), device=device)  # TL213 hint safe
    # becomes: a = torch.full((), float("inf"), device=device)

    # case: the float that there is without a number
    a = torch.tensor(float(), device=device)  # TL213 hint safe

    # case: a list of one
    a = torch.tensor([0], device=device)  # TL213 hint safe
    # becomes: a = torch.full((1,), 0, dtype=torch.int64, device=device)

    # case: a table of one number
    a = torch.tensor([[0.5, 0.5], [0.5, 0.5]], device=device)  # TL213 hint safe
    # becomes: a = torch.full((2, 2), 0.5, device=device)

    # case: with a gradient
    a = torch.tensor(0.0, device=device, requires_grad=True)  # TL213 hint safe
    # becomes: a = torch.full((), 0.0, device=device, requires_grad=True)

    # case: as it is
    a = torch.as_tensor(0.0, device=device)  # TL213 hint safe
    # becomes: a = torch.full((), 0.0, device=device)

    # case: copied at once
    a = torch.tensor(0.0).to(device)  # TL213 hint | no fix: remove the copy | says: fill it

    # case: a table
    a = torch.tensor([0.485, 0.456, 0.406], device=device)  # TL213 hint | no fix: register a buffer | says: create it once

    # case: a table that is reshaped and copied
    a = torch.tensor((0.485, 0.456)).view(1, 2).to(device)  # TL213 hint | no fix: register a buffer

    # case: zeros with different signs
    a = torch.tensor([0.0, -0.0], device=device)  # TL213 hint | no fix: register a buffer

    # case: a float and an integer
    a = torch.tensor([0, 0.0], device=device)  # TL213 hint | no fix: register a buffer

    # case: imported by its name
    from torch import tensor

    a = tensor(0.0, device=device)  # TL213 hint | no fix: `torch` itself

    # case: a number that is computed
    a = torch.tensor(len(images), device=device)

    # case: a number that may change
    a = torch.tensor(rate, device=device)

    # case: a table with a number that may change
    a = torch.tensor([0.5, rate], device=device)

    # case: a list within a list
    a = torch.tensor([*[0, 0]], device=device)

    # case: a number from a text that may change
    a = torch.tensor(float(text), device=device)

    # case: a computed number
    a = torch.tensor(abs(-1), device=device)

    # case: no numbers
    a = torch.tensor([], device=device)

    # case: texts
    a = torch.tensor(["0"], device=device)

    # case: nothing
    a = torch.tensor(device=device)

    # case: on the CPU
    a = torch.tensor(0.0, device="cpu")

    # case: nowhere
    a = torch.tensor(0.0)

    # case: now and then
    if step % 100 == 0:
        a = torch.tensor(0.0, device=device)

# head: none

# case: before the loop
a = torch.tensor(0.0, device=device)
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device)) + a
    loss.backward()
    optimizer.step()

# case: in a loss that each step calls
def offsets(targets):
    table = torch.tensor([[0, 0], [1, 0], [0, 1]], device=targets.device).float()  # TL213 hint | no fix
    return targets + table

for images, labels in loader:
    loss = criterion(model(images.to(device)), offsets(labels.to(device)))
    loss.backward()
    optimizer.step()

# case: in a function that nobody calls
def offsets(targets):
    return targets + torch.tensor([[0, 0], [1, 0], [0, 1]], device=targets.device)

# case: in a test [path=tests/test_model.py]
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss = loss + torch.tensor(0.0, device=device)
    loss.backward()
    optimizer.step()

# case: in a program without an accelerator [bare]
import torch
for images, labels in loader:
    loss = criterion(model(images), labels) + torch.tensor(0.0, device=images.device)
    loss.backward()
    optimizer.step()
