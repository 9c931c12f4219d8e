"""Two ranks with batches of their own size normalize as one that has both."""

import copy
import os

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

distributed.init_process_group("nccl")
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
device = torch.device("cuda", rank)
alone = [distributed.new_group([each]) for each in range(2)][rank]
torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).to(device).double()
whole = copy.deepcopy(net)
net = nn.SyncBatchNorm.convert_sync_batchnorm(net)
model = DistributedDataParallel(net, device_ids=[rank])
single = nn.SyncBatchNorm(4, process_group=alone).to(device).double()
evaluated = copy.deepcopy(net).eval()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
reference = torch.optim.SGD(whole.parameters(), lr=0.1)
images = torch.randn(5, 3, 8, 8, device=device, dtype=torch.float64)
rows = slice(0, 2) if rank == 0 else slice(2, 5)
for step in range(30):
    out = model(images[rows])  # TR201
    # DDP takes the mean over ranks of the gradients.
    loss = 2 * out.square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 0:
        expected = whole(images)
        reference.zero_grad()
        expected.square().sum().backward()
        reference.step()
        torch.testing.assert_close(out, expected[rows])
        for mine, other in zip(net.state_dict().values(), whole.state_dict().values(), strict=True):
            assert mine.is_cuda
            torch.testing.assert_close(mine, other)
    single(out.detach())
    with torch.no_grad():
        evaluated(images)
distributed.destroy_process_group()
