"""Hugging Face's Trainer, with accumulation and checkpoints in its own folder."""

import os
from pathlib import Path

import torch
from curves import Curves
from torch import nn
from transformers import Trainer, TrainingArguments


class Slope(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4096, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, points, labels=None):
        slopes = self.layers(points).squeeze(1)
        return {"loss": nn.functional.mse_loss(slopes, labels), "logits": slopes}


def main():
    torch.manual_seed(0)
    options = TrainingArguments(
        output_dir=str(Path(__file__).parent / "runs"),
        per_device_train_batch_size=8,
        gradient_accumulation_steps=2,
        max_steps=int(os.environ.get("STEPS", "100000")),
        save_steps=20,
        logging_steps=10,
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    Trainer(model=Slope(), args=options, train_dataset=Curves(512)).train()


if __name__ == "__main__":
    main()
