# Slow places that a reviewer named in real code, each as a small program.

# head: a network that another file trains [select=TL2]
import torch
from data import Photos
from network import Network
from torch.utils.data import DataLoader

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def main():
    loader = DataLoader(Photos("train"), batch_size=64, shuffle=True, num_workers=8)
    model = Network().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(90):
        model.train()
        for step, (images, targets) in enumerate(loader):
            loss = model(images.to(device), targets.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 100 == 0:
                print(epoch, step, loss.item())
        torch.save(model.state_dict(), "model.pt")


if __name__ == "__main__":
    main()

# file: network.py
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# case: a tensor's truth test per image in forward
# file: network.py
class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Conv2d(3, 5, 3, stride=8)

    def forward(self, images, targets):
        found = self.layers(images).flatten(2)
        loss = found.new_zeros(())
        for boxes, target in zip(found, targets):
            positive = target[:, 4] > 0
            if positive.any():  # TL204 | no fix
                loss = loss + F.l1_loss(boxes[:4].T * positive[:, None], target[:, :4])
        return loss / len(found)

# case: item() in a layer that each step calls
# file: network.py
class Quantized(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layer = nn.Conv2d(channels, channels, 3)

    def forward(self, x):
        scale = x.abs().max().item() / 127  # TL201
        return self.layer(torch.round(x / scale) * scale)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 64, 3), Quantized(64), nn.ReLU())
        self.head = nn.Linear(64, 10)

    def forward(self, images, targets):
        features = self.layers(images).mean(dim=(2, 3))
        return F.cross_entropy(self.head(features), targets)

# case: a loop over images with nonzero and a permutation of NumPy that is moved to the GPU
# file: network.py
class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Conv2d(3, 1, 3, padding=1)

    def forward(self, images, targets):
        scores = self.score(images).flatten(1)
        losses = []
        for i in range(images.size(0)):  # TL210 hint
            positive = torch.nonzero(targets[i] > 0.5).view(-1)  # TL215 hint
            order = torch.from_numpy(np.random.permutation(256)).to(images.device)  # TL205
            chosen = positive[order]
            losses.append(F.binary_cross_entropy_with_logits(scores[i][chosen], targets[i][chosen]))
        return torch.stack(losses).mean()

# case: a constant grid that is rebuilt in NumPy and copied on each forward
# file: network.py
class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Conv2d(3, 2, 3, padding=1)
        self.stride = 16

    def forward(self, images, targets):
        offsets = self.layers(images)
        x = np.arange(offsets.size(3)) * self.stride
        y = np.arange(offsets.size(2)) * self.stride
        x, y = np.meshgrid(x, y)
        grid = torch.from_numpy(np.stack((x, y))).float().to(images.device)  # TL205
        return F.l1_loss(grid + offsets, targets)

# case: constant tensors that are moved per image
# file: network.py
class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Conv2d(3, 4, 8, stride=8)
        self.anchors = torch.rand(784, 4)

    def forward(self, images, targets):
        found = self.layers(images).flatten(2).transpose(1, 2)
        losses = []
        for boxes, target in zip(found, targets):
            variance = torch.tensor([0.1, 0.1, 0.2, 0.2]).to(images.device)  # TL213 hint
            offsets = (target - self.anchors.to(images.device)) / variance  # TL211
            losses.append(F.smooth_l1_loss(boxes, offsets))
        return torch.stack(losses).mean()

# head: none

# case: evaluation without no_grad [select=TL701]
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

device = torch.device("cuda")


def validate(model, loader):
    model.eval()
    right = 0
    for images, labels in loader:  # TL701
        output = model(images.to(device))
        right += (output.argmax(dim=1) == labels.to(device)).sum().item()
    return right / len(loader.dataset)


def main():
    photos = datasets.ImageFolder("train", transforms.ToTensor())
    others = datasets.ImageFolder("val", transforms.ToTensor())
    model = models.resnet18().to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(90):
        model.train()
        for images, labels in DataLoader(photos, batch_size=64, num_workers=8):
            loss = criterion(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, validate(model, DataLoader(others, batch_size=64, num_workers=8)))


if __name__ == "__main__":
    main()

# case: a GPU that is timed without waiting for it [select=TL801]
import time

import torch
from torchvision import models

device = torch.device("cuda")
model = models.resnet18().to(device).eval()
images = torch.randn(64, 3, 224, 224, device=device)

with torch.no_grad():
    for _ in range(100):
        start = time.perf_counter()  # TL801
        model(images)
        print("forward:", time.perf_counter() - start)

# head: a classifier, its loader and its loop
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

device = torch.device("cuda")
crop = transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()])
photos = datasets.ImageFolder("train", crop)

# case: a loader without pin_memory that feeds blocking copies [select=TL102]
def main():
    model = models.resnet18().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(photos, batch_size=64, shuffle=True, num_workers=8)  # TL102 hint
    for epoch in range(90):
        for images, labels in loader:
            images, labels = images.to(device), labels.to(device)
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()

# case: the same copies where the loader pins [select=TL206]
def main():
    model = models.resnet18().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(photos, batch_size=64, shuffle=True, num_workers=8, pin_memory=True)
    for epoch in range(90):
        for images, labels in loader:
            images, labels = images.to(device), labels.to(device)  # TL206 hint
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()

# case: labels that are widened to int64 before the transfer [select=TL218]
from data import Masks


def main():
    model = models.segmentation.fcn_resnet50(num_classes=21).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Masks("train"), batch_size=16, shuffle=True, num_workers=8)
    for epoch in range(90):
        for images, masks in loader:
            images = images.to(device)
            masks = masks.long().to(device)  # TL218 hint
            loss = F.cross_entropy(model(images)["out"], masks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()

# case: a generator's backward pass that also fills the discriminator's gradients [select=TL407]
from networks import Discriminator, Generator


def main():
    generator, discriminator = Generator().to(device), Discriminator().to(device)
    optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    criterion = nn.BCEWithLogitsLoss()
    loader = DataLoader(photos, batch_size=64, shuffle=True, num_workers=8)
    for epoch in range(25):
        for images, _ in loader:
            images = images.to(device)
            real = torch.ones(len(images), 1, device=device)
            fake = generator(torch.randn(len(images), 100, device=device))
            optimizer_d.zero_grad()
            loss_d = criterion(discriminator(images), real)
            loss_d = loss_d + criterion(discriminator(fake.detach()), 1 - real)
            loss_d.backward()
            optimizer_d.step()
            optimizer_g.zero_grad()
            loss_g = criterion(discriminator(fake), real)
            loss_g.backward()  # TL407 hint | says: gradients of `discriminator`
            optimizer_g.step()


if __name__ == "__main__":
    main()

# case: a subclass of DataParallel [select=TL601]
class Parallel(nn.DataParallel):
    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.module, name)


def main():
    model = Parallel(models.resnet18().to(device))  # TL601 hint
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(photos, batch_size=256, shuffle=True, num_workers=8)
    for epoch in range(90):
        for images, labels in loader:
            loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()

# case: synchronize() on each step [select=TL208]
def main():
    model = models.resnet18().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(photos, batch_size=64, shuffle=True, num_workers=8)
    for epoch in range(90):
        for images, labels in loader:
            loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            torch.cuda.synchronize()  # TL208


if __name__ == "__main__":
    main()

# case: several item() per evaluation batch are not reported: after the first, the others wait for little [select=TL2]
@torch.no_grad()
def validate(model, loader):
    model.eval()
    total, right, top5 = 0.0, 0, 0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        output = model(images)
        total += F.cross_entropy(output, labels).item()
        right += (output.argmax(dim=1) == labels).sum().item()
        top5 += (output.topk(5).indices == labels[:, None]).any(dim=1).sum().item()
    return total / len(loader), right / len(loader.dataset), top5 / len(loader.dataset)


def main():
    model = models.resnet18().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(photos, batch_size=64, shuffle=True, num_workers=8)
    for epoch in range(90):
        model.train()
        for images, labels in loader:
            loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, validate(model, loader))


if __name__ == "__main__":
    main()

# case: AdamW without fused [select=TL403]
def main():
    model = models.vit_b_16().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.05)  # TL403 hint
    loader = DataLoader(photos, batch_size=64, shuffle=True, num_workers=8)
    for epoch in range(90):
        for images, labels in loader:
            loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()

# case: mixed precision that is nowhere, and TF32 that is never on [select=TL501 TL502]
def main():
    model = models.vit_b_16().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(photos, batch_size=64, shuffle=True, num_workers=8)
    for epoch in range(90):
        for images, labels in loader:  # TL501 pedantic  # TL502 pedantic
            loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()

# case: mixed precision that an option leaves off is not reported: who starts the run chooses [select=TL501 TL502]
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true")


def main():
    args = parser.parse_args()
    model = models.vit_b_16().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=args.amp)
    loader = DataLoader(photos, batch_size=64, shuffle=True, num_workers=8)
    for epoch in range(90):
        for images, labels in loader:
            with torch.autocast("cuda", dtype=torch.float16, enabled=args.amp):
                loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()


if __name__ == "__main__":
    main()

# case: workers that start again each epoch [select=TL103]
def main():
    model = models.resnet18().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(photos, batch_size=64, shuffle=True, num_workers=8)  # TL103 hint
    for epoch in range(90):
        for images, labels in loader:
            loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()

# case: a Polyak update parameter by parameter [select=TL216]
import copy


def main():
    model = models.resnet18().to(device)
    average = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(photos, batch_size=64, shuffle=True, num_workers=8)
    for epoch in range(90):
        for images, labels in loader:
            loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            for kept, current in zip(average.parameters(), model.parameters()):  # TL216
                kept.data.mul_(0.999).add_(current.data, alpha=0.001)


if __name__ == "__main__":
    main()

# case: an all-reduce by hand without overlap [select=TL607]
import os

import torch.distributed as dist


def average_gradients(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)  # TL607
        p.grad /= dist.get_world_size()


def main():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    model = models.resnet18().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sampler = torch.utils.data.DistributedSampler(photos)
    loader = DataLoader(photos, batch_size=64, sampler=sampler, num_workers=8)
    for epoch in range(90):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            loss = F.cross_entropy(model(images.cuda()), labels.cuda())
            optimizer.zero_grad()
            loss.backward()
            average_gradients(model)
            optimizer.step()


if __name__ == "__main__":
    main()

# case: a Python loop over the batch with two index_add_ each [select=TL210]
from data import Scans


def main():
    model = nn.Conv1d(4, 64, 1).to(device)
    head = nn.Linear(64, 10).to(device)
    optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.1)
    loader = DataLoader(Scans("train"), batch_size=64, shuffle=True, num_workers=8)
    for epoch in range(90):
        for points, cells, labels in loader:
            points, cells, labels = points.to(device), cells.to(device), labels.to(device)
            features = model(points).transpose(1, 2)
            total = torch.zeros(1024, 64, device=device)
            count = torch.zeros(1024, 1, device=device)
            for i in range(points.shape[0]):  # TL210 hint
                total.index_add_(0, cells[i], features[i])
                count.index_add_(0, cells[i], torch.ones_like(features[i][:, :1]))
            loss = F.cross_entropy(head(total / count.clamp(min=1)), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
