# Advice that is wrong today: torchlint does not give it. `docs/tips.md` says why.

# every program:
import os

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda")
model = Network().to(device)

# head: a training [select=ALL]
for step, (images, labels) in enumerate(loader):
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()

# case: W01 pass set_to_none=True everywhere [select=TL401 TL402]
    optimizer.zero_grad()

# case: W02 replace item() by detach() [select=TL201]
    print(loss.item())  # TL201 | no fix

# case: W03 empty the cache to save memory [select=TL209]
    torch.cuda.empty_cache()  # TL209 unsafe | fix says: Remove

# case: W06 pin by hand and copy without blocking [select=TL110 TL206]
    x = images.pin_memory().to(device, non_blocking=True)  # TL110

# case: W07 from_numpy although the type changes [select=TL105]
    x = torch.tensor(np.zeros((64, 9)), dtype=torch.float32)


# case: W10 inference_mode instead of no_grad [select=TL701]
def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        for images, labels in loader:
            model(images)

# case: W11 torch.tensor instead of torch.Tensor [select=TL105 TL106]
    x = torch.Tensor([0.5, 0.25, 0.125])

# case: W14 the data moves by itself [select=TL205 TL211]
    images = images.to(device)

# case: W19 script the model [select=TL903]
    scripted = torch.jit.script(model)  # TL903 hint | says: torch.compile

# case: W20 checkpoint and accumulate [select=TL509 TL603]
    hidden = model(images)

# case: W22 the whole wait is saved [select=TL201]
    value = loss.item()  # TL201 | says: waits for the GPU
    work(value)

# case: W28 a higher limit of recompilations [select=TL507 TL508]
    torch._dynamo.config.recompile_limit = 64


# head: none

# case: W04 W27 workers by the number of GPUs or processors [select=TL101]
from torchvision.datasets import ImageFolder

for images, labels in DataLoader(ImageFolder("train", transform)):  # TL101 | no fix: main guard
    F.cross_entropy(model(images), labels).backward()
    optimizer.step()

# case: W05 benchmark mode although the sizes change [select=TL301]
from torchvision.models import detection


def main():
    net = detection.fasterrcnn_resnet50_fpn().cuda()
    conv = nn.Conv2d(3, 8, 3)
    for images, labels in loader:
        sum(net(images, labels).values()).backward()
        optimizer.step()


if __name__ == "__main__":
    main()

# case: W08 workers for data in memory [select=TL101]
for images, labels in DataLoader(TensorDataset(x, y), batch_size=64):
    F.cross_entropy(model(images), labels).backward()
    optimizer.step()


# case: W09 NumPy's random numbers repeat in workers [select=TL1]
class Noise(torch.utils.data.Dataset):
    def __getitem__(self, index):
        return torch.from_numpy(np.random.rand(3, 32, 32))


# case: W12 a pool of threads around the loader [select=TL1]
from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor() as pool:
    for images, labels in loader:
        pool.submit(model, images)

# case: W15 the bias before a norm is gone safely [select=TL304]
layers = nn.Sequential(nn.Conv2d(3, 64, 3), nn.BatchNorm2d(64), nn.ReLU())  # TL304 unsafe

# case: W16 pass foreach=True [select=TL403]
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)  # TL403 hint | fix says: fused=True
for images, labels in loader:
    F.cross_entropy(model(images), labels).backward()
    optimizer.step()

# case: W18 DataParallel is deprecated [select=TL601]
model = nn.DataParallel(model)  # TL601 | says: copies the model to every GPU
for images, labels in loader:
    F.cross_entropy(model(images), labels).backward()
    optimizer.step()

# case: W23 a cache that is off with checkpointing [select=ALL]
model.gradient_checkpointing_enable()
model.config.use_cache = False

# case: W24 group by length [select=TL1]
from transformers import TrainingArguments

TrainingArguments("out", dataloader_num_workers=4, group_by_length=True)
TrainingArguments("out", dataloader_num_workers=4)


# case: W25 attention by hand is always slower [select=TL306]
def attend(q, k, v):
    scores = q @ k.transpose(-2, -1) / 8  # TL306 hint | no fix
    return scores.softmax(dim=-1) @ v


# case: W26 one thread per process [select=ALL]
os.environ["OMP_NUM_THREADS"] = "1"

# case: W29 checkpointing that nobody wrote [select=TL5]
from trl import SFTConfig

SFTConfig("out", dataloader_num_workers=4)
