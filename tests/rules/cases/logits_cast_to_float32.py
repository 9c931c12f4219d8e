# TL313: which copies of logits to float32 are of a language model, and which are not.

# every program:
import torch
import torch.nn.functional as F
from setup import model, loader, optimizer

# head: a training loop
for batch in loader:
    labels = batch.pop("labels")
    out = model(input_ids=batch["input_ids"].cuda())

    # case: of a model's output
    logits = out.logits.float()  # TL313 | no fix: chunks | says: fused kernel
    loss = F.cross_entropy(logits.view(-1, vocab), labels.view(-1))
    loss.backward()
    optimizer.step()

    # case: by the type, of a forward pass
    all_logits = model(batch).logits.to(torch.float32)  # TL313
    other = logits.to(dtype=torch.float32)  # TL313 hint
    F.cross_entropy(all_logits + other, labels).backward()
    optimizer.step()

    # case: by the name that they get
    logits = model.forward(batch["input_ids"]).float()  # TL313 hint
    F.cross_entropy(logits, labels).backward()
    optimizer.step()

    # case: of a part of the tokens
    loss = F.cross_entropy(out.logits[mask].float(), labels)  # TL313
    loss += F.cross_entropy(out.logits[..., :-1, :].float(), labels)  # TL313
    loss += F.cross_entropy(out.logits[:, -1].float(), labels)
    loss += F.cross_entropy(out.logits[:, -1, :].float(), labels)
    loss.backward()
    optimizer.step()

    # case: of one class
    rewards = out.logits.float().squeeze(-1)
    F.cross_entropy(rewards, labels).backward()
    optimizer.step()

    # case: other types, and other tensors
    logits = out.logits.to(torch.bfloat16).to("cuda")
    hidden = out.hidden.float()
    sums = logits.sum().float()
    F.cross_entropy(logits + hidden + sums, labels).backward()
    optimizer.step()

    # case: without gradients
    with torch.no_grad():
        kept = F.log_softmax(model(batch).logits.float(), dim=-1)
    F.cross_entropy(model(batch) + kept, labels).backward()
    optimizer.step()

# head: none

# case: in chunks
def chunked_loss(logits, labels):
    return F.cross_entropy(logits.float(), labels)

class ChunkedLoss(torch.nn.Module):
    def forward(self, logits, labels):
        return F.cross_entropy(logits.float(), labels)

for batch in loader:
    chunked_loss(model(batch["input_ids"]), batch["labels"]).backward()
    optimizer.step()

# case: where tokens are chosen
def sample(logits):
    return F.log_softmax(logits.float(), dim=-1)

class BeamSearch:
    def forward(self, logits):
        return F.log_softmax(logits.float(), dim=-1)

for batch in loader:
    F.cross_entropy(model(batch["input_ids"]), sample(batch["logits"])).backward()
    optimizer.step()

# case: in a file of such functions [path=decoding.py]
def log_probs(logits):
    return F.log_softmax(logits.float(), dim=-1)

for batch in loader:
    F.cross_entropy(model(batch["input_ids"]), log_probs(batch["logits"])).backward()
    optimizer.step()

# case: in a helper
def compute_loss(logits, labels):
    return F.cross_entropy(logits.float(), labels)  # TL313 hint

for batch in loader:
    compute_loss(model(batch["input_ids"]), batch["labels"]).backward()
    optimizer.step()

# case: of images
for batch in loader:
    logits = model(batch["image"])
    F.cross_entropy(logits.float(), batch["label"]).backward()
    optimizer.step()

# case: of a loss that needs no vocabulary
for batch in loader:
    logits = model(batch["input_ids"])
    (logits.float() - batch["wanted"]).square().mean().backward()
    optimizer.step()

# case: in a method that nothing calls on each step
class Trainer:
    def log_probs(self, out, input_ids):
        return F.log_softmax(out.logits.float(), dim=-1)  # TL313 hint

    def train(self):
        for batch in loader:
            F.cross_entropy(model(batch), batch["labels"]).backward()
            optimizer.step()
