"""A dataset of noisy curves, whose samples are copied once too often."""

import numpy as np
import torch
from torch.utils.data import Dataset


class Curves(Dataset):
    """Each sample is a curve of `length` points and its slope."""

    def __init__(self, count, length=4096):
        rng = np.random.default_rng(0)
        steps = rng.standard_normal((count, length), dtype=np.float32)
        self.curves = np.cumsum(steps, axis=1) / length
        self.slopes = self.curves[:, -1] - self.curves[:, 0]

    def __len__(self):
        return len(self.curves)

    def __getitem__(self, index):
        points = torch.tensor(self.curves[index, :])
        return {"points": points, "labels": self.slopes[index]}
