# TL114: work that a dataset does anew for every sample, and that costs more than the sample.

# every program:
import copy
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import ffmpeg
import librosa
import numpy as np
import requests
import torch
import torchaudio
from torch.utils.data import DataLoader, Dataset
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
        return tokenizer(path)

        # case: a model of the hub
        return torch.hub.load("snakers4/silero-vad", "silero_vad")  # TL114

        # case: the network
        return requests.get(path).content  # TL114 hint | says: asks the network

        # case: a pool
        with ThreadPoolExecutor(4) as pool:  # TL114 hint | says: starts a pool
            return list(pool.map(len, path))

        # case: features of a sound
        wave, rate = torchaudio.load(path)
        return torchaudio.transforms.MelSpectrogram(rate)(wave)  # TL114 hint | says: for the batch on the GPU

        # case: another rate
        return librosa.resample(path, orig_sr=48000, target_sr=16000)  # TL114 hint

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

        # case: with probabilities
        return np.random.choice(self.length, 8, replace=False, p=self.weights)

        # case: under a condition
        if not os.path.exists(f"{path}.wav"):
            subprocess.run(["ffmpeg", "-i", path, f"{path}.wav"])
        return torchaudio.load(f"{path}.wav")

        # case: what is kept
        self.tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
        return self.tokenizer(path)

# head: none

# case: what the method calls
def decoded(path):
    return subprocess.check_output(["ffmpeg", "-i", path, "-"])  # TL114

class Sounds(Dataset):
    def __getitem__(self, index):
        return self.read(self.files[index])

    def read(self, path):
        return decoded(path), librosa.stft(path)  # TL114 hint

# case: what it calls now and then
class Sounds(Dataset):
    def __getitem__(self, index):
        if self.augment:
            return self.read(self.files[index])
        return self.files[index]

    def read(self, path):
        return subprocess.check_output(["ffmpeg", "-i", path, "-"])

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
        return spectrum(index)  # TL114 hint | says: `spectrum` computes features

# case: it does that now and then, keeps it, or costs little
class Sounds(Dataset):
    def __getitem__(self, index):
        return changed(index), kept(index), light(index)

# case: it is called now and then
class Sounds(Dataset):
    def __getitem__(self, index):
        return decoded(index) if self.raw else index

# case: it is called once
class Sounds(Dataset):
    def __init__(self, files):
        self.sounds = [decoded(each) for each in files]

    def __getitem__(self, index):
        return self.sounds[index]
