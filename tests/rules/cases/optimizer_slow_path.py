# TL403: which optimizers update one parameter after the other, and who has a reason to.

# every program:
import torch
from torch import nn, optim

# head: a file that trains
loss.backward()

# case: no foreach
optimizer = optim.AdamW(params, lr=1e-3, foreach=False)  # TL403 unsafe | says: `foreach=False` makes … pass `fused=True`
# becomes: optimizer = optim.AdamW(params, lr=1e-3, fused=True)

# case: not fused, which turns foreach off as well
optimizer = optim.Adam(params, fused=False)  # TL403 unsafe | says: `fused=False` makes
# becomes: optimizer = optim.Adam(params, fused=True)

# case: an optimizer by its long name
optimizer = torch.optim.sgd.SGD(params, lr=0.1, foreach=False)  # TL403

# case: another optimizer with both
optimizer = optim.Adagrad(params, foreach=False)  # TL403

# case: torch before there was fused on the CPU [torch=2.3]
optimizer = optim.AdamW(params, lr=1e-3, foreach=False)  # TL403 unsafe
# becomes: optimizer = optim.AdamW(params, lr=1e-3)

# case: torch before foreach was the default [torch=1.13]
optimizer = optim.AdamW(params, lr=1e-3, foreach=False)

# case: both are off
optimizer = optim.AdamW(params, foreach=False, fused=False)  # TL403
# becomes: optimizer = optim.AdamW(params, foreach=False, fused=True)

# case: groups of parameters
optimizer = optim.SGD([{"params": params}], lr=0.1, foreach=False)  # TL403

# case: neither argument
optimizer = optim.Adam(model.parameters(), lr=1e-3)  # TL403 hint unsafe | says: Python loop over the parameters on a CPU … on CUDA
# becomes: optimizer = optim.Adam(model.parameters(), lr=1e-3, fused=True)
other = optim.AdamW(model.parameters())
# becomes: other = optim.AdamW(model.parameters(), fused=True)

# case: neither argument, with an older torch [torch=2.3]
optimizer = optim.Adam(model.parameters(), lr=1e-3)

# case: an optimizer with a short loop
optimizer = optim.SGD(model.parameters(), lr=1e-3)

# case: fused
optimizer = optim.Adam(params, fused=True)
optimizer = optim.Adam(params, foreach=False, fused=True)

# case: foreach
optimizer = optim.Adam(params, foreach=True)
optimizer = optim.Adam(params, foreach=True, fused=False)

# case: an option decides
optimizer = optim.Adam(params, foreach=False, fused=args.fused)
optimizer = optim.Adam(params, fused=torch.cuda.is_available())

# case: options that nobody knows
optimizer = optim.Adam(params, **options)

# case: a comment gives a reason
optimizer = optim.AdamW(params, foreach=False)  # foreach needs too much memory

# case: a comment above gives a reason
# The peak of foreach is too high.
optimizer = optim.AdamW(params, foreach=False)

# case: a comment next to what is not an argument gives no reason
# The optimizer.
optimizer = optim.Adam(params)  # TL403 hint

# case: a comment for a tool gives no reason
optimizer = optim.AdamW(params, foreach=False)  # type: ignore  # TL403

# case: the update is differentiated
optimizer = optim.Adam(params, foreach=False, differentiable=True)
optimizer = optim.Adam(params, differentiable=True)

# case: it is captured in a CUDA graph
optimizer = optim.Adam(params, capturable=True)

# case: a list of parameters
optimizer = optim.SGD([weight, bias], lr=0.1, foreach=False)  # TL403

# case: one parameter
optimizer = optim.Adam([log_alpha], lr=1e-3)

# case: an optimizer for each parameter
optimizers = {p: optim.Adam([p], foreach=False) for p in model.parameters()}

# case: sparse gradients
embedding = nn.Embedding(1000, 16, sparse=True)
optimizer = optim.Adam(params, foreach=False)

# case: a Lightning module
import lightning as L
class Net(L.LightningModule):
    def configure_optimizers(self):
        return optim.Adam(self.parameters())

# case: a Trainer takes the steps
from transformers import Trainer, TrainingArguments
trainer = Trainer(model, TrainingArguments(), optimizers=(optim.AdamW(params), None))

# case: a trainer of the project
class Trainer:
    def __init__(self, model):
        self.optimizer = optim.AdamW(model.parameters(), foreach=False)  # TL403

# case: DeepSpeed takes the steps
import deepspeed
optimizer = optim.AdamW(params, foreach=False)

# case: the parameters are sharded in another file
optimizer = optim.AdamW(params, foreach=False)
import shard
# file: shard.py
from torch.distributed.fsdp import fully_shard

# case: a test [path=tests/test_it.py]
optimizer = optim.Adam(params, foreach=False)

# head: none

# case: another file trains
optimizer = optim.Adam(params)  # TL403 hint
other = optim.Adam(params, foreach=False)  # TL403
import engine
# file: engine.py
import torch
def step(loss, optimizer):
    loss.backward()
    optimizer.step()

# case: nothing trains
optimizer = optim.Adam(params, foreach=False)

# case: not parsed: an optimizer whose arguments are known elsewhere [bare, unread]
import torch
optimizer = torch.optim.Adam(params, **options)
other = torch.optim.SGD(params, foreach=True)
