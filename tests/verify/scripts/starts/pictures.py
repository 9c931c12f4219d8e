"""The dataset is in a module of its own, and here is one of two things to fix."""

import numpy as np
import torch
from torch.utils.data import Dataset


class Pictures(Dataset):
    """Random pictures; `witness` is what the training process says that its code looks like.

    A worker whose code looks different was not served the same sources.
    """

    def __init__(self, count, witness):
        self.pictures = np.stack(
            [np.full((3, 16, 16), i / count, np.float32) for i in range(count)]
        )
        self.witness = witness

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        self.witness.check()
        return torch.tensor(self.pictures[index, :])
