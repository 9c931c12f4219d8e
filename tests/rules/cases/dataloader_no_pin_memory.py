# TL102: which loaders should pin their batches.

# every program:
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

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

# case: the loader of MONAI, which is one of torch
from monai.data import DataLoader
DataLoader(data, batch_size=8, num_workers=4)  # TL102 hint

# case: the loader of PyTorch Geometric, which is one of torch [bare]
import torch
from torch_geometric.loader import DataLoader
model.to(torch.device("cuda"))
loss.backward()
DataLoader(data)  # TL102 hint unsafe
# becomes: DataLoader(data, pin_memory=True)

# case: a loader of another library [bare]
import torch
from other.loader import DataLoader
model.to(torch.device("cuda"))
loss.backward()
DataLoader(data)

# case: several loaders of a file, which are one finding
train = DataLoader(data, batch_size=8)  # TL102 hint | see: DataLoader(data, batch_size=9)
# becomes: train = DataLoader(data, batch_size=8, pin_memory=True)
more = DataLoader(data, batch_size=9)
# becomes: more = DataLoader(data, batch_size=9, pin_memory=True)

# case: the copies of its batches
loader = DataLoader(data)  # TL102 hint | see: images.to(device)
for images, labels in loader:
    images = images.to(device)

# case: an evaluation that copies batches
loader = DataLoader(data)  # TL102 hint | see
train(loader)
with torch.no_grad():
    for images, labels in loader:
        images = images.to(device)

# case: Accelerate copies the batches where the loop draws them
from accelerate import Accelerator
loader = Accelerator().prepare(DataLoader(data))  # TL102 hint | see: for images, labels in loader
for images, labels in loader:
    loss = model(images)

# case: in a function that evaluates, and builds its loader itself
def evaluate(model):
    for images, labels in DataLoader(data):  # TL102 hint | says: overlap with the evaluation
        model(images)

# case: a function that builds the loader of an evaluation
def val_dataloader():
    return DataLoader(data)  # TL102 hint

# case: one evaluation reads the data once
def main():
    loader = DataLoader(data)
    evaluate(model, loader)
main()

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

# case: Accelerate moves the batches, but does not pin them
from accelerate import Accelerator
loader = accelerator.prepare(DataLoader(data))  # TL102 hint unsafe

# case: Lightning moves the batches, but does not pin them
import pytorch_lightning as pl
class Images(pl.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(self.data)  # TL102 hint unsafe

# case: a trainer of Transformers pins its own loaders, not those that it is given
from transformers import Trainer
class Ours(Trainer):
    def get_train_dataloader(self):
        return DataLoader(self.train_dataset)  # TL102 hint unsafe

# case: a loader over indices
DataLoader(range(len(data)), batch_size=8)

# case: a loader over indices that are counted before
rows = torch.arange(len(data))
DataLoader(rows, batch_size=8)

# case: a loader over some of the indices
DataLoader(split_idx["train"], batch_size=8)

# case: tensors on the GPU
DataLoader(TensorDataset(images.cuda(), labels.cuda()), batch_size=8)

# case: a dataset of tensors on the GPU, by name
samples = TensorDataset(images.to("cuda"), labels)
DataLoader(samples, batch_size=8)

# case: a dataset that puts its samples on the GPU
class Rows(Dataset):
    def __getitem__(self, index):
        return self.rows[index].cuda()
DataLoader(Rows(), batch_size=8)

# case: tensors in memory
DataLoader(TensorDataset(images, labels), batch_size=8)  # TL102 hint

# case: switched off, and a comment says why
DataLoader(
    data,
    pin_memory=False,  # the machine has little memory
)

# case: switched off, and a comment says something about another argument
DataLoader(  # TL102 hint
    data,
    batch_size=8,  # fits into memory
    pin_memory=False,
    # becomes: pin_memory=True,
)

# case: missing, and a comment says something about the loader
DataLoader(data, batch_size=8)  # shuffled elsewhere  # TL102 hint

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
