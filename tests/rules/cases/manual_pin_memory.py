# TL110: batches that are pinned by hand on each step.

# every program:
import threading
import torch

# head: a training loop
for images, labels in loader:
    model(images).backward()
    optimizer.step()

    # case: moved at once
    images = images.pin_memory().to(device)  # TL110 hint unsafe | marks: images.pin_memory() | says: copies the batch once more
# becomes:     images = images.to(device)

    # case: by the name of the GPU
    labels = torch.from_numpy(rows).pin_memory().cuda()  # TL110 hint unsafe
# becomes:     labels = torch.from_numpy(rows).cuda()

    # case: pinned first, moved later
    images = images.pin_memory()  # TL110 hint unsafe
# removed
    images = images.to(device)

    # case: pinned under another name
    pinned = images.pin_memory()  # TL110 hint unsafe
# becomes:     pinned = images
    moved = pinned.to(device)
    moved_again = pinned.cuda()

    # case: the copy overlaps with what the GPU does
    images = images.pin_memory().to(device, non_blocking=True)  # TL110 pedantic unsafe
# becomes:     images = images.to(device, non_blocking=True)

    # case: the copy overlaps, and is made later
    images = images.pin_memory()  # TL110 pedantic
    images = images.to(device, non_blocking=True)

    # case: kept for something else
    pinned = images.pin_memory()
    moved = pinned.to(device)
    buffer.append(pinned)

    # case: kept for something else, beside a copy that overlaps
    pinned = images.pin_memory()
    moved = pinned.to(device, non_blocking=True)
    buffer.append(pinned)

    # case: only kept
    buffer.append(images.pin_memory())

    # case: other methods of the pinned tensor
    total += images.pin_memory().sum()

    # case: now and then
    if step % 100 == 0:
        images = images.pin_memory().to(device)

    # case: in a stream of its own
    with torch.cuda.stream(copies):
        images = images.pin_memory().to(device)

    # case: in another block
    with timer, torch.profiler.record_function("copy"):
        images = images.pin_memory().to(device)  # TL110 hint

# head: none

# case: a function that a step calls
def get_batch(data):
    return data[rows].pin_memory().to(device)  # TL110 hint

for step in range(1000):
    model(get_batch(data)).backward()

# case: once, outside of the loop
images = images.pin_memory().to(device)
for step in range(1000):
    model(images).backward()

# case: a prefetcher
class Prefetcher:
    def next(self):
        return next(self.batches).pin_memory().to(device)

batches = Prefetcher(loader)
for step in range(1000):
    model(batches.next()).backward()

# case: a thread
class Copies(threading.Thread):
    def step(self):
        return next(self.batches).pin_memory().to(device)

copies = Copies(loader)
for step in range(1000):
    model(copies.step()).backward()

# case: a function of a thread
def copy_in_background(batch):
    return batch.pin_memory().to(device)

for step in range(1000):
    model(copy_in_background(batch)).backward()

# case: a method of another class
class Batches(Source):
    def next(self):
        return next(self.batches).pin_memory().to(device)  # TL110 hint

batches = Batches(loader)
for step in range(1000):
    model(batches.next()).backward()

# case: a collate function
def collate(samples):
    return torch.stack(samples).pin_memory().to(device)

for step in range(1000):
    model(collate(samples)).backward()
