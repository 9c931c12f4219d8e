# TL714: metrics that are computed on each training step.

# every program:
import torch
from sklearn.metrics import confusion_matrix
from skimage.metrics import structural_similarity
from torchmetrics import AUROC, Accuracy, MetricCollection

accuracy = Accuracy(task="binary")
auc = AUROC(task="binary").to(device)
metrics = MetricCollection({"acc": Accuracy(task="binary"), "auc": AUROC(task="binary")}).to(device)

# head: a training loop
for step, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    outputs = model(x)
    loss = criterion(outputs, y)
    loss.backward()
    optimizer.step()

    # case: a function of scikit-learn
    matrix = confusion_matrix(y, outputs.argmax(1))  # TL714 hint | no fix | says: `confusion_matrix` computes a metric on the CPU

    # case: a function of scikit-image
    similarity = structural_similarity(x, outputs)  # TL714 hint

    # case: a curve
    value = auc(outputs, y)  # TL714 hint | says: keeps all predictions

    # case: a curve that is computed
    auc.update(outputs, y)
    value = auc.compute()  # TL714 hint

    # case: several metrics with a curve
    metrics.update(outputs, y)
    values = metrics.compute()  # TL714 hint

    # case: counts
    value = accuracy(outputs, y)
    accuracy.compute()

    # case: something else that computes
    values = metrics.reset()
    other = planner.compute()
    both = join(outputs, y)

    # case: now and then
    if step % 100 == 0:
        value = auc.compute()

# head: none

# case: a module that keeps its metric
class Net(LightningModule):
    def __init__(self):
        self.auc, self.net = None, torch.nn.Linear(2, 2)
        self.auc = AUROC(task="binary")

    def training_step(self, batch, index):
        outputs = self.net(batch[0])
        self.log("auc", self.auc(outputs, batch[1]))  # TL714 hint
        return criterion(outputs, batch[1])

    def validation_step(self, batch, index):
        self.log("auc", self.auc(self.net(batch[0]), batch[1]))

# case: a metric of another library
class OwnAUROC:
    pass

auc = OwnAUROC()
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    auc.compute()

# case: an evaluation
def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            confusion_matrix(y, model(x).argmax(1))
