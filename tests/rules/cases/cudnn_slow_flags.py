# TL303: which slow settings of cuDNN are reported, how surely, and when somebody asks for them.

# every program:
import torch
import torch.backends.cudnn as cudnn
from torch import nn

# head: a program that trains convolutions on a GPU
model = nn.Conv2d(3, 8, 3).to("cuda")
loss.backward()

# case: cuDNN is off
torch.backends.cudnn.enabled = False  # TL303 | no fix: only you know | says: Without cuDNN

# case: by the name of the module that was imported
cudnn.enabled = False  # TL303

# case: in a main guard
if __name__ == "__main__":
    cudnn.enabled = False  # TL303

# case: in a function
def main():
    cudnn.enabled = False  # TL303

# case: a comment on the line
cudnn.enabled = False  # the GPU runs out of memory otherwise  # TL303 hint

# case: a comment above the line
print(torch.__version__)
# crashes with CUDNN_STATUS_NOT_SUPPORTED
cudnn.enabled = False  # TL303 hint

# case: in a short block
with torch.device("cuda"): cudnn.enabled = False  # TL303

# case: a function of MONAI that switches both
from monai.utils import set_determinism

set_determinism(seed=0)  # TL303 hint | no fix | says: deterministic algorithms only, which are often slower
cudnn.benchmark = True

# case: it undoes what the lines above switch on
from transformers import enable_full_determinism

cudnn.benchmark = True
enable_full_determinism(0)  # TL303 | says: switches `cudnn.benchmark` off again, which line … switches on

# case: it undoes nothing here
from monai.utils.misc import set_determinism

cudnn.benchmark = False

def prepare():
    cudnn.benchmark = True

set_determinism(0)  # TL303 hint

# case: it switches determinism off
from monai.utils import set_determinism

set_determinism(seed=None)

# case: a condition decides whether cuDNN is off
if args.no_cudnn:
    cudnn.enabled = False

# case: an option decides whether cuDNN is off
cudnn.enabled = not args.no_cudnn

# case: cuDNN is off for a while
cudnn.enabled = False
warm_up(model)
cudnn.enabled = True

# case: gradients of gradients
cudnn.enabled = False
grads = torch.autograd.grad(out, x, create_graph=True)

# case: cuDNN is on
cudnn.enabled = True

# case: deterministic algorithms
torch.backends.cudnn.deterministic = True  # TL303 hint | no fix: only you know | says: which are often slower; do so only where

# case: in all of torch
torch.use_deterministic_algorithms(True)  # TL303 hint
torch.use_deterministic_algorithms(mode=True, warn_only=True)  # TL303 hint

# case: as a debug mode
torch.set_deterministic_debug_mode("error")  # TL303 hint
torch.set_deterministic_debug_mode(1)  # TL303 hint

# case: with a seed
def seed_everything(seed=11):
    torch.manual_seed(seed)
    torch.backends.cudnn.deterministic = True  # TL303 hint
    torch.backends.cudnn.benchmark = False

# case: under an option that is off by default
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--my-seed", default=None, type=int)
args = parser.parse_args()
if args.my_seed is not None:
    cudnn.deterministic = True  # TL303 hint | says: start without `--my-seed` unless

# case: under an option of another file
if args.cuda_deterministic:
    cudnn.deterministic = True  # TL303 hint | says: do so only where

# case: the caller asks for it
def set_random_seed(seed, deterministic=False):
    torch.manual_seed(seed)
    if deterministic:
        cudnn.deterministic = True
        torch.use_deterministic_algorithms(True)

# case: the caller asks for it by a parameter of another name
def seed_everything(seed, repeatable=False):
    if repeatable:
        cudnn.deterministic = True

# case: a parameter that is on by default
def seed_everything(seed, exact=True):
    if exact:
        cudnn.deterministic = True  # TL303 hint

# case: a variable that says what is asked for
def set_flags(*, deterministic, benchmark):
    torch.use_deterministic_algorithms(True) if deterministic == "warn" else None

# case: after an error
try:
    train(model)
except RuntimeError:
    cudnn.deterministic = True  # TL303 hint

# case: under an option that is a switch
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--epochs", default=90, type=int)
parser.add_argument("--repeat", action="store_true")
args = parser.parse_args()
if args.repeat and args.epochs > 1:
    cudnn.deterministic = True  # TL303 hint | says: start without `--repeat` unless

# case: under an option that has a word of another's help
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--slow", action="store_true", help="repeat")
args = parser.parse_args()
if args.repeat:
    cudnn.deterministic = True  # TL303 hint | says: do so only where

# case: under an option that is on by default
import argparse
parser = argparse.ArgumentParser()
parser.add_argument(name, default=None)
parser.add_argument("--seed", default=1, type=int)
args = parser.parse_args()
if args.seed >= 0:
    cudnn.deterministic = True  # TL303 hint | says: do so only where

# case: a function for nothing else
def make_deterministic(seed):
    cudnn.deterministic = True

# case: a function for nothing else, by another name
def enable_reproducibility():
    torch.use_deterministic_algorithms(True)

# case: Lightning's switch
import lightning as L
L.Trainer(max_epochs=3, deterministic=True)  # TL303 hint

# case: Lightning's switch that warns
from pytorch_lightning import Trainer
Trainer(deterministic="warn")  # TL303 hint

# case: the switch of Transformers
from transformers import TrainingArguments
TrainingArguments("out", full_determinism=True)  # TL303 hint

# case: the switch of Accelerate
from accelerate.utils import set_seed
set_seed(0, deterministic=True)  # TL303 hint

# case: a policy that takes the likeliest action
actor.act(state, deterministic=True)

# case: nothing is asked for
cudnn.deterministic = False
cudnn.deterministic = args.deterministic
torch.use_deterministic_algorithms(False)
torch.use_deterministic_algorithms(args.deterministic)
torch.set_deterministic_debug_mode("default")

# case: in evaluation
def evaluate(model):
    cudnn.deterministic = True

# case: a test [path=tests/test_train.py]
cudnn.enabled = False
cudnn.deterministic = True

# head: a program that trains on the CPU
model = nn.Conv2d(3, 8, 3)
loss.backward()

# case: no accelerator
cudnn.deterministic = True

# head: a program that does not train
model = nn.Conv2d(3, 8, 3).to("cuda")

# case: no training
cudnn.deterministic = True

# head: a program without convolutions
model = nn.Linear(8, 8).to("cuda")
loss.backward()

# case: nothing that cuDNN computes
cudnn.deterministic = True
