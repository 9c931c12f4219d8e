# TL903: what torch has ignored, deprecated or removed.

# every program:
import torch
from torch.autograd import Variable
from torch.optim import lr_scheduler

# case: an evaluation that records a graph
y = Variable(x, volatile=True)  # TL903 | no fix: other arguments | says: torch ignores `volatile`

# case: an evaluation that records none, anyway
with torch.no_grad():
    y = Variable(x, volatile=True)

# case: volatile targets of a training step, which record nothing
for images, targets in loader:
    targets = Variable(targets, volatile=True)
    criterion(model(images), targets).backward()
    optimizer.step()

# case: not volatile
y = Variable(x, volatile=False)

# case: volatile if something says so
y = Variable(x, volatile=not train)

# case: a wrapper
y = Variable(x)  # TL903 pedantic unsafe | says: what `.detach()` does
# becomes: y = x

# case: a wrapper in its own name
x = Variable(x)  # TL903 pedantic unsafe | fix says: Remove the line
# removed

# case: a wrapper in two names
x = y = Variable(x)  # TL903 pedantic unsafe
# becomes: x = y = x

# case: a part of what is assigned
x = (Variable(x), y)  # TL903 pedantic unsafe
# becomes: x = (x, y)

# case: a wrapper of another name
x = Variable(y)  # TL903 pedantic unsafe
# becomes: x = y

# case: by its full name
y = torch.autograd.Variable(x.cuda())  # TL903 pedantic unsafe
# becomes: y = x.cuda()

# case: a new tensor
h = Variable(torch.zeros(2, 3))  # TL903 pedantic safe
# becomes: h = torch.zeros(2, 3)

# case: a new tensor that is moved and converted
h = Variable(torch.from_numpy(x).float().cuda()).view(1)  # TL903 pedantic safe
# becomes: h = torch.from_numpy(x).float().cuda().view(1)

# case: a new tensor of a type
h = Variable(torch.LongTensor([1]))  # TL903 pedantic safe

# case: a new tensor of a type, on the GPU
h = Variable(torch.cuda.FloatTensor(3))  # TL903 pedantic safe

# case: another view of a tensor
h = Variable(torch.FloatTensor(x))  # TL903 pedantic unsafe

# case: no tensor at all
h = Variable(torch.FloatTensor())  # TL903 pedantic unsafe

# case: a tensor that gets a gradient
h = Variable(torch.zeros(3, requires_grad=True))  # TL903 pedantic unsafe

# case: a tensor that may get a gradient
h = Variable(torch.zeros(3, **options))  # TL903 pedantic unsafe

# case: a tensor that gets a gradient at once
h = Variable(torch.zeros(3).requires_grad_())  # TL903 pedantic unsafe

# case: what a function makes
h = Variable(make())  # TL903 pedantic unsafe

# case: what an operation computes
h = Variable(torch.relu(x))  # TL903 pedantic unsafe

# case: what a function returns
def load(x):
    return Variable(x)  # TL903 pedantic unsafe
    # becomes: return x

# case: what nobody knows makes
h = Variable(makers[0](3))  # TL903 pedantic unsafe

# case: a product
h = Variable(a * b).sum()  # TL903 pedantic unsafe
# becomes: h = (a * b).sum()

# case: on two lines
h = Variable(torch.zeros(3)  # TL903 pedantic safe
# becomes: h = (torch.zeros(3)
             .float())

# case: with a comment
h = Variable(  # TL903 pedantic | no fix: a comment
    x  # the input
)

# case: with a gradient
y = Variable(x, requires_grad=True)

# case: by keyword
y = Variable(data=x)

# case: nobody knows of what
y = Variable(*tensors)

# case: clipping
torch.nn.utils.clip_grad_norm(model.parameters(), 1.0)  # TL903 safe | says: warns on each call
# becomes: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)

# case: clipping, imported
from torch.nn.utils import clip_grad_norm
clip_grad_norm(model.parameters(), 1.0)  # TL903 safe
# becomes: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)

# case: clipping, by a shorter name
from torch import nn
nn.utils.clip_grad_norm(model.parameters(), 1.0)  # TL903 safe
# becomes: nn.utils.clip_grad_norm_(model.parameters(), 1.0)

# case: clipping, today
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)

# case: clipping by a wrapper of the project's own
model.clip_grad_norm(1.0)

# case: clipping in an old torch
if torch.__version__ < "0.4":
    torch.nn.utils.clip_grad_norm(model.parameters(), 1.0)

# case: clipping where nothing else is there
try:
    from torch.nn.utils import clip_grad_norm_
except ImportError:
    torch.nn.utils.clip_grad_norm(model.parameters(), 1.0)

# case: a name that may be another
try:
    from apex import clip_grad_norm
except ImportError:
    from torch.nn.utils import clip_grad_norm
clip_grad_norm(model.parameters(), 1.0)

# case: a scheduler that says what it does
scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, verbose=True)  # TL903 safe | says: `TypeError`
# becomes: scheduler = lr_scheduler.ReduceLROnPlateau(optimizer)

# case: a scheduler that would say nothing
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30, verbose=False)  # TL903 safe
# becomes: scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30)

# case: a scheduler, before that was removed [torch=2.6]
scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, verbose=True)

# case: a scheduler of somebody else
scheduler = WarmupLR(optimizer, verbose=True)

# case: a choice of kernels
with torch.backends.cuda.sdp_kernel(enable_math=False):  # TL903 hint | no fix: other arguments | says: sdpa_kernel
    y = model(x)

# case: a choice of kernels, before the new one was there [torch=2.2]
with torch.backends.cuda.sdp_kernel(enable_math=False):
    y = model(x)

# case: mixed precision of apex
from apex import amp
model, optimizer = amp.initialize(model, optimizer)  # TL903 hint | no fix | says: `torch.amp`

# case: processes of apex
import apex
model = apex.parallel.DistributedDataParallel(model)  # TL903 hint | no fix | says: use torch's own

# case: torch's own
model = torch.nn.parallel.DistributedDataParallel(model)

# case: a test [path=tests/test_model.py]
y = Variable(x, volatile=True)

# case: a file that does not import torch's own [bare]
import torch
import tensorflow as tf
from torch.optim.lr_scheduler import StepLR
y = tf.Variable(x)
scheduler = StepLR(optimizer, 30)

# case: an import of the name alone [bare]
from torch.nn.utils import clip_grad_norm
clip_grad_norm(model.parameters(), 1.0)  # TL903 | no fix: the import

# case: a schedule with a call among its arguments
steps = lr_scheduler.CosineAnnealingLR(optimizer, T_max=len(loader), verbose=True)  # TL903
