# TL108: datasets that read the same file, or search a table, for every sample.

# every program:
import json
import os
import pickle
import random
import sqlite3
from functools import lru_cache
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import torch
from torch.utils.data import Dataset

from settings import ROOT

# case: an array of all samples
class Spectra(Dataset):
    def __init__(self, path):
        self.path = path

    def __getitem__(self, index):
        return np.load(self.path)[index]  # TL108 | no fix | says: `np.load` reads the same file … once in each worker | marks: np.load(self.path)

# case: a table, by its name in the code
class Spectra(Dataset):
    def __getitem__(self, index):
        return pd.read_csv("labels.csv").label[index]  # TL108

# case: a file that is opened
class Spectra(Dataset):
    def __init__(self, path):
        self.path = path

    def __getitem__(self, index):
        with h5py.File(self.path, "r") as file:  # TL108
            return file["spectra"][index]

# case: what is read from an open file
class Spectra(Dataset):
    def __init__(self, path):
        self.path = path

    def __getitem__(self, index):
        with open(self.path) as file:
            spectra = json.load(file)  # TL108
        return spectra[index] + pickle.load(Path(self.path).open())  # TL108

# case: joined paths
class Spectra(Dataset):
    def __init__(self, root):
        self.root = root

    def __getitem__(self, index):
        path = os.path.join(self.root, "spectra.npy")
        first = np.load(path)  # TL108
        second = np.load(f"{self.root}/spectra.npy")  # TL108
        third = torch.load(self.root + "/labels.pt")  # TL108
        fourth = torch.load(ROOT / "labels.pt")  # TL108
        fifth = torch.load(self.root.joinpath("labels.pt"))  # TL108
        sixth = torch.load("{}/labels.pt".format(self.root))  # TL108
        return first, second, third, fourth, fifth, sixth

# case: a setting of the dataset, and one of the module
options = parse()

class Spectra(Dataset):
    def __init__(self, options):
        self.options = options

    def __getitem__(self, index):
        return np.load(self.options.path)[index], np.load(options.path)[index]  # TL108  # TL108

# case: a method that reads
class Spectra(Dataset):
    def __init__(self, path):
        self.path = path

    def load(self):
        return np.load(self.path)  # TL108

    def __getitem__(self, index):
        return self.load()[index]

# case: a file that is mapped into memory
class Spectra(Dataset):
    def __init__(self, path):
        self.path = path

    def __getitem__(self, index):
        return np.load(self.path, mmap_mode="r")[index]  # TL108 hint

# case: a file for each sample
class Spectra(Dataset):
    def __init__(self, files, root):
        self.files, self.root = files, root

    def __getitem__(self, index):
        name = self.files[index]
        np.load(self.files[index])
        np.load(name)
        np.load(f"{self.root}/{index}.npy")
        np.load(os.path.join(self.root, name))
        np.load("%05d.npy" % index)
        np.load(choose(self.root))
        np.load(random.choice(("a.npy", "b.npy")))
        for part in self.files:
            np.load(part)
        first, second = self.files
        np.load(first)
        self.current = name
        return np.load(self.current)

# case: a file that a parameter names
class Spectra(Dataset):
    def load(self, path):
        return np.load(path)

    def __getitem__(self, index):
        return self.load(self.files[index])

# case: files that nobody knows of
class Spectra(Dataset):
    def __getitem__(self, index):
        return np.load(self.path), np.load(unknown), np.load()

# case: a file that a dict of paths names
class Spectra(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __getitem__(self, index):
        return np.load(self.paths.get(index)), np.load(self.paths[index % 2])

# case: very long names
class Spectra(Dataset):
    def __getitem__(self, index):
        return np.load("a" + ("b" + ("c" + ("d" + ("e" + ("f" + ("g" + "h")))))))

# case: opened once
class Spectra(Dataset):
    def __init__(self, path):
        self.path, self.file = path, None

    def __getitem__(self, index):
        if self.file is None:
            self.file = h5py.File(self.path)
        return self.file["spectra"][index]

# case: only where a condition says so
class Spectra(Dataset):
    def __init__(self, path):
        self.path = path

    def __getitem__(self, index):
        spectra = shared.get("spectra")
        if spectra is None:
            spectra = np.load(self.path)
        return spectra[index]

# case: kept in any case
class Spectra(Dataset):
    def __init__(self, path):
        self.path = path

    def open(self):
        self.file = h5py.File(self.path)

    def __getitem__(self, index):
        self.open()
        return self.file["spectra"][index]

# case: a method that is called once
class Spectra(Dataset):
    def __init__(self, path):
        self.path, self.spectra = path, None

    def load(self):
        spectra = np.load(self.path)
        self.spectra = spectra / spectra.max()

    def __getitem__(self, index):
        if self.spectra is None:
            self.load()
        return self.spectra[index]

# case: a cache
class Spectra(Dataset):
    def __init__(self, path):
        self.path = path

    @lru_cache
    def load(self):
        return np.load(self.path)

    @lru_cache(maxsize=1)
    def labels(self):
        return np.load(self.path)

    def __getitem__(self, index):
        return self.load()[index], self.labels()[index]

# case: the constructor reads
class Spectra(Dataset):
    def __init__(self, path):
        self.spectra = np.load(path)
        self.labels = pd.read_csv("labels.csv")

    def __getitem__(self, index):
        return self.spectra[index]

# case: another class with items
class Table:
    def __init__(self, path):
        self.path = path

    def __getitem__(self, index):
        return np.load(self.path)[index]

# case: other functions of the file
def load():
    return np.load("spectra.npy")

class Spectra(Dataset):
    def __getitem__(self, index):
        return self.compute("spectra.npy")

# case: a decorated method
class Spectra(Dataset):
    @timed
    def __getitem__(self, index):
        return np.load("spectra.npy")[index]  # TL108

# case: a search in a table
class Pairs(Dataset):
    def __init__(self, path):
        self.table = pd.read_csv(path).dropna()

    def __getitem__(self, index):
        one = self.table[self.table["id"] == index]  # TL108 hint | says: searches the whole table
        two = self.table.loc[(self.table.id == index) & (self.table.kind > 3)]  # TL108 hint
        return one, two

# case: a search in a table of the module
table = pd.DataFrame(rows)

class Pairs(Dataset):
    def __getitem__(self, index):
        return table[table.id == index]  # TL108 hint

# case: a search in an array
class Pairs(Dataset):
    def __init__(self, path):
        self.labels = np.load(path)

    def __getitem__(self, index):
        return self.labels[self.labels == index]

# case: other items of a table
class Pairs(Dataset):
    def __init__(self, path):
        self.table = pd.read_csv(path)

    def __getitem__(self, index):
        return self.table["id"][index], self.table.loc[index], self.table[index == 3]

# case: a search by the constructor
class Pairs(Dataset):
    def __init__(self, path):
        self.table = pd.read_csv(path)
        self.good = self.table[self.table.quality > 3]
        self.first = self.table.iloc[0]

    def __getitem__(self, index):
        return self.rows[index]

# case: rows of a table
class Pairs(Dataset):
    def __getitem__(self, index):
        return self.table.iloc[index]  # TL108 hint | says: keep the columns as arrays

# case: a test [path=tests/test_data.py]
class Spectra(Dataset):
    def __getitem__(self, index):
        return np.load("spectra.npy")[index]

# case: a class whose bases are on lines of their own [bare]
import json
import torch
class Images(
    torch.utils.data.Dataset
):
    def __getitem__(self, index):
        return json.load(open("all.json"))[index]  # TL108

# case: a class with a parameter
class Images(Dataset[int]):
    def __getitem__(self, index):
        return json.load(open("all.json"))[index]  # TL108

# case: a class by another name of the base [bare]
import numpy as np
from torch.utils.data import Dataset as Base
class Images(Base):
    def __getitem__(self, index):
        return np.genfromtxt("all.csv")[index]  # TL108

# case: a folder that is listed again
class Spectra(Dataset):
    def __init__(self, root):
        self.root = root

    def __getitem__(self, index):
        name = os.listdir(self.root)[index]  # TL108 | says: the same folder
        return np.load(os.path.join(self.root, name)), os.listdir(os.path.join(self.root, name))

# case: one column of rows of a table of Hugging Face
import datasets

class Frames(Dataset):
    def __init__(self, path):
        self.rows = datasets.load_from_disk(path)

    def __getitem__(self, index):
        return self.rows[index : index + 8]["time"]  # TL108 hint | says: all columns

# case: a table by its name, in a reader
class FrameReader:
    def get_item(self, index):
        return self.hf_dataset[index]["time"]  # TL108 hint

# case: a column first, other tables, and what runs once
class Frames(Dataset):
    def __init__(self, path):
        self.hf_dataset = load(path)
        self.first = self.hf_dataset[0]["time"]

    def __getitem__(self, index):
        return self.hf_dataset["time"][index], self.items[index]["time"], self.hf_dataset[index]
