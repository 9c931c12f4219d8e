# TL208: where a wait for the device, or for the other processes, is reported.

# every program:
import time

import torch
import torch.distributed as dist

device = torch.device("cuda")
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

# head: a training step
for step, (images, labels) in enumerate(loader):
    loss = criterion(model(images.to(device, non_blocking=True)), labels.to(device))
    loss.backward()
    optimizer.step()

    # case: on each step
    torch.cuda.synchronize()  # TL208 unsafe | says: `synchronize()` makes the host wait … Event
    # removed

    # case: by its newer name
    torch.accelerator.synchronize()  # TL208 unsafe

    # case: a barrier
    dist.barrier()  # TL208 unsafe | says: makes each process wait for the slowest
    # removed

    # case: an import under another name
    from torch.distributed import barrier as wait
    wait()  # TL208

    # case: the barrier of a framework
    accelerator.wait_for_everyone()  # TL208
    fabric.barrier()  # TL208

    # case: before a loss is averaged over the processes
    dist.barrier()  # TL208
    dist.all_reduce(loss)

    # case: in one process only
    if rank == 0:
        torch.cuda.synchronize()  # TL208

    # case: now and then
    if step % 100 == 0:
        torch.cuda.synchronize()
        dist.barrier()

    # case: before a checkpoint
    if step in checkpoints and save_best:
        dist.barrier()
        torch.save(model.state_dict(), "model.pt")

    # case: after an error
    try:
        grow(model)
    except torch.cuda.OutOfMemoryError:
        torch.cuda.synchronize()

    # case: the time of the step is measured
    torch.cuda.synchronize()
    batch_time.update(time.time() - end)
    end = time.perf_counter()

    # case: the time is measured by events
    stop.record()
    torch.cuda.synchronize()
    history.append(start.elapsed_time(stop))

    # case: a clock that an inner loop reads measures that loop
    torch.cuda.synchronize()  # TL208
    for part in parts:
        history.append(time.time())

    # case: a copy to the CPU that does not wait
    history = loss.to("cpu", non_blocking=True)
    torch.cuda.synchronize()

    # case: a copy into memory on the CPU that does not wait
    kept.copy_(loss, non_blocking=True)
    torch.cuda.synchronize()

    # case: somebody else's method
    loader.synchronize()
    bar.wait()

    # case: an event waits for less
    ready.synchronize()

# head: none

# case: between epochs
for epoch in range(9):
    train_one_epoch(model, loader, optimizer)
    torch.cuda.synchronize()
    dist.barrier()

# case: a clock that is read around the loop does not need a wait on each step
start = time.time()
for images, labels in loader:
    criterion(model(images.to(device)), labels.to(device)).backward()
    optimizer.step()
    torch.cuda.synchronize()  # TL208
print(time.time() - start)

# case: a keyword has a variable, which nothing is copied with
def train(loader):
    for images, labels in loader:
        non_blocking = True
        criterion(model(images.to(device)), labels.to(device)).backward()
        optimizer.step()
        torch.cuda.synchronize()  # TL208

# case: a copy that does not wait, in another function
def keep(loss, kept):
    kept.copy_(loss, non_blocking=True)

def train(loader):
    for images, labels in loader:
        criterion(model(images.to(device)), labels.to(device)).backward()
        optimizer.step()
        torch.cuda.synchronize()  # TL208

# case: a clock that another function reads
def now():
    return time.time()

def train(loader):
    for images, labels in loader:
        criterion(model(images.to(device)), labels.to(device)).backward()
        optimizer.step()
        torch.cuda.synchronize()  # TL208

# case: a function that measures
def benchmark_step(loader):
    for images, labels in loader:
        criterion(model(images.to(device)), labels.to(device)).backward()
        optimizer.step()
        torch.cuda.synchronize()

# case: in evaluation
def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        for images, labels in loader:
            model(images)
            torch.cuda.synchronize()

# case: a test [path=tests/test_train.py]
for images, labels in loader:
    criterion(model(images.to(device)), labels.to(device)).backward()
    torch.cuda.synchronize()

# case: a helper that a step calls
from helpers import average
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    average(loss)
# file: helpers.py
import time
import torch.distributed as dist

def average(loss):
    dist.barrier()  # TL208 | see: for images
    dist.all_reduce(loss)
    log(loss)

def log(loss):
    history.append((time.time(), loss))

# case: a function of its own for the wait
def synchronize_all():
    if dist.is_initialized():
        dist.barrier()

for images, labels in loader:
    criterion(model(images.to(device)), labels.to(device)).backward()
    optimizer.step()
    synchronize_all()
