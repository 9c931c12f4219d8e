# TL703: profilers that record a whole training.

# every program:
import torch

# case: the loop over epochs
with torch.profiler.profile() as profiler:  # TL703 | no fix: only you know | says: records all steps
    for epoch in range(3):
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.step()

# case: the older profiler, with a switch
with torch.autograd.profiler.profile(True):  # TL703
    for epoch in range(3):
        for x, y in loader:
            criterion(model(x), y).backward()

# case: marks for another profiler
with torch.cuda.device(0), torch.autograd.profiler.emit_nvtx():  # TL703
    for epoch in range(3):
        for x, y in loader:
            criterion(model(x), y).backward()

# case: a loop that counts to nothing
with torch.profiler.profile():  # TL703 hint
    while True:
        criterion(model(x), y).backward()

# case: a single step loop
with torch.profiler.profile():  # TL703 hint
    for x, y in loader:
        criterion(model(x), y).backward()

# case: an epoch with a profiler of its own
for epoch in range(3):
    with torch.profiler.profile():  # TL703 hint
        for x, y in loader:
            criterion(model(x), y).backward()

# case: a function that trains
def train(model, loader):
    for epoch in range(3):
        for x, y in loader:
            criterion(model(x), y).backward()

with torch.profiler.profile():  # TL703
    train(model, loader)

# case: a function that trains one epoch, over and over
def train(model, loader):
    for x, y in loader:
        criterion(model(x), y).backward()

with torch.profiler.profile():  # TL703
    for epoch in range(3):
        train(model, loader)

# case: a function that trains one epoch
def train(model, loader):
    for x, y in loader:
        criterion(model(x), y).backward()

with torch.profiler.profile():  # TL703 hint
    train(model, loader)

# head: a function that trains
def train(model, loader):
    for epoch in range(3):
        for x, y in loader:
            criterion(model(x), y).backward()

# case: nothing of it
with torch.profiler.profile():
    print(model)
train(model, loader)

# case: a profiler in no block
profiler = torch.profiler.profile()
profiler.start()
train(model, loader)

# case: a schedule
with torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, warmup=1, active=3)):
    train(model, loader)

# case: options
with torch.profiler.profile(**options):
    train(model, loader)

# case: a switch
with torch.autograd.profiler.profile(enabled=args.profile):
    train(model, loader)

# case: off
with torch.autograd.profiler.profile(False):
    train(model, loader)

# case: a condition
if args.profile:
    with torch.profiler.profile():
        train(model, loader)

# case: a condition in one expression
with torch.profiler.profile() if args.profile else nullcontext():
    train(model, loader)

# case: a function that somebody may call
def inspect(model, loader):
    with torch.profiler.profile():
        train(model, loader)

# case: a function that the script calls if it is asked to
def inspect(model, loader):
    with torch.profiler.profile():
        train(model, loader)

if args.inspect:
    inspect(model, loader)

# case: when an object is made
class Training:
    def __init__(self):
        torch.cuda.memory._record_memory_history()  # TL703 hint

Training().fit()

# case: a method that nobody calls
class Training:
    def inspect(self):
        torch.cuda.memory._record_memory_history()

Training().fit()

# case: a function that the script calls
def main():
    with torch.profiler.profile():  # TL703
        train(model, loader)

main()

# case: a function that says what it is for
def profile_training():
    with torch.profiler.profile():
        train(model, loader)

profile_training()

# case: a file that says what it is for [path=profile_model.py]
with torch.profiler.profile():
    train(model, loader)

# case: a path that says something else [path=profiles/main.py]
with torch.profiler.profile():  # TL703
    train(model, loader)

# case: a test [path=tests/test_train.py]
with torch.profiler.profile():
    train(model, loader)

# case: a name for a part
with torch.profiler.record_function("training"):
    train(model, loader)

# case: a memory history
torch.cuda.memory._record_memory_history()  # TL703 hint | no fix | says: Each allocation

# case: a memory history with a size
torch.cuda.memory._record_memory_history(max_entries=100000)  # TL703 hint

# case: a memory history that ends
torch.cuda.memory._record_memory_history()
train(model, loader)
torch.cuda.memory._record_memory_history(enabled=None)

# case: a memory history that ends, as it was once written
torch.cuda.memory._record_memory_history(True)
train(model, loader)
torch.cuda.memory._record_memory_history(False)

# case: a memory history that an option starts
if args.memory:
    torch.cuda.memory._record_memory_history()

# case: a memory history that somebody may start
def start():
    torch.cuda.memory._record_memory_history()

# case: Lightning's profilers
import lightning as L
L.Trainer(profiler="advanced")  # TL703 | says: an option of the script
L.Trainer(profiler="pytorch")  # TL703

# case: Lightning's profiler of few times
import lightning as L
L.Trainer(profiler="simple")

# case: Lightning without one
import lightning as L
L.Trainer(profiler=None)

# head: none

# case: few steps
with torch.profiler.profile():
    for step in range(100):
        criterion(model(x), y).backward()

# case: as many steps as it takes
with torch.profiler.profile():  # TL703 hint
    for step in range(100000):
        criterion(model(x), y).backward()

# case: as many steps as somebody says
with torch.profiler.profile():  # TL703 hint
    for step in range(1, steps):
        criterion(model(x), y).backward()

# case: a loop that ends early
with torch.profiler.profile():
    for epoch in range(3):
        for step, (x, y) in enumerate(loader):
            criterion(model(x), y).backward()
            if step == 10:
                break

# case: a function that ends early
def train(model, loader):
    for step, (x, y) in enumerate(loader):
        criterion(model(x), y).backward()
        if step == 10:
            return

with torch.profiler.profile():
    train(model, loader)

# case: a check of gradients on each step
for x, y in loader:
    criterion(model(x), y).backward()
    torch.autograd.gradcheck(model, x)  # TL703 | says: move it to a test

# case: a check of gradients of gradients
for x, y in loader:
    criterion(model(x), y).backward()
    torch.autograd.gradgradcheck(model, x)  # TL703

# case: a check of gradients now and then
for step, (x, y) in enumerate(loader):
    criterion(model(x), y).backward()
    if step % 1000 == 0:
        torch.autograd.gradcheck(model, x)

# case: a check of gradients, once
torch.autograd.gradcheck(model, x)
for x, y in loader:
    criterion(model(x), y).backward()

# case: a program that does not train
torch.cuda.memory._record_memory_history()
