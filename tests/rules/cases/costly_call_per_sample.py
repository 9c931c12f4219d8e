# TL114: work that a dataset does anew for every sample, and that costs more than the sample.

# every program:
import copy
import gc
import os
import pickle
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from multiprocessing import Manager

import cv2
import ffmpeg
import h5py
import librosa
import numpy as np
import requests
import scipy.ndimage
import torch
import torch.nn.functional as F
import torchaudio
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms
from transformers import AutoTokenizer

# head: a dataset
class Sounds(Dataset):
    def __init__(self, files):
        self.files = files

    def __getitem__(self, index):
        path = self.files[index]

        # case: a process
        subprocess.run(["ffmpeg", "-i", path, "out.wav"])  # TL114 | no fix | says: `subprocess.run` starts a process for every sample; call a library | marks: subprocess.run(["ffmpeg", "-i", path, "out.wav"])

        # case: a process in the shell
        os.system(f"ffmpeg -i {path} out.wav")  # TL114

        # case: a process of the package of ffmpeg
        out, _ = ffmpeg.input(path).output("-", format="f32le").run(capture_stdout=True)  # TL114

        # case: another `run`
        return self.pipeline.input(path).run()

        # case: a tokenizer
        tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")  # TL114 | says: loads a model
        return tokenizer(path)  # TL114 hint | says: tokenizes a text

        # case: a model of the hub
        return torch.hub.load("snakers4/silero-vad", "silero_vad")  # TL114

        # case: the network
        return requests.get(path).content  # TL114 | says: asks the network

        # case: a pool
        with ThreadPoolExecutor(4) as pool:  # TL114 | says: starts a pool
            return list(pool.map(len, path))

        # case: features of a sound
        wave, rate = torchaudio.load(path)
        return torchaudio.transforms.MelSpectrogram(rate)(wave)  # TL114 | says: for the batch on the GPU

        # case: another rate
        return librosa.resample(path, orig_sr=48000, target_sr=16000)  # TL114

        # case: a copy of all
        return copy.deepcopy(self.samples[index])  # TL114 hint | says: copy what changes

        # case: a choice without replacement
        return np.random.choice(self.length, 8, replace=False)  # TL114 hint | says: shuffles all of its population

        # case: one of many
        return np.random.choice(1_000_000, 8, replace=False)  # TL114

        # case: one of not so many
        return np.random.choice(99_999, 8, replace=False)  # TL114 hint

        # case: with replacement
        return np.random.choice(self.length, 8), np.random.choice(self.length, 8, True)

        # case: with probabilities that are kept
        few = np.random.choice(self.length, 8, replace=False, p=self.weights)  # TL114 hint | says: adds up
        return random.choices(self.files, weights=self.weights)  # TL114 hint

        # case: with a few probabilities
        return np.random.choice(2, 8, p=[0.2, 0.8]), random.choice(self.files), np.random.choice(3, p=path)

        # case: under a condition
        if not os.path.exists(f"{path}.wav"):
            subprocess.run(["ffmpeg", "-i", path, f"{path}.wav"])
        return torchaudio.load(f"{path}.wav")

        # case: what is kept
        self.tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
        return self.tokenizer(path)  # TL114 hint

        # case: what is kept in a cache
        spectrum_cache[path] = librosa.stft(path)
        return spectrum_cache[path]

        # case: a sample of several parts
        sample = {"path": path}
        sample["spectrum"] = librosa.stft(path)  # TL114
        return sample

        # case: a setting, and chance
        if self.augment and random.random() < self.p:
            return librosa.effects.pitch_shift(path, sr=16000, n_steps=2)  # TL114 hint

        # case: a process that a setting asks for
        if self.convert:
            subprocess.run(["ffmpeg", "-i", path])  # TL114 hint

        # case: what is done for a few
        if self.spectrum is None:
            return librosa.stft(path)
        if len(path) < self.shortest:
            return librosa.stft(path)
        try:
            return self.samples[index]
        except KeyError:
            return librosa.stft(path)

        # case: the same again
        return librosa.stft(path), librosa.stft(path[::-1])  # TL114 | marks: librosa.stft(path)

        # case: a spectrogram by a method of something else
        return self.processor.melspectrogram(path)  # TL114 | says: computes features

        # case: a method that is not known to compute
        return self.processor.load_mel(path), self.processor.melspectrogram()

        # case: a text file
        return np.loadtxt(path)  # TL114 | says: parses numbers from text

        # case: a text file that TL108 reports
        return np.loadtxt("labels.txt")[index], os.listdir(path)  # TL114 hint | marks: os.listdir(path)

        # case: another rate, while it is read
        return librosa.load(path)  # TL114 | says: resamples

        # case: the rate of the file
        return librosa.load(path, sr=None)

        # case: frames of a video
        return self.reader.get_batch(index), self.loader.get_batch(index)  # TL114 hint | says: decodes frames | marks: self.reader.get_batch(index)

        # case: frames one by one
        frames = [cv2.resize(each, (224, 224)) for each in path]  # TL114 hint | says: one by one
        frames = [each.resize((224, 224)) for each in path]  # TL114 hint
        frames = [transforms.ToTensor()(each) for each in path]  # TL114 hint | says: `transforms.ToTensor()` changes the frames

        # case: a few images, and something else for each frame
        images = [each.resize((224, 224)) for each in (path, index)]
        sizes = [cv2.resize(path, each) for each in self.sizes]
        return [self.resize(each) for each in path], [Scale()(each) for each in path]

        # case: floats are scaled
        return F.interpolate(path, size=224)  # TL114 hint | says: scales floats

        # case: a file of many arrays
        with h5py.File(path) as file:  # TL114 hint | says: opens a file of many arrays
            return file["image"][:]

        # case: a file of many arrays, which is kept
        self.file = h5py.File(path)
        return self.file["image"][index]

        # case: a file of objects
        return pickle.load(path), load_json(path)  # TL114 hint | marks: pickle.load(path)  # TL114 hint | marks: load_json(path)

        # case: lists of a table
        row = self.table[index]
        return torch.tensor(row["mel"]), row["text"]  # TL114 hint | says: number by number

        # case: other items of a table
        row, path = self.table[index], path["item"]
        other = self.table[index]
        return torch.tensor(row["label"]), torch.tensor(path["mel"]), torch.tensor(other[0]), torch.tensor(index)

        # case: a rate that is another one
        if path.rate != self.rate:
            return librosa.resample(path, orig_sr=path.rate, target_sr=self.rate)  # TL114 hint

        # case: a list of all keys
        return list(self.sounds.keys())[index], list(path.keys())  # TL114 hint | marks: list(self.sounds.keys())

        # case: objects are collected
        gc.collect()  # TL114 | says: goes over all objects

        # case: a model
        with torch.no_grad():
            return self.encoder(path), self.scale(path)  # TL114 hint | says: runs a model

        # case: a model by its method
        return self.clip.encode_text(path)  # TL114 hint

        # case: a model that learns
        return self.encoder(path)

        # case: a part of a sound
        wave, rate = torchaudio.load(path)  # TL114 | says: decodes a whole sound
        start = random.randint(0, len(wave) - self.length)
        return wave[:, start : start + self.length]

        # case: a part of a sound that a method loads
        wave = self.load_wav(path)  # TL114 | says: a part is used
        wave = wave[index : index + self.length]
        return wave

        # case: a part of an image, and of an array
        image = np.array(Image.open(path).convert("RGB"))  # TL114 hint | says: a whole image
        volume = torch.from_numpy(np.load(path))  # TL114 hint | says: mmap_mode
        return image[index : index + 64, :64], volume[index : index + 8]

        # case: columns, which lie apart in the file
        return np.load(path)[:, index : index + 8]
        volume = np.load(path)
        return volume[:, index : index + 8]

        # case: only the part is read
        wave, rate = torchaudio.load(path, frame_offset=index, num_frames=self.length)
        volume = np.load(path, mmap_mode="r")
        return wave[index : index + 1], volume[index : index + 8]

        # case: all of it is used, or its beginning
        wave, rate = torchaudio.load(path)
        spectrum = self.net(self.load_wav(path))
        return wave[:, : self.length], wave[:, 1:-1], spectrum[index : index + 8]

        # case: a Python function goes over an array
        mask = np.asarray(self.images[path]) > 0
        depth = torch.from_numpy(np.load(path))
        if sum(~mask) == 0:  # TL114 hint | says: element by element
            return set(depth)
        return max(depth), any(path == 1)  # TL114 hint | marks: max(depth)  # TL114 hint | marks: any(path == 1)

        # case: the same function of other values
        mask = np.asarray(self.images[path]) > 0
        return sum(self.lengths), max(0, index), any(each == 1 for each in path), sum(mask.shape)

        # case: rows, and elements, that are sorted
        corners = np.unique(path, axis=0)  # TL114 hint | says: sorts all rows
        return corners, torch.unique(path)  # TL114 hint | says: `torch.unique` sorts all elements

        # case: a part of what is sorted
        nearest = torch.argsort(path)[0]  # TL114 hint | says: argmin
        last = np.argsort(path)[-8:]  # TL114 hint | marks: np.argsort(path)
        return nearest, last, path.argsort()[::-1][:8]  # TL114 hint | marks: path.argsort()

        # case: a part of what is sorted, by its name
        order = np.argsort(path)  # TL114 hint
        return path[order[: self.count]]

        # case: all that is sorted, or all but a few
        order, others = np.argsort(path), np.argsort(path)[1:]
        ranks = np.argsort(path)
        return path[order], others, order[:8], np.argsort(path)[::-1], np.argsort(path)[:-1], ranks, ranks[:2]

        # case: an archive
        with np.load(path) as arrays:  # TL114 hint | says: opens an archive
            return arrays["image"]

        # case: an archive, by its name
        return np.load(f"{index}.npz")  # TL114 hint

        # case: an array of an archive
        return np.load(path)["x"]  # TL114 hint

        # case: an array of an archive, which has a name
        tokens = np.load(path)  # TL114 hint
        return tokens["ids"]

        # case: an array
        tokens = np.load(path)
        return tokens[index], np.load(path), np.load(path)[index]

        # case: an object in a file
        return np.load(path, allow_pickle=True).item()  # TL114 hint | says: makes Python objects

        # case: a check of all elements
        assert np.max(path) <= 1 and np.min(path) >= 0, "range"  # TL114 hint | marks: np.max(path)
        if torch.isnan(path).any():  # TL114 hint | says: for a check
            raise ValueError(path)
        if path.min() < -1:  # TL114 hint
            print("min value is ", path.min())

        # case: what is no check, or is one of sizes
        assert max(path.shape) <= 1 and len(path) > 0 and index >= 0
        if path.max() > 1:
            path = path / 255
        if np.isnan(path).any():
            raise ValueError(path)
        else:
            path = path / 2
        return path.min()

        # case: places for their extremes
        ys, xs = np.where(path > 0)  # TL114 hint | says: lists the places
        places = np.nonzero(path)  # TL114 hint
        box = np.min(xs), np.max(xs), ys.min(), ys.max(), len(ys), xs.size
        return box, np.min(places[0]), np.max(places[1])

        # case: places for more than that
        ys, xs = np.where(path > 0)
        places, other = np.argwhere(path), np.where(path, 0, 1)
        return np.min(xs), np.max(xs), path[ys], places.mean(), other.max()

        # case: a list to which the method appends
        if index not in self.seen[path]:  # TL114 hint | says: keep a set
            self.seen[path].append(index)

        # case: single elements
        image = np.asarray(self.images[path])
        for i in range(self.count):  # TL114 hint | says: one by one | marks: range(self.count)
            for j in range(8):
                image[random.randint(0, 8), j] = 0
                image[self.rows[i], self.columns[i]] = 0  # more than one
        for i in range(self.count):
            image[i] = 0
            image[i, :] = image[0, i]
        for each in path:
            image[each, 0] = 0

        # case: an image that is scaled
        image = cv2.resize(cv2.imread(path), (256, 256))  # TL114 hint | says: decodes a whole image
        return image

        # case: an image that is not known to be scaled
        return cv2.imread(path)  # TL114 hint | says: if they fit

        # case: an empty cloud of points
        import open3d as o3d
        return o3d.geometry.PointCloud(), o3d.io.read_point_cloud(path)  # TL114 hint | marks: o3d.io.read_point_cloud(path)

        # case: a member of an enum decides
        if self.kind != Kind.NONE:
            return np.unique(path)  # TL114 hint

        # case: the size of an image
        return Image.open(path).size, path.resize(8)

        # case: in a sample that has it, and in a kind of file
        if "mask" in path:
            return np.unique(path["mask"])  # TL114 hint
        if path.suffix == ".csv":
            return np.loadtxt(path)  # TL114 hint

        # case: in a cache that has it
        if "mask" not in self.cache:
            return np.unique(path["mask"])

# head: none

# case: lists of a dataset
class Photos(Dataset):
    def __init__(self, root, names):
        self.names, self.kinds, self.given = [each for each in names], ["a", "b"], names
        self.files = sorted(os.listdir(root))
        self.broken = []

    def __getitem__(self, index):
        if self.files[index] in self.broken or index in self.given or index in self.kinds:  # TL114 hint | marks: self.files[index] in self.broken
            return self.names.index(index), self.kinds.index("a"), self.given.index(index)
        return self.files.index(index)  # TL114 hint | says: searches a list

# case: transforms of the file scale
class Photos(Dataset):
    transform = transforms.Compose([transforms.RandomResizedCrop(224)])

    def __getitem__(self, index):
        return self.transform(Image.open(self.files[index]).convert("RGB"))  # TL114 hint

# case: another method scales
class Photos(Dataset):
    def __getitem__(self, index):
        return self.prepare(Image.open(self.files[index]))  # TL114 hint

    def prepare(self, image):
        return image.resize((256, 256))

# case: a loader of files
def read(path):
    with open(path, "rb") as file:
        return Image.open(file).convert("RGB")  # TL114 hint

def shown(path):
    return Image.open(path)

scaled = transforms.Resize(256)
photos = DatasetFolder("photos", loader=read, transform=scaled)

# case: a function for the rows of a dataset
def prepare(rows):
    return {"ids": np.unique(rows["ids"])}  # TL114 hint

def other(rows):
    return {"ids": np.unique(rows["ids"])}

texts = load_dataset("texts").with_transform(prepare)
texts.push(other)

# case: a registered transform [path=steps.py]
@PIPELINES.register_module()
class Cut:
    def __call__(self, results):
        return np.unique(results["mask"])  # TL114 hint

# case: objects that are called with an image, among transforms [path=data/transforms.py]
class Cut:
    def __call__(self, img):
        return np.unique(img)  # TL114 hint

class Net(torch.nn.Module):
    def __call__(self, img):
        return np.unique(img)

class Count:
    def __call__(self, scores):
        return np.unique(scores)

# case: objects that are called with an image, elsewhere [path=predict.py]
class Cut:
    def __call__(self, img):
        return np.unique(img)

# case: a dataset of graphs
import torch_geometric

class Molecules(torch_geometric.data.Dataset):
    def len(self):
        return 8

    def get(self, idx):
        return copy.deepcopy(self.graphs[idx])  # TL114 hint

# case: a `get` of something else
class MoleculeDataset(dict):
    def get(self, key):
        return copy.deepcopy(self.graphs[key])

# case: a dataset whose base is in another file
from templates import DatasetTemplate

class KittiDataset(DatasetTemplate):
    def get_image(self, idx):
        return copy.deepcopy(self.images[idx])  # TL114 hint

    def get_all(self, names):
        return copy.deepcopy(names)

    def set_item(self, index):
        self.item = copy.deepcopy(index)

# case: one that asks for all of them first
from templates import DatasetTemplate

class KittiDataset(DatasetTemplate):
    def __init__(self):
        self.images = [self.get_image(index) for index in range(100)]

    def get_image(self, idx):
        return np.unique(idx)

# case: a dataset that has no base
class KittiDataset:
    def get_image(self, idx):
        return copy.deepcopy(self.images[idx])

# case: what the method calls
def decoded(path):
    return subprocess.check_output(["ffmpeg", "-i", path, "-"])  # TL114

class Sounds(Dataset):
    def __getitem__(self, index):
        return self.read(self.files[index])

    def read(self, path):
        return decoded(path), librosa.stft(path)  # TL114

# case: what it calls now and then
class Sounds(Dataset):
    def __getitem__(self, index):
        if self.augment:
            return self.read(self.files[index])
        return self.files[index]

    def read(self, path):
        return subprocess.check_output(["ffmpeg", "-i", path, "-"])  # TL114 hint

# case: it asks itself for another one now and then
class Sounds(Dataset):
    def __getitem__(self, index):
        if index in self.broken:
            return self.__getitem__(index + 1)
        return subprocess.check_output(["ffmpeg", "-i", self.files[index], "-"])  # TL114

# case: a kept transform
class Sounds(Dataset):
    def __init__(self):
        self.mel = torchaudio.transforms.MelSpectrogram()
        self.other = Other()

    def __getitem__(self, index):
        return self.mel(index), self.other(index)  # TL114

# case: kept transforms of each rate
class Sounds(Dataset):
    def __init__(self):
        self.resamplers, self.scales = {}, {}

    def __getitem__(self, index):
        if index not in self.resamplers:
            self.resamplers[index] = torchaudio.transforms.Resample(index)
            self.scales[index] = 1
        return self.resamplers[index](index), self.scales[index](index)  # TL114 | marks: self.resamplers[index](index)

# case: a transform of all frames
class GroupScale:
    def __init__(self, size):
        self.worker = transforms.Resize(size)
        self.other = Other(size)

    def __call__(self, frames):
        other = [self.other(each) for each in frames]
        return [self.worker(each) for each in frames]  # TL114 hint | says: `self.worker` changes the frames

# case: what a transform calls
class ElasticTransform:
    def __call__(self, image):
        return self.bend(image)

    def bend(self, image):
        return scipy.ndimage.map_coordinates(image, self.field)  # TL114 hint

    def shown(self, image):
        return scipy.ndimage.zoom(image, 2)

# case: what a base calls
class PhotoDataset:
    def __getitem__(self, index):
        return self.load(index)

class PickledPhotos(PhotoDataset):
    def load(self, index):
        return pickle.load(self.files[index])  # TL114 hint

# case: a stream
class Sounds(Dataset):
    def __iter__(self):
        names = librosa.stft(self.files)
        for path in self.files:
            yield librosa.stft(path)  # TL114 hint

# case: a method that gives samples
class Reader:
    def get_item(self, index):
        return librosa.stft(self.files[index])  # TL114 hint

# case: one that is asked for all of them first
class Reader:
    def __init__(self):
        self.items = [self.get_item(index) for index in range(100)]

    def get_item(self, index):
        return librosa.stft(self.files[index])

# case: one of something else
class Parser:
    def get_item(self, index):
        return librosa.stft(self.files[index])

# case: what a collate function calls
class Collator:
    def __call__(self, batch):
        return [self.crop(each) for each in batch]

    def crop(self, path):
        return librosa.stft(path)  # TL114 hint

# case: a part that a collate function takes
class Sounds(Dataset):
    def __getitem__(self, index):
        wave, rate = torchaudio.load(self.files[index])  # TL114 | says: decodes a whole sound
        return {"audio": wave}

class Collator:
    def collate(self, samples):
        return [each["audio"][self.start : self.end] for each in samples]

# case: a text beside an image
class Captions(Dataset):
    def __getitem__(self, index):
        return Image.open(self.files[index]), self.tokenizer(self.texts[index])  # TL114 hint | marks: Image.open(self.files[index])

# case: a batch of texts
def collate(texts, tokenizer):
    return tokenizer(texts)

# case: a cache that nothing fills
class Sounds(Dataset):
    def __init__(self, files):
        self.files, self.cache = files, [None] * len(files)

    def __getitem__(self, index):
        if self.use_cache and self.cache[index] is not None:  # TL114 | says: never filled
            return self.cache[index]
        else:
            return librosa.stft(self.files[index])  # TL114 hint

# case: caches that something may fill
class Sounds(Dataset):
    def __init__(self, files):
        self.cache, self.memo, self.data_cache = {}, {}, {}
        self.file_cache = fill(files)
        share(self.data_cache)

    def __getitem__(self, index):
        if index not in self.cache:
            self.cache[index] = librosa.stft(self.files[index])
        self.memo.update({index: 1})
        return self.cache[index], self.memo[index], self.data_cache[index], self.file_cache[index]

# case: a cache in another process
class Sounds(Dataset):
    def __init__(self, files):
        self.manager = Manager()
        self.cache = self.manager.dict()  # TL114 | says: asks the process
        self.counts = self.manager.list()

    def __getitem__(self, index):
        if index not in self.cache:
            self.cache[index] = librosa.stft(self.files[index])
        return self.cache[index]

# case: a cache
class Sounds(Dataset):
    def __getitem__(self, index):
        return self.read(self.files[index])

    @lru_cache
    def read(self, path):
        return subprocess.check_output(["ffmpeg", "-i", path, "-"])

# case: a test [path=tests/test_sounds.py]
class Sounds(Dataset):
    def __getitem__(self, index):
        return subprocess.check_output(["ffmpeg", "-i", self.files[index], "-"])

# case: once, in the constructor
class Sounds(Dataset):
    def __init__(self, files):
        self.sounds = [librosa.stft(each) for each in files]

    def __getitem__(self, index):
        return self.sounds[index]

# case: a collate function
def collate(samples):
    return AutoTokenizer.from_pretrained("bert-base-uncased")(samples)  # TL114

# case: what makes a collate function
def build_model_for_collator():
    return AutoTokenizer.from_pretrained("bert-base-uncased")

# case: no dataset
class Sounds:
    def __getitem__(self, index):
        return subprocess.check_output(["ffmpeg", "-i", self.files[index], "-"])

# head: a function of another file
from sounds import changed, decoded, kept, light, spectrum

# file: sounds.py
import subprocess
from functools import cache

import ffmpeg
import torch

def decoded(path):
    try:
        return ffmpeg.input(path).output("-").run()
    except RuntimeError:
        return None

def spectrum(wave):
    return torch.stft(wave, 1024)

def changed(path):
    if path.endswith(".mp3"):
        subprocess.run(["ffmpeg", "-i", path])
    return path

@cache
def kept(path):
    return subprocess.run(["ffmpeg", "-i", path])

def light(path):
    return open(path)

# case: it starts a process
class Sounds(Dataset):
    def __getitem__(self, index):
        return decoded(index)  # TL114 | says: `decoded` starts a process for every sample; call a library

# case: it computes
class Sounds(Dataset):
    def __getitem__(self, index):
        return spectrum(index)  # TL114 | says: `spectrum` computes features

# case: it does that now and then, keeps it, or costs little
class Sounds(Dataset):
    def __getitem__(self, index):
        return changed(index), kept(index), light(index)

# case: it is called by a setting
class Sounds(Dataset):
    def __getitem__(self, index):
        return decoded(index) if self.raw else index  # TL114 hint

# case: it is called now and then
class Sounds(Dataset):
    def __getitem__(self, index):
        return decoded(index) if index in self.broken else index

# case: it is called once
class Sounds(Dataset):
    def __init__(self, files):
        self.sounds = [decoded(each) for each in files]

    def __getitem__(self, index):
        return self.sounds[index]
