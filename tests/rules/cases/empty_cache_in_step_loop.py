# TL209: where emptying the allocator's cache is reported.

# every program:
import torch

device = torch.device("cuda")
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

# head: a training step
for step, (images, labels) in enumerate(loader):
    criterion(model(images.to(device)), labels.to(device)).backward()
    optimizer.step()

    # case: on each step
    torch.cuda.empty_cache()  # TL209 unsafe
    # removed

    # case: by its newer name
    torch.accelerator.empty_cache()  # TL209 unsafe

    # case: an import under another name
    from torch.cuda import empty_cache as flush
    flush()  # TL209

    # case: under a condition of the data
    if images.shape[0] > 8:
        torch.cuda.empty_cache()  # TL209

    # case: Python's garbage
    import gc
    gc.collect()  # TL209 hint unsafe | says: every object
    # removed
    if step % 100 == 0:
        gc.collect()

    # case: now and then
    if step % 100 == 0:
        torch.cuda.empty_cache()

    # case: after an error
    try:
        grow(model)
    except torch.cuda.OutOfMemoryError:
        torch.cuda.empty_cache()

    # case: in one process only
    if rank == 0:
        torch.cuda.empty_cache()  # TL209

    # case: somebody else's cache
    cache.empty_cache()

    # case: its result is used, although it has none
    done = torch.cuda.empty_cache()  # TL209 | no fix: part of a larger statement

# head: none

# case: between epochs
for epoch in range(9):
    train_one_epoch(model, loader, optimizer)
    torch.cuda.empty_cache()

# case: in evaluation
def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        for images, labels in loader:
            model(images)
            torch.cuda.empty_cache()

# case: a helper that a step calls
from helpers import release
for images, labels in loader:
    criterion(model(images.to(device)), labels.to(device)).backward()
    optimizer.step()
    release()
# file: helpers.py
import torch

def release():
    torch.cuda.empty_cache()  # TL209 | see: for images | says: remove the call of `release` | no fix: other code

# case: a helper that does more
for images, labels in loader:
    step(images.to(device), labels.to(device))
def step(images, labels):
    criterion(model(images), labels).backward()
    torch.cuda.empty_cache()  # TL209 unsafe | says: remove it
    optimizer.step()

# case: a helper that nobody calls
def release():
    torch.cuda.empty_cache()
