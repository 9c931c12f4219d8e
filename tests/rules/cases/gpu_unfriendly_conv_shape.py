# TL307: which shapes of layers are reported.

# every program:
import torch
from torch import nn

# head: a network
def layers(width, kernel, stride, size, options):

    # case: a large kernel
    yield nn.Conv2d(30, 50, 16)  # TL307 pedantic | no fix: another network | says: takes 256 products per input channel

    # case: a large kernel by keywords
    yield nn.Conv2d(in_channels=64, out_channels=64, kernel_size=(9, 9), stride=1, padding=4, groups=1)  # TL307 pedantic | says: 81 products

    # case: a stride of both dimensions
    yield nn.Conv2d(64, 64, 9, (1, 1))  # TL307 pedantic

    # case: a long kernel
    yield nn.Conv2d(64, 64, (1, 81))  # TL307 pedantic

    # case: a small kernel
    yield nn.Conv2d(512, 512, 7), nn.Conv2d(512, 512, (1, 31))

    # case: patches
    yield nn.Conv2d(64, 768, 16, stride=16), nn.Conv2d(64, 768, 16, 16)

    # case: channels on their own
    yield nn.Conv2d(64, 64, 31, groups=64)

    # case: few channels
    yield nn.Conv2d(3, 64, 9), nn.Conv2d(64, 3, 9)

    # case: sizes that nobody knows
    yield nn.Conv2d(width, 64, 9), nn.Conv2d(64, width, 9), nn.Conv2d(64, 64, kernel)
    yield nn.Conv2d(64, 64, 9, stride), nn.Conv2d(64, 64, 9, groups=width), nn.Conv2d(64, 64, (9, size))

    # case: arguments that are left out
    yield nn.Conv2d(64, 64), nn.Conv2d(**options)

    # case: convolutions over sequences
    yield nn.Conv1d(64, 64, 81)

    # case: widths in full precision
    yield nn.Conv2d(3, 30, 3), nn.Conv2d(30, 50, 3), nn.Conv2d(50, 64, 3)

# head: a network in mixed precision
with torch.autocast("cuda"):
    y = net(x)
def layers(width, kernel, stride, size, options):

    # case: widths that the network chooses
    yield nn.Conv2d(3, 30, 3)
    yield nn.Conv2d(30, 50, 3)  # TL307 pedantic | no fix: another network | says: 30 is not a multiple of 8
    yield nn.ConvTranspose2d(50, 64, 2)  # TL307 pedantic
    yield nn.Conv2d(64, 64, 3)

    # case: widths of linear layers
    yield nn.Conv2d(3, 64, 3), nn.Linear(64, 100), nn.Linear(in_features=100, out_features=100), nn.Linear(100, 10)  # TL307 pedantic

    # case: widths of the data
    yield nn.Conv2d(23, 64, 3), nn.Linear(67, 64)

    # case: classes
    yield nn.Conv2d(64, 64, 3), nn.Linear(64, 19), nn.Conv2d(64, 255, 1)

    # case: narrow layers
    yield nn.Conv2d(3, 12, 3), nn.Conv2d(12, 15, 3), nn.Conv2d(15, 64, 3)

    # case: multiples of 8
    yield nn.Conv2d(3, 24, 3), nn.Conv2d(24, 40, 3), nn.Conv2d(40, 64, 3)

# head: none

# case: mixed precision in another file of the program
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 30, 3)
        self.second = nn.Conv2d(30, 50, 3)  # TL307 pedantic
# file: main.py
import torch
from train import Net
scaler = torch.amp.GradScaler("cuda")

# case: a test [path=tests/test_net.py]
with torch.autocast("cuda"):
    yield nn.Sequential(nn.Conv2d(3, 30, 3), nn.Conv2d(30, 50, 16))

# case: a layer of another library [bare]
from mine import nn
nn.Conv2d(64, 64, 9)
