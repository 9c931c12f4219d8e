# TL801: which times of work for the GPU are reported.

# every program:
import time
from time import perf_counter

import torch
import torch.nn.functional as F

device = torch.device("cuda")

# head: a loop over batches
def run(model, loader, criterion, optimizer):
    for images, labels in loader:
        images = images.cuda()

        # case: a forward pass
        start = time.time()  # TL801 | marks: time.time() | says: `torch.cuda.synchronize()`
        scores = model(images)
        print(time.time() - start)

        # case: two names
        t0 = perf_counter()  # TL801
        scores = model(images)
        t1 = perf_counter()
        times.append(t1 - t0)

        # case: a backward pass, and then a step
        start = time.perf_counter()  # TL801
        loss.backward()
        backward = time.perf_counter() - start
        start = time.perf_counter()  # TL801
        optimizer.step()
        step = time.perf_counter() - start
        print(backward, step)

        # case: the backward pass of a framework
        start = time.perf_counter()  # TL801
        accelerator.backward(model(images).sum())
        print(time.perf_counter() - start)

        # case: several steps for one batch
        start = time.perf_counter()  # TL801
        for part in parts:
            criterion(model(part), labels).backward()
            optimizer.step()
        print(time.perf_counter() - start)

        # case: an operation
        start = time.monotonic()  # TL801
        scores = F.conv2d(images, weight)
        print(time.monotonic() - start)

        # case: objects that are made, and lists that are filled
        start = time.monotonic()  # TL801
        scores.append(Output(model(images)))
        print(time.monotonic() - start)

        # case: the method of a tensor
        start = time.monotonic()  # TL801
        scores = model(images).argmax(1)
        print(time.monotonic() - start)

        # case: a wait
        start = time.time()
        scores = model(images)
        torch.cuda.synchronize()
        print(time.time() - start)

        # case: a wait of the project's own
        start = time.time()
        scores = model(images)
        sync_all()
        print(time.time() - start)

        # case: a number that is read
        start = time.time()
        loss = criterion(model(images), labels)
        total += loss.item()
        print(time.time() - start)

        # case: a number that is read by `float`
        start = time.time()
        loss = criterion(model(images), labels)
        total += float(loss)
        print(time.time() - start)

        # case: a tensor that is shown
        start = time.time()
        loss = criterion(model(images), labels)
        print(loss)
        print(time.time() - start)

        # case: what runs before and after is not timed
        total += criterion(model(images), labels).item()
        start = time.time()  # TL801
        scores = model(images)
        print(time.time() - start)
        total += scores.sum().item()

        # case: a function of another file that gets the model, which may look at its gradients
        start = time.time()
        loss.backward()
        norm = check_update(model, 1.0)
        optimizer.step()
        print(time.time() - start)

        # case: a function of another file, which may wait
        start = time.time()
        scores = suppress(model(images))
        print(time.time() - start)

        # case: a function of this file that waits
        start = time.time()
        scores = model(images)
        show(scores)
        print(time.time() - start)
    def show(scores):
        print(scores.cpu())

        # case: a function of this file that does not
        start = time.time()  # TL801
        scores = model(images)
        keep(scores)
        print(time.time() - start)
    def keep(scores):
        kept.append(smooth(net(scores)))

        # case: a function in the round, which waits when it is called
        start = time.time()  # TL801
        scores = model(images)
        def read():
            return scores.sum().item()
        print(time.time() - start)

        # case: a number of the host
        start = time.time()  # TL801
        scores = model(images)
        share = float("0.5")
        print(time.time() - start)

        # case: functions of torch and of Python that get tensors
        start = time.time()  # TL801
        scores = torch.sort(model(images))
        print(isinstance(model(images), tuple), time.time() - start)

        # case: a loss
        start = time.time()  # TL801
        loss = criterion(model(images), labels)
        print(time.time() - start)

        # case: the shape of a tensor
        start = time.time()  # TL801
        scores = model(images)
        scores.view(3, model(scores))
        print(time.time() - start)

        # case: an operation on the host
        start = time.time()
        scores = F.conv2d(torch.zeros(3), weight.cpu_weight)
        print(time.time() - start)

        # case: the time to load
        start = time.time()
        images = images.to(device)
        print(time.time() - start)

        # case: the time to make a model
        start = time.time()
        model = build_model(images)
        print(time.time() - start)

        # case: what a model has
        start = time.time()
        for part in model.modules():
            part.reset()
        print(time.time() - start)

        # case: an average
        start = time.time()
        scores = model(images)
        batch_time.update(time.time() - start)

        # case: a sum that is not a time
        start = time.time()
        scores = model(images)
        print(time.time() + start)

        # case: a clock on the other side
        start = time.time()
        scores = model(images)
        print(start - time.time())

        # case: a time that nobody takes
        started = time.time()
        scores = model(images)
        print(time.time() - other)

        # case: a time of day
        scores = model(images)
        print(time.time())

        # case: the first read depends
        if verbose:
            start = time.time()
        scores = model(images)
        print(time.time() - start)

        # case: a clock that is none
        start = time.ctime()
        scores = model(images)
        print(time.ctime() - start)

# head: none

# case: from one batch to the next
def run(model, loader):
    end = time.time()
    for images in loader:
        scores = model(images.cuda())
        print(time.time() - end)
        end = time.time()

# case: every hundred batches
def run(model, loader):
    start = time.time()
    for step, images in enumerate(loader):
        scores = model(images.cuda())
        if step % 100 == 0:
            print(time.time() - start)
            start = time.time()

# case: an epoch
def run(model, loader):
    for epoch in range(10):
        start = time.time()
        for images in loader:
            scores = model(images.cuda())
        print(time.time() - start)

# case: an epoch of steps
def run(model, images):
    for epoch in range(10):
        start = time.time()
        for step in range(100):
            model(images.cuda()).sum().backward()
        print(time.time() - start)

# case: epochs by their name
def run(model, images):
    start = time.time()
    for epoch in range(10):
        model(images.cuda())
    elapsed = time.time() - start

# case: an epoch in a function
def train(model, loader, optimizer):
    for images in loader:
        model(images.cuda()).sum().backward()
        optimizer.step()
def run(model, loader, optimizer):
    for round in range(10):
        start = time.time()
        train(model, loader, optimizer)
        optimizer.step()
        print(time.time() - start)

# case: a step in a function
def step(model, images, optimizer):
    model(images.cuda()).sum().backward()
    optimizer.step()
def run(model, images, optimizer):
    for index in range(10):
        start = time.time()  # TL801
        step(model, images, optimizer)
        print(time.time() - start)

# case: a function that does half of a step
def half(model, images):
    model(images.cuda()).sum().backward()
def run(model, images):
    for index in range(10):
        start = time.time()
        half(model, images)
        print(time.time() - start)

# case: from before a loop to its first rounds
def run(model, images):
    start = time.time()
    for index in range(10):
        model(images.cuda())
        print(time.time() - start)

# case: a `while` loop of one operation
def measure(model, images, todo):
    start = time.time()  # TL801
    while todo.pop():
        model(images.cuda())
    elapsed = time.time() - start

# case: an operation in a round of a loop of steps
def run(model, optimizer, images):
    for index in range(10):
        start = time.time()  # TL801
        model(images.cuda())
        elapsed = time.time() - start
        optimizer.step()

# case: one operation of many rounds
def measure(model, images):
    images = images.cuda()
    start = time.time()  # TL801
    for _ in range(100):
        model(images)
    elapsed = time.time() - start
    return elapsed / 100

# case: a whole run
def main(model, path):
    start = time.time()
    images = torch.load(path)
    model(images.cuda())
    elapsed = time.time() - start

# case: a start in another function
def main(model, images):
    start = time.time()
    def run():
        model(images.cuda())
        print(time.time() - start)

# case: a start that an object keeps
def main(self, images):
    self.start = time.time()
    self.model(images.cuda())
    self.elapsed = time.time() - self.start

# case: a test [path=tests/test_speed.py]
def test_speed(model, images):
    start = time.time()
    model(images.cuda())
    assert time.time() - start < 1

# case: a program without an accelerator [bare]
import time
import torch
def measure(model, images):
    start = time.time()
    model(images)
    return time.time() - start

# case: a clock in brackets over several lines [bare]
import time
import torch
def run(model, loader):
    for images in loader:
        images = images.cuda()
        start = (
            time.time()  # TL801
        )
        scores = model(images)
        print(time.time() - start)
