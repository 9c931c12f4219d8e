"""Sixty of a hundred positions of each of its batches are padding, fifty beyond its longest text."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.data import DataLoader

LENGTH = 100
WORDS = 1000
BATCH = 8


def texts() -> list[list[int]]:
    """In each batch one half has 50 words, and the other half 30."""
    generator = torch.Generator().manual_seed(0)
    lengths = (50, 30) * (20 * BATCH // 2)
    return [torch.randint(1, WORDS, (each,), generator=generator).tolist() for each in lengths]


def collate(samples: list[list[int]]) -> dict[str, torch.Tensor]:
    padded = [[*sample, *[0] * (LENGTH - len(sample))] for sample in samples]
    masks = [[1] * len(sample) + [0] * (LENGTH - len(sample)) for sample in samples]
    return {"input_ids": torch.tensor(padded), "attention_mask": torch.tensor(masks)}


class Model(nn.Module):
    """Its work is in proportion to the positions."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, 128)
        self.layers = nn.Sequential(nn.Linear(128, 1024), nn.GELU(), nn.Linear(1024, 128))
        self.head = nn.Linear(128, 1)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        hidden = self.layers(self.words(ids)) * mask[..., None]
        pooled = hidden.sum(dim=1) / mask.sum(dim=1, keepdim=True)
        scores: torch.Tensor = self.head(pooled)
        return scores


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(texts(), batch_size=BATCH, collate_fn=collate)  # type: ignore[arg-type]
    for _ in range(20):
        for batch in loader:  # padded
            optimizer.zero_grad()
            model(batch["input_ids"], batch["attention_mask"]).square().mean().backward()
            optimizer.step()


if __name__ == "__main__":
    main()
