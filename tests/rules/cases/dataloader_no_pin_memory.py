# TL102: which loaders should pin their batches.

# every program:
import torch
from torch.utils.data import DataLoader

# head: a program that trains on a GPU
model.to(torch.device("cuda"))
loss.backward()

# case: no argument
DataLoader(data, batch_size=8)  # TL102 hint unsafe
# becomes: DataLoader(data, batch_size=8, pin_memory=True)

# case: switched off
DataLoader(data, pin_memory=False)  # TL102 hint unsafe
# becomes: DataLoader(data, pin_memory=True)

# case: switched off by position
DataLoader(data, 8, True, None, None, 4, None, False)  # TL102 hint unsafe
# becomes: DataLoader(data, 8, True, None, None, 4, None, True)

# case: an import under another name
from torch.utils.data import DataLoader as Loader
Loader(data)  # TL102 hint

# case: switched on
DataLoader(data, pin_memory=True)

# case: switched on by position
DataLoader(data, 8, True, None, None, 4, None, True)

# case: an option decides
DataLoader(data, pin_memory=args.pin)

# case: a dict may bring it
DataLoader(data, **options)

# case: a list may bring it
DataLoader(*options)

# case: a loader of another library [bare]
import torch
from torch_geometric.loader import DataLoader
model.to(torch.device("cuda"))
loss.backward()
DataLoader(data)

# case: in evaluation
def evaluate(model):
    for images, labels in DataLoader(data):
        model(images)

# case: only counted
def main():
    loader = DataLoader(data)
    total = len(loader)

# case: a look at a few batches
for i, sample in enumerate(DataLoader(data)):
    plt.imshow(sample['image'].numpy())
    if i == 1:
        break

# case: a loader for an evaluation
loader = DataLoader(data)  # TL102 hint | says: overlap with the evaluation
for epoch in range(90):
    with torch.no_grad():
        for images in loader:
            model(images)

# case: a loader for the training
loader = DataLoader(data)  # TL102 hint | says: overlap with the training
for images in loader:
    train(images)

# case: Accelerate prepares the loaders
from accelerate import Accelerator
DataLoader(data)

# case: Lightning moves the batches
import pytorch_lightning as pl
DataLoader(data)

# case: a trainer of Transformers makes the batches
from transformers import Trainer
DataLoader(data)

# case: a test [path=tests/test_data.py]
DataLoader(data)

# head: a program that trains on the CPU
loss.backward()

# case: no accelerator
DataLoader(data)

# head: a program on a GPU that does not train
model.to(torch.device("cuda"))

# case: no training
DataLoader(data)
