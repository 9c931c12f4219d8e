# TL311: which masks are certainly causal, and what the fix makes of them.

# every program:
import math
import torch
from torch import nn
import torch.nn.functional as F

# head: a function that attends
def attend(q, k, v, n, m, mask=None):

    # case: one of two masks
    causal = torch.ones(n, n, dtype=torch.bool).tril()
    if m > n:
        causal = torch.ones(n, n, dtype=torch.bool)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=causal)

    # case: a lower triangle of ones
    mask = torch.tril(torch.ones(n, n)).bool()
    # removed
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # TL311 hint unsafe | fix says: Pass `is_causal=True`
    # becomes: return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    # case: of booleans
    mask = torch.ones(n, n, dtype=torch.bool, device=q.device).tril()
    # removed
    return F.scaled_dot_product_attention(q, k, v, mask)  # TL311 hint unsafe
    # becomes: return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    # case: in the call
    return F.scaled_dot_product_attention(q, k, v, attn_mask=torch.tril(torch.ones((n, n))) == 1, dropout_p=0.1)  # TL311 hint
    # becomes: return F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=0.1)

    # case: for all samples and heads
    mask = torch.ones(1, 1, n, n).bool().tril(diagonal=0)
    mask = mask[None, None, :, :][..., :].unsqueeze(0).to(q.device)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # TL311 hint

    # case: in another type
    ones = torch.ones([n, n])
    mask = torch.tril(input=ones).type(torch.bool)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # TL311 hint

    # case: the opposite of an upper triangle
    mask = ~torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # TL311 hint

    # case: where an upper triangle is 0
    mask = torch.triu(torch.ones(n, n), 1) == 0
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # TL311 hint

    # case: -inf above the diagonal
    mask = torch.triu(torch.full((n, n), float("-inf"), device=q.device), diagonal=1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # TL311 hint

    # case: -inf by another name
    mask = torch.full((n, n), -math.inf).triu(1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # TL311 hint

    # case: a mask that torch makes
    mask = nn.Transformer.generate_square_subsequent_mask(n)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask.to(q.device))  # TL311 hint

    # case: the mask is read twice
    mask = torch.tril(torch.ones(n, n)).bool()
    q = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # TL311 hint unsafe
    # becomes: q = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return q, mask

    # case: the mask has two names
    both = mask = torch.tril(torch.ones(n, n)).bool()
    q = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # TL311 hint unsafe
    # becomes: q = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return q, both

    # case: the mask has an annotation
    mask: torch.Tensor = torch.tril(torch.ones(n, n)).bool()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # TL311 hint unsafe
    # becomes: return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    # case: `is_causal` is passed already
    mask = torch.tril(torch.ones(n, n)).bool()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=False)  # TL311 hint | no fix: passed already

    # case: others follow by position
    mask = torch.tril(torch.ones(n, n)).bool()
    return F.scaled_dot_product_attention(q, k, v, mask, 0.1)  # TL311 hint | no fix: by their position

    # case: ones that are added
    mask = torch.tril(torch.ones(n, n))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: a mask that shows the future alone
    mask = torch.triu(torch.ones(n, n), diagonal=1).bool()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: the opposite of a lower triangle
    mask = ~torch.tril(torch.ones(n, n)).bool()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: a comparison that says the opposite
    mask = torch.tril(torch.ones(n, n)) == 0
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: other comparisons
    q = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.tril(torch.ones(n, n)) == 2)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=torch.tril(torch.ones(n, n)) != 1)

    # case: another diagonal
    mask = torch.tril(torch.ones(n, n), diagonal=m).bool()
    q = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    mask = torch.triu(torch.full((n, n), float("-inf")))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: sizes that are not the same
    mask = torch.tril(torch.ones(n, m)).bool()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: sizes of samples
    mask = torch.tril(torch.ones(m, n, n)).bool()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: a size that nobody knows
    mask = torch.tril(torch.ones(m)).bool()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: no infinity
    mask = torch.triu(torch.full((n, n), -1.0), diagonal=1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: the other infinity
    mask = torch.triu(torch.full((n, n), math.inf), diagonal=1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: infinity below the diagonal
    mask = torch.tril(torch.full((n, n), float("-inf")))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: -inf as booleans
    mask = torch.triu(torch.full((n, n), float("-inf")), diagonal=1)
    q = F.scaled_dot_product_attention(q, k, v, attn_mask=mask.bool())
    return F.scaled_dot_product_attention(q, k, v, attn_mask=nn.Transformer.generate_square_subsequent_mask(n).bool())

    # case: the opposite of -inf
    mask = ~torch.triu(torch.full((n, n), float("-inf")), diagonal=1)
    q = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=~nn.Transformer.generate_square_subsequent_mask(n))

    # case: the opposite sign
    mask = -torch.triu(torch.full((n, n), float("-inf")), diagonal=1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: a sign of booleans
    mask = -torch.triu(torch.ones(n, n), 1).to(torch.bool)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: arguments that are left out, beside a causal mask
    mask = torch.triu(torch.full((n, n)), 1)
    q = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    mask = torch.tril(torch.ones(size=(n, n))).bool()
    q = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    q = F.scaled_dot_product_attention(q, k, v, attn_mask=make(n))
    mask = torch.tril(torch.ones(n, n)).bool()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # TL311 hint

    # case: the rows of a mask
    for mask in torch.tril(torch.ones(n, n)).bool():
        q = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return q

    # case: a triangle of something else
    mask = torch.tril(torch.rand(n, n)).bool()
    q = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=torch.triu(m, 1))

    # case: a part of the mask
    mask = torch.tril(torch.ones(n, n)).bool()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:m, :m])

    # case: padding too
    causal = torch.tril(torch.ones(n, n)).bool()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=causal & mask)

    # case: a mask of the caller
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: a mask of the caller at times
    if mask is None:
        mask = torch.tril(torch.ones(n, n)).bool()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: a mask that is one of two
    masks = torch.tril(torch.ones(n, n)).bool(), None
    mask, _ = masks
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: a method that makes something else
    mask = torch.tril(torch.ones(n, n)).bool().flip(0)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: a mask of another library
    from mine import ops
    mask = ops.tril(torch.ones(n, n)).bool()
    q = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    mask = ops.to(torch.tril(torch.ones(n, n)).bool())
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: a mask that depends on itself
    mask = mask
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    # case: no mask
    q = F.scaled_dot_product_attention(q, k, v, attn_mask=None, is_causal=True)
    return F.scaled_dot_product_attention(q, k, v)

    # case: another attention
    mask = torch.tril(torch.ones(n, n)).bool()
    return mine(q, k, v, attn_mask=mask)

    # case: before torch 2.0 [torch=1.13]
    mask = torch.tril(torch.ones(n, n)).bool()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

# head: none

# case: a mask of the module
class Attention(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.mask = torch.tril(torch.ones(n, n)).bool()
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask)

# case: in evaluation
@torch.no_grad()
def evaluate(q, k, v, n):
    return F.scaled_dot_product_attention(q, k, v, torch.tril(torch.ones(n, n)).bool())

# case: a test [path=tests/test_attention.py]
def attend(q, k, v, n):
    return F.scaled_dot_product_attention(q, k, v, torch.tril(torch.ones(n, n)).bool())
