# TL109: workers over samples that are in memory.

# every program:
import os
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

# head: a program that trains
loss.backward()

# case: tensors
loader = DataLoader(TensorDataset(images, labels), batch_size=8, num_workers=4)  # TL109 hint | no fix | says: rows of tensors … take whole batches

# case: tensors with a name, and workers with one
WORKERS = 2
dataset = TensorDataset(images, labels)
loader = DataLoader(dataset, 8, True, None, None, WORKERS)  # TL109 hint

# case: a part of the tensors
train_set, val_set = random_split(TensorDataset(images, labels), [0.9, 0.1])
loader = DataLoader(train_set, num_workers=os.cpu_count())  # TL109 hint
other = DataLoader(Subset(TensorDataset(images), indices), num_workers=4)  # TL109 hint

# case: a tensor
loader = DataLoader(torch.randn(1000, 32), num_workers=4)  # TL109 hint | says: rows of tensors

# case: a list
loader = DataLoader([(image, label) for image, label in pairs], num_workers=4)  # TL109 hint | says: items of a list

# case: pairs
loader = DataLoader(list(zip(images, labels)), num_workers=4)  # TL109 hint | says: items of a list

# case: no workers
loader = DataLoader(TensorDataset(images, labels), num_workers=0)

# case: an option decides
loader = DataLoader(TensorDataset(images, labels), num_workers=args.workers)

# case: a collate function, which may take time
loader = DataLoader(TensorDataset(images, labels), num_workers=4, collate_fn=augment)

# case: a collate function by position
loader = DataLoader(TensorDataset(images), 8, True, None, None, 4, augment)

# case: a dict may bring a collate function
loader = DataLoader(TensorDataset(images, labels), num_workers=4, **options)

# case: an unknown dataset
loader = DataLoader(dataset, num_workers=4)

# case: a dataset of another file
from data import Images
loader = DataLoader(Images(TensorDataset(images)), num_workers=4)

# case: a dataset that reads files
class Images(Dataset):
    def __getitem__(self, index):
        return np.load(self.files[index])

loader = DataLoader(Images(), num_workers=4)

# case: a dataset of the project that looks as if it only indexed
class Rows(Dataset):
    def __getitem__(self, index):
        return torch.stft(self.rows[index], 512)

loader = DataLoader(Rows(), num_workers=4)

# case: a wrapper that transforms
class Augmented(Dataset):
    def __init__(self, rows, transform):
        self.rows, self.transform = rows, transform

    def __getitem__(self, index):
        return self.transform(self.rows[index])

loader = DataLoader(Augmented(TensorDataset(images), flip), num_workers=4)

# case: a test [path=tests/test_data.py]
loader = DataLoader(TensorDataset(images, labels), num_workers=4)

# head: a program that does not train
import torch

# case: it reads once
loader = DataLoader(TensorDataset(images, labels), num_workers=4)
