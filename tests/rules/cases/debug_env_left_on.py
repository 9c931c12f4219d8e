# TL704: debugging switches that stay on for everybody who runs the script.

# head: a program that trains on a GPU
import os
import torch
model.cuda()
loss.backward()

# case: kernels one by one
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # TL704 unsafe | says: waits for each kernel … `CUDA_LAUNCH_BLOCKING`
# removed

# case: the same on AMD
os.environ["HIP_LAUNCH_BLOCKING"] = "1"  # TL704 unsafe

# case: as a default
os.environ.setdefault("CUDA_LAUNCH_BLOCKING", "1")  # TL704 unsafe
# removed

# case: by `putenv`
os.putenv("CUDA_LAUNCH_BLOCKING", "1")  # TL704

# case: an import of the environment
from os import environ
environ["CUDA_LAUNCH_BLOCKING"] = "1"  # TL704

# case: no cache of memory
os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"  # TL704 unsafe | says: by itself

# case: the ways between GPUs
os.environ["NCCL_P2P_DISABLE"] = "1"  # TL704 hint unsafe | says: fastest way
os.environ["NCCL_IB_DISABLE"] = "1"  # TL704 hint

# case: a machine that needs another way
os.environ["NCCL_P2P_DISABLE"] = "1"  # RTX 4090 has no P2P

# case: a comment does not make kernels overlap
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # for clear errors  # TL704

# case: nor does it cache memory
# a bug hunt
os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"  # TL704

# case: warnings of each wait
torch.cuda.set_sync_debug_mode("warn")  # TL704 hint unsafe | says: warns of each one
# removed

# case: warnings of each wait, by number
torch.cuda.set_sync_debug_mode(1)  # TL704 hint

# case: no warnings
torch.cuda.set_sync_debug_mode("default")

# case: off
os.environ["CUDA_LAUNCH_BLOCKING"] = "0"

# case: a variable decides
os.environ["CUDA_LAUNCH_BLOCKING"] = args.blocking

# case: a condition decides
if args.debug:
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"

# case: in a main guard
if __name__ == "__main__":
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # TL704

# case: a look at an error
try:
    train(model)
except RuntimeError:
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
    train(model)

# case: in a function that the script calls
def main():
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # TL704

if __name__ == "__main__":
    main()

# case: in a function that each process runs
def worker(rank):
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # TL704

torch.multiprocessing.spawn(worker, nprocs=8)

# case: in a function that somebody may call
def look_for_bugs():
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"

# case: in a function that is called to debug
def look_for_bugs():
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"

if args.debug:
    look_for_bugs()

# case: when an object is made
class Trainer:
    def __init__(self):
        os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # TL704

Trainer().fit()

# case: in a method that is called
class Trainer:
    def setup(self):
        os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # TL704

Trainer().setup()

# case: in a method that somebody may call
class Trainer:
    def look_for_bugs(self):
        os.environ["CUDA_LAUNCH_BLOCKING"] = "1"

Trainer().fit()

# case: a class that is made to debug
class Trainer:
    def __init__(self):
        os.environ["CUDA_LAUNCH_BLOCKING"] = "1"

if args.debug:
    Trainer().fit()

# case: taken away
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
first_step(model)
del os.environ["CUDA_LAUNCH_BLOCKING"]

# case: taken away by a method
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
first_step(model)
os.environ.pop("CUDA_LAUNCH_BLOCKING")

# case: put back
before = os.environ["CUDA_LAUNCH_BLOCKING"]
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
os.environ["CUDA_LAUNCH_BLOCKING"] = before

# case: another variable is taken away
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # TL704
del os.environ["RANK"]

# case: only read
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # TL704
print(os.environ.get("CUDA_LAUNCH_BLOCKING"))

# case: the environment of another process
env["CUDA_LAUNCH_BLOCKING"] = "1"

# case: a test [path=tests/test_loss.py]
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"

# case: collectives that are compared, after torch has read the variable
os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"

# head: a script that sets the environment first
import os

# case: collectives that are compared
os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"  # TL704 hint unsafe | says: compare each collective
import torch
model.cuda()
loss.backward()

# case: what costs little
os.environ["TORCH_DISTRIBUTED_DEBUG"] = "INFO"
import torch
model.cuda()
loss.backward()

# case: the program does not train
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
import torch
model.cuda()

# case: the program uses no GPU
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
import torch
loss.backward()

# case: a name in two parts
os.environ["CUDA_" "LAUNCH_BLOCKING"] = "1"  # TL704 | says: set `CUDA_LAUNCH_BLOCKING`
# CUDA_LAUNCH_BLOCKING
import torch
model.cuda()
loss.backward()
