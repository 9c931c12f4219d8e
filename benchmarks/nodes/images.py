"""Ranks; one of them has more work or a slow loader; for `two_nodes.py`; gloo, on processors.

images.py none|work|loader [RANK]
"""

import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, count, wait_s):
        self.images = torch.randn(count, 3, 24, 24)
        self.wait_s = wait_s

    def __len__(self):
        return 1000

    def __getitem__(self, index):
        if self.wait_s:
            time.sleep(self.wait_s)  # even one of 0 s lets others have the processor
        return self.images


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    is_odd = len(sys.argv) > 2 and dist.get_rank() == int(sys.argv[2])
    images = Images(
        count=48 if is_odd and sys.argv[1] == "work" else 12,
        wait_s=0.03 if is_odd and sys.argv[1] == "loader" else 0.0,
    )
    net = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU())
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
    model = DistributedDataParallel(nn.Sequential(net, head))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for batch in DataLoader(images, batch_size=None):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
