# TL202: which copies to the host are reported, which are hints, and which are left alone.

# every program:
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader

device = torch.device("cuda")
model = nn.Linear(3, 3).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(photos, num_workers=4)

# head: a training step
for step, (images, labels) in enumerate(loader):
    images, labels = images.to(device), labels.to(device)
    output = model(images)
    loss = criterion(output, labels)
    loss.backward()
    optimizer.step()

    # case: `.cpu()`
    chosen = output.cpu()  # TL202 | no fix

    # case: for each of the samples
    chosen = [each.cpu() for each in output]  # TL202 | says: It does so once for each `each` of `output`.

    # case: by a lambda
    to_np = lambda x: x.detach().cpu().numpy()
    chosen = to_np(output)  # TL202 | says: `to_np()` copies a tensor | no fix

    # case: by a lambda, of what is in host memory
    to_np = lambda x: x.detach().cpu().numpy()
    chosen = to_np(torch.zeros(3))

    # case: by a lambda that copies something else
    to_np = lambda x: (x, other.cpu())
    chosen = to_np(output)

    # case: by a lambda, whose name may mean another one
    to_np = lambda x: x.detach().cpu().numpy()
    if step:
        to_np = lambda x: x
    chosen = to_np(output)

    # case: `.to('cpu')`
    chosen = output.to('cpu')  # TL202 | no fix

    # case: `.to(device='cpu')`
    chosen = output.to(device='cpu')  # TL202 | no fix

    # case: `.to(torch.device('cpu'))`
    chosen = output.to(torch.device('cpu'))  # TL202 | no fix

    # case: a copy for which nothing waits
    chosen = output.to('cpu', non_blocking=True)
    chosen = output.to('cpu', non_blocking=False)  # TL202
    chosen = output.to('cpu', non_blocking=args.fast)  # TL202

    # case: `.numpy()`
    chosen = output.detach().numpy()  # TL202 | no fix

    # case: `.tolist()`
    chosen = output.argmax(1).tolist()  # TL202 | no fix

    # case: `np.asarray`
    chosen = np.asarray(output)  # TL202 | no fix

    # case: `np.array`
    chosen = np.array(loss.data)  # TL202 | no fix

    # case: a list that grows
    outputs.append(output.detach().cpu())  # TL202 | no fix

    # case: a list that is extended
    outputs.extend(output.tolist())  # TL202 | no fix

    # case: for torch
    right = torch.eq(output.cpu(), labels)  # TL202 | no fix

    # case: for NumPy
    mean = np.mean(output.detach().cpu().numpy())  # TL202 | no fix

    # case: in a print
    print(loss.cpu())  # TL202 | no fix

    # case: for work that torch does as well
    chosen = output.cpu().argmax(1)  # TL202 | no fix

    # case: a moved label
    classes = labels.cpu()  # TL202 | no fix

    # case: a gradient
    for p in model.parameters():
        grads.append(p.grad.cpu())  # TL202 | no fix

    # case: the other arm of a guard
    if step % 9 == 0:
        pass
    else:
        x = output.cpu()  # TL202 | no fix

    # case: a list that only sounds like a store
    restored.update(output.cpu())  # TL202 | no fix

    # case: a matcher takes it
    match = linear_sum_assignment(output.detach().cpu())  # TL202 hint

    # case: a metric takes it
    average_precision(output.detach().cpu().numpy())  # TL202 hint

    # case: a method of an object takes it
    evaluator.compute(output.cpu())  # TL202 hint

    # case: a suppression that runs on the CPU
    keep = nms(output.detach().cpu(), 0.5)  # TL202 hint

    # case: in the first process only
    if rank == 0:
        shown = output.cpu()  # TL202

    # case: under no_grad in the loop
    with torch.no_grad():
        shown = output.cpu()  # TL202

    # case: a number that is copied first, which TL201 reports too
    total += loss.detach().cpu().item()

    # case: priorities of a replay buffer
    priorities = loss.abs().detach().cpu().numpy()  # TL202 hint | says: after the optimizer step
    memory.update_priorities(indices, priorities + 1e-6)

    # case: by the type of a CPU tensor
    mask = (output > 0).type(torch.FloatTensor).to(device)  # TL202 | says: `.type(torch.FloatTensor)` copies
    same = (output > 0).type(torch.cuda.FloatTensor).type(torch.float32)

    # case: a module
    model.cpu()

    # case: a module that changes its mode
    model.eval().cpu()

    # case: a module whose parameters are read
    for p in model.cpu().parameters(): pass

    # case: a module by its name
    save(generator.cpu())

    # case: a list of numbers
    print([1, 2].tolist())

    # case: an array
    print(np.zeros(3).tolist())

    # case: an array as an array
    table = np.asarray([1, 2])

    # case: what was copied before
    x = torch.zeros(3).cpu()

    # case: `.to` another device
    x = output.to('cuda:1')

    # case: `.to` a dtype
    x = output.to(torch.float16)

    # case: `.to` nothing
    x = output.to()

    # case: every so many steps
    if step % 100 == 0:
        show(output.cpu())

    # case: after skipping most rounds
    if step % 100: continue
    show(output.cpu())

    # case: when saving
    if save_now:
        torch.save(output.cpu(), 'x')

    # case: in an `except` block
    try:
        f()
    except E:
        x = output.cpu()

    # case: an action for an environment
    state = env.step(output.argmax(1).cpu().numpy())

    # case: an action by its name
    actions = output.argmax(1)
    play(actions.cpu())

    # case: an action that goes to the environment later
    chosen = output.argmax(1).cpu()
    state = env.step(chosen)

    # case: a replay buffer
    replay_buffer.push(output.detach().cpu(), 1)

    # case: a memory that is appended to
    memory.append(output.detach().cpu())

    # case: lengths for a packed sequence
    lengths = output.argmax(1)
    packed = torch.nn.utils.rnn.pack_padded_sequence(images, lengths.cpu())  # TL202 hint | says: as the loader gives them

    # case: lengths for a packed sequence by a name
    lengths = output.argmax(1).cpu().numpy()  # TL202 hint | says: as the loader gives them
    packed = torch.nn.utils.rnn.pack_padded_sequence(images, lengths, batch_first=True)

    # case: what nobody knows
    print(mystery.compute().tolist())

    # case: an array of what nobody knows
    print(np.asarray(mystery(output)))

    # case: an array of something that may be a number
    kept = 0.0
    if step in marked:
        kept = loss
    print(np.asarray(kept))

    # case: a number, which TL201 reports
    print(loss.item())

    # case: `.cpu` that is not called
    move = output.cpu

    # case: `.tolist` with an argument
    x = output.tolist(1)

    # case: suppressed
    x = output.cpu()  # torchlint: ignore[host-copy-in-step-loop]

    # case: the copies of one chain are one finding
    x = output.detach().cpu().numpy().tolist()  # TL202 | says: `.cpu()`

    # case: the message of x = output.cpu()
    x = output.cpu()  # TL202 | says: do what follows on the device, or copy once after the loop

    # case: the message of outputs.append(output.cpu())
    outputs.append(output.cpu())  # TL202 | says: for `outputs.append`; do that on the device

    # case: the message of x = np.mean(output.cpu().numpy())
    x = np.mean(output.cpu().numpy())  # TL202 | says: for `np.mean`

    # case: the message of match(output.cpu())
    match(output.cpu())  # TL202 hint | says: keep the work on the device unless `match` needs a host tensor.

    # case: the message of x = output.to('cpu')
    x = output.to('cpu')  # TL202 | says: `.to("cpu")` copies a tensor to the host

    # case: the message of x = np.asarray(output)
    x = np.asarray(output)  # TL202 | says: `np.asarray()` copies a tensor to the host on every step

    # case: findings of one loop are a group
    x = output.cpu()  # TL202 | group: loop
    y = loss.tolist()  # TL202 | group: loop

# head: a training loop, and what comes after it
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()

# case: a validation loop that collects predictions
model.eval()
with torch.no_grad():
    for images, labels in loader:
        predictions.append(model(images.to(device)).cpu())

# case: after the loop
shown = output.cpu()

# case: an export after training
torch.save(model.cpu(), 'x')

# head: none

# case: `.to` a name for the CPU
host = 'cpu'
for images, labels in loader:
    output = model(images.to(device))
    loss = criterion(output, labels.to(device))
    loss.backward()
    chosen = output.to(host)  # TL202 | no fix

# case: before the backward
for images, labels in loader:
    output = model(images.to(device))
    shown = output.cpu()  # TL202 | no fix
    criterion(output, labels.to(device)).backward()

# case: in a helper
for images, labels in loader:
    output = model(images.to(device))
    loss = criterion(output, labels.to(device))
    loss.backward()
    note(output)
def note(value):
    return value.cpu()  # TL202 | no fix

# case: a batch that was not moved
for images, names in loader:
    loss = criterion(model(images.to(device)), 1)
    loss.backward()
    shown = names.tolist()

# case: an LBFGS closure
for images, labels in loader:
    def closure():
        loss = criterion(model(images.to(device)), labels.to(device))
        loss.backward()
        history.append(loss.cpu())
        return loss
    optimizer.step(closure)

# case: a function that generates
def generate(model, prompts):
    for prompt in prompts:
        out = model(prompt.to(device))
        texts.append(out.cpu())

# case: a loop that does not train
for images, labels in loader:
    outputs.append(model(images.to(device)).cpu())

# case: a function that acts
for images, labels in loader:
    output = model(images.to(device))
    loss = criterion(output, labels.to(device))
    loss.backward()
    select_action(output)
def select_action(output):
    return output.argmax(1).cpu().numpy()

# case: a program that uses no accelerator [bare]
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader

device = torch.device("cpu")
model = nn.Linear(3, 3).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(photos, num_workers=4)
for images, labels in loader:
    output = model(images.to(device))
    loss = criterion(output, labels.to(device))
    loss.backward()
    x = output.cpu()

# case: in a test [path=tests/test_training.py]
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
    print(loss.cpu())

# head: a step that also runs without a GPU
device = "cpu"
use_cuda = torch.cuda.is_available()
for index, (images, labels) in enumerate(loader):
    images = images.cuda() if use_cuda else images
    output = model(images)
    loss = criterion(output, labels)
    loss.backward()
    optimizer.step()

    # case: the branch without an accelerator
    if torch.cuda.is_available():
        kept = output.cpu()  # TL202
    else:
        kept = output.to(device)

    # case: a name for the question, and a negation
    kept = output.detach() if use_cuda else output.cpu()
    if not use_cuda:
        kept = output.cpu()
    if not (use_cuda or args.use_gpu):
        kept = output.cpu()
    if use_cuda and index:
        kept = output.cpu()  # TL202
    else:
        kept = output.cpu()  # TL202

    # case: what is asked of a device
    if args.device == "cpu":
        kept = output.cpu()
    elif args.device.type == "cuda":
        kept = output.cpu()  # TL202
    else:
        kept = output.cpu()
    kept = output.detach() if "cuda" in str(args.device) else output.cpu()
    kept = output.cpu() if args.device != "cpu" else output.detach()  # TL202

    # case: the device of a tensor, which says where that one is
    on_host = images.device.type == "cpu"
    if on_host or images.device.type == "cpu":
        kept = output.cpu()  # TL202
    kept = output.detach() if images.is_cuda else output.cpu()  # TL202

    # case: a question about something else
    if args.backend == "cpu":
        kept = output.cpu()  # TL202
    else:
        kept = output.cpu()  # TL202

    # case: flags by their words
    if args.no_cuda:
        kept = output.cpu()
    if args.use_cuda:
        kept = output.cpu()  # TL202
    else:
        kept = output.cpu()

    # case: what follows on a branch that leaves
    if torch.cuda.is_available():
        kept = output.cpu()  # TL202
        continue
    kept = output.cpu()

    # case: a device that may be the CPU
    kept = output.to(args.device)

# case: a batch that one of two branches moves, and that each round gets again
for images, labels in loader:
    if args.flip:
        images, labels = labels, images
    else:
        images, labels = images, labels
    if args.fast:
        images = images.cuda()
    else:
        images = images.to("cpu")
    loss = model(images).mean()
    loss.backward()
    optimizer.step()
