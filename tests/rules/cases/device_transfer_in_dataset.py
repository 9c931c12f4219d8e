# TL107: datasets and collate functions that move tensors to the GPU.

# every program:
import torch
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda")

# case: a sample is moved
class Photos(Dataset):
    def __getitem__(self, index):
        image = read(self.files[index]).to(device)  # TL107 | no fix | says: single samples | marks: read(self.files[index]).to(device)
        return image, self.labels[index].cuda()  # TL107

# case: a sample is made on the GPU
class Photos(Dataset):
    def __getitem__(self, index):
        return torch.tensor(self.labels[index], device="cuda")  # TL107 | says: move the batch in the training loop

# case: a device that the dataset knows
class Photos(Dataset):
    def __init__(self, files, device):
        self.files, self.device = files, device

    def __getitem__(self, index):
        return torch.from_numpy(read(self.files[index])).to(self.device)  # TL107

# case: a device of the settings
class Photos(Dataset):
    def __getitem__(self, index):
        return read(self.files[index]).to(self.args.device)  # TL107

# case: by keyword, reported once
class Photos(Dataset):
    def __getitem__(self, index):
        return read(self.files[index]).to(device=device)  # TL107

# case: several samples at once
class Photos(Dataset):
    def __getitems__(self, indices):
        return [self.images[index].cuda() for index in indices]  # TL107

# case: a method that makes the sample
class Photos(Dataset):
    def __getitem__(self, index):
        return self.load(index)

    def load(self, index):
        return read(self.files[index]).cuda()  # TL107

# case: a function that makes the sample
def load(file):
    return read(file).cuda()  # TL107

class Photos(Dataset):
    def __getitem__(self, index):
        return load(self.files[index])

# case: a dataset by its name alone
class PhotoDataset:
    def __getitem__(self, index):
        return read(self.files[index]).cuda()  # TL107

# case: a dataset of a base class of the file
class Files(Dataset):
    pass

class Photos(Files):
    def __getitem__(self, index):
        return read(self.files[index]).cuda()  # TL107

# case: a collate function
def collate(samples):
    return torch.stack(samples).to(device)  # TL107 hint | says: while it is collated

# case: a collate function that moves what it has made, and something that it has not
def collate(samples):
    images = torch.stack(samples).to(torch.float32)
    return images.cuda(), torch.zeros(3, device="cpu")  # TL107 hint

# case: a collate function that stays where its samples are
def collate(samples):
    device = samples[0].device
    return torch.stack(samples).to(device), torch.zeros(3, device=device)

# case: a collate function by its use
def batch(samples):
    return torch.tensor(samples, device=device)  # TL107 hint

loader = DataLoader(data, collate_fn=batch)

# case: a dataset that keeps all of its tensors on the GPU
class Points(Dataset):
    def __init__(self, points):
        self.points = points.to(device)

    def __getitem__(self, index):
        return self.points[index], torch.tensor(index).to(device), torch.zeros(3, device=device)  # TL107 hint  # TL107 hint

# case: what the constructor moves
class Points(Dataset):
    def __init__(self, points):
        self.points = points.to(device)

    def __getitem__(self, index):
        return self.points[index]

# case: types, and the CPU
class Photos(Dataset):
    def __getitem__(self, index):
        image = read(self.files[index]).to(torch.float32)
        return image.to("cpu"), torch.zeros(3, device="cpu"), torch.zeros(3, device=None)

# case: the device of another tensor
class Photos(Dataset):
    def __getitem__(self, index):
        image = read(self.files[index])
        window = torch.hann_window(512).to(image.device)
        return image * window, torch.zeros(3, device=image.device)

# case: another class with items
class Cache:
    def __getitem__(self, index):
        return self.rows[index].cuda()

# case: the training loop
for images in DataLoader(data):
    model(images.to(device)).backward()

# case: other methods of a dataset
class Photos(Dataset):
    def __getitem__(self, index):
        return self.images[index]

    def all(self):
        return self.images.to(device)

# case: a function of nobody's dataset
def load(file):
    return read(file).cuda()

# case: a test [path=tests/test_data.py]
class Photos(Dataset):
    def __getitem__(self, index):
        return self.images[index].cuda()
