# Advice that is wrong today: torchlint does not give it. `docs/tips.md` says why.

# every program:
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

device = torch.device("cuda")
crop = transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()])
photos = datasets.ImageFolder("train", crop)

# head: a training
model = models.resnet18().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(photos, 64, num_workers=8, pin_memory=True, persistent_workers=True)
for epoch in range(90):
    for step, (images, labels) in enumerate(loader):
        images = images.to(device, non_blocking=True)
        labels = labels.to(device, non_blocking=True)
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        # case: W01 pass set_to_none=True everywhere [select=TL401 TL402]
        model.zero_grad()

        # case: W02 replace item() by detach(), although the number is shown at once [select=TL2]
        print(loss.item())  # TL201 | no fix

        # case: W03 empty the cache to save memory [select=TL2]
        torch.cuda.empty_cache()  # TL209 unsafe | fix says: Remove

        # case: W11 torch.tensor instead of torch.Tensor [select=TL1]
        weights = torch.Tensor([0.5, 0.25, 0.125])

        # case: W22 the whole wait is saved [select=TL201]
        value = loss.item()  # TL201 | says: wait for the GPU
        history.add(step, value)

# head: none

# case: W02 a sum that stops growing in half precision [select=TL201]
model = models.resnet18().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(photos, 64, num_workers=8, pin_memory=True, persistent_workers=True)
for epoch in range(90):
    total = 0.0
    for images, labels in loader:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(images.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()  # TL201 unsafe
        # becomes: total += loss.detach().float()
    # added: total = float(total)
    print(epoch, total / len(loader))

# case: W04 as many workers as four times the GPUs [select=TL101]
def main():
    model = models.resnet18().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(photos, batch_size=64)  # TL101 unsafe | fix says: four workers
    # becomes: loader = DataLoader(photos, batch_size=64, num_workers=4)
    for epoch in range(90):
        for images, labels in loader:
            loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()

# case: W04 W27 more workers where there are some, or as many as there are processors [select=TL1]
def main():
    model = models.resnet18().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(photos, 64, num_workers=2, pin_memory=True, persistent_workers=True)
    for epoch in range(90):
        for images, labels in loader:
            loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()

# case: W05 benchmark mode although the sizes change [select=TL301]
from data import Boxes
from torchvision.models import detection


def main():
    model = detection.fasterrcnn_resnet50_fpn().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(90):
        for images, targets in DataLoader(Boxes("train"), 4, collate_fn=list, num_workers=4):
            loss = sum(model([each.to(device) for each in images], targets).values())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()

# case: W05 W13 benchmark mode by the safe fixes, although another run may choose otherwise [select=TL301]
def main():
    model = models.resnet18().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(90):
        for images, labels in DataLoader(photos, batch_size=64, num_workers=8):
            loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":  # TL301 unsafe
    main()

# case: W06 pin by hand, and copy to the host without a wait [select=TL110 TL207]
def main():
    model = models.resnet18().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(photos, batch_size=64, num_workers=8, pin_memory=True, persistent_workers=True)
    for epoch in range(90):
        for images, labels in loader:
            images = images.pin_memory().to(device)  # TL110 hint unsafe
            scores = model(images)
            loss = F.cross_entropy(scores, labels.to(device, non_blocking=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            kept = scores.detach().to("cpu", non_blocking=True)  # TL207 unsafe
            record((kept.argmax(dim=1) == labels).sum())


if __name__ == "__main__":
    main()

# case: W07 from_numpy although the type or the device changes [select=TL105]
import numpy as np


class Noise(torch.utils.data.Dataset):
    def __getitem__(self, index):
        x = torch.tensor(np.zeros((64, 9)), dtype=torch.float32)
        y = torch.tensor(np.zeros(9), device="cuda")
        return x, y

# case: W08 workers for data in memory [select=TL1]
from torch.utils.data import TensorDataset

data = TensorDataset(torch.randn(1000, 3, 32, 32, device=device), torch.zeros(1000, device=device))
model = models.resnet18().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(90):
    for images, labels in DataLoader(data, batch_size=64, shuffle=True):
        loss = F.cross_entropy(model(images), labels.long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

# case: W09 NumPy's random numbers repeat in workers [select=TL1]
import numpy as np


class Noise(torch.utils.data.Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, index):
        return torch.from_numpy(np.random.rand(3, 32, 32))

# case: W10 inference_mode instead of no_grad [select=TL7]
def validate(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for images, labels in loader:
            right += (model(images.to(device)).argmax(1) == labels.to(device)).sum().item()
    return right / len(loader.dataset)

# case: W12 a pool of threads around the loader [select=TL1]
from concurrent.futures import ThreadPoolExecutor


def main():
    model = models.resnet18().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(photos, 64, num_workers=2, pin_memory=True, persistent_workers=True)
    for epoch in range(90):
        with ThreadPoolExecutor() as pool:
            for images, labels in loader:
                loss = F.cross_entropy(model(images.to(device)), labels.to(device))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


if __name__ == "__main__":
    main()

# case: W14 the data moves by itself: no copy of a batch is called superfluous [select=TL205 TL211]
model = models.resnet18().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(90):
    for images, labels in DataLoader(photos, batch_size=64):
        images, labels = images.to(device), labels.to(device)
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

# case: W15 the bias before a norm is gone safely [select=TL304]
layers = nn.Sequential(nn.Conv2d(3, 64, 3), nn.BatchNorm2d(64), nn.ReLU())  # TL304 unsafe

# case: W16 pass foreach=True, or fused to SGD [select=TL403]
def main():
    model = models.resnet18().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)  # TL403 hint | fix says: fused=True
    other = torch.optim.SGD(model.fc.parameters(), lr=1e-3)
    for epoch in range(90):
        for images, labels in DataLoader(photos, batch_size=64, num_workers=8):
            loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            other.step()


if __name__ == "__main__":
    main()

# head: a network of convolutions that trains in float32
def main():
    model = models.resnet18().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(photos, 64, num_workers=8, pin_memory=True, persistent_workers=True)
    for epoch in range(90):
        for images, labels in loader:
            loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()

# case: W17 allow TF32, although convolutions use it [select=TL502 TL504]

torch.backends.cudnn.conv.fp32_precision = "tf32"

# case: W26 one thread per process wastes processors [select=TL1 TL7]
import os

os.environ["OMP_NUM_THREADS"] = "1"

# case: W28 a higher limit of recompilations [select=TL507 TL508 TL510 TL511 TL7]
torch._dynamo.config.recompile_limit = 64

# head: none

# case: W18 DataParallel is deprecated [select=TL601]
def main():
    model = nn.DataParallel(models.resnet18().to(device))  # TL601 | says: copies the model to every GPU
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(90):
        for images, labels in DataLoader(photos, batch_size=256, num_workers=8):
            loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()

# case: W18 checkpoint raises an error without use_reentrant [select=TL509]
from torch.utils.checkpoint import checkpoint


class Blocks(nn.Module):
    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x)  # TL509 hint unsafe | fix says: use_reentrant=False
        return x

# case: W19 script a model, or keep a script, to fuse its operations [select=TL5 TL9]
model = torch.jit.script(models.resnet18().to(device))
scaler = torch.amp.GradScaler("cuda", enabled=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(90):
    for images, labels in DataLoader(photos, batch_size=64, num_workers=8):
        loss = F.cross_entropy(model(images.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

# case: W20 checkpoint, and accumulate gradients [select=TL4 TL509 TL603]
model = models.vit_b_16().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(90):
    for images, labels in DataLoader(photos, batch_size=8, num_workers=8):
        loss = F.cross_entropy(model(images.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

# case: W21 mixed precision and fused optimizers of APEX [select=TL403 TL501 TL503]
model = models.vit_b_16().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)  # TL403 hint | says: fused=True
for epoch in range(90):
    for images, labels in DataLoader(photos, batch_size=8, num_workers=8):  # TL501 pedantic | says: torch.autocast
        loss = F.cross_entropy(model(images.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

# case: W23 a cache that is off with checkpointing, and one that is not [bare, select=ALL]
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("gpt2")
model.gradient_checkpointing_enable()
Trainer(model, TrainingArguments("out"), train_dataset=texts).train()

# case: W24 group by length [bare, select=TL1]
from transformers import Trainer, TrainingArguments

args = TrainingArguments("out", dataloader_num_workers=4)
Trainer(model, args, train_dataset=texts).train()

# case: W25 attention by hand is always slower [select=TL306]
def attend(q, k, v):
    scores = q @ k.transpose(-2, -1) / 8
    return scores.softmax(dim=-1) @ v  # TL306 hint | no fix

# case: W29 checkpointing that nobody wrote [bare, select=ALL]
from trl import SFTConfig, SFTTrainer

SFTTrainer("gpt2", args=SFTConfig("out", dataloader_num_workers=4), train_dataset=texts).train()
