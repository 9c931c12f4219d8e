# TL504: which lines switch TF32 on by one interface and off by the other.

# every program:
import torch

# head: none

# case: the older interface, and then the newer one
torch.backends.cuda.matmul.allow_tf32 = True  # TL504 | says: the later line counts
torch.backends.cuda.matmul.fp32_precision = "ieee"

# case: the newer interface, and then the older one
torch.backends.cuda.matmul.fp32_precision = "tf32"
torch.backends.cuda.matmul.allow_tf32 = False  # TL504

# case: the function
torch.set_float32_matmul_precision("high")  # TL504 | marks: torch.set_float32_matmul_precision("high")
torch.backends.cuda.matmul.fp32_precision = "ieee"

# case: the function, less exact still
torch.set_float32_matmul_precision("medium")  # TL504
torch.backends.cuda.matmul.fp32_precision = "ieee"

# case: the function, exact
torch.set_float32_matmul_precision("highest")  # TL504
torch.backends.cuda.matmul.fp32_precision = "tf32"

# case: convolutions
from torch.backends import cudnn
cudnn.allow_tf32 = True  # TL504
cudnn.conv.fp32_precision = "ieee"

# case: recurrent layers
torch.backends.cudnn.allow_tf32 = False  # TL504
torch.backends.cudnn.rnn.fp32_precision = "tf32"

# case: both in one function
def fast():
    torch.backends.cuda.matmul.allow_tf32 = True  # TL504
    torch.backends.cuda.matmul.fp32_precision = "ieee"

# case: several at once
first = torch.backends.cuda.matmul.allow_tf32 = True  # TL504
torch.backends.cudnn.conv.fp32_precision = torch.backends.cuda.matmul.fp32_precision = "ieee"

# case: both say the same
torch.backends.cuda.matmul.allow_tf32 = True
torch.set_float32_matmul_precision("high")
torch.backends.cuda.matmul.fp32_precision = "tf32"

# case: convolutions and products
torch.backends.cudnn.allow_tf32 = True
torch.backends.cuda.matmul.fp32_precision = "ieee"

# case: products and convolutions
torch.backends.cuda.matmul.allow_tf32 = True
torch.set_float32_matmul_precision("high")
torch.backends.cudnn.conv.fp32_precision = "ieee"

# case: the newer interface alone
torch.backends.cuda.matmul.fp32_precision = "ieee"
torch.backends.cudnn.conv.fp32_precision = "tf32"

# case: another attribute of that name
args.fp32_precision = "ieee"
torch.backends.cuda.matmul.allow_tf32 = True

# case: an option decides
torch.backends.cuda.matmul.allow_tf32 = args.tf32
torch.backends.cuda.matmul.fp32_precision = "tf32"

# case: an option decides about the newer one
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cuda.matmul.fp32_precision = args.precision

# case: no precision of its own
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cuda.matmul.fp32_precision = "none"

# case: a precision that torch does not know
torch.set_float32_matmul_precision("low")
torch.backends.cuda.matmul.fp32_precision = "ieee"

# case: a list for the older interface
torch.backends.cuda.matmul.allow_tf32 = [True]
torch.backends.cuda.matmul.fp32_precision = "ieee"

# case: one of both
if hasattr(torch.backends.cuda.matmul, "fp32_precision"):
    torch.backends.cuda.matmul.fp32_precision = "ieee"
else:
    torch.backends.cuda.matmul.allow_tf32 = True

# case: a condition for the newer one
torch.backends.cuda.matmul.allow_tf32 = True
if args.exact:
    torch.backends.cuda.matmul.fp32_precision = "ieee"

# case: a condition for the older one
torch.backends.cuda.matmul.fp32_precision = "ieee"
if args.fast:
    torch.backends.cuda.matmul.allow_tf32 = True

# case: in two functions
def fast():
    torch.backends.cuda.matmul.allow_tf32 = True
def exact():
    torch.backends.cuda.matmul.fp32_precision = "ieee"

# case: before there were two [torch=2.8]
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cuda.matmul.fp32_precision = "ieee"

# case: a test [path=tests/test_precision.py]
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cuda.matmul.fp32_precision = "ieee"

# case: without the newer one [unread]
torch.backends.cuda.matmul.allow_tf32 = True
