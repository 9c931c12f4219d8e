"""A Lightning module with accumulation; checkpoints go where Lightning puts them."""

import os

import torch
from curves import Curves
from lightning.pytorch import LightningModule, Trainer, seed_everything
from torch import nn
from torch.utils.data import DataLoader


class Slope(LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4096, 64), nn.ReLU(), nn.Linear(64, 1))

    def training_step(self, batch, index):
        slopes = self.layers(batch["points"]).squeeze(1)
        return nn.functional.mse_loss(slopes, batch["labels"])

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def main():
    seed_everything(0)
    trainer = Trainer(
        accelerator="cpu",
        max_steps=int(os.environ.get("STEPS", "100000")),
        accumulate_grad_batches=2,
        enable_progress_bar=False,
        enable_model_summary=False,
        logger=False,
    )
    trainer.fit(Slope(), DataLoader(Curves(256), batch_size=8, shuffle=True))


if __name__ == "__main__":
    main()
