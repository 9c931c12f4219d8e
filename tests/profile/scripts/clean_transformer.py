"""A small transformer that predicts the next of its tokens; all sequences are of one length."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before = nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.feed = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, hidden):
        batch, length, width = hidden.shape
        parts = self.project(self.before(hidden)).view(batch, length, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        hidden = hidden + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return hidden + self.feed(hidden)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(100, 64)
        self.blocks = nn.Sequential(Block(64, 4), Block(64, 4))
        self.head = nn.Linear(64, 100)

    def forward(self, tokens):
        return self.head(self.blocks(self.tokens(tokens)))


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
texts = torch.randint(0, 100, (8 * 50, 33))
for _ in range(8):
    for tokens in texts.split(8):
        optimizer.zero_grad(set_to_none=True)
        scores = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
