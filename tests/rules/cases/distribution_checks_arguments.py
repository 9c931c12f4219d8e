# TL221: distributions that check their arguments on each training step.

# every program:
import torch
from torch import distributions, nn
from torch.distributions import Categorical, Independent, Normal

# head: a training loop
device = torch.device("cuda")
for step, (x, y) in enumerate(loader):
    x = x.to(device)
    outputs = model(x)
    criterion(outputs, y.to(device)).backward()
    optimizer.step()

    # case: by its name
    chosen = Normal(outputs, 1.0)  # TL221 unsafe | says: looks on the host
    # becomes: chosen = Normal(outputs, 1.0, validate_args=False)

    # case: by a keyword
    chosen = Categorical(logits=outputs)  # TL221

    # case: the deviation alone is on the device
    chosen = distributions.Normal(0.0, outputs.exp())  # TL221

    # case: by its file
    chosen = torch.distributions.categorical.Categorical(outputs.softmax(-1))  # TL221

    # case: inside another
    chosen = Independent(Normal(outputs, outputs.exp()), 1)  # TL221

    # case: what a policy of unknown type returns
    mean, deviation = policy(x)
    chosen = Normal(mean, deviation)  # TL221 hint

    # case: checks that are asked for
    chosen = Normal(outputs, 1.0, validate_args=True)  # TL221
    # becomes: chosen = Normal(outputs, 1.0, validate_args=False)

    # case: checks that are switched off
    chosen = Normal(outputs, 1.0, validate_args=False)

    # case: checks that a setting decides
    chosen = Normal(outputs, 1.0, validate_args=debug)

    # case: numbers
    chosen = Normal(0.0, 1.0)

    # case: tensors of the host
    chosen = Normal(torch.zeros(3), torch.ones(3))

    # case: on a few steps
    if step % 100 == 0:
        chosen = Normal(outputs, 1.0)

    # case: what makes nothing to check
    chosen = Independent(normal, 1)

    # case: switched off for all
    torch.distributions.Distribution.set_default_validate_args(False)
    chosen = Normal(outputs, 1.0)

    # case: compiled
    compiled = torch.compile(model)
    chosen = Normal(outputs, 1.0)

# head: none

# case: a program without an accelerator
def train(actor, loader):
    for x, y in loader:
        outputs = actor(x)
        loss = criterion(Normal(outputs, 1.0).log_prob(y))
        loss.backward()
        optimizer.step()

# case: a test [path=tests/test_train.py]
for x, y in loader:
    outputs = model(x.cuda())
    chosen = Normal(outputs, 1.0)
    criterion(outputs, y.cuda()).backward()
    optimizer.step()
