# TL902: which optimizers add their decay to the gradient.

# every program:
import torch
from torch import optim

# case: a decay
optimizer = torch.optim.Adam(model.parameters(), weight_decay=1e-4)  # TL902 pedantic unsafe | says: AdamW
# becomes: optimizer = torch.optim.AdamW(model.parameters(), weight_decay=1e-4)

# case: a decay by its position
optimizer = optim.Adam(params, 1e-3, (0.9, 0.99), 1e-8, 0.01)  # TL902 pedantic unsafe
# becomes: optimizer = optim.AdamW(params, 1e-3, (0.9, 0.99), 1e-8, 0.01)

# case: a whole number
optimizer = optim.Adam(params, weight_decay=1)  # TL902 pedantic

# case: both classes are imported
from torch.optim import Adam, AdamW as Decaying
optimizer = Adam(params, weight_decay=0.1)  # TL902 pedantic unsafe
# becomes: optimizer = Decaying(params, weight_decay=0.1)

# case: only one class is imported
from torch.optim import Adam
optimizer = Adam(params, weight_decay=0.1)  # TL902 pedantic | no fix: does not import

# case: no decay
optimizer = optim.Adam(params, lr=1e-3)

# case: a decay of zero
optimizer = optim.Adam(params, weight_decay=0.0)

# case: an option decides
optimizer = optim.Adam(params, weight_decay=args.decay)

# case: the optimizer that decays
optimizer = optim.AdamW(params, weight_decay=0.1)

# case: another optimizer
optimizer = optim.SGD(params, weight_decay=0.1)

# case: decay apart from the gradient
optimizer = optim.Adam(params, weight_decay=0.1, decoupled_weight_decay=True)

# case: an option chooses the class
Class = optim.Adam if args.adam else optim.RAdam
optimizer = Class(params, weight_decay=0.1)

# case: a test [path=tests/test_it.py]
optimizer = optim.Adam(params, weight_decay=0.1)
