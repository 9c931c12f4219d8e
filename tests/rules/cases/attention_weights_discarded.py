# TL310: which attentions throw their weights away, and which do not.

# every program:
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, width, heads, sure):
        super().__init__()
        self.attn = nn.MultiheadAttention(width, heads, dropout=0.1)
        self.cross = torch.nn.MultiheadAttention(width, heads)
        self.layers = nn.ModuleList([nn.MultiheadAttention(width, heads) for _ in range(3)])
        self.linear = nn.Linear(width, width)
        self.either = nn.MultiheadAttention(width, heads) if sure else Attention(width)
        self.given = sure
        self.same = nn.Identity()
    def loss(self, x):
        self.forward(x).sum().backward()

# head: a forward pass
    def forward(self, x, mask=None, **kwargs):

        # case: the first result
        return x + self.attn(x, x, x)[0]  # TL310 unsafe | says: pass `need_weights=False`
        # becomes: return x + self.attn(x, x, x, need_weights=False)[0]

        # case: two names
        x, _ = self.attn(x, x, value=x, attn_mask=mask)  # TL310 unsafe
        # becomes: x, _ = self.attn(x, x, value=x, attn_mask=mask, need_weights=False)
        return x

        # case: a name that nothing reads
        out, weights = self.cross(x, x, x)  # TL310
        return out

        # case: switched on
        x, _ = self.attn(x, x, x, need_weights=True)  # TL310 unsafe
        # becomes: x, _ = self.attn(x, x, x, need_weights=False)
        return x

        # case: switched on by position
        x, _ = self.attn(x, x, x, mask, True)  # TL310 unsafe
        # becomes: x, _ = self.attn(x, x, x, mask, False)
        return x

        # case: one of several attentions
        for layer in self.layers:
            x = layer(x, x, x)[0]  # TL310
        return self.layers[0](x, x, x)[0]  # TL310

        # case: one name, of which only the first result is read
        y = self.attn(x, x, value=x, key_padding_mask=mask)  # TL310 unsafe
        # becomes: y = self.attn(x, x, value=x, key_padding_mask=mask, need_weights=False)
        y = y[0]
        return x + y

        # case: one name, of which more is read
        y = self.attn(x, x, x)
        z = self.cross(x, x, x)
        w = self.cross(x, x, x)
        return y[0] + z[0] + len(z) + y[1]

        # case: an attention of this function
        attn = nn.MultiheadAttention(8, 8)
        return attn(x, x, x)[0]  # TL310

        # case: an argument of another call
        return self.linear(self.attn(x, x, x)[0])  # TL310

        # case: switched off
        x, _ = self.attn(x, x, x, need_weights=False)
        return x + self.attn(x, x, x, need_weights=False)[0] + self.attn(x, x, x, mask, False)[0]

        # case: an option decides
        x, _ = self.attn(x, x, x, need_weights=self.training)
        return x

        # case: arguments may bring it
        return self.attn(x, x, x, **kwargs)[0] + self.attn(*x)[0]

        # case: weights of each head
        return self.attn(x, x, x, average_attn_weights=False)[0]

        # case: the weights are returned
        x, weights = self.attn(x, x, x)
        return x, weights

        # case: the weights are kept
        x, self.weights = self.attn(x, x, x)
        return x

        # case: the weights alone
        return self.attn(x, x, x)[1]

        # case: both results
        return self.attn(x, x, x)

        # case: both results by one name
        out = self.attn(x, x, x)
        return out[0] * out[1]

        # case: a part of the results
        return self.attn(x, x, x)[:1] + x[self.attn(x, x, x)]

        # case: more results than an attention has
        x, weights, other = self.attn(x, x, x)
        return x

        # case: a list of results
        x, *rest = self.attn(x, x, x)
        return x

        # case: another layer
        return self.linear(x)[0] + self.layers(x)[0] + self.same(x)[0]

        # case: an attention of another class
        return self.either(x, x, x)[0]

        # case: an object of the caller
        return self.given(x, x, x)[0] + mask(x, x, x)[0]

        # case: before torch 2.0 [torch=1.13]
        return self.attn(x, x, x)[0]

        # case: a hook may read the weights
        self.attn.register_forward_hook(keep)
        return self.attn(x, x, x)[0]

# head: none

# case: in evaluation
    @torch.no_grad()
    def evaluate(self, x):
        return self.attn(x, x, x)[0]

# case: an attention that may change
    def replace(self, attn):
        self.attn = attn
    def forward(self, x):
        return self.attn(x, x, x)[0]

# case: a test [path=tests/test_block.py]
    def forward(self, x):
        return self.attn(x, x, x)[0]

# case: a program that does not train [bare]
from torch import nn
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(8, 8)
    def forward(self, x):
        return self.attn(x, x, x)[0]  # TL310 hint

# case: a single query of a pooling head
from torch import nn
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(8, 8, batch_first=True)
        self.probe = nn.Parameter(torch.randn(1, 1, 8))
        self.queries = nn.Parameter(torch.randn(1, 64, 8))
    def forward(self, x):
        probe = self.probe.repeat(len(x), 1, 1)
        pooled = self.attn(probe, x, x)[0]
        read = self.attn(self.queries.expand(len(x), -1, -1), x, x)[0]  # TL310
        return pooled, read
