# TL604: where gradients on GPUs go through gloo, and where gloo is a choice.

# every program:
import os
import sys
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

# head: a program that trains on GPUs
torch.cuda.set_device(rank)
model = DDP(model, device_ids=[rank])
loss.backward()

# case: the backend, by position
dist.init_process_group("gloo")  # TL604 unsafe | says: through host memory
# becomes: dist.init_process_group("cpu:gloo,cuda:nccl")

# case: the backend, by keyword
dist.init_process_group(backend='gloo', rank=rank)  # TL604 unsafe
# becomes: dist.init_process_group(backend="cpu:gloo,cuda:nccl", rank=rank)

# case: an import of the function
from torch.distributed import init_process_group
init_process_group("gloo")  # TL604

# case: an older torch [torch=1.13]
dist.init_process_group("gloo")  # TL604 unsafe
# becomes: dist.init_process_group("nccl")

# case: an option that asks for several processes
if args.distributed:
    dist.init_process_group("gloo")  # TL604

# case: in a function
def setup(rank, world_size):
    dist.init_process_group("gloo", rank=rank, world_size=world_size)  # TL604

# case: the other backend
dist.init_process_group("nccl")

# case: both backends
dist.init_process_group("cpu:gloo,cuda:nccl")

# case: no backend
dist.init_process_group()

# case: an option decides
dist.init_process_group(args.backend)

# case: Windows has no other
if sys.platform == "win32":
    dist.init_process_group("gloo")

# case: Windows by its other name
if os.name == "nt":
    dist.init_process_group("gloo")

# case: a machine without a GPU
if not torch.cuda.is_available():
    dist.init_process_group("gloo")

# case: when the other backend fails
try:
    dist.init_process_group()
except RuntimeError:
    dist.init_process_group("gloo")

# case: the program can also use the other backend
dist.init_process_group("gloo")
# file: launch.py
import train
BACKEND = "NCCL"

# case: a second group
dist.init_process_group()
group = dist.new_group(backend="gloo")

# case: RPC
import torch.distributed.rpc as rpc
dist.init_process_group("gloo")
rpc.init_rpc("worker")

# case: a test [path=tests/test_it.py]
dist.init_process_group("gloo")

# head: none

# case: gradients are averaged by hand
model.cuda()
dist.init_process_group("gloo")  # TL604
loss.backward()
for p in model.parameters():
    dist.all_reduce(p.grad)

# case: the model moves to where it can
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
dist.init_process_group("gloo")  # TL604 hint
model = DDP(model.to(device))
loss.backward()

# case: the model moves to a GPU if an option says so
dist.init_process_group("gloo")  # TL604 hint
if args.cuda:
    model = model.cuda()
model = DDP(model)
loss.backward()

# case: the model is wrapped in another file
dist.init_process_group("gloo")  # TL604 hint
loss.backward()
import model
# file: model.py
from torch.nn.parallel import DistributedDataParallel
def build(net):
    return DistributedDataParallel(net.cuda())

# case: training on the CPU
dist.init_process_group("gloo")
model = DDP(model)
loss.backward()

# case: nothing trains
torch.cuda.set_device(rank)
dist.init_process_group("gloo")
model = DDP(model)

# case: no gradients are averaged
torch.cuda.set_device(rank)
dist.init_process_group("gloo")
loss.backward()
