"""One rank has three times the work of the others, or a slow loader; start it with torchrun.

python -m torch.distributed.run --nproc-per-node 2 ranks_straggle.py work|loader [RANK]
"""

import sys
import time

import torch
from torch import distributed, nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
torch.set_num_threads(1)
distributed.init_process_group("gloo")
what = sys.argv[1] if len(sys.argv) > 1 else "work"
slow = int(sys.argv[2]) if len(sys.argv) > 2 else 1
is_slow = distributed.get_rank() == slow


class Images(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        if what == "loader" and is_slow:
            time.sleep(0.02)
        return torch.randn(48 if what == "work" and is_slow else 16, 3, 32, 32)


net = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU())
model = nn.Sequential(net, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for images in DataLoader(Images(), batch_size=None):
    optimizer.zero_grad()
    loss = model(images).square().mean()
    loss.backward()
    optimizer.step()
distributed.destroy_process_group()
