"""Data sets of images, sound and graphs, made up by the shape that the real ones have."""

from __future__ import annotations

import os

PER_SET = int(os.environ.get("STAND_INS_SET", "2000"))  # samples in each data set
IMAGES = {  # name: (height, width), mode, classes
    **dict.fromkeys(("MNIST", "FashionMNIST", "KMNIST", "QMNIST"), ((28, 28), "L", 10)),
    **dict.fromkeys(("EMNIST", "Omniglot", "USPS"), ((28, 28), "L", 26)),
    **dict.fromkeys(("CIFAR10", "SVHN"), ((32, 32), "RGB", 10)),
    "CIFAR100": ((32, 32), "RGB", 100),
    "STL10": ((96, 96), "RGB", 10),
    "CelebA": ((218, 178), "RGB", 40),
    "LSUN": ((64, 64), "RGB", 10),
    **dict.fromkeys(("ImageNet", "Imagenette", "Food101", "Flowers102"), ((256, 256), "RGB", 100)),
}
SEGMENTED = ("VOCSegmentation", "OxfordIIITPet", "SBDataset")


def an_image(number, size, mode="RGB", classes=256):
    """An image of noise, the same one for the same number."""
    import numpy as np
    from PIL import Image

    shape = size if mode == "L" else (*size, 3)
    noise = np.random.RandomState(number).randint(0, classes, shape, dtype=np.uint8)
    return Image.fromarray(noise)


def images(module):
    """Data sets of torchvision that are downloaded; what reads a folder stays as it is."""
    import numpy as np
    import torch

    class Made(module.VisionDataset):
        size, mode, count = (128, 128), "RGB", 2

        def __init__(self, root=".", *args, transform=None, target_transform=None, **kwargs):
            given = [each for each in args if callable(each)]
            super().__init__(
                root,
                transform=transform or next(iter(given), None),
                target_transform=target_transform or next(iter(given[1:]), None),
            )
            flags = [each for each in args if isinstance(each, bool)]
            self.train = kwargs.get("train", next(iter(flags), True))
            self.classes = [str(each) for each in range(self.count)]
            self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
            self.labels = np.arange(PER_SET) % self.count
            self.imgs = self.samples = [(str(i), int(t)) for i, t in enumerate(self.labels)]
            if self.mode == "L":
                self.data = torch.randint(0, 256, (PER_SET, *self.size), dtype=torch.uint8)
                self.targets = torch.from_numpy(self.labels)
            elif self.size[0] <= 32:
                shape = PER_SET, *self.size, 3
                self.data = np.random.RandomState(0).randint(0, 256, shape, dtype=np.uint8)
                self.targets = self.labels.tolist()

        def __len__(self):
            return PER_SET

        def __getitem__(self, number):
            from PIL import Image

            if hasattr(self, "data"):
                image = Image.fromarray(np.asarray(self.data[number]))
            else:
                image = an_image(number, self.size)
            target = self.target(number)
            image = self.transform(image) if self.transform else image
            return image, self.target_transform(target) if self.target_transform else target

        def target(self, number):
            return int(self.labels[number])

    class Mask(Made):
        def target(self, number):
            return an_image(number, self.size, "L", classes=2)

    for name, (size, mode, count) in IMAGES.items():
        shape = {"size": size, "mode": mode, "count": count, "__module__": __name__}
        globals()[name] = type(name, (Made,), shape)  # found here by pickle
        setattr(module, name, globals()[name])
    for name in SEGMENTED:
        globals()[name] = type(name, (Mask,), {"__module__": __name__})
        setattr(module, name, globals()[name])


def sounds(module):
    """Sound of one second, with a word or a sentence."""
    import torch
    from stand_in_texts import WORDS, a_text

    class Made(torch.utils.data.Dataset):
        def __init__(self, *args, **kwargs):
            pass

        def __len__(self):
            return PER_SET

        def __getitem__(self, number):
            if number >= PER_SET:
                raise IndexError(number)
            wave = torch.randn(1, 16000, generator=torch.Generator().manual_seed(number))
            return wave, 16000, self.label(number), number % 30, number

    def word(self, number):
        return WORDS[number % len(WORDS)]

    def sentence(self, number):
        return a_text(number, 6).upper()

    of_words, of_sentences = ("SPEECHCOMMANDS", "YESNO"), ("LIBRISPEECH", "LJSPEECH", "VCTK_092")
    for names, label in ((of_words, word), (of_sentences, sentence)):
        for name in names:
            globals()[name] = type(name, (Made,), {"label": label, "__module__": __name__})
            setattr(module, name, globals()[name])


def sound_files(module):
    """`torchaudio.load` without a decoder from elsewhere: 16 bits, in a WAV file."""
    import wave

    import numpy as np
    import torch

    def load(path, *args, **kwargs):
        with wave.open(os.fspath(path)) as file:
            raw = np.frombuffer(file.readframes(file.getnframes()), np.int16)
            channels, rate = file.getnchannels(), file.getframerate()
        return torch.from_numpy(raw.astype(np.float32) / 32768).view(-1, channels).T, rate

    module.load = load


def graphs(module):
    """One random graph with parts to train on, or many small ones."""
    import torch

    def one(root=None, name=None, *args, transform=None, **kwargs):
        made = module.FakeDataset(1, 300, num_channels=32, num_classes=7)
        part = torch.arange(made._data.num_nodes) % 3
        for number, mask in enumerate(("train_mask", "val_mask", "test_mask")):
            made._data[mask] = part == number
        made._data_list = None
        made.transform = transform or next((each for each in args if callable(each)), None)
        return made

    def many(root=None, name=None, *args, transform=None, **kwargs):
        made = module.FakeDataset(200, 20, num_channels=16, num_classes=4, task="graph")
        made.transform = transform
        return made

    for name in ("Planetoid", "Amazon", "Coauthor", "CitationFull", "WikipediaNetwork"):
        setattr(module, name, one)
    for name in ("TUDataset", "GNNBenchmarkDataset", "ZINC", "MoleculeNet"):
        setattr(module, name, many)
