# TL312: which cuts of logits are copies of them.

# every program:
import torch
from torch import nn
from torch.nn import functional as F

model = nn.Linear(3, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

# head: a training step
for tokens, labels in loader:
    logits = model(tokens)
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    optimizer.step()

    # case: a copy
    shifted = logits[..., :-1, :].contiguous()  # TL312 | no fix | says: shift the labels instead | marks: logits[..., :-1, :].contiguous()

    # case: by its dimensions
    shifted = output.logits[:, :-1, :].contiguous()  # TL312

    # case: without the last one
    shifted = lm_logits[:, :-1].contiguous()  # TL312

    # case: in another shape
    loss = F.cross_entropy(logits[:, :-1].reshape(-1, 9), labels)  # TL312

    # case: cloned
    shifted = logits[:, :-1].clone()  # TL312

    # case: labels
    shifted = labels[..., 1:].contiguous(), tokens[:, :-1].contiguous()

    # case: a view
    shifted = logits[..., :-1, :]
    shifted = logits[:1].view(-1)

    # case: all of them
    shifted = logits.contiguous()

    # case: without the first token, the last two, or a word
    shifted = logits[..., 1:, :].contiguous(), logits[..., :-2, :].contiguous()
    shifted = logits[..., :-1].contiguous(), logits[1:, :-1].contiguous(), logits[0].clone()
    shifted = logits[..., 2:-1, :].contiguous()

# head: none

# case: nobody knows how often
def compute_loss(model, inputs):
    logits = model(**inputs).logits
    shifted = logits[..., :-1, :].contiguous()  # TL312 hint
    return F.cross_entropy(shifted.view(-1, 9), inputs["labels"])

compute_loss(model, {}).backward()

# case: in evaluation
def evaluate(model):
    with torch.no_grad():
        for tokens in loader:
            logits = model(tokens)
            total += logits[..., :-1, :].contiguous().sum()

for tokens, labels in loader:
    F.cross_entropy(model(tokens), labels).backward()
    optimizer.step()
    evaluate(model)

# case: a test [path=tests/test_loss.py]
for tokens, labels in loader:
    F.cross_entropy(model(tokens)[..., :-1, :], labels).backward()
    optimizer.step()
    shifted = logits[..., :-1, :].contiguous()

# case: without training [bare]
import torch

logits = torch.load("logits.pt")
shifted = logits[..., :-1, :].contiguous()
