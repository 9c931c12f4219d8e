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

        # case: weights that are kept at times
        attn = torch.softmax(q @ k.mT, dim=-1)  # TL306 hint
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

        # case: the weights are returned beside the result
        attn = (q @ k.mT).softmax(dim=-1)  # TL306 hint
        return attn @ v, attn

        # case: the weights are kept in an attribute
        self.weights = (q @ k.mT).softmax(dim=-1)  # TL306 hint
        return self.weights @ v

        # case: what is returned beside them is unknown
        attn = (q @ k.mT).softmax(dim=-1)
        return attn

        # case: the weights are all that is returned in a tuple
        attn = (q @ k.mT).softmax(dim=-1)
        return (attn,)

        # case: weights of masked places are filled after the softmax
        self.attn = torch.softmax(q @ k.mT, dim=-1).masked_fill(mask, 0.0)  # TL306 hint
        return torch.matmul(self.dropout(self.attn), v)

        # case: rows without any key
        scores = torch.matmul(q, k.mT)
        scores = (scores - scores.max()).softmax(dim=-1)  # TL306 hint
        scores = scores.masked_fill(torch.isnan(scores), 0)
        return torch.matmul(scores, v)

        # case: weights are filled with another number
        attn = torch.softmax(q @ k.mT, dim=-1).masked_fill(mask, 0.5)
        return attn @ v + (k @ q.mT).softmax(-1) @ v  # TL306 hint

        # case: the weights are collected
        attn = (q @ k.mT).softmax(dim=-1)  # TL306 hint
        maps.append(attn)
        return attn @ v

        # case: two switches
        attn = (q @ k.mT).softmax(dim=-1)  # TL306 hint
        if is_cross and self.save_attention:
            self.save_map(attn)
        return attn @ v

        # case: heads that may be pruned
        attn = self.dropout(nn.Softmax(dim=-1)(q @ k.mT))  # TL306 hint
        if head_mask is not None:
            attn = attn * head_mask
        return torch.matmul(attn, v)

        # case: a function adds the bias
        attn = (q * self.scale) @ k.transpose(-2, -1)
        if self.use_rel_pos:
            attn = add_decomposed_rel_pos(attn, q, self.rel_pos_h)
        attn = attn.softmax(dim=-1)  # TL306 hint
        return (attn @ v).view(4, 8)

        # case: a method adds the mask
        return self.add_mask(q @ k.mT, mask).softmax(-1) @ v  # TL306 hint

        # case: a bias for each pair, added at times
        scores = torch.matmul(q, k.transpose(-1, -2))
        if self.kind == "relative_key":
            scores = scores + torch.einsum("bhld,lrd->bhlr", q, bias)
        elif self.kind == "relative_key_query":
            scores = scores + torch.einsum("bhrd,lrd->bhlr", k, bias)
        scores = scores / math.sqrt(8) + mask
        return nn.Softmax(dim=-1)(scores) @ v  # TL306 hint

        # case: functions of torch for scale and mask
        scores = torch.mul(torch.bmm(q, k.mT), 0.125)
        scores = torch.where(mask, scores, float("-inf"))
        return torch.bmm(torch.softmax(scores, -1), v)  # TL306 hint

        # case: a mask that torch fills in
        scores = torch.masked_fill(torch.clamp(q @ k.mT, min=-50000), mask, -1e9)
        return scores.softmax(-1).unsqueeze(0) @ v  # TL306 hint

        # case: a scaled product
        scores = torch.baddbmm(bias, q, k.transpose(1, 2), beta=0, alpha=self.scale)
        return torch.bmm(scores.softmax(dim=-1).to(v.dtype), v)  # TL306 hint

        # case: rearranged
        sim = rearrange(torch.einsum("bid,bjd->bij", q, k), "(b h) i j -> b h i j", h=8)
        attn = rearrange(sim.softmax(dim=-1), "b h i j -> (b h) i j")  # TL306 hint
        return torch.einsum("bij,bjd->bid", attn, v)

        # case: the shape of the weights is asked for
        attn = (q @ k.mT).softmax(dim=-1)  # TL306 hint
        assert attn.shape == (4, 8)
        return attn @ v

        # case: the weights turned by an attribute
        return v @ (q @ k.mT).softmax(-1).mT  # TL306 hint

        # case: the weights times a mask of the caller
        attn = (q @ k.mT).softmax(-1)
        if mask is not None:
            attn = attn * mask
        return attn @ v

        # case: a power of the scores
        return ((q @ k.mT) ** 2).softmax(-1) @ v

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

        # case: a bias that is a product
        return (q @ k.mT + q @ bias.mT).softmax(dim=-1) @ v  # TL306 hint

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


# case: scores and values in methods of their own
class Attention(nn.Module):
    def scores(self, q, k, mask):
        scores = torch.matmul(q, k.transpose(-2, -1))
        return scores if mask is None else scores.masked_fill(mask, -1e9)

    def attend(self, scores, v):
        weights = torch.softmax(scores, dim=-1)  # TL306 hint
        return torch.matmul(weights, v)

    def forward(self, q, k, v, mask=None):
        return self.attend(self.scores(q, k, mask), v)


# case: weights of a method of their own
class Attention(nn.Module):
    def weigh(self, q, k, mask):
        scores = torch.baddbmm(mask, q, k.transpose(-1, -2))
        return scores.softmax(dim=-1)  # TL306 hint

    def forward(self, q, k, v, mask=None):
        weights = self.weigh(q, k, mask)
        return torch.bmm(weights, v)


# case: weights of a method of their own, which something else reads
class Attention(nn.Module):
    def weigh(self, q, k):
        return (q @ k.mT).softmax(dim=-1)

    def forward(self, q, k, v):
        weights = self.weigh(q, k)
        return weights @ v, weights.sum()


# case: weights that a method of the file weighs with
class Attention(nn.Module):
    def join(self, weights, v):
        return torch.matmul(weights, v).transpose(1, 2)

    def forward(self, q, k, v):
        return self.join((q @ k.mT).softmax(dim=-1), v)  # TL306 hint


# case: scores of a caller that is not known
def attend(scores, v):
    return torch.softmax(scores, -1) @ v


def product(q, k):
    return q @ k.mT


# case: its own function has the name of the fused one [bare]
import torch
from torch import nn


class Attention(nn.Module):
    def forward(self, q, k, v):
        return self.scaled_dot_product_attention(q, k, v)

    @staticmethod
    def scaled_dot_product_attention(q, k, v):
        scores = torch.matmul(q, k.transpose(-2, -1)) / 8
        return torch.matmul(scores.softmax(dim=-1), v)  # TL306 hint


# case: its own function has the name of the fused one, and calls that [bare]
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, fused):
    if fused:
        return F.scaled_dot_product_attention(q, k, v)
    scores = torch.matmul(q, k.transpose(-2, -1)) / 8
    return torch.matmul(scores.softmax(dim=-1), v)


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
