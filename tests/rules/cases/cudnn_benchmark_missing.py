# TL301: which programs should switch cudnn.benchmark on, and where the line goes.

# every program:
import argparse
import torch
from torch import nn
from torchvision import transforms
crop = transforms.CenterCrop(224)

# head: a script that trains
model = nn.Conv2d(3, 8, 3).to("cuda")
for x in loader:  # TL301
    model(x).sum().backward()

# case: determinism only with an option that is off by default
parser = argparse.ArgumentParser()
parser.add_argument("--fixed-seed", "-s", type=int, default=None)
args = parser.parse_args()
if args.fixed_seed is not None:
    torch.backends.cudnn.deterministic = True

# case: determinism only with a flag
parser = argparse.ArgumentParser()
parser.add_argument("--strict", action="store_true")
if parser.parse_args().strict:
    torch.use_deterministic_algorithms(True)

# case: an action is drawn without chance
act(x, deterministic=True)

# case: the switch is only in a comment
# torch.backends.cudnn.benchmark = True

# case: a comparison switches nothing on
torch.backends.cudnn.benchmark == True

# case: another library's benchmark
args.benchmark = True

# case: determinism is switched off
torch.backends.cudnn.deterministic = False

# case: determinism on request, which nobody makes
from seeds import seed
seed(0)
# file: seeds.py
import torch
def seed(value, deterministic=False):
    if deterministic:
        torch.use_deterministic_algorithms(True)

# head: a script that trains, with a function for determinism in another file
import seeds
model = nn.Conv2d(3, 8, 3).to("cuda")
# file: seeds.py
import torch
def enable_deterministic_runs():
    torch.use_deterministic_algorithms(True)

# case: which an option asks for
if args.deterministic:
    seeds.enable_deterministic_runs()
for x in loader:  # TL301 hint | no fix: some runs request determinism
    model(x).sum().backward()

# case: which each run calls
seeds.enable_deterministic_runs()
for x in loader:
    model(x).sum().backward()

# head: a script that trains, and turns determinism on for an option
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=None)
args = parser.parse_args()
if args.seed is not None:
    torch.backends.cudnn.deterministic = True

# case: no fix
model = nn.Conv2d(3, 8, 3).to("cuda")
if __name__ == "__main__":  # TL301 | no fix: some runs request determinism
    for x in loader:
        model(x).sum().backward()

# head: a script that trains, and something that makes it less sure
model = nn.Conv2d(3, 8, 3).to("cuda")
for x in loader:  # TL301 hint | no fix
    model(x).sum().backward()

# case: determinism only with a seed
if args.seed is not None:
    torch.backends.cudnn.deterministic = True

# case: determinism only with an option that is on by default
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=42)
args = parser.parse_args()
if args.seed is not None:
    torch.backends.cudnn.deterministic = True

# case: benchmark off only with a seed
if args.seed is not None:
    torch.backends.cudnn.benchmark = False

# case: the seed function is called only with a seed
def seed():
    torch.use_deterministic_algorithms(True)
if args.seed:
    seed()

# case: determinism unless a caller says no
def seed(strict=True):
    if strict:
        torch.use_deterministic_algorithms(True)
seed()

# case: determinism as the command line says
torch.backends.cudnn.deterministic = args.deterministic

# case: cuDNN as the command line says
torch.backends.cudnn.enabled = args.cudnn

# case: a flag that has cuda in its name is a choice
if args.cuda_deterministic:
    torch.backends.cudnn.deterministic = True

# case: packed sequences beside cropped images
y = nn.utils.rnn.pack_padded_sequence(captions, lengths)

# case: padded sequences beside cropped images
from torch.nn.utils.rnn import pad_sequence

# head: a script that trains and is left alone
model = nn.Conv2d(3, 8, 3).to("cuda")
for x in loader:
    model(x).sum().backward()

# case: switched on
torch.backends.cudnn.benchmark = True

# case: switched on through an alias
from torch.backends import cudnn as c
c.benchmark = True

# case: switched on as the command line says
torch.backends.cudnn.benchmark = not args.deterministic

# case: switched on for the GPU
if torch.cuda.is_available():
    torch.backends.cudnn.benchmark = True

# case: switched on by setattr
setattr(torch.backends.cudnn, 'benchmark', True)

# case: switched on by a context
with torch.backends.cudnn.flags(enabled=True, benchmark=True):
    go()

# case: switched on through a name that nobody can follow
backends.cudnn.benchmark = True

# case: switched on in a file that the script imports
import setup_gpu
# file: setup_gpu.py
import torch
torch.backends.cudnn.benchmark = True

# case: benchmark off on purpose
torch.backends.cudnn.benchmark = False

# case: deterministic
torch.backends.cudnn.deterministic = True

# case: deterministic on the GPU
if args.cuda:
    torch.backends.cudnn.deterministic = True

# case: deterministic in a function that always runs
def seed():
    torch.use_deterministic_algorithms(True)
seed()

# case: deterministic in an imported function
from seeds import seed
if args.seed:
    seed()
# file: seeds.py
import torch
def seed():
    torch.use_deterministic_algorithms(True)

# case: deterministic algorithms
torch.use_deterministic_algorithms(True)

# case: a seed function is asked for determinism
from lib import seed_all
seed_all(0, deterministic=True)

# case: cuDNN off
torch.backends.cudnn.enabled = False

# case: a detector
from torchvision.models.detection import ssd300_vgg16

# case: a detector by its module
from torchvision.models import detection

# case: a detector by its name
net = torchvision.models.get_model("fasterrcnn_resnet50_fpn")

# case: pooling over regions
from torchvision.ops import roi_align

# case: several scales
if opt.multi_scale:
    resize()

# case: a collate function that pads
from data import collate
use = collate
# file: data.py
import torch
def collate(batch):
    longest = max(map(len, batch))
    return torch.stack([F.pad(x, (0, longest - len(x))) for x in batch])

# case: Lightning has a switch of its own
from lightning import LightningModule

# case: mmcv has a switch of its own
from mmcv import Config

# head: a function that trains
model = nn.Conv2d(3, 8, 3).to("cuda")
def train(model, loader, optimizer):
    for x in loader:
        model(x.cuda()).sum().backward()

# case: a main block that calls a function
if __name__ == "__main__":  # TL301 unsafe
    # added: torch.backends.cudnn.benchmark = True
    train(model, loader, optimizer)

# case: the loop calls a function that trains one epoch
for epoch in range(9):  # TL301
    train(model, loader, optimizer)

# case: the function is handed to fire
import fire
fire.Fire(train)  # TL301

# case: fire runs the function that the command line names
import fire
fire.Fire()  # TL301

# case: fire runs another function
import fire
def show(): pass
fire.Fire(show)

# case: jsonargparse runs the function that the command line names
from jsonargparse import auto_cli
auto_cli(as_positional=False)  # TL301

# case: tyro runs it with what the command line says
import tyro
tyro.cli(train)  # TL301

# case: a command of Typer
import typer
app = typer.Typer()
@app.command()
def run():  # TL301
    train(model, loader, optimizer)
app()

# case: a command of Typer that does not train
import typer
app = typer.Typer()
@app.command()
def run():
    print(1)
app()

# case: benchmark off on purpose in the main block
if __name__ == "__main__":
    torch.backends.cudnn.benchmark = False
    train(model, loader, optimizer)

# case: a library with a type from argparse that calls something else
TRAINERS = {'plain': train}
setup()

# case: nobody trains
print(model(x))

# case: one finding per script, on the line that starts it
if __name__ == "__main__":  # TL301
    train(model, loader, optimizer)
# file: other.py
import torch
crop = torchvision.transforms.CenterCrop(224)
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
for x in loader:  # TL301
    model(x).sum().backward()

# case: another script switches it on
if __name__ == "__main__":  # TL301
    train(model, loader, optimizer)
# file: other.py
import torch
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
for x in loader:
    model(x).sum().backward()
torch.backends.cudnn.benchmark = True

# case: the fix: first in main(), below its docstring
def main():
    """Go."""
    # added: torch.backends.cudnn.benchmark = True
    go()
if __name__ == "__main__":  # TL301 unsafe
    main()
    train(model, loader, optimizer)

# case: the fix: in the main block if it does not call main()
def main():
    go()
if __name__ == "__main__":  # TL301 unsafe
    # added: torch.backends.cudnn.benchmark = True
    train(model, loader, optimizer)

# case: the fix: by the name that the file imports
from torch.backends import cudnn
if __name__ == "__main__":  # TL301 unsafe
    # added: cudnn.benchmark = True
    train(model, loader, optimizer)

# case: the fix: not by a name that is set twice
from torch.backends import cudnn
cudnn = wrap(cudnn)
if __name__ == "__main__":  # TL301 unsafe
    # added: torch.backends.cudnn.benchmark = True
    train(model, loader, optimizer)

# case: the fix: not by a name that is imported now and then
try:
    from torch.backends import cudnn
except ImportError:
    pass
if __name__ == "__main__":  # TL301 unsafe
    # added: torch.backends.cudnn.benchmark = True
    train(model, loader, optimizer)

# head: a program whose training is in a block that always runs
model = nn.Conv2d(3, 8, 3).to("cuda")
def train():
    for x in loader:
        model(x).sum().backward()

# case: a condition that always holds
if True:
    train()  # TL301

# case: a condition that always holds, on one line
if True: train()  # TL301

# case: the other branch of a condition that never holds
if 0:
    pass
else:
    for x in loader:  # TL301
        model(x).sum().backward()

# case: a context manager
with torch.autograd.profiler.profile():
    for epoch in range(3):  # TL301
        train()

# case: a statement that cleans up
try:
    train()  # TL301
finally:
    writer.close()

# case: a statement that catches what goes wrong
try:
    pass
except KeyboardInterrupt:
    pass
else:
    with torch.autograd.profiler.profile():
        train()  # TL301

# case: a main block in another block
with torch.autograd.profiler.profile():
    if __name__ == "__main__":  # TL301
        train()
        # becomes: torch.backends.cudnn.benchmark = True
        # added: train()

# case: a condition that may hold
if args.train:
    train()

# case: deterministic in a block that always runs
if True:
    torch.backends.cudnn.deterministic = True
train()

# case: deterministic in a block that never runs
if False:
    torch.backends.cudnn.deterministic = True
train()  # TL301 hint

# head: a method that trains
model = nn.Conv2d(3, 8, 3).to("cuda")
class Trainer:
    def fit(self):
        for x in loader:
            model(x.cuda()).sum().backward()
    def show(self):
        print(model)

# case: a method of a class that does nothing else
if __name__ == "__main__":  # TL301
    Trainer().fit()

# case: a method that trains, of a class that is not used
if __name__ == "__main__":
    model.fit()

# case: another method of the class that trains
if __name__ == "__main__":
    Trainer().show()

# case: an import that uses a class of the same name
from plots import plot
if __name__ == "__main__":
    plot()
# file: plots.py
import torch
from curves import Trainer
def plot():
    Trainer().fit()
for x in y:
    x.backward()

# case: a function of the same name in a file beside it that trains
import importlib
plugin = importlib.import_module(name)
def launch():
    plot()
if __name__ == "__main__":
    launch()
# file: other.py
import torch
from torch import nn
def launch():
    for x in loader:
        nn.Conv2d(3, 8, 3)(x).backward()

# case: a function of another file that is called by a function of the same name
import other
def launch():
    other.launch()
if __name__ == "__main__":  # TL301
    launch()
# file: other.py
import torch
from torch import nn
def launch():
    for x in loader:
        nn.Conv2d(3, 8, 3)(x).backward()

# case: a method of another file with the name of a function
from other import Runner
def launch():
    Runner().launch()
if __name__ == "__main__":  # TL301
    launch()
# file: other.py
import torch
from torch import nn
class Runner:
    def launch(self):
        for x in loader:
            nn.Conv2d(3, 8, 3)(x).backward()

# case: a main block that only tries the model
if __name__ == "__main__":
    print(model(torch.rand(1, 3, 8, 8)))

# head: a function that trains, in a file without a command line [bare]
import torch
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
def train(model, loader, optimizer):
    for x in loader:
        model(x.cuda()).sum().backward()

# case: no command line, and the loop goes over numbers
for i in range(9):  # TL301 hint
    train(model, loader, optimizer)

# case: a library that lists its functions
TRAINERS = {'plain': train}

# case: a library that registers its functions in a loop
for name in 'ab':
    register(name, train)

# case: a library
import math

# head: a script that is fixed below its imports [bare]
import torch
from torchvision import transforms
# added: torch.backends.cudnn.benchmark = True
crop = transforms.CenterCrop(224)
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
def train(model, loader, optimizer):
    for x in loader:
        model(x.cuda()).sum().backward()

# case: the fix: below the imports of a script without main block
for x in loader:  # TL301 unsafe
    model(x).sum().backward()

# case: the fix: below the imports where other processes train
if __name__ == "__main__":  # TL301 unsafe
    mp.spawn(train)
    train(model, loader, optimizer)


# case: the fix: above the loop even if something is imported after it
for x in loader:  # TL301 unsafe
    model(x).sum().backward()
import time

# head: a script that trains a network from elsewhere
for x in loader:  # TL301
    model(x.cuda()).sum().backward()

# case: the network is in a file that nothing else makes worth parsing
from models import Net
model = Net()
# file: models.py
from torch import nn
Net = lambda: nn.Conv2d(3, 8, 3)

# case: the network is imported by a computed name
import importlib
model = importlib.import_module(args.model).Net()
# file: models/vgg.py
from torch import nn
Net = lambda: nn.Conv2d(3, 8, 3)

# case: a network of torchvision, picked by name
from torchvision import models
model = models.__dict__[args.arch]()

# case: a network of torchvision, through getattr
from torchvision import models
model = getattr(models, args.arch)()

# case: a network of timm
import timm
model = timm.create_model('resnet50')

# case: a loop at the top level
model = nn.Conv2d(3, 8, 3)

# head: a script that trains a network of attention from elsewhere
from models import Net
model = Net()
for x in loader:  # TL301 hint | no fix: the convolutions are few beside attention
    model(x.cuda()).sum().backward()

# case: with a neck behind it
# file: models.py
from torch import nn
class Attention(nn.Module):
    def __init__(self, dim):
        self.qkv = nn.Linear(dim, 3 * dim)
class Net(nn.Module):
    def __init__(self, dim, patch):
        self.patches = nn.Conv2d(3, dim, kernel_size=patch, stride=patch)
        self.neck = nn.Sequential(nn.Conv2d(dim, 256, 1), nn.Conv2d(256, 256, 3, padding=1))

# case: with a decoder that enlarges its result
# file: models.py
from torch import nn
from decoder import Decoder
class Attention(nn.Module):
    pass
class Net(nn.Module):
    def __init__(self, dim, patch):
        self.stem = nn.Conv2d(3, dim, 3, stride=2)
# file: decoder.py
from torch import nn
class Decoder(nn.Module):
    def __init__(self, dim):
        self.up = nn.ConvTranspose2d(dim, dim // 4, kernel_size=2, stride=2)

# head: a script that trains a network with attention and many convolutions from elsewhere
from models import Net
model = Net()
for x in loader:  # TL301
    model(x.cuda()).sum().backward()

# case: blocks with attention between them
# file: models.py
from torch import nn
class AttentionBlock(nn.Module):
    pass
class ResBlock(nn.Module):
    def __init__(self, dim):
        self.layers = nn.Sequential(nn.Conv2d(dim, dim, 3), nn.Conv2d(dim, dim, 3))
class Net(nn.Module):
    def __init__(self, dim):
        self.blocks = nn.Sequential(ResBlock(dim), AttentionBlock(dim))

# case: an encoder of convolutions in a file of its own
# file: models.py
from torch import nn
from encoder import Encoder
class Net(nn.Module):
    def __init__(self, dim):
        self.stem = nn.Conv2d(3, dim, 3)
        self.attention = nn.MultiheadAttention(dim, 8)
# file: encoder.py
from torch import nn
Encoder = lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 16, 3))

# case: a backbone of a model zoo
# file: models.py
from torch import nn
from torchvision import models
class Net(nn.Module):
    def __init__(self, dim):
        self.backbone = models.resnet18()
        self.neck = nn.Conv2d(512, dim, 1)
        self.attention = nn.MultiheadAttention(dim, 8)

# head: a script without convolutions
for x in loader:
    model(x.cuda()).sum().backward()

# case: no convolutions
model = nn.Linear(3, 8)

# case: convolutions in a comment of another file
from models import Net
model = Net()
# file: models.py
from torch import nn
# was nn.Conv2d(3, 8, 3)
Net = lambda: nn.Linear(3, 8)

# case: convolutions in a string of the script
"""
model = nn.Conv2d(3, 8, 3)
"""
model = nn.Linear(3, 8)

# case: convolutions beside the script that it does not import
model = nn.Linear(3, 8)
# file: models.py
from torch import nn
Net = lambda: nn.Conv2d(3, 8, 3)

# head: a script that trains what it imports [bare]
from engine import *
# file: engine.py
import torch
model = torch.nn.Conv2d(3, 8, 3).to("cuda")

# case: no command line, and the step is a method of something imported
trainer = Trainer()
for x in loader:  # TL301 hint
    trainer.step_once(x)
# file: engine.py
class Trainer:
    def step_once(self, x):
        model(x).sum().backward()

# case: the training loop is imported with everything else
if __name__ == '__main__':  # TL301 hint
    train(x, y, z)
# file: engine.py
def train(model, loader, optimizer):
    for x in loader:
        model(x.cuda()).sum().backward()

# case: the script itself never says torch
from engine import Trainer
if __name__ == '__main__':  # TL301 hint
    Trainer().fit()
# file: engine.py
class Base:
    def fit(self):
        for x in loader:
            model(x).sum().backward()
class Trainer(Base):
    pass

# case: Fire runs a method of what is imported
import fire
from engine import Trainer
fire.Fire(Trainer)  # TL301 hint
# file: engine.py
class Trainer:
    def fit(self):
        for x in loader:
            model(x).sum().backward()

# case: Fire runs no method that begins with an underscore
import fire
from engine import Trainer
fire.Fire(Trainer)
# file: engine.py
class Trainer:
    def _fit(self):
        for x in loader:
            model(x).sum().backward()

# case: jsonargparse runs any function of the script
import jsonargparse
from engine import fit
def train():
    fit()
if __name__ == "__main__":  # TL301 hint
    jsonargparse.auto_cli()
# file: engine.py
def fit():
    for x in loader:
        model(x).sum().backward()

# case: a command of Typer trains
import typer
from engine import fit
app = typer.Typer()
@app.command()
def train():
    fit()
if __name__ == "__main__":  # TL301 hint
    app()
# file: engine.py
def fit():
    for x in loader:
        model(x).sum().backward()

# case: an experiment of Sacred without a main guard
from sacred import Experiment
from engine import fit
experiment = Experiment()
@experiment.automain
def run():  # TL301 hint
    fit()
# file: engine.py
def fit():
    for x in loader:
        model(x).sum().backward()

# case: the step is two calls away
from start import run
if __name__ == '__main__':  # TL301 hint
    run()
# file: start.py
import torch
from engine import train
def run():
    device = 'cuda'
    for epoch in range(9):
        train(model, loader, optimizer)
# file: engine.py
def train(model, loader, optimizer):
    for x in loader:
        model(x.cuda()).sum().backward()

# case: the fix: in a script that never says torch
# added: import torch
if __name__ == '__main__':  # TL301 unsafe
    # added: torch.backends.cudnn.benchmark = True
    Trainer().fit()
# file: engine.py
crop = torchvision.transforms.CenterCrop(224)
class Trainer:
    def fit(self):
        for x in y:
            model(x).backward()

# head: none

# case: the training loop is imported
from engine import train
model = nn.Conv2d(3, 8, 3).to("cuda")
if __name__ == "__main__":  # TL301
    train(model, loader, optimizer)
# file: engine.py
import torch
def train(model, loader, optimizer):
    for x in loader:
        model(x.cuda()).sum().backward()

# case: a package hands the trainer on [bare]
from algo import Trainer
if __name__ == '__main__':  # TL301 hint
    Trainer().fit()
# file: algo/__init__.py
from .trainer import Trainer
# file: algo/trainer.py
import torch
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
class Trainer:
    def fit(self):
        for x in loader:
            model(x).sum().backward()

# case: a package hands the trainer on, in a main block in another block [bare]
from algo import Trainer
try:
    if __name__ == '__main__':  # TL301 hint
        Trainer().fit()
finally:
    pass
# file: algo/__init__.py
from .trainer import Trainer
# file: algo/trainer.py
import torch
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
class Trainer:
    def fit(self):
        for x in loader:
            model(x).sum().backward()

# case: a flag that is called like a function for sequences of many lengths [bare]
import torch
crop = torchvision.transforms.CenterCrop(224)
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
if options.pad_sequence:
    frames = 8
for x in loader:  # TL301 unsafe
    model(x).sum().backward()

# case: sequences of many lengths [bare]
import torch
image_size = 224
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
for x in loader:
    model(torch.nn.utils.rnn.pad_sequence(x)).sum().backward()

# case: nothing shows that inputs have one size [bare]
import torch
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
for x in loader:  # TL301 hint | no fix
    model(x).sum().backward()

# case: a call at the top level whose result is kept [bare]
import torch
crop = torchvision.transforms.CenterCrop(224)
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
def epoch(model):
    for x in loader:
        model(x).sum().backward()
def train(model):
    for _ in range(3):
        epoch(model)
history = train(model)  # TL301 unsafe

# case: a resize that keeps the proportions [bare]
import torch
resize = torchvision.transforms.Resize(256)
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
for x in loader:  # TL301 hint | no fix
    model(x).sum().backward()

# case: a script for XLA [bare]
import torch
import torch_xla.core.xla_model as xm
crop = torchvision.transforms.CenterCrop(224)
model = torch.nn.Conv2d(3, 8, 3).to(xm.xla_device())
for x in loader:
    model(x.cuda()).sum().backward()

# case: no GPU
model = nn.Conv2d(3, 8, 3)
for x in loader:
    model(x).sum().backward()

# case: a test [path=tests/test_train.py]
model = nn.Conv2d(3, 8, 3).to("cuda")
for x in loader:
    model(x).sum().backward()

# case: a script that imports a function from a training script
from engine import show
print(torch.backends.cudnn.version())
if __name__ == '__main__':
    show()
# file: engine.py
import torch
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
def draw():
    pass
def show():
    draw()
if __name__ == '__main__':  # TL301 hint
    for x in loader:
        model(x).backward()

# case: a script that imports the network from a training script
from engine import Net
if __name__ == '__main__':
    print(Net().cuda()(x))
# file: engine.py
import torch
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
class Net:
    pass
def train(model, loader, optimizer):
    for x in loader:
        model(x.cuda()).sum().backward()

# case: a method of the same name in another class
from engine import Net
print(torch.backends.cudnn.version())
if __name__ == '__main__':
    Net().cuda().fit()
# file: engine.py
import torch
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
class Net:
    pass
class Trainer:
    def fit(self):
        for x in loader:
            model(x).backward()

# case: the fix: by the name that the file gives torch [bare]
import torch as th
crop = torchvision.transforms.CenterCrop(224)
model = th.nn.Conv2d(3, 8, 3).to("cuda")
if __name__ == "__main__":  # TL301 unsafe
    # added: th.backends.cudnn.benchmark = True
    for x in loader:
        model(x).sum().backward()

# case: the fix: with an import where torch is not bound [bare]
from torch import nn
# added: import torch
crop = torchvision.transforms.CenterCrop(224)
model = nn.Conv2d(3, 8, 3).to("cuda")
if __name__ == "__main__":  # TL301 unsafe
    # added: torch.backends.cudnn.benchmark = True
    for x in loader:
        model(x).sum().backward()

# case: no fix: torch is imported only now and then [bare]
try:
    import torch
except ImportError:
    pass
crop = torchvision.transforms.CenterCrop(224)
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
def train(model, loader, optimizer):
    for x in loader:
        model(x.cuda()).sum().backward()
if __name__ == "__main__": mp.spawn(train)  # TL301 | no fix

# case: the fix: in a main block of one line [bare]
from torch import nn
# added: import torch
crop = torchvision.transforms.CenterCrop(224)
model = nn.Conv2d(3, 8, 3).to("cuda")
def train(model, loader, optimizer):
    for x in loader:
        model(x.cuda()).sum().backward()
if __name__ == "__main__": train(model, loader, optimizer)  # TL301 unsafe
# becomes: if __name__ == "__main__": torch.backends.cudnn.benchmark = True; train(model, loader, optimizer)

# head: a script whose imports are in a `try` [bare]
from __future__ import print_function
try:
    import argparse
    import torch
    from torchvision import transforms
except ImportError as error:
    print(error)
    raise ImportError
# added: torch.backends.cudnn.benchmark = True
crop = transforms.CenterCrop(224)
model = torch.nn.Conv2d(3, 8, 3).to("cuda")

# case: the fix: below a `try` that always imports torch
for x in loader:  # TL301 unsafe
    model(x).sum().backward()

# head: a script that ends where torch is missing [bare]
import sys
try:
    import torch as th
    from torchvision import transforms
except ImportError:
    sys.exit("install torch")
# added: th.backends.cudnn.benchmark = True
crop = transforms.CenterCrop(224)
model = th.nn.Conv2d(3, 8, 3).to("cuda")

# case: the fix: below a `try` whose `except` exits
for x in loader:  # TL301 unsafe
    model(x).sum().backward()

# head: a script that goes on where torch is missing [bare]
import sys
try:
    import torch
    from torchvision import transforms
except ImportError:
    print("install torch")
crop = transforms.CenterCrop(224)
model = torch.nn.Conv2d(3, 8, 3).to("cuda")

# case: no fix: torch may not be imported
for x in loader:  # TL301 | no fix: no suitable place
    model(x).sum().backward()

# head: a script that imports torch below a definition [bare]
import sys
def show(x):
    print(x)
import torch
# added: torch.backends.cudnn.benchmark = True
from torchvision import transforms
crop = transforms.CenterCrop(224)
model = torch.nn.Conv2d(3, 8, 3).to("cuda")

# case: the fix: below the import of torch
for x in loader:  # TL301 unsafe
    model(x).sum().backward()

# head: a script on sequences [bare]
import torch
from torch import nn
npoints = 1024
model = nn.Conv1d(3, 8, 3).to("cuda")
for x in loader:
    model(x).sum().backward()

# case: packed sequences
y = nn.utils.rnn.pack_padded_sequence(x, lengths)

# case: padded sequences
from torch.nn.utils.rnn import pad_sequence

# head: a script that trains a network without a layer that is called a convolution
for x in loader:  # TL301
    model(x.cuda()).sum().backward()

# case: convolutions by function
class Net(nn.Module):
    def forward(self, x):
        return nn.functional.conv2d(x, self.weight * self.scale)

# case: convolutions by function in another file
from net import Net
# file: net.py
from torch.nn import functional as F
class Layer:
    def forward(self, x):
        return F.conv_transpose2d(
            x,
            self.weight * self.scale,
            stride=2,
        )

# case: convolutions by a function that wraps another
from ops import conv2d_gradfix
class Net(nn.Module):
    def forward(self, x):
        return conv2d_gradfix.conv2d(x, weight=self.weight)

# case: a network of a model zoo in another file
from net import Encoder
# file: net.py
import torchvision.models as models
def Encoder():
    return models.resnet152(pretrained=True)

# case: a network that another file imports from a model zoo
from net import build
# file: net.py
from torchvision.models import resnet50, vit_b_16
build = resnet50

# case: a collate function whose text speaks of padding
from net import collate
model = nn.Conv2d(3, 8, 3)
# file: net.py
def collate(batch):
    """Stack images (no padding) is all that this does."""
    return stack(batch)

# head: a script that trains a network, none with convolutions
for x in loader:
    model(x.cuda()).sum().backward()

# case: another layer by function
class Net(nn.Module):
    def forward(self, x):
        return nn.functional.linear(x, self.weight)

# case: a filter that a metric applies
def ssim(x, window):
    return nn.functional.conv2d(x, window, groups=3)

# case: a filter that a metric of another file applies
from metrics import ssim
# file: metrics.py
import torch.nn.functional as F
def ssim(x, window):
    return F.conv2d(x, window, groups=3)

# case: a network of a model zoo that a text names
from net import build
# file: net.py
"""Like models.resnet50()."""
build = make_mlp

# head: a script in which something else may be called torch [bare]
try:
    import jittor
except ImportError:
    import torch
from torchvision import transforms
crop = transforms.CenterCrop(224)
model = torch.nn.Conv2d(3, 8, 3).to("cuda")

# case: no fix: torch is imported in an `except`
for x in loader:  # TL301 | no fix: no suitable place
    model(x).sum().backward()

# head: a script that imports torch under a condition [bare]
import sys
if "--train" in sys.argv:
    import torch
from torchvision import transforms
crop = transforms.CenterCrop(224)
model = torch.nn.Conv2d(3, 8, 3).to("cuda")

# case: no fix: torch is imported under a condition
for x in loader:  # TL301 | no fix: no suitable place
    model(x).sum().backward()

# head: a script that trains a network that only embeds patches
for x in loader:
    model(x.cuda()).sum().backward()

# case: a convolution as wide as its stride
class Net(nn.Module):
    def __init__(self, size):
        self.patches = nn.Conv2d(3, 8, kernel_size=size, stride=size)
        self.frames = nn.Conv3d(3, 8, (2, size, size), (2, size, size))

# case: in a file that nothing else makes worth parsing
from models import Net
model = Net()
# file: models.py
from torch import nn
Net = lambda size: nn.Conv2d(3, 8, kernel_size=(size, size), stride=(size, size))

# case: from a model zoo
import timm
from torchvision import models
model = timm.create_model("vit_base_patch16_224") if small else models.vit_b_16()

# case: from a model zoo in another file
from net import build
# file: net.py
import timm
build = lambda: timm.create_model("vit_base_patch16_224")

# head: a script that trains a network with patches and more
for x in loader:  # TL301
    model(x.cuda()).sum().backward()

# case: a convolution beside the patches
class Net(nn.Module):
    def __init__(self, size):
        self.patches = nn.Conv2d(3, 8, kernel_size=size, stride=size)
        self.stem = nn.Conv2d(3, 8, kernel_size=3, stride=2)

# case: one number for each pixel, and an upsampling
class Net(nn.Module):
    def __init__(self):
        self.mix = nn.Conv2d(3, 8, kernel_size=1, stride=1)
        self.wider = nn.ConvTranspose2d(8, 8, kernel_size=2, stride=2)

# case: in a file that nothing else makes worth parsing, narrower than its kernel
from models import Net
model = Net()
# file: models.py
from torch import nn
Net = lambda size: nn.Conv2d(3, 8, kernel_size=size, stride=2)

# head: none

# case: a frozen autoencoder
from autoencoder import Coder
model = nn.Linear(3, 3).cuda()
coder = Coder(3)
coder.cuda()
coder.eval()
for x in loader:  # TL301 hint | no fix: not trained | says: does not train
    with torch.no_grad():
        x = coder.encode(x.cuda())
    model(x).sum().backward()
# file: autoencoder.py
from torch import nn
class Coder(nn.Module):
    def __init__(self, width):
        self.layers = nn.Conv2d(3, width, 3)

# case: an autoencoder whose parameters are frozen, for a function that nobody knows
from autoencoder import Coder
model = nn.Linear(3, 3).cuda()
coder = Coder(3).cuda().eval()
def freeze():
    for p in coder.parameters():
        p.requires_grad = False
for x in loader:  # TL301 hint | no fix
    x = encoded(x.cuda(), coder)
    model(x).sum().backward()
# file: autoencoder.py
from torch import nn
class Coder(nn.Module):
    def __init__(self, width):
        self.layers = nn.Conv2d(3, width, 3)

# case: a frozen autoencoder that a command line chooses
from autoencoder import CODERS
parser = argparse.ArgumentParser()
parser.add_argument("--coder", choices=list(CODERS))
args = parser.parse_args()
model = nn.Linear(3, 3).cuda()
coder = CODERS[args.coder](3).cuda().eval()
for x in loader:  # TL301 hint | no fix
    with torch.no_grad():
        x = coder.encode(x.cuda())
    model(x).sum().backward()
# file: autoencoder.py
from torch import nn
class Coder(nn.Module):
    def __init__(self, width):
        self.layers = nn.Conv2d(3, width, 3)
CODERS = {"small": Coder}

# case: an autoencoder that runs with gradients
from autoencoder import Coder
model = nn.Linear(3, 3).cuda()
coder = Coder(3).cuda().eval()
for x in loader:  # TL301
    x = coder.encode(x.cuda())
    model(x).sum().backward()
# file: autoencoder.py
from torch import nn
class Coder(nn.Module):
    def __init__(self, width):
        self.layers = nn.Conv2d(3, width, 3)

# case: an autoencoder that learns
from autoencoder import Coder
model = nn.Linear(3, 3).cuda()
coder = Coder(3).cuda()
coder.requires_grad_(False)
opt = torch.optim.Adam(coder.parameters())
for x in loader:  # TL301
    with torch.no_grad():
        x = coder.encode(x.cuda())
    model(x).sum().backward()
# file: autoencoder.py
from torch import nn
class Coder(nn.Module):
    def __init__(self, width):
        self.layers = nn.Conv2d(3, width, 3)

# case: an autoencoder that trains at times
from autoencoder import Coder
model = nn.Linear(3, 3).cuda()
coder = Coder(3).cuda()
coder.eval()
coder.train()
for x in loader:  # TL301
    with torch.no_grad():
        x = coder.encode(x.cuda())
    model(x).sum().backward()
# file: autoencoder.py
from torch import nn
class Coder(nn.Module):
    def __init__(self, width):
        self.layers = nn.Conv2d(3, width, 3)

# case: a frozen autoencoder of the script itself, and a network
class Coder(nn.Module):
    def __init__(self, width):
        self.layers = nn.Conv2d(3, width, 3)
class Net(nn.Module):
    def __init__(self, width):
        self.layers = nn.Linear(3, width)
coder = Coder(3).eval()
model = Net(3).cuda()
for x in loader:  # TL301 hint | no fix
    with torch.no_grad():
        x = coder(x.cuda())
    model(x).sum().backward()

# case: a frozen network with the convolutions of the trained one
class Block(nn.Module):
    def __init__(self, width):
        self.layers = nn.Conv2d(3, width, 3)
class Coder(nn.Module):
    def __init__(self, width):
        self.layers = Block(width)
class Net(nn.Module):
    def __init__(self, width):
        self.layers = Block(width)
coder = Coder(3).eval()
model = Net(3).cuda()
for x in loader:  # TL301
    with torch.no_grad():
        x = coder(x.cuda())
    model(x).sum().backward()

# case: a slice cuts images to one size [bare]
import torch
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
for images in loader:  # TL301
    model(images[:, :224, :224]).sum().backward()

# case: a slice cuts something else [bare]
import torch
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
for images in loader:  # TL301 hint
    model(images[:64, :32]).sum().backward()

# case: images are scaled to one size [bare]
import torch
model = torch.nn.Conv2d(3, 8, 3).to("cuda")
for images in loader:  # TL301
    images = torch.nn.functional.interpolate(images, size=(224, 224))
    model(images[..., 0:128, 0:128]).sum().backward()
