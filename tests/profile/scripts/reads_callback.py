"""A callback of Lightning reads the loss after each batch, by its framework's call."""

import pytorch_lightning as pl
import torch
from torch import nn
from torch.utils.data import DataLoader

torch.set_num_threads(1)


class Curve(pl.Callback):
    def __init__(self):
        self.losses = []

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        self.losses.append(outputs["loss"].item())  # planted: one item a step


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10))

    def training_step(self, batch, batch_idx):
        inputs, targets = batch
        return nn.functional.cross_entropy(self.layers(inputs), targets)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


pl.seed_everything(0)
batches = [(torch.randn(256, 256), torch.randint(0, 10, (256,))) for _ in range(16)]
trainer = pl.Trainer(
    max_epochs=20,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    callbacks=[Curve()],
)
trainer.fit(Net(), DataLoader(batches, batch_size=None))
