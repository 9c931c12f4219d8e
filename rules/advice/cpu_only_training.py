"""Train on a GPU if there is one: nothing happens there by itself.

## What it does
Reports a script that trains a convolutional, recurrent or transformer network on the batches of a
`DataLoader`, in a program that mentions no device anywhere. It is a hint: the machine may have no
GPU.

## Why it is slow
torch computes where the tensors are, and they are created in host memory. Without `.to(device)` a
GPU stays idle, although such networks are what it is fast at.

## Example
```python
import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for images, labels in DataLoader(dataset, batch_size=64, num_workers=8):
    loss = nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```

## Use instead
```python
import torch
from torch import nn
from torch.utils.data import DataLoader

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(10)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for images, labels in DataLoader(dataset, batch_size=64, num_workers=8, pin_memory=True):
    images, labels = images.to(device, non_blocking=True), labels.to(device, non_blocking=True)
    loss = nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```

## When it is silent
- If any file of the program mentions a device, in code or in a comment: `device`, `cuda`, `gpu`,
  `cpu`, `mps`, `xla` and the like, or calls `.to(…)`.
- If a framework or library may choose the device: Lightning, a `Trainer`, Accelerate, ignite,
  fastai and others.
- Where a CPU is meant: reinforcement learning with `gym`, Hogwild (`share_memory`),
  `set_num_threads`, `torch.distributed`.
- Without a `DataLoader`, as in small examples; for networks of linear layers; in tests, and in
  files that are not scripts.

## Fix safety
There is no fix: the model, each batch, and what is created on the way all have to move.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against moved.py` compares with your own
version, which needs a GPU.

## References
- PyTorch documentation, "CUDA semantics"
- PyTorch tutorial, "Training a Classifier: Training on GPU"
"""

from torchlint.rule import Context, Effect, Rule, Tier, first_step

_DEVICE = (
    r"\.to\(|(?i:device|cuda|gpu|\bcpu|\bmps\b|\bxla|\bxpu\b|\bnpu\b|\bhpu\b|\brocm|\bipex\b|\btpu)"
)
_OWNER = (
    r"(?i:lightning|trainer|accelerat|\bignite\b|\bfastai\b|\bcatalyst\b|\bskorch\b|deepspeed|"
    r"horovod|\bray\b|\bavalanche\b|\bopacus\b|\bmm(?:cv|engine)\b|\bcomposer\b)"
)
_MEANT = (
    r"\bgym(?:nasium)?\b|share_memory|(?i:hogwild)|set_num_threads|OMP_NUM_THREADS|"
    r"torch\.distributed|\bquantiz"
)


rule = Rule(
    code="TL901",
    effect=Effect.LARGE,
    summary="nothing in the program moves the training to a GPU",
    tier=Tier.HINT,
    finds=(first_step(),),
    message="Nothing in this program moves the model to a GPU; if you have one, move the model and "
    "each batch there with `.to(device)`.",
    change="the model, each batch and what is created on the way have to move",
    contexts=(Context.ENTRY,),
    program_has={
        "a `DataLoader`": r"\bDataLoader\(",
        "layers that a GPU speeds up": r"\bConv(?:Transpose)?[123]d\(|"
        r"\b(?:LSTM|GRU|RNN|MultiheadAttention)\(|"
        r"\bTransformer(?:Encoder|Decoder)?(?:Layer)?\(|\btorchvision\.models\b|\btimm\b",
    },
    program_lacks={
        "a word for a device": _DEVICE,
        "a framework that chooses the device": _OWNER,
        "a reason to train on the CPU": _MEANT,
    },
    needs_gpu=True,
)
