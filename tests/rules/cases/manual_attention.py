# TL306: which ways to write attention by hand are reported.

# every program:
import math
import torch
from torch import einsum, nn
import torch.nn.functional as F


# head: a forward pass
class Attention(nn.Module):
    def __init__(self, heads, p):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)
        self.attend = nn.Softmax(dim=-1)
        self.over_queries = nn.Softmax(dim=1)
        self.dropout = nn.Dropout(p)
        self.mix = nn.Linear(heads, heads)
        self.bias = nn.Parameter(torch.zeros(heads, 1, 1))
        self.scale = 8**-0.5

    def forward(self, q, k, v, mask=None, bias=None):

        # case: methods and operators
        attn = (q @ k.transpose(-2, -1)) * self.scale
        attn = attn.softmax(dim=-1)  # TL306 hint | no fix: the mask, the scale and the dropout
        attn = self.dropout(attn)
        return (attn @ v).transpose(1, 2)

        # case: the products are related places
        q = q * self.scale
        attn = q @ k.transpose(-2, -1)
        attn = attn.softmax(dim=-1)  # TL306 hint | see: q @ k.transpose(-2, -1)
        attn = self.dropout(attn)
        return (attn @ v).transpose(1, 2)

        # case: einsum of a list
        energy = torch.einsum("nqhd,nkhd->nhqk", [q, k])
        attn = torch.softmax(energy / 8, dim=3)  # TL306 hint | see: torch.einsum("nqhd
        return torch.einsum("nhql,nlhd->nqhd", [attn, v])

        # case: weights in the type of the scores
        weight = torch.einsum("bct,bcs->bts", q * self.scale, k * self.scale)
        weight = torch.softmax(weight.float(), dim=-1).type(weight.dtype)  # TL306 hint
        return torch.einsum("bts,bct->bcs", weight, v)

        # case: a switch asks for the weights
        attn = self.dropout(torch.softmax(self.scale * (q @ k.mT), dim=-1))  # TL306 hint
        out = attn @ v
        if self.output_attention:
            return out, attn
        else:
            return out, None

        # case: a switch asks for the weights in an expression
        attn = torch.softmax(q @ k.mT, dim=-1)  # TL306 hint
        out = attn @ v
        return (out, attn) if need_weights else (out,)

        # case: something else decides whether the weights are used
        attn = torch.softmax(q @ k.mT, dim=-1)
        if self.sparse:
            return attn * mask @ v
        return attn @ v

        # case: only where no switch asks for the weights
        attn = torch.softmax(q @ k.mT, dim=-1)
        if not self.output_attention:
            self.kept = attn
        return attn @ v

        # case: functions
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(8)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        p_attn = F.softmax(scores, dim=-1)  # TL306 hint
        return torch.matmul(F.dropout(p_attn, 0.1), v)

        # case: in one expression
        return F.softmax(q @ k.mT, dim=-1) @ v  # TL306 hint

        # case: einsum
        sim = einsum("b h i d, b h j d -> b h i j", q, k)
        attn = sim.softmax(dim=-1)  # TL306 hint
        return torch.einsum("b h i j, b h j d -> b h i d", attn, v)

        # case: a layer
        attn = self.scale * q.matmul(k.mT)
        return self.softmax(attn).matmul(v)  # TL306 hint

        # case: a layer by another name
        return torch.bmm(self.attend(torch.bmm(q, k)), v)  # TL306 hint

        # case: a layer that is created for it
        return nn.Softmax(dim=-1)(q @ k.mT) @ v  # TL306 hint | marks: nn.Softmax(dim=-1)

        # case: an import by name
        from torch.nn.functional import softmax

        return softmax(q @ k.mT, -1) @ v  # TL306 hint

        # case: a position bias
        attn = q @ k.mT + self.bias
        attn += bias
        return attn.softmax(-1) @ v  # TL306 hint

        # case: a bias that comes first
        return (bias + q @ k.mT).softmax(-1) @ v  # TL306 hint

        # case: a bias at times
        sim = q @ k.mT
        sim = sim + bias if bias is not None else sim
        return sim.softmax(-1) @ v  # TL306 hint

        # case: in another precision
        scores = (q @ k.mT).float()
        weights = F.softmax(scores, dim=-1).type_as(v)  # TL306 hint
        return weights @ v

        # case: two branches with the same softmax
        attn = q @ k.mT
        if mask is not None:
            attn = attn.view(-1, 4, 8, 8) + mask.unsqueeze(1)
            attn = self.softmax(attn.view(-1, 8, 8))  # TL306 hint
        else:
            attn = self.softmax(attn)  # TL306 hint
        return attn @ v

        # case: the same softmax in two branches
        attn = q @ k.mT
        if mask is not None:
            attn = attn + mask
            attn = self.softmax(attn)  # TL306 hint
        else:
            attn = self.softmax(attn)
        return attn @ v

        # case: values on the left of weights that are turned
        w = torch.bmm(q, k)
        w = F.softmax(w, dim=2)  # TL306 hint
        w = w.permute(0, 2, 1)
        return torch.bmm(v, w)

        # case: the weights are returned too
        attn = (q @ k.mT).softmax(dim=-1)
        return attn @ v, attn

        # case: the weights are kept
        self.weights = (q @ k.mT).softmax(dim=-1)
        return self.weights @ v

        # case: the weights are changed
        attn = (q @ k.mT).softmax(dim=-1)
        attn = attn * mask
        return attn @ v

        # case: the weights are changed in place
        attn = (q @ k.mT).softmax(dim=-1)
        attn *= mask
        return attn @ v

        # case: the weights are mixed between heads
        attn = self.mix((q @ k.mT).softmax(dim=-1))
        return attn @ v

        # case: the scores are mixed between heads
        return self.mix(q @ k.mT).softmax(dim=-1) @ v

        # case: the scores are squashed
        return (8 * torch.tanh(q @ k.mT / 8)).softmax(dim=-1) @ v

        # case: a negative product
        scores = q @ k.mT
        return (scores.max() - scores).softmax(dim=-1) @ v

        # case: two products
        return (q @ k.mT + q @ bias.mT).softmax(dim=-1) @ v

        # case: the largest scores
        values, _ = (q @ k.mT).topk(8)
        return values.softmax(dim=-1) @ v

        # case: scores that are not a product
        scores = F.leaky_relu(q + k)
        return scores.softmax(dim=-1) @ v

        # case: scores of the caller
        return mask.softmax(dim=-1) @ v

        # case: scores of the caller at times
        if mask is None:
            mask = q @ k.mT
        return mask.softmax(dim=-1) @ v

        # case: scores of the caller in one of two branches
        return (mask if bias else q @ k.mT).softmax(-1) @ v + (q @ k.mT if bias else mask).softmax(
            -1
        ) @ v

        # case: scores that are unpacked
        scores, _ = torch.matmul(q, k.mT)
        return scores.softmax(dim=-1) @ v

        # case: scores from nobody knows where
        return scores.softmax(dim=-1) @ v

        # case: scores of a function, beside an attention
        return project(q).softmax(dim=-1) @ v + (q @ k.mT).softmax(dim=-1) @ v  # TL306 hint

        # case: a linear attention
        return q.softmax(dim=-2) @ (k.softmax(dim=-1).mT @ v)

        # case: a product by a method of another name
        return q.dot(k).softmax(-1) @ v

        # case: over the queries
        return self.over_queries(q @ k.mT) @ v + (q @ k.mT).softmax(dim=1) @ v

        # case: over a dimension that nobody knows
        return (q @ k.mT).softmax(dim=mask) @ v

        # case: weights that are values
        return v @ (q @ k.mT).softmax(-1)

        # case: turned weights that are not values
        return (q @ k.mT).softmax(-1).transpose(1, 2) @ v

        # case: weights that go into a function
        return mask((q @ k.mT).softmax(-1), v)

        # case: weights that a method makes into something else
        return (q @ k.mT).softmax(-1).cumsum(-1) @ v

        # case: weights that a method drops
        attn = (q @ k.mT).softmax(-1)
        return attn.drop_first() @ v

        # case: weights with an attribute that is read
        return (q @ k.mT).softmax(-1).shape

        # case: weights that nothing uses
        attn = (q @ k.mT).softmax(-1)
        return v

        # case: probabilities of classes
        return F.softmax(q @ self.classes, dim=-1)

        # case: three factors
        return torch.einsum("ij,jk,kl->il", (q @ k.mT).softmax(-1), v, v)

        # case: products of another library
        from mine import matmul, ops

        return matmul(F.softmax(q @ k.mT, -1), v) + ops.bmm(F.softmax(q @ k.mT, -1), v)

        # case: a softmax of another library
        from mine import ops

        return ops.softmax(q @ k.mT, -1) @ v

        # case: a layer that is only created
        self.layer = nn.Softmax(dim=-1)
        return q @ k.mT @ v

        # case: nothing to take a softmax of
        return F.softmax(dim=-1) @ v

        # case: the fused attention is there too
        if self.fused:
            return F.scaled_dot_product_attention(q, k, v)
        return (q @ k.mT).softmax(dim=-1) @ v

        # case: another fused attention is there too
        if self.fused:
            return xops.memory_efficient_attention(q, k, v)
        return (q @ k.mT).softmax(dim=-1) @ v

        # case: before torch 2.0 [torch=1.13]
        return (q @ k.mT).softmax(dim=-1) @ v

        # case: in a loop
        for _ in range(3):
            q = q @ k.mT
            q = q.softmax(dim=-1) @ v  # TL306 hint
        return q

        # case: scores that depend on themselves
        sim = q @ k.mT
        for _ in range(3):
            sim = sim * 2
        return sim.softmax(dim=-1) @ v + (q @ k.mT).softmax(dim=-1) @ v  # TL306 hint

        # case: weights that depend on themselves
        attn = (q @ k.mT).softmax(dim=-1)
        for _ in range(3):
            attn = self.dropout(attn)
        return attn @ v + (k @ q.mT).softmax(dim=-1) @ v  # TL306 hint


# head: none


# case: a function
def attend(q, k, v):
    return torch.softmax(q @ k.mT, -1) @ v  # TL306 hint


# case: a layer that may be another
class Attention(nn.Module):
    def __init__(self, sure):
        super().__init__()
        self.attend = nn.Softmax(dim=-1) if sure else nn.Sigmoid()

    def forward(self, q, k, v):
        return self.attend(q @ k.mT) @ v


# case: a layer of the caller, beside an attention
class Attention(nn.Module):
    def __init__(self, attend):
        super().__init__()
        self.attend = attend

    def forward(self, q, k, v):
        return self.attend(q @ k.mT) @ v + torch.softmax(q @ k.mT, -1) @ v  # TL306 hint


# case: another layer
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend = nn.LogSoftmax(dim=-1)

    def forward(self, q, k, v):
        return self.attend(q @ k.mT) @ v


# case: in evaluation
@torch.no_grad()
def evaluate(q, k, v):
    return torch.softmax(q @ k.mT, -1) @ v


# case: a test [path=tests/test_attention.py]
def attend(q, k, v):
    return torch.softmax(q @ k.mT, -1) @ v


# case: products over several lines [bare]
import math
import torch
from torch import nn


class Attention(nn.Module):
    def forward(self, q, k, v):
        scores = q @ k.transpose(-2, -1) / math.sqrt(8)
        weights = scores.softmax(dim=-1)  # TL306 hint
        return weights @ v


# head: none

# case: a function between the products [bare]
import torch


def attend(q, k, v):
    scores = q @ k.transpose(-2, -1)

    def weigh(x):
        return x.softmax(dim=-1)

    weights = scores.softmax(dim=-1)  # TL306 hint
    return weights @ v


# case: a fused attention in a comment [bare]
import torch


def attend(q, k, v):
    # scaled_dot_product_attention would do
    weights = (q @ k.transpose(-2, -1)).softmax(dim=-1)  # TL306 hint
    return weights @ v


# case: a fused way beside it, in a file that trains [bare]
import torch
import torch.nn.functional as F


def attend(q, k, v, flash):
    if flash:
        return F.scaled_dot_product_attention(q, k, v)
    weights = (q @ k.transpose(-2, -1)).softmax(dim=-1)
    return weights @ v


for x in loader:
    attend(x, x, x, False).mean().backward()
    optimizer.step()
