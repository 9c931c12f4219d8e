# TL706: metrics that are computed on each training step.

# every program:
import torch
import torchmetrics
from torchmetrics import AUROC, Accuracy, MetricCollection

# head: a training loop
auroc = AUROC(task="binary")
accuracy = Accuracy(task="binary").to(device)
for step, (x, y) in enumerate(loader):
    outputs = model(x)
    criterion(outputs, y).backward()
    optimizer.step()

    # case: a metric that keeps all predictions
    auroc.update(outputs, y)
    print(auroc.compute())  # TL706 | no fix: may be shown | says: compute it after the loop

    # case: a metric that adds up
    accuracy.update(outputs, y)
    print(accuracy.compute())  # TL706 hint

    # case: updated only
    auroc.update(outputs, y)

    # case: every hundred steps
    if step % 100 == 0:
        print(auroc.compute())

    # case: something else that computes
    print(engine.compute())

    # case: a metric of the file that is called like one
    print(AUROC.compute)

# head: none

# case: something else of the file that computes
engine = Engine(loader)
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()
    print(engine.compute())

# case: a test [path=tests/test_area.py]
auroc = AUROC(task="binary")
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()
    print(auroc.compute())

# case: several metrics together
metrics = MetricCollection({"acc": Accuracy(task="binary"), "auc": AUROC(task="binary")}).to(device)
for x, y in loader:
    outputs = model(x)
    criterion(outputs, y).backward()
    optimizer.step()
    metrics.update(outputs, y)
    values = metrics.compute()  # TL706

# case: a table of thresholds
curve = torchmetrics.ROC(task="binary", thresholds=100)
for x, y in loader:
    outputs = model(x)
    criterion(outputs, y).backward()
    optimizer.step()
    values = curve.compute()  # TL706 hint

# case: a metric of torcheval
from torcheval.metrics import BinaryAUROC
area = BinaryAUROC()
for x, y in loader:
    outputs = model(x)
    criterion(outputs, y).backward()
    optimizer.step()
    values = area.compute()  # TL706

# case: an attribute
class Trainer:
    def __init__(self):
        self.area = AUROC(task="binary")

    def train(self, model, loader):
        for x, y in loader:
            outputs = model(x)
            criterion(outputs, y).backward()
            optimizer.step()
            self.area.update(outputs, y)
            self.log(self.area.compute())  # TL706

# case: after the loop
auroc = AUROC(task="binary")
for x, y in loader:
    outputs = model(x)
    criterion(outputs, y).backward()
    optimizer.step()
    auroc.update(outputs, y)
print(auroc.compute())

# case: evaluation
auroc = AUROC(task="binary")
with torch.no_grad():
    for x, y in loader:
        auroc.update(model(x), y)
        print(auroc.compute())
