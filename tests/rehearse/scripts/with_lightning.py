import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.log("loss", loss, prog_bar=True)
        if loss.item() > 100:
            print("large")
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


data = TensorDataset(torch.randn(640, 16), torch.randint(0, 4, (640,)))
trainer = L.Trainer(
    max_epochs=2, accelerator="gpu", devices=1, logger=False, enable_checkpointing=False
)
trainer.fit(Net(), DataLoader(data, batch_size=32))
