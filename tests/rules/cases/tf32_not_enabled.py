# TL502: which programs could let matrix products use TF32, and where the line goes.

# every program:
import torch
from torch import nn
device = torch.device("cuda")
model = nn.TransformerEncoder(layer, 6).to(device)

# head: none

# case: a loop at the top level
# added: torch.set_float32_matmul_precision("high")
for epoch in range(9):
    for x, y in loader:  # TL502 pedantic unsafe | fix says: Set `torch.set
        criterion(model(x), y).backward()
        optimizer.step()

# case: a script with a main guard
def train():
    for x, y in loader:  # TL502 pedantic unsafe
        criterion(model(x), y).backward()
        optimizer.step()
if __name__ == "__main__":
# added:     torch.set_float32_matmul_precision("high")
    train()

# case: a main guard on one line
def train():
    for x, y in loader:  # TL502 pedantic unsafe
        criterion(model(x), y).backward()
        optimizer.step()
if __name__ == "__main__": train()
# becomes: if __name__ == "__main__": torch.set_float32_matmul_precision("high"); train()

# case: a file that others start
def train():
    for x, y in loader:  # TL502 pedantic | no fix: where the script starts
        criterion(model(x), y).backward()
        optimizer.step()

# case: other processes train
def train():
    for x, y in loader:  # TL502 pedantic | no fix: other processes
        criterion(model(x), y).backward()
        optimizer.step()
if __name__ == "__main__":
    torch.multiprocessing.spawn(train)

# case: torch has another name, and only a function knows its usual one [bare]
import torch as t
from torch import nn
model = nn.MultiheadAttention(8, 8).cuda()
def train():
    import torch
    for x, y in loader:  # TL502 pedantic unsafe
        criterion(model(x), y).backward()
        optimizer.step()
if __name__ == "__main__":
# added:     t.set_float32_matmul_precision("high")
    train()

# case: torch has no name [bare]
from torch import nn
model = nn.MultiheadAttention(8, 8).cuda()
for x, y in loader:  # TL502 pedantic | no fix: where the script starts
    criterion(model(x), y).backward()
    optimizer.step()

# head: the training of a program
for x, y in loader:  # TL502 pedantic
    criterion(model(x), y).backward()
    optimizer.step()

# case: attention of its own
class SelfAttention(nn.Module):
    pass

# head: other models [bare]
import torch
from torch import nn
device = torch.device("cuda")
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()

# case: a vision transformer of a model zoo [bare]
import torch
from torchvision import models
model = models.vit_b_16().cuda()
# added: torch.set_float32_matmul_precision("high")
for x, y in loader:  # TL502 pedantic unsafe
    criterion(model(x), y).backward()

# case: convolutions
model = nn.Conv2d(3, 8, 3).to(device)

# case: an encoder that is not a transformer
class Attentive(nn.Module):
    pass

# head: the training of an encoder
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()

# case: it is set
torch.set_float32_matmul_precision("high")

# case: it is set by its older name
torch.backends.cuda.matmul.allow_tf32 = flag

# case: it is set by its newer name in another file
import settings
# file: settings.py
import torch
torch.backends.cuda.matmul.fp32_precision = "ieee"

# case: mixed precision
with torch.autocast("cuda"):
    pass

# case: double precision
model.double()

# head: none

# case: before the default changed [torch=1.11]
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()

# case: a test [path=tests/test_loop.py]
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()

# case: on a CPU [bare]
from torch import nn
model = nn.MultiheadAttention(8, 8)
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()
