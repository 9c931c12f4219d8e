"""Workers send images as floating-point numbers that are bytes divided by 255."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self):
        self.images = torch.randint(0, 256, (16, 3, 224, 224), dtype=torch.uint8)

    def __len__(self):
        return 32 * 300

    def __getitem__(self, index):
        return self.images[index % 16].float() / 255  # planted


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Linear(224, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    loader = DataLoader(Images(), batch_size=32, num_workers=2, persistent_workers=True)
    for _ in range(4):
        for batch in loader:  # takes
            optimizer.zero_grad()
            model(batch[:, 0, 0]).square().mean().backward()
            optimizer.step()


if __name__ == "__main__":
    main()
