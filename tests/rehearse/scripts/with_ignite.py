import torch
from ignite.engine import Events, create_supervised_trainer
from ignite.metrics import RunningAverage
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = "cuda"
data = TensorDataset(torch.randn(640, 16), torch.randint(0, 4, (640,)))
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).to(device)
trainer = create_supervised_trainer(
    model, torch.optim.SGD(model.parameters(), lr=0.1), nn.CrossEntropyLoss(), device=device
)
RunningAverage(output_transform=lambda x: x).attach(trainer, "loss")


@trainer.on(Events.ITERATION_COMPLETED)
def log(engine):
    if engine.state.output > 100:
        print("large")


trainer.run(DataLoader(data, batch_size=32), max_epochs=2)
