# TL702: which ways of switching anomaly detection on are reported.

# every program:
import torch

# head: a program that trains
loss.backward()

# case: the switch, by position
torch.autograd.set_detect_anomaly(True)  # TL702 unsafe
# removed

# case: the switch, by keyword
torch.autograd.set_detect_anomaly(mode=True, check_nan=False)  # TL702 unsafe
# removed

# case: an import under another name
from torch import autograd
autograd.set_detect_anomaly(True)  # TL702

# case: a context manager
with torch.autograd.detect_anomaly():  # TL702 | no fix: part of a larger statement
    train(model)

# case: in a main guard
if __name__ == "__main__":
    torch.autograd.set_detect_anomaly(True)  # TL702 unsafe
    # becomes: pass

# case: a condition that always holds
if 1:
    torch.autograd.set_detect_anomaly(True)  # TL702

# case: the other branch of a condition that always holds
if True:
    pass
else:
    torch.autograd.set_detect_anomaly(True)

# case: in a main guard in another block
with torch.device("cuda"):
    if __name__ == "__main__":
        torch.autograd.set_detect_anomaly(True)  # TL702

# case: Lightning's switch
import lightning as L
L.Trainer(max_epochs=3, detect_anomaly=True)  # TL702 unsafe
# becomes: L.Trainer(max_epochs=3)

# case: Lightning's switch in its older package
from pytorch_lightning import Trainer
Trainer(detect_anomaly=True)  # TL702

# case: off
torch.autograd.set_detect_anomaly(False)

# case: an option decides
torch.autograd.set_detect_anomaly(args.debug)

# case: a condition decides
if args.debug:
    torch.autograd.set_detect_anomaly(True)

# case: a condition decides in one expression
torch.autograd.set_detect_anomaly(True) if args.debug else None

# case: a look at an error
try:
    train(model)
except RuntimeError:
    torch.autograd.set_detect_anomaly(True)
    train(model)

# case: arguments that nobody knows
torch.autograd.set_detect_anomaly(*args)

# case: a class of the same keyword that is not Lightning's
mine.Trainer(detect_anomaly=True)

# case: a test [path=tests/test_loss.py]
torch.autograd.set_detect_anomaly(True)

# head: none

# case: a program that does not train
torch.autograd.set_detect_anomaly(True)
