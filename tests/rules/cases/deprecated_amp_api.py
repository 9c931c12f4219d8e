# TL503 hint: which uses of the old AMP packages are reported, and how they are rewritten.

# head: torch is imported
import torch

# case: a scaler
scaler = torch.cuda.amp.GradScaler()  # TL503 hint safe | says: warns on each use
# becomes: scaler = torch.amp.GradScaler("cuda")

# case: a scaler with arguments
scaler = torch.cuda.amp.GradScaler(1024.0, enabled=args.amp)  # TL503 hint safe
# becomes: scaler = torch.amp.GradScaler("cuda", 1024.0, enabled=args.amp)

# case: a scaler whose arguments nobody knows takes the device before them
scaler = torch.cuda.amp.GradScaler(*options, **more)  # TL503 hint safe
# becomes: scaler = torch.amp.GradScaler("cuda", *options, **more)

# case: a region
with torch.cuda.amp.autocast():  # TL503 hint safe | marks: torch.cuda.amp.autocast()
# becomes: with torch.amp.autocast("cuda", dtype=torch.float16):
    loss = model(x)

# case: a region on the CPU has another type
with torch.cpu.amp.autocast():  # TL503 hint safe
# becomes: with torch.amp.autocast("cpu", dtype=torch.bfloat16):
    loss = model(x)

# case: the first argument was whether it is enabled
with torch.cuda.amp.autocast(scaler is not None):  # TL503 hint safe
# becomes: with torch.amp.autocast("cuda", dtype=torch.float16, enabled=scaler is not None):
    loss = model(x)

# case: no type matters where it is off
with torch.cuda.amp.autocast(False):  # TL503 hint safe
# becomes: with torch.amp.autocast("cuda", enabled=False):
    loss = model(x)

# case: no type matters where it is off by keyword
with torch.cuda.amp.autocast(enabled=False):  # TL503 hint safe
# becomes: with torch.amp.autocast("cuda", enabled=False):
    loss = model(x)

# case: all arguments by position
with torch.cuda.amp.autocast(args.amp, torch.bfloat16, False):  # TL503 hint safe
# becomes: with torch.amp.autocast("cuda", enabled=args.amp, dtype=torch.bfloat16, cache_enabled=False):
    loss = model(x)

# case: a type that is passed
with torch.cuda.amp.autocast(dtype=kind):  # TL503 hint safe
# becomes: with torch.amp.autocast("cuda", dtype=kind):
    loss = model(x)

# case: layout and comments stay
with torch.cuda.amp.autocast(  # TL503 hint safe
# becomes: with torch.amp.autocast(
    args.amp,  # only if asked for
    # becomes: "cuda", dtype=torch.float16, enabled=args.amp,  # only if asked for
    cache_enabled=False,
):
    loss = model(x)

# case: a region whose arguments nobody knows
with torch.cuda.amp.autocast(*options):  # TL503 hint | no fix: another order
    loss = model(x)

# case: a region whose keywords nobody knows
with torch.cuda.amp.autocast(**options):  # TL503 hint | no fix: another order
    loss = model(x)

# case: a call with too many arguments
with torch.cuda.amp.autocast(True, None, True, False):  # TL503 hint | no fix
    loss = model(x)

# case: a decorator of a method
class Net(torch.nn.Module):
    @torch.cuda.amp.autocast()  # TL503 hint safe
    # becomes: @torch.amp.autocast("cuda", dtype=torch.float16)
    def forward(self, x):
        return x

# case: the decorators of an autograd function
class Scale(torch.autograd.Function):
    @staticmethod
    @torch.cuda.amp.custom_fwd  # TL503 hint safe | says: device_type="cuda"
    # becomes: @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, x):
        return x

    @staticmethod
    @torch.cuda.amp.custom_bwd  # TL503 hint safe
    # becomes: @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, grad):
        return grad

# case: a decorator with an argument
class Scale(torch.autograd.Function):
    @staticmethod
    @torch.cuda.amp.custom_fwd(cast_inputs=torch.float32)  # TL503 hint safe
    # becomes: @torch.amp.custom_fwd(cast_inputs=torch.float32, device_type="cuda")
    def forward(ctx, x):
        return x

# case: another decorator
@torch.no_grad
def predict(x):
    with torch.cuda.amp.autocast():  # TL503 hint
        return model(x)

# case: the module where torch defines it
scaler = torch.cuda.amp.grad_scaler.GradScaler()  # TL503 hint safe
# becomes: scaler = torch.amp.GradScaler("cuda")

# case: another name of torch
import torch as t
scaler = t.cuda.amp.GradScaler()  # TL503 hint safe
# becomes: scaler = t.amp.GradScaler("cuda")

# case: a name for it
autocast = torch.cuda.amp.autocast
with autocast():  # TL503 hint safe
# becomes: with torch.amp.autocast("cuda", dtype=torch.float16):
    loss = model(x)

# case: a check asks for the old class
with torch.cuda.amp.autocast(False):  # TL503 hint safe
    scaler = torch.cuda.amp.GradScaler()  # TL503 hint | no fix: asks for the old class
assert isinstance(scaler, torch.cuda.amp.GradScaler)

# case: a check asks for the old class in another file
import other
scaler = torch.cuda.amp.GradScaler()  # TL503 hint | no fix: asks for the old class
# file: other.py
from torch.cuda.amp import GradScaler
def is_scaler(x):
    return isinstance(x, (GradScaler, Scaler))

# case: a check asks for the new class
scaler = torch.cuda.amp.GradScaler()  # TL503 hint safe
assert isinstance(scaler, torch.amp.GradScaler)

# case: the new API
scaler = torch.amp.GradScaler("cuda")
with torch.amp.autocast("cuda"), torch.autocast("cuda"):
    loss = model(x)

# case: a project for older torch versions [torch=2.3]
scaler = torch.cuda.amp.GradScaler()

# case: a test [path=tests/test_amp.py]
scaler = torch.cuda.amp.GradScaler()

# case: its words in text only [unread, bare]
"""torch.cuda.amp was once torch.cuda."""
import torch

# case: a comparison of versions
if torch.__version__ < "2.4":
    scaler = torch.cuda.amp.GradScaler()

# case: a condition about something else
if args.amp:
    scaler = torch.cuda.amp.GradScaler()  # TL503 hint

# case: a condition that asks for the new API
if hasattr(torch.amp, "GradScaler"):
    scaler = make_scaler()
else:
    scaler = torch.cuda.amp.GradScaler()

# case: a flag that is named for a version
scaler = make_scaler() if TORCH_2_4 else torch.cuda.amp.GradScaler()

# case: both in one function
def scaler(new):
    if new:
        return torch.amp.GradScaler("cuda")
    return torch.cuda.amp.GradScaler()

# case: both at the top level
region = torch.autocast("cuda") if new else torch.cuda.amp.autocast()

# case: the old one if a condition holds, and the new one below
def scaler(old):
    if old:
        return torch.cuda.amp.GradScaler()
    return torch.amp.GradScaler("cuda")

# case: both, without a choice
with torch.autocast("cuda", dtype=torch.bfloat16):
    with torch.cuda.amp.autocast():  # TL503 hint safe
    # becomes: with torch.amp.autocast("cuda", dtype=torch.float16):
        loss = model(x)

# case: the new name of something else
region = torch.amp.autocast("cuda")
scaler = torch.cuda.amp.GradScaler()  # TL503 hint

# case: after an error
try:
    scaler = make_scaler()
except AttributeError:
    scaler = torch.cuda.amp.GradScaler()

# case: a name for either of them
make = torch.amp.GradScaler if new else torch.cuda.amp.GradScaler
scaler = make()

# case: a decorator that a function may have made
if new:
    half = functools.partial(torch.amp.custom_fwd, device_type="cuda")
else:
    half = torch.cuda.amp.custom_fwd
class Scale(torch.autograd.Function):
    @half
    def forward(ctx, x):
        return x

# case: the new API, else the old one
try:
    from torch.amp import autocast
except ImportError:
    from torch.cuda.amp import autocast
with autocast():
    loss = model(x)

# case: the old API, else one of the project
try:
    from torch.cuda.amp import autocast
except ImportError:
    class autocast:
        pass
with autocast():
    loss = model(x)

# case: the old API, else nothing
try:
    from torch.cuda.amp import autocast
except ImportError:
    autocast = None
with autocast():  # TL503 hint safe
# becomes: with torch.amp.autocast("cuda", dtype=torch.float16):
    loss = model(x)

# case: the old API by two imports
if args.fast:
    from torch.cuda.amp import autocast
else:
    from torch.cuda.amp.autocast_mode import autocast
with autocast():  # TL503 hint safe
# becomes: with torch.amp.autocast("cuda", dtype=torch.float16):
    loss = model(x)

# head: names are imported
import torch
from torch.cuda.amp import autocast, GradScaler

# case: a name of the old package that is imported and something else
scaler = GradScaler()  # TL503 hint safe
# becomes: scaler = torch.amp.GradScaler("cuda")
kinds = (GradScaler, autocast)

# case: a name that is passed on
run(region=autocast, scaler=GradScaler())  # TL503 hint safe
# becomes: run(region=autocast, scaler=torch.amp.GradScaler("cuda"))

# case: a use that cannot be rewritten
with autocast(*options):  # TL503 hint | no fix: another order
    scaler = GradScaler()  # TL503 hint safe
    # becomes: scaler = torch.amp.GradScaler("cuda")

# case: words that are not the name
def amp(self, autocast=True):
    return run(autocast=autocast, scaler=self.GradScaler)
with autocast():  # TL503 hint safe | fix says: Use `torch.amp.autocast`
    amp(model)

# case: a variable of the same name in a function
def amp(autocast):
    autocast()
scaler = GradScaler()  # TL503 hint safe | fix says: Use `torch.amp.GradScaler`, and import it

# case: more places than an import is changed for
for step in steps:
    x = [autocast(0), autocast(0), autocast(0), autocast(0), autocast(0), autocast(0), autocast(0)]  # TL503 hint  # TL503 hint  # TL503 hint  # TL503 hint  # TL503 hint  # TL503 hint  # TL503 hint
    # becomes: x = [torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0)]
    x = [autocast(0), autocast(0), autocast(0), autocast(0), autocast(0), autocast(0), autocast(0)]  # TL503 hint  # TL503 hint  # TL503 hint  # TL503 hint  # TL503 hint  # TL503 hint  # TL503 hint
    # becomes: x = [torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0)]
    x = [autocast(0), autocast(0), autocast(0), autocast(0), autocast(0), autocast(0), autocast(0)]  # TL503 hint  # TL503 hint  # TL503 hint  # TL503 hint  # TL503 hint  # TL503 hint  # TL503 hint
    # becomes: x = [torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0), torch.amp.autocast("cuda", dtype=torch.float16, enabled=0)]

# head: none

# case: an import changes with all its uses
import torch
from torch.cuda.amp import autocast, GradScaler
# becomes: from torch.amp import autocast, GradScaler
scaler = GradScaler()  # TL503 hint safe
# becomes: scaler = GradScaler("cuda")
def train(scaler: GradScaler):
    with autocast():  # TL503 hint safe
    # becomes: with autocast("cuda", dtype=torch.float16):
        loss = model(x)
    with autocast(False):  # TL503 hint safe
    # becomes: with autocast("cuda", enabled=False):
        loss = model(x)

# case: an import under another name, in a function
def train(scaler):
    import torch
    from torch.cuda.amp import autocast as half
    # becomes: from torch.amp import autocast as half
    with half():  # TL503 hint safe
    # becomes: with half("cuda", dtype=torch.float16):
        loss = model(x)

# case: the package is imported
from torch.cuda import amp
# becomes: from torch import amp
scaler = amp.GradScaler(enabled=cuda)  # TL503 hint safe
# becomes: scaler = amp.GradScaler("cuda", enabled=cuda)

# case: the package is imported under another name
import torch.cuda.amp as half
# becomes: import torch.amp as half
scaler = half.GradScaler()  # TL503 hint safe
# becomes: scaler = half.GradScaler("cuda")

# case: the package is imported with all that is around it
import torch.cuda.amp
scaler = torch.cuda.amp.GradScaler()  # TL503 hint safe
# becomes: scaler = torch.amp.GradScaler("cuda")

# case: the package is imported with another one
from torch.cuda import amp, nvtx
# added: import torch
scaler = amp.GradScaler()  # TL503 hint safe
# becomes: scaler = torch.amp.GradScaler("cuda")

# case: two packages are imported by one line
import torch.cuda.amp as half, math
# added: import torch
scaler = half.GradScaler()  # TL503 hint safe
# becomes: scaler = torch.amp.GradScaler("cuda")

# case: an import that has something in addition to the old API
import torch
from torch.cuda.amp import common, GradScaler
scaler = GradScaler()  # TL503 hint safe
# becomes: scaler = torch.amp.GradScaler("cuda")

# case: the type needs an import of torch
from torch import nn
from torch.cuda.amp import autocast
# becomes: from torch.amp import autocast
# added: import torch
with autocast():  # TL503 hint safe
# becomes: with autocast("cuda", dtype=torch.float16):
    loss = model(x)

# case: torch has another name
import torch as t
from torch.cuda.amp import autocast
# becomes: from torch.amp import autocast
with autocast():  # TL503 hint safe
# becomes: with autocast("cuda", dtype=t.float16):
    loss = model(x)

# case: no import of torch where no type is needed
from torch.cuda.amp import autocast
# becomes: from torch.amp import autocast
with autocast(False):  # TL503 hint safe
# becomes: with autocast("cuda", enabled=False):
    loss = model(x)

# case: all names from the package
from torch.cuda.amp import *
scaler = GradScaler()

# case: another file takes the name from this one
from torch.cuda.amp import autocast
def region():
    return autocast(False)  # TL503 hint | no fix: another file imports
# file: main.py
from train import (
    region,
    autocast,
)

# case: another file takes all names from this one, and uses one of them
from torch.cuda.amp import autocast
def region():
    return autocast(False)  # TL503 hint | no fix: another file imports
# file: main.py
from train import *
with autocast(False):
    pass

# case: another file takes all names from this one, and uses others
from torch.cuda.amp import autocast
def region():
    return autocast(False)  # TL503 hint safe
# file: main.py
from train import *
region()

# case: another file takes another name from this one
from torch.cuda.amp import autocast
def region():
    return autocast(False)  # TL503 hint safe
# file: main.py
from train import region
from torch.amp import autocast

# case: no import is changed, so another file may take what it likes
import torch
scaler = torch.cuda.amp.GradScaler()  # TL503 hint safe
# file: main.py
from train import amp
