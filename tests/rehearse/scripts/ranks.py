"""Two ranks, each with a GPU of its own."""

import os

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

distributed.init_process_group("nccl")
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
device = torch.device("cuda", rank)
data = TensorDataset(torch.randn(640, 16), torch.randint(0, 4, (640,)))
loader = DataLoader(data, batch_size=16, sampler=DistributedSampler(data), pin_memory=True)
net = nn.Sequential(nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 4)).to(device)
model = DistributedDataParallel(net, device_ids=[rank])
optimizer = torch.optim.AdamW(model.parameters())
for epoch in range(3):
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        distributed.all_reduce(loss.detach())
        print(loss.item())
distributed.destroy_process_group()
