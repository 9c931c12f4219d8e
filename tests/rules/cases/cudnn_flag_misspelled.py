# TL302: which names beside cuDNN's flags are reported, and what the fix makes of them.

# every program:
import torch
import torch.backends.cudnn as cudnn

# head: none

# case: a letter too many
torch.backends.cudnn.benchmarks = True  # TL302 unsafe | says: no flag `torch.backends.cudnn.benchmarks` … set `torch.backends.cudnn.benchmark`
# becomes: torch.backends.cudnn.benchmark = True

# case: the name of the module that was imported
cudnn.Benchmark = True  # TL302 unsafe | fix says: Set `cudnn.benchmark`
# becomes: cudnn.benchmark = True

# case: two letters swapped
cudnn.determinisitc = True  # TL302 unsafe
# becomes: cudnn.deterministic = True

# case: a letter left out
cudnn.enable = args.cudnn  # TL302 unsafe
# becomes: cudnn.enabled = args.cudnn

# case: cuDNN would be off
cudnn.enable = False  # TL302 | no fix: slow

# case: capital letters
cudnn.allow_TF32 = args.tf32  # TL302 unsafe
# becomes: cudnn.allow_tf32 = args.tf32

# case: cuDNN left out
torch.backends.benchmark = True  # TL302 unsafe
# becomes: torch.backends.cudnn.benchmark = True

# case: in the module of CUDA's settings
torch.backends.cuda.benchmark = True  # TL302 unsafe
# becomes: torch.backends.cudnn.benchmark = True

# case: in the module of CUDA
torch.cuda.deterministic = True  # TL302 unsafe
# becomes: torch.backends.cudnn.deterministic = True

# case: a module that does not exist
torch.cudnn.benchmark = True  # TL302 unsafe
# becomes: torch.backends.cudnn.benchmark = True

# case: a letter left out of the name of the module
torch.backend.cudnn.benchmark = True  # TL302 unsafe
# becomes: torch.backends.cudnn.benchmark = True

# case: another name for torch
import torch as th
th.cuda.benchmark = True  # TL302 unsafe
# becomes: th.backends.cudnn.benchmark = True

# case: another name for the flags
flags = torch.backends.cudnn
flags.benchmarks = True  # TL302 unsafe
# becomes: flags.benchmark = True

# case: among other targets
fast = cudnn.benchmarks = True  # TL302 unsafe
# becomes: fast = cudnn.benchmark = True

# case: the module with the flags has no name
from torch import cuda
cuda.benchmark = True  # TL302 | no fix: `torch.backends.cudnn` has no name here

# case: a comparison
torch.backends.cudnn.benchmark == True  # TL302 unsafe | says: assign with `=`
# becomes: torch.backends.cudnn.benchmark = True

# case: a comparison with a comment
cudnn.deterministic == args.seed  # TL302 unsafe | marks: cudnn.deterministic == args.seed
# becomes: cudnn.deterministic = args.seed

# case: the flags that exist
torch.backends.cudnn.benchmark = True
torch.backends.cudnn.deterministic = False
torch.backends.cudnn.enabled = True
torch.backends.cudnn.allow_tf32 = True
torch.backends.cudnn.benchmark_limit = 4
torch.backends.cudnn.fp32_precision = "tf32"
torch.backends.cudnn.conv.fp32_precision = "tf32"
torch.backends.cuda.matmul.allow_tf32 = True

# case: a question
if torch.backends.cudnn.benchmark == True:
    print("on")

# case: a question whose answer is kept
on = cudnn.benchmark == True

# case: other comparisons
cudnn.benchmark != True
cudnn.benchmark == cudnn.deterministic == True
cudnn.version() == 8900
cudnn.benchmark_limit == 4

# case: other statements with a flag
cudnn.benchmark
cudnn.is_available()

# case: the flag has this value by default
torch.backends.cudnn.benchmarks = False  # TL302 hint unsafe
cudnn.enable = True  # TL302 hint unsafe
cudnn.tf32 = True  # TL302 hint unsafe

# case: a value that nobody knows
torch.backends.cudnn.benchmarks = args.benchmark  # TL302 unsafe

# case: a flag of another library, beside the one that torch has
torch.backends.cudnn.fastest = True  # TL302 unsafe | says: this sets nothing; remove it
# removed
torch.backends.cudnn.benchmark = True

# case: a wrong name and the right one in one line
cudnn.benchmark = cudnn.benchmarks = True  # TL302 | no fix: also assigns to other names

# case: a module of the project [bare]
from engine import cudnn
cudnn.benchmarks = True
cudnn.benchmark == True

# case: an object of the project
settings.cudnn.benchmarks = True
config.benchmark = True

# case: what a test changes [path=tests/test_flags.py]
torch.backends.cudnn.benchmarks = True
cudnn.benchmark == True

# case: the wrong name is read
print(torch.backends.cudnn.benchmarks)
