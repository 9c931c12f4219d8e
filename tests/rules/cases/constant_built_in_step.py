# TL317: which constants that a step computes again are reported.

# every program:
import functools
import math
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


# head: a network
def train(loader, optimizer):
    net = Net(8, 2).cuda()
    for x, t, lengths in loader:
        net(x.cuda(), t, lengths).mean().backward()
        optimizer.step()


class Net(nn.Module):
    def __init__(self, width, window_size):
        super().__init__()
        self.width = width
        self.window_size = window_size
        self.layer = nn.Linear(width, width)
        self.weight = nn.Parameter(torch.ones(width))
        self.register_buffer("inv_freq", torch.ones(width))
        self.kept = {}

    def forward(self, x, t, lengths=None):
        return self.layer(self.compute(x, t, lengths))

    def compute(self, x, t, lengths):

        # case: a table of frequencies
        half = self.width // 2
        freqs = torch.exp(-9.2 * torch.arange(half) / half)  # TL317 hint | see: torch.exp( | no fix
        return x + t[:, None] * freqs

        # case: over several statements
        emb = math.log(10000) / (self.width // 2 - 1)
        emb = torch.exp(torch.arange(self.width // 2, device=x.device).float() * -emb)  # TL317 hint
        return torch.cat((x * emb.sin(), emb.cos()), dim=-1)

        # case: a causal mask
        n = x.shape[1]
        mask = torch.triu(torch.ones(n, n), diagonal=1).bool().to(x.device)  # TL317 hint
        return x.masked_fill(mask, 0)

        # case: a causal mask by comparison
        ids = torch.arange(x.size(1), device=x.device)  # TL317 hint
        mask = ids[None, :].repeat(4, 1) <= ids[:, None]
        return x * mask.to(x.dtype)

        # case: by way of NumPy
        mask = np.tril(np.ones((1, x.size(1), x.size(1))))  # TL317 hint
        return x * torch.from_numpy(mask).to(x.device)

        # case: a grid
        _, _, h, w = x.shape
        ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")  # TL317 hint
        grid = torch.stack([xs, ys], dim=-1).float().to(x.device)
        return F.grid_sample(x, grid / 2)

        # case: a mask of windows
        h, w = x.shape[1:3]
        img_mask = torch.zeros((1, h, w, 1), device=x.device)  # TL317 hint
        slices = (slice(0, -self.window_size), slice(-self.window_size, None))
        count = 0
        for rows in slices:
            for columns in slices:
                img_mask[:, rows, columns, :] = count
                count += 1
        attn_mask = img_mask.unsqueeze(1) - img_mask.unsqueeze(2)
        attn_mask = attn_mask.masked_fill(attn_mask != 0, -100.0)
        return x + attn_mask

        # case: a buffer goes into it
        steps = torch.arange(x.size(1), device=x.device)  # TL317 hint
        freqs = torch.outer(steps, self.inv_freq)
        return x * freqs.cos() + x * freqs.sin()

        # case: positions of a map of ones
        ones = torch.ones_like(x[0, [0]])  # TL317 hint
        rows = ones.cumsum(1, dtype=torch.float32)
        rows = rows / (rows[:, -1:, :] + 1e-6) * 6.28
        return x + rows

        # case: a parameter goes into it
        steps = torch.arange(x.size(1), device=x.device)
        return x * (torch.outer(steps, self.weight).cos() + 1)

        # case: two operations
        mask = torch.tril(torch.ones(x.size(1), x.size(1)))
        return x * mask

        # case: a fill and casts
        scale = (torch.ones(x.size(0)) * 3.5).reshape(-1, 1).to(x.device).to(x.dtype)
        return x * scale

        # case: the lengths of a batch
        mask = torch.arange(x.size(1), device=x.device)[None, :] < lengths[:, None]
        return x * mask.float().unsqueeze(-1)

        # case: sizes that depend on values
        steps = torch.arange(lengths.max().item(), device=x.device)
        return x * (steps.float() / 2).exp()

        # case: a result that is filled in
        out = torch.zeros(x.size(0), device=x.device)
        out[lengths] = 1
        return x * (out.cumsum(0) / 2).exp()

        # case: a result that is added up
        out = torch.zeros(x.size(0), device=x.device)
        for each in x:
            out += each
        return (out.cumsum(0) / 2).exp()

        # case: random numbers
        noise = torch.zeros(x.size(0), device=x.device).uniform_(0, 1)
        return x * (noise.cumsum(0) / 2).exp()

        # case: kept by size
        n = x.size(1)
        if n not in self.kept:
            self.kept[n] = (torch.arange(n).float() / 2).exp().cos()
        return x * self.kept[n]

        # case: kept in an attribute
        mask = torch.triu(torch.ones(x.size(1), x.size(1)), 1).bool().to(x.device)
        self.mask = mask
        return x * mask

        # case: kept in a buffer
        mask = torch.triu(torch.ones(x.size(1), x.size(1)), 1).bool().to(x.device)
        self.register_buffer("mask", mask, persistent=False)
        return x * mask

        # case: a list that grows
        steps = []
        for each in x:
            steps.append(len(each))
        return x * (torch.tensor(steps).float() / 2).exp()


# head: none


# case: functions that build it
def window_of(size, sigma):
    squares = [(x - size // 2) ** 2 / sigma for x in range(size)]
    values = torch.exp(-torch.Tensor(squares))  # TL317 hint
    return values / values.sum()


def ssim(x, y, size=11):
    return F.conv2d(x - y, window_of(size, 1.5))


for x, y in loader:
    ssim(net(x), y).mean().backward()
    optimizer.step()


# case: a function that keeps its results
@functools.lru_cache
def mask_of(n):
    return torch.triu(torch.ones(n, n), 1).bool().cuda()


for x, y in loader:
    (net(x) * mask_of(8)).mean().backward()
    optimizer.step()


# case: a method that the forward pass calls
class Embed(nn.Module):
    @staticmethod
    def table(t, dim, max_period=10000):
        half = dim // 2
        freqs = torch.arange(end=half) / half  # TL317 hint
        freqs = torch.exp(-math.log(max_period) * freqs).to(device=t.device)
        return t[:, None] * freqs

    def forward(self, t):
        return self.table(t, 8)


# case: nobody is known to call it
def bands(count):
    return (torch.arange(count).float() / 2).exp().cos()


# case: not on each step
def table(n):
    return (torch.arange(n).float() / 2).exp().cos()


steps = table(8)
for x, y in loader:
    (net(x) * steps).mean().backward()
    optimizer.step()
