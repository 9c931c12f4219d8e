"""Two ranks that share parameters train as one that has all of them, and the batches of both.

Its argument is the class that shares them: `1` for FullyShardedDataParallel, `2` for fully_shard.
"""

import copy
import os
import sys

import torch
from torch import distributed, nn
from torch.distributed import fsdp

distributed.init_process_group("nccl")
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
device = torch.device("cuda", rank)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).to(device)
whole = copy.deepcopy(net)
rows = torch.randn(8, 8, device=device)
expected = []
for _ in range(2):
    loss = whole(rows).square().mean()
    slopes = torch.autograd.grad(loss, list(whole.parameters()))
    with torch.no_grad():
        for weight, slope in zip(whole.parameters(), slopes, strict=True):
            weight.sub_(slope, alpha=0.1)
    expected.append(loss.detach())
if sys.argv[1] == "1":
    net = fsdp.FullyShardedDataParallel(net, device_id=rank)
else:
    fsdp.fully_shard(net[0])
    fsdp.fully_shard(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
distributed.barrier()
for step in range(30):
    loss = net(rows[4 * rank :][:4]).square().mean()  # forward
    optimizer.zero_grad()
    loss.backward()
    if sys.argv[1] == "2":
        nn.utils.clip_grad_norm_(net.parameters(), 1e9)
    mean = loss.detach().clone()
    distributed.all_reduce(mean, op=distributed.ReduceOp.AVG)
    if step < 2:
        torch.testing.assert_close(mean, expected[step])
        assert {each.device for each in net.parameters()} == {device}
    optimizer.step()
distributed.destroy_process_group()
