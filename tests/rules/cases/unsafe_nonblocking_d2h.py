# TL207: which copies to the host are read before they are certain to be done.

# every program:
import numpy as np
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(3, 3).to(device)
output = model(images.to(device))

# head: none

# case: an array at once
scores = output.to("cpu", non_blocking=True).numpy()  # TL207 unsafe | says: may still write it
# becomes: scores = output.to("cpu").numpy()

# case: by a name for the CPU
host = torch.device("cpu")
scores = output.to(device=host, non_blocking=True).tolist()  # TL207 unsafe

# case: a method of the copy, later
copy = output.to("cpu", non_blocking=True)  # TL207 unsafe
best = copy.argmax(1)

# case: a part of the copy
copy = output.detach().to("cpu", non_blocking=True).flatten()  # TL207 unsafe
best = copy[0].detach()[1:].max()

# case: torch reads the copy
copy = output.to("cpu", non_blocking=True)  # TL207 unsafe
best = torch.cat([copy, copy])
joint = torch.sum(copy)

# case: NumPy reads the copy
copy = output.to("cpu", non_blocking=True)  # TL207 unsafe
best = np.asarray(copy)

# case: Python reads the copy
copy = output.to("cpu", non_blocking=True)  # TL207 unsafe
print(copy)

# case: an operator reads the copy
copy = output.to("cpu", non_blocking=True)  # TL207 unsafe
hits = copy + 1

# case: a comparison reads the copy
hits = output.to("cpu", non_blocking=True) == labels  # TL207 unsafe

# case: a comparison with the copy
copy = output.to("cpu", non_blocking=True)  # TL207 unsafe
hits = labels == copy

# case: a sign reads the copy
hits = -output.to("cpu", non_blocking=True)  # TL207 unsafe

# case: a text shows the copy
copy = output.to("cpu", non_blocking=True)  # TL207 unsafe
text = f"{copy}"

# case: synchronized before
copy = output.to("cpu", non_blocking=True)
torch.cuda.synchronize()
best = copy.argmax(1)

# case: an event is waited for
copy = output.to("cpu", non_blocking=True)
done = torch.cuda.Event()
done.record()
other = output.sum()
done.synchronize()
best = copy.argmax(1)

# case: a stream waits
copy = output.to("cpu", non_blocking=True)
torch.cuda.current_stream().wait_stream(side)
best = copy.argmax(1)

# case: synchronized too late
copy = output.to("cpu", non_blocking=True)  # TL207 unsafe
best = copy.argmax(1)
torch.cuda.synchronize()

# case: synchronized too early
torch.cuda.synchronize()
copy = output.to("cpu", non_blocking=True)  # TL207 unsafe
best = copy.argmax(1)

# case: only appended
outputs.append(output.to("cpu", non_blocking=True))

# case: only kept
copy = output.to("cpu", non_blocking=True)
self.copy = copy
copies["output"] = copy
store(copy)
pairs = [copy, labels]

# case: only returned
def host(x):
    copy = x.to("cpu", non_blocking=True)
    return copy.detach()

# case: only asked about
copy = output.to("cpu", non_blocking=True)
size = copy.shape, copy.size(0), len(copy)
copy.record_stream(side)

# case: read in another function
copy = output.to("cpu", non_blocking=True)

def best():
    return copy.argmax(1)

# case: what may be anywhere
def best(x):
    return x.to("cpu", non_blocking=True).argmax(1)  # TL207 hint unsafe

# case: what is in host memory
copy = torch.tensor([1.0]).to("cpu", non_blocking=True).numpy()

# case: a module
model.to("cpu", non_blocking=True).state_dict()

# case: to the device
copy = images.to("cuda", non_blocking=True).argmax(1)

# case: to a device that may be the CPU
copy = output.to(place, non_blocking=True).argmax(1)

# case: of another type
copy = output.to(dtype=torch.float32, non_blocking=True).argmax(1)

# case: that waits
copy = output.to("cpu", non_blocking=False).numpy()

# case: into a pinned buffer
buffer = torch.empty(3, pin_memory=True)
buffer.copy_(output, non_blocking=True)  # TL207 unsafe
# becomes: buffer.copy_(output)
best = buffer.argmax(0)

# case: into a pinned buffer that was read before
buffer = torch.empty(3, pin_memory=True)
best = buffer.argmax(0)
buffer.copy_(output, non_blocking=True)

# case: into a pinned buffer that is read in time
buffer = torch.empty(3, pin_memory=True)
buffer.copy_(output, non_blocking=True)
torch.cuda.synchronize()
best = buffer.argmax(0)

# case: into a buffer that is not pinned, which waits
buffer = torch.empty(3)
buffer.copy_(output, non_blocking=True)
best = buffer.argmax(0)

# case: into a buffer that is not pinned, as it says
buffer = torch.empty(3, pin_memory=False)
buffer.copy_(output, non_blocking=True)
best = buffer.argmax(0)

# case: into a pinned buffer, from host memory
buffer = torch.empty(3, pin_memory=True)
buffer.copy_(torch.tensor([1.0]), non_blocking=True)
best = buffer.argmax(0)

# case: into a buffer that something else makes
self.buffer.copy_(output, non_blocking=True)
best = self.buffer.argmax(0)

# case: into a number
buffer = 3
buffer.copy_(output, non_blocking=True)
best = buffer.argmax(0)

# case: in a test [path=tests/test_copy.py]
assert output.to("cpu", non_blocking=True).sum() > 0

# case: in a program without an accelerator [bare]
import torch

model = torch.nn.Linear(3, 3)
best = model(images).to("cpu", non_blocking=True).argmax(1)
