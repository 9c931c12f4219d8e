# Slow places that a reviewer named in real code, each as a small program.

# every program:
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

device = torch.device("cuda")

# head: a network of the program [select=TL2]
def train(loader):
    head = Head().to(device)
    for features, targets in loader:
        loss = head(features.to(device, non_blocking=True), targets.to(device, non_blocking=True))
        loss.backward()
        optimizer.step()


class Head(nn.Module):
    def forward(self, features, targets):
        found = self.layer(features)

# case: a tensor's truth test per image in forward
        for each in found:
            if (each > 0.5).any():  # TL204
                each.clamp_(max=0.5)
        return found.sum()

# case: item() in a layer that each step calls
        scale = found.abs().max().item()  # TL201
        return (found / scale).sum()

# case: a loop over images with nonzero and a permutation of NumPy that is moved to the GPU
        for each in found:
            chosen = each.nonzero()  # TL215 pedantic
            order = torch.from_numpy(np.random.permutation(9)).to(device)  # TL217
            each[order].sum()
        return found.sum()

# case: a constant grid that is rebuilt in NumPy and copied on each forward
        grid = torch.from_numpy(np.stack(np.meshgrid(np.arange(8), np.arange(8)))).to(device)  # TL211
        return (found * grid).sum()

# case: constant tensors that are moved per image
        for each in found:
            weights = torch.tensor([0.1, 0.2, 0.7]).to(device)  # TL205
            each.mul_(weights)
        return found.sum()

# head: a training
model = Network().to(device)
for step, (images, labels) in enumerate(loader):
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()

# case: synchronize() on each step [select=TL208]
    torch.cuda.synchronize()  # TL208

# case: a Polyak update parameter by parameter [select=TL216]
    for p, q in zip(model.parameters(), average.parameters()):  # TL216
        q.data.mul_(0.999).add_(p.data, alpha=0.001)

# case: an all-reduce by hand without overlap [select=TL607]
    for p in model.parameters():
        dist.all_reduce(p.grad)  # TL607

# head: none

# case: evaluation without no_grad [select=TL701]
def evaluate(model, loader):
    model.eval()
    right = 0
    for images, labels in loader:  # TL701
        right += (model(images).argmax(1) == labels).sum().item()
    return right

# case: a GPU that is timed without waiting for it [select=TL801]
model = nn.Linear(8, 8).to(device)
for _ in range(100):
    start = time.perf_counter()
    model(batch)
    print(time.perf_counter() - start)  # TL801

# case: a loader without pin_memory that feeds blocking copies [select=TL102]
for images, labels in DataLoader(data, batch_size=64, num_workers=4):  # TL102 hint
    F.cross_entropy(model(images.to(device)), labels.to(device)).backward()
    optimizer.step()

# case: labels that are widened before the transfer [select=TL218]
for images, labels in loader:
    labels = labels.long().to(device)  # TL218 hint
    F.cross_entropy(model(images), labels).backward()
    optimizer.step()

# case: a generator's backward pass that also fills the discriminator's gradients [select=TL407]
for real, _ in loader:
    fake = generator(torch.randn(64, 100, device=device))
    discriminator.zero_grad()
    (discriminator(fake.detach()).mean() - discriminator(real).mean()).backward()
    optimizer_d.step()
    generator.zero_grad()
    loss_g = -discriminator(fake).mean()
    loss_g.backward()  # TL407 hint
    optimizer_g.step()

# case: a subclass of DataParallel [select=TL601]
class Scattered(nn.DataParallel):
    def scatter(self, inputs, kwargs, devices):
        return super().scatter(inputs, kwargs, devices)
model = Scattered(Network())  # TL601 hint
for images, labels in loader:
    F.cross_entropy(model(images), labels).backward()
    optimizer.step()

# case: AdamW without fused [select=TL403]
optimizer = torch.optim.AdamW(model.parameters())  # TL403 hint
for images, labels in loader:
    F.cross_entropy(model(images), labels).backward()
    optimizer.step()

# case: mixed precision that is nowhere, and TF32 that is never on [select=TL501 TL502]
model = nn.Linear(8, 8).to(device)
for images, labels in loader:  # TL501 pedantic  # TL502 pedantic
    F.cross_entropy(model(images), labels).backward()
    optimizer.step()

# case: workers that start anew each epoch [select=TL103]
loader = DataLoader(data, batch_size=64, num_workers=4)  # TL103 hint
for epoch in range(90):
    for images, labels in loader:
        F.cross_entropy(model(images), labels).backward()
        optimizer.step()

# case: a Python loop over the batch with two index_add_ each [select=TL210]
for images, places in loader:
    loss = F.mse_loss(model(images), places)
    for i in range(images.shape[0]):  # TL210 hint
        total.index_add_(0, places[i], images[i])
        count.index_add_(0, places[i], ones[i])
    loss.backward()
    optimizer.step()

# case: several item() per evaluation batch are not reported: after the first the others wait for nothing [select=TL201]
@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    for images, labels in loader:
        loss += F.cross_entropy(model(images), labels).item()
        right += (model(images).argmax(1) == labels).sum().item()
