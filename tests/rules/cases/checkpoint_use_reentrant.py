# TL509: which checkpoints do not say which implementation they mean.

# every program:
import torch
from torch.utils import checkpoint as cp
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

# head: none

# case: a checkpoint
y = torch.utils.checkpoint.checkpoint(block, x)  # TL509 hint unsafe
# becomes: y = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)

# case: a checkpoint by an import of its module
y = cp.checkpoint(block, x)  # TL509 hint unsafe

# case: a checkpoint with all inputs of a call
y = checkpoint(block, *inputs)  # TL509 hint unsafe
# becomes: y = checkpoint(block, *inputs, use_reentrant=False)

# case: another argument
y = checkpoint(block, x, preserve_rng_state=False)  # TL509 hint unsafe
# becomes: y = checkpoint(block, x, preserve_rng_state=False, use_reentrant=False)

# case: a sequence
y = checkpoint_sequential(blocks, 4, x)  # TL509 hint unsafe
# becomes: y = checkpoint_sequential(blocks, 4, x, use_reentrant=False)

# case: a sequence that asks for the older one by position
y = checkpoint_sequential(blocks, 4, x, True)  # TL509 hint unsafe
# becomes: y = checkpoint_sequential(blocks, 4, x, False)

# case: a sequence that asks for the newer one by position
y = checkpoint_sequential(blocks, 4, x, False)

# case: three inputs are not an argument of the checkpoint
y = checkpoint(block, x, mask, True)  # TL509 hint unsafe
# becomes: y = checkpoint(block, x, mask, True, use_reentrant=False)

# case: the older one on purpose
y = checkpoint(block, x, use_reentrant=True)  # TL509 hint unsafe
# becomes: y = checkpoint(block, x, use_reentrant=False)

# case: the newer one
y = checkpoint(block, x, use_reentrant=False)

# case: a value that nobody knows
y = checkpoint(block, x, use_reentrant=args.reentrant)

# case: keywords that nobody knows
def save_memory(block, x, **options):
    return checkpoint(block, x, **options)

# case: the function of another package
import deepspeed
y = deepspeed.checkpointing.checkpoint(block, x)

# case: another function of that name
y = self.checkpoint(block, x)

# case: a name that has the argument already
run = functools.partial(checkpoint, use_reentrant=False)
y = run(block, x)

# case: an older torch may be installed
if torch.__version__ >= "1.11":
    y = checkpoint(block, x, use_reentrant=False)
else:
    y = checkpoint(block, x)

# case: a condition that asks for nothing of the kind
if self.training:
    y = checkpoint(block, x)  # TL509 hint

# case: an error says that torch is older
try:
    y = checkpoint(block, x, use_reentrant=False)
except TypeError:
    y = checkpoint(block, x)

# case: torch may not know the argument [torch=1.10]
y = checkpoint(block, x)

# case: a test [path=tests/test_blocks.py]
y = checkpoint(block, x)

# case: an import over several lines [bare]
from torch.utils import (
    checkpoint,
    data,
)
y = checkpoint.checkpoint(block, x)  # TL509 hint unsafe
