# TL315: which ways to write a root mean square norm are reported.

# every program:
import numpy as np
import torch

# head: a norm
def norm(self, x, variance, eps):

    # case: in one expression
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)  # TL315 hint | no fix

    # case: the mean has a name
    variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
    return x * torch.rsqrt(variance + self.variance_epsilon)  # TL315 hint

    # case: by a function of torch, and with eps first
    mean = torch.mean(x**2, dim=-1, keepdim=True)
    return x * torch.rsqrt(eps + mean)  # TL315 hint

    # case: a product, and methods
    return x * (x * x).mean(dim=(-1,), keepdim=True).add(eps).rsqrt()

    # case: a product
    return x * ((x * x).mean(dim=-1, keepdim=True) + eps).rsqrt()  # TL315 hint

    # case: a square
    return x * torch.rsqrt(torch.square(x).mean([-1], keepdim=True) + eps)  # TL315 hint

    # case: another dimension
    return x * torch.rsqrt(x.pow(2).mean(1, keepdim=True) + eps)

    # case: not squares
    return x * torch.rsqrt(x.mean(-1, keepdim=True) + eps)

    # case: a cube
    return x * torch.rsqrt((x**3).mean(-1, keepdim=True) + eps)

    # case: another product
    return x * torch.rsqrt((x * variance).mean(-1, keepdim=True) + eps)

    # case: a sum of two
    return x * torch.rsqrt((x + x).mean(-1, keepdim=True) + eps)

    # case: a sum of squares
    return x.mean() * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + eps)

    # case: a variance of the caller
    return x * torch.rsqrt(variance + eps)

    # case: less eps
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) - eps)

    # case: not of torch
    return x * np.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)

    # case: the file has the fused norm too
    if self.fused:
        return torch.nn.functional.rms_norm(x, x.shape[-1:])
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)

# head: none

# case: an older torch [torch=2.9]
def norm(x, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)

# case: in evaluation
@torch.no_grad()
def evaluate(x, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)

# case: in tests [path=tests/test_norm.py]
def norm(x, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
