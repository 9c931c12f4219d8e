# TL606: which models are one unit of FSDP, and which are sharded block by block.

# every program:
import torch
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, fully_shard

# head: a program that trains
loss.backward()

# case: no policy
model = FSDP(model, device_id=0)  # TL606 hint | no fix: which blocks | says: gathered before each forward pass

# case: no policy, in words
model = FSDP(model, auto_wrap_policy=None)  # TL606 hint

# case: the class by its longer name
import torch.distributed.fsdp.fully_sharded_data_parallel as fsdp
model = fsdp.FullyShardedDataParallel(model)  # TL606 hint

# case: the model of a trainer
class Trainer:
    def setup(self):
        self.model = FSDP(self.model)  # TL606 hint

# case: only the root
fully_shard(model, mesh=mesh, **options)  # TL606 hint

# case: only the root, by the older name [bare]
loss.backward()
from torch.distributed._composable.fsdp import fully_shard
fully_shard(model)  # TL606 hint

# case: a policy
model = FSDP(model, auto_wrap_policy=policy)

# case: a policy by its position
model = FSDP(model, None, None, None, policy)

# case: options that nobody knows
model = FSDP(model, **options)

# case: blocks, and the rest
model.first = FSDP(model.first)
model.second = FSDP(model.second)
model = FSDP(model)

# case: a block, and the rest
head = FSDP(nn.Linear(8, 8))
model = FSDP(model)

# case: the modules of both kinds
fully_shard(head)
model = FSDP(model)

# case: blocks in a loop
for block in blocks:
    print(block)
    fully_shard(block)

# case: blocks in a loop that counts
while blocks:
    layers.append(FSDP(blocks.pop()))

# case: blocks in a list
layers = [FSDP(block) for block in blocks]

# case: blocks in other comprehensions
layers = nn.Sequential(*(FSDP(block) for block in blocks))

# case: named blocks
layers = {name: FSDP(block) for name, block in blocks}

# case: blocks that a function is applied to
layers = map(lambda block: FSDP(block), blocks)

# case: a part
model.encoder = FSDP(model.encoder)

# case: layers that are wrapped as they are made
from torch.distributed.fsdp.wrap import enable_wrap, wrap
with enable_wrap(wrapper_cls=FSDP):
    model = Net()
model = FSDP(model)

# case: the model shards its own blocks
from net import Net
model = Net()
fully_shard(model)
# file: net.py
from torch.distributed.fsdp import fully_shard
class Net:
    def __init__(self, blocks):
        for block in blocks:
            fully_shard(block)

# case: a class of the same name from elsewhere [bare]
loss.backward()
from mine import FSDP
model = FSDP(model)

# case: a test [path=tests/test_it.py]
model = FSDP(model)

# head: none

# case: nothing trains
model = FSDP(model)
