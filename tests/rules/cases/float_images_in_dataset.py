# TL117: bytes of images that become floats where samples are loaded.

# every program:
import numpy as np
import torch
import torchvision.transforms.v2 as T
from torch import nn
from torch.utils.data import DataLoader, Dataset


# head: a dataset
class Photos(Dataset):
    def __getitem__(self, index):
        image = self.images[index]

        # case: a division
        return torch.from_numpy(image) / 255.0  # TL117 hint | says: four times as much | marks: torch.from_numpy(image) / 255.0 | see

        # case: a number before it
        sigma = self.sigma / 255
        return image / 255 + sigma  # TL117 hint

        # case: by a method
        return torch.from_numpy(image).float().div(255)  # TL117 hint

        # case: to the range of -1 to 1, by NumPy
        image = (image / 127.5 - 1).astype(np.float32)  # TL117 hint

        # case: in place, and the same again
        image /= 255  # TL117 hint | see: mask.div_(255)
        mask = self.masks[index]
        return image, mask.div_(255)

        # case: a cast before it
        image = torch.from_numpy(image).to(torch.float32)  # TL117 hint | marks: torch.from_numpy(image).to(torch.float32) | see: image / 255
        return image / 255

        # case: other casts before it
        image = image.astype(np.int16)
        return image / 255  # TL117 hint | marks: image / 255

        # case: by a setting
        if self.scale:
            image = image / 255  # TL117 hint
        if self.dtype == "float32":
            image = image / 255

        # case: now and then
        if image.dtype == torch.uint8:
            image = image / 255
        try:
            return image
        except ValueError:
            return image / 255

        # case: numbers
        noise = np.random.normal(0, 25 / 255, image.shape) * (self.sigma / 255) / (len(image) / 255)
        return image / 256 + image // 255 + image.mul(255) + image.div(self.scale) + noise

        # case: what stays small, or was a float before
        return image / 255 > 0.5, (image / 255 * 16).astype(np.uint8), (image * 255).round() / 255


# head: none


# case: what a dataset calls
def scaled(image):
    return image / 255  # TL117 hint


class Photos(Dataset):
    def __getitem__(self, index):
        return scaled(self.images[index])


# case: a collate function
def collate(images):
    return torch.stack(images).float() / 255  # TL117 hint


# case: a transform, by its name
class ClipToTensor:
    def __call__(self, clip):
        return torch.from_numpy(clip) / 255  # TL117 hint


# case: a transform, by what it is
class Scale(T.Transform):
    def _transform(self, image, params):
        return image / 255  # TL117 hint


# case: what else a transform does
class ClipToTensor:
    def __init__(self, mean):
        self.mean = np.asarray(mean)[None] / 255

    def shown(self, clip):
        return clip / 255


# case: a module
class Normalize(nn.Module):
    def __call__(self, images):
        return images / 255


# case: other code
class Model(nn.Module):
    def forward(self, images):
        return self.net(images / 255)


class Player:
    def __call__(self, screen):
        return screen / 255


def train(loader):
    for images in loader:
        images = images.cuda().float() / 255


# case: once, in the constructor
class Photos(Dataset):
    def __init__(self, images):
        self.images = torch.from_numpy(images) / 255

    def __getitem__(self, index):
        return self.images[index]


# case: a test [path=tests/test_photos.py]
class Photos(Dataset):
    def __getitem__(self, index):
        return self.images[index] / 255
