# TL116: workers of a loader that each run OpenCV on all processors.

# every program:
import cv2
import torch
from torch.utils.data import DataLoader, Dataset

# head: a dataset that scales images
class Photos(Dataset):
    def __getitem__(self, index):
        return cv2.resize(cv2.imread(self.files[index]), (224, 224))

# case: workers
loader = DataLoader(Photos(), batch_size=8, num_workers=4)  # TL116 hint | says: cv2.setNumThreads(0)

# case: one thread
cv2.setNumThreads(0)
loader = DataLoader(Photos(), batch_size=8, num_workers=4)

# case: Albumentations
import albumentations
loader = DataLoader(Photos(), batch_size=8, num_workers=4)

# case: no workers
loader = DataLoader(Photos(), batch_size=8, num_workers=0)
other = DataLoader(Photos(), batch_size=8)

# head: none

# case: images that are only read
class Photos(Dataset):
    def __getitem__(self, index):
        return cv2.cvtColor(cv2.imread(self.files[index]), cv2.COLOR_BGR2RGB)

loader = DataLoader(Photos(), batch_size=8, num_workers=4)

# case: images that are scaled before
class Photos(Dataset):
    def __init__(self, files):
        self.images = [cv2.resize(cv2.imread(each), (224, 224)) for each in files]

    def __getitem__(self, index):
        return self.images[index]

loader = DataLoader(Photos(), batch_size=8, num_workers=4)

# head: a loader of another file
from loading import build

class Photos(Dataset):
    def __getitem__(self, index):
        image = cv2.imread(self.files[index])
        image = cv2.resize(image, (224, 224))  # TL116 hint | marks: cv2.resize(image, (224, 224))
        return cv2.GaussianBlur(image, (3, 3), 0)

# file: loading.py
from torch.utils.data import DataLoader

def build(dataset):
    return DataLoader(dataset, num_workers=4)

# case: workers of another file
loader = build(Photos())
