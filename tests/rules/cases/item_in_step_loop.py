# TL201: which reads are reported, which are left alone, and when a sum stays on the device.

# every program:
import math
import mlflow
import wandb
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader

device = torch.device("cuda")
model = nn.Linear(3, 3).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(photos, num_workers=4)

# head: a training step, and what is reported in it
for step, (images, labels) in enumerate(loader):
    images, labels = images.to(device), labels.to(device)
    output = model(images)
    loss = criterion(output, labels)
    loss.backward()
    optimizer.step()

    # case: a detached loss
    losses.append(loss.detach().item())  # TL201 | see

    # case: `.data`
    print(loss.data.item())  # TL201

    # case: what is computed of a parameter of the model
    print(model.logit_scale.exp().item())  # TL201
    print(model.settings.get("scale").item())  # TL201 hint

    # case: an element
    print(output[0, 0].item())  # TL201

    # case: a norm of gradients
    print(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item(), loss.item())  # TL201 # TL201

    # case: a gradient
    for p in model.parameters():
        print(p.grad.norm().item())  # TL201

    # case: a moved label
    print(labels.max().item())  # TL201

    # case: `float` of a tensor
    history.append(float(loss))  # TL201

    # case: `int` of a tensor
    count = int((output > 0).sum())  # TL201

    # case: in an f-string
    print(f"{loss.item():.3f}")  # TL201

    # case: a tensor in an f-string
    print(f"{step}: {loss:.3f}")  # TL201

    # case: a tensor behind `%`
    print("%d %.3f" % (step, loss))  # TL201

    # case: tensors behind a text that is put together
    print(("%10s" * 2 + "%g") % ("a", "b", *output))  # TL201

    # case: a tensor in `format`
    bar.set_description("{} {:.3f}".format(step, loss))  # TL201

    # case: a tensor that is printed
    print("loss", loss, step)  # TL201 | says: show it every few steps | marks: loss

    # case: a tensor that is logged
    writer.add_scalar("loss", loss, step)  # TL201 | marks: loss
    wandb.log({"output": output.mean(), "step": step})  # TL201 | marks: output.mean()
    mlflow.log_metric("labels", labels.max())  # TL201
    bar.set_postfix(largest=output.max())  # TL201

    # case: tensors in a dict for a progress bar
    bar.set_postfix({"loss": loss, "step": step}, refresh=False)  # TL201 | marks: loss
    bar.set_postfix(record)

    # case: a tensor that an object prints
    accelerator.print("loss", loss)  # TL201 | marks: loss

    # case: tensors in one chart
    writer.add_scalars("losses", {"first": loss, "steps": step}, step)  # TL201 | marks: loss
    writer.add_scalars("losses", record)

    # case: a tensor that a logger formats
    logger.info("loss %.3f at step %d", loss, step)  # TL201 | marks: loss
    logger.debug("loss %.3f", loss)
    logger.info(record, labels.max())
    logger.info()

    # case: a text that is shown
    bar.set_postfix(loss="%.3f" % loss)  # TL201 | marks: loss

    # case: a number that is logged
    writer.add_scalar("rate", optimizer.param_groups[0]["lr"], step)
    wandb.log({"step": step})
    wandb.log(record)

    # case: a tensor that is shown after it was read
    total += loss.item()  # TL201
    bar.set_postfix(loss=loss)

    # case: what may be a number or a tensor
    seen = step
    if quick:
        seen = loss
    print(f"{seen}")

    # case: what is printed of a tensor is on the host
    print(f"{loss.shape} {loss.device} {len(loader)}", "%s" % loss.dtype)

    # case: the text of an error
    assert loss.shape == (), f"a loss of {loss}"
    if bad: raise ValueError("no loss: %s" % loss)

    # case: formatted now and then
    if step % 100 == 0: print(f"{loss:.3f}")

    # case: in a progress bar
    bar.set_postfix(loss=loss.item())  # TL201

    # case: in a dict for a logger
    wandb.log({"loss": loss.item()})  # TL201

    # case: an element of a list of them
    parts = [loss, loss * 2]
    print(parts[0].item())  # TL201

    # case: a comprehension over them
    print([v.item() for v in [loss, loss]])  # TL201

    # case: parts of a tensor
    first, second = output.split(4)
    print(first.mean().item())  # TL201

    # case: parts of what nobody knows, along a dimension
    first, second = gathered(labels)[0].split(4, dim=0)
    print(first.mean().item())  # TL201

    # case: parts of a text
    print(int(name.split("-")[1]))

    # case: numbers that a library's model makes of tensors
    auc, ap = model.test(images, labels)
    print(f"{auc:.3f} {ap:.3f} {model.score(images):.3f}")

    # case: the first of several returned
    a, b = model.both(images), 1
    print(model(a).item())  # TL201

    # case: the same number once more
    history.append(loss.item())  # TL201 | says: Line … reads it again | see: loss.item()
    print(loss.item())

    # case: the same number twice more
    history.append(loss.item())  # TL201 | says: Lines … and … read it again | see: loss.item()
    print(loss.item())
    print(loss.item())

    # case: the same number after another backward pass
    history.append(output[0].item())  # TL201
    loss.backward()
    history.append(output[0].item())  # TL201

    # case: the same number in a loop of its own
    history.append(output[0].item())  # TL201
    for part in parts:
        work(part)
        history.append(output[0].item())  # TL201

    # case: the same number where the first read is not always made
    if verbose: print(loss.item())
    history.append(loss.item())  # TL201

    # case: the same name for another number
    history.append(loss.item())  # TL201
    loss = criterion(model(images), labels)
    history.append(loss.item())  # TL201

    # case: another element
    print(output[0].item())  # TL201
    print(output[1].item())  # TL201

    # case: a skipped warm-up
    if step < 500: continue
    print(loss.item())  # TL201

    # case: the other arm of a guard
    if step % 10 == 0:
        pass
    else:
        print(loss.item())  # TL201

    # case: a condition that decides nothing
    if loss.item() > 10:  # TL201
        print('high')

    # case: a comparison that ends nothing
    best = min(best, loss.item())  # TL201

    # case: a name that only sounds like acting
    fraction = loss.item()  # TL201

    # case: a scheduler on each step
    scheduler.step(loss.item())  # TL201

    # case: in the first process only
    if rank == 0:
        print(loss.item())  # TL201

    # case: in the main process only
    if accelerator.is_main_process:
        print(loss.item())  # TL201

    # case: under no_grad in the loop
    with torch.no_grad():
        print((output.argmax(1) == labels).sum().item())  # TL201

    # case: under a condition that asks for a writer
    if log_writer is not None:
        log_writer.write(loss.item())  # TL201

    # case: under a condition that asks for a writer on some steps
    if log_writer is not None and step % 10 == 0:
        log_writer.write(loss.item())

    # case: behind a wait for everything
    torch.cuda.synchronize()
    print(loss.item())  # TL201 | says: `synchronize()` in line 20 waits before it

    # case: behind such a wait in another branch
    if quick:
        torch.cuda.synchronize()
    print(loss.item())  # TL201 | says: print it every few steps.

    # case: under a name for a condition that holds now and then
    is_metric_step = (step % every == 0) or step == 3
    if is_metric_step:
        print(loss.item())

    # case: under a name for another condition
    is_large = width > 3 or quick
    if is_large:
        print(loss.item())  # TL201

    # case: behind the `and` of a condition that holds now and then
    if step % 10 == 0 and loss.item() > 3:
        count += 1

    # case: before the `and` of such a condition, and behind an `or`
    if loss.item() > 3 and step % 10 == 0 or loss.item() > 4:  # TL201 # TL201
        count += 1

    # case: one of several values of a dict
    state = states[0]
    state["step"] = 0
    state["mean"] = torch.zeros_like(loss)
    state["step"] += 1
    print(int(state["step"] % 10), int(state["mean"]))  # TL201 | marks: int(state["mean"])

    # case: a value of a dict that is written out
    shown = {"step": step, "loss": loss}
    print(float(shown["step"]), float(shown["loss"]))  # TL201 | marks: float(shown["loss"])

    # case: a value of a dict by a name
    shown = {"step": step, "loss": loss}
    print(float(shown[key]))

    # case: a condition that fails every so many steps
    if not step % 100 == 0:
        print(loss.item())  # TL201
    if step % 100 and use_amp:
        print(loss.mean().item())  # TL201
    if step % 100 > 0:
        print(loss.sum().item())  # TL201

    # case: the `else` of a condition that holds every so many steps
    if step % 100 == 0:
        pass
    else:
        print(loss.item())  # TL201

    # case: a division that never leaves anything
    if step % 1 == 0:
        print(loss.item())  # TL201

    # case: all steps but one
    if step != 0:
        print(loss.item())  # TL201
    if not self.global_step == 0:
        print(loss.mean().item())  # TL201
    if iter_num >= 5:
        print(loss.sum().item())  # TL201

    # case: a name for every so many steps, on the others
    now = step % 100 == 0
    if not now:
        print(loss.item())  # TL201

    # case: after skipping every hundredth round
    if step % 100 == 0: continue
    print(loss.item())  # TL201

    # case: a name for a loss that broke, where it did not
    gone = torch.isnan(seen).any()
    if not gone:
        print(loss.item())  # TL201

    # case: the message names `.item()`
    print(loss.item())  # TL201 | says: `.item()` makes the host wait for the GPU on every step;

    # case: the message names `float`
    print(float(loss))  # TL201 | says: `float(…)` of a tensor makes the host wait

    # case: a loop in the step
    for p in model.parameters():
        print(p.grad.norm().item())  # TL201 | says: It does so once for each `p` of `model.parameters()`.
        print(f"{p.grad.mean()}")  # TL201 | says: It does so once for each `p` of
    print(loss.item())  # TL201 | says: print it every few steps.

    # case: a comprehension in the step
    print([each.mean().item() for each in output])  # TL201 | says: for each `each` of `output`.
    print({k: v.item() for k, v in zip(the_names_of_all_the_other_losses, output)})  # TL201 | says: for each `k, v` of the loop in line 21.
    print([each for each in range(labels.max().item())])  # TL201 | says: by `.tolist()`.

    # case: what nobody knows has `.item()`, as tensors do
    print(mystery.item(), stats["loss"].mean().item())  # TL201 hint # TL201 hint
    print(float(mystery), mystery.numpy())

    # case: what nobody knows, and is asked for its type
    for name, value in stats.items():
        shown[name] = value.item() if isinstance(value, torch.Tensor) else value  # TL201 hint

    # case: the norm of gradients that are clipped in two steps
    total = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])
    torch.nn.utils.clip_grads_with_norm_(model.parameters(), 1.0, total)
    print(total.item())  # TL201

# head: a training step, and what is left alone in it
for step, (images, labels) in enumerate(loader):
    images, labels = images.to(device), labels.to(device)
    output = model(images)
    loss = criterion(output, labels)
    loss.backward()
    optimizer.step()

    # case: items of a dict
    for key, value in extra.items():
        print(key)

    # case: item with an argument
    print(loss.item(0))

    # case: item not called
    read = loss.item

    # case: item of a NumPy number
    eps = np.finfo(np.float32).eps.item()

    # case: item of an array
    print(np.zeros(3).max().item())

    # case: item of a pandas column
    import pandas as pd
    print(table['loss'].max().item(), pd.read_csv(name)["loss"].max().item())

    # case: item of a tensor that is known to be on the CPU
    print(torch.zeros(3).sum().item())

    # case: a tensor after `.cpu()`
    print(loss.cpu().item())  # TL201

    # case: a tensor after `.to('cpu')`, which TL202 reports
    print(loss.to('cpu').item())

    # case: every so many steps
    if step % log_every == 0:
        print(loss.item())

    # case: every so many steps, in the main process
    if step % log_interval == 0 and master_process:
        print(loss.item())

    # case: every so many steps, as an expression
    shown = loss.item() if step % 9 == 0 else 0

    # case: when logging
    if args.verbose:
        print(loss.item())

    # case: when saving
    if should_save(step):
        save(loss.item())

    # case: on the last step
    if step == len(loader) - 1:
        print(loss.item())

    # case: when the loss broke
    if torch.isnan(loss):
        raise E(loss.item())

    # case: after skipping most rounds
    if step % 100: continue
    print(loss.item())

    # case: the `else` of a condition that fails every so many steps
    if step % 100 != 0:
        pass
    else:
        print(loss.item())
    shown = 0 if step % 50 else loss.mean().item()

    # case: names for most steps
    most = step % 100 != 0
    if not most:
        print(loss.item())
    if not (most or use_amp):
        print(loss.mean().item())

    # case: after skipping the rounds that a name tells about
    now = step % 100 == 0
    if not now: continue
    print(loss.item())

    # case: half of the steps, and a number that is not written out
    if step % 2 != 0:
        print(loss.item())
    if step % parts != 0:
        print(loss.mean().item())

    # case: most steps, when logging
    if step % 100 != 0 and verbose:
        print(loss.item())

    # case: a batch of another size, and a step that is not written out
    if batch_size != 64:
        print(loss.item())
    if step != start:
        print(loss.mean().item())

    # case: in an `except` block
    try:
        f()
    except RuntimeError:
        print(loss.item())

    # case: a validation loop in the step loop
    with torch.no_grad():
        for images, labels in val_loader:
            total += criterion(model(images.to(device)), labels.to(device)).item()

    # case: after eval() in the step loop
    model.eval()
    print(model(images).sum().item())
    model.train()

    # case: an action for an environment
    action = output.argmax()
    state, reward, done, _ = env.step(action.item())

    # case: an action by its name
    action = output.argmax()
    play(action.item())

    # case: an action that goes to the environment later
    choice = output.argmax().item()
    state = env.step(choice)

    # case: the next word of a sentence
    next_word = output.argmax()
    play(next_word.item())

    # case: a test that ends the loop
    if loss.item() < 1e-3:
        break

    # case: a number that ends the loop
    current = loss.item()
    if current < 1e-3:
        break

    # case: a number that a patience is counted by
    if loss.item() < best:
        waited = 0
    else:
        waited += 1
    if waited > 10:
        break

    # case: a number beside a loop that ends by something else
    if loss.item() < best:  # TL201
        better += 1
    if step > 10:
        break

    # case: `float` of a number
    rate = float(optimizer.param_groups[0]['lr'])

    # case: `int` of a size
    count = int(images.size(0))

    # case: `float` of a length
    share = float(len(images)) / 3

    # case: `int` of a text with a base
    number = int(loss, 16)

    # case: `float` without argument
    zero = float()

    # case: `float` of something that may be a number
    kept = 0.0
    if step in marked:
        kept = loss
    print(float(kept))

    # case: `float` of what nobody knows
    print(float(mystery(loss)))

    # case: a shape
    rows = output.shape[0].item()

    # case: a module
    print(model.item())

    # case: suppressed
    print(loss.item())  # torchlint: ignore[TL201]

# head: a training step in a function, and sums that start before it
def train():
    total = 0.0
    right = 0
    outer = model(first.to(device)).mean()
    kept = []
    annotated: list[float] = []
    again = 1
    again = 0
    count, both = 0, 0.0
    first = second = 0
    sizes = 3, 4
    mean, deviation = measure()
    (low, high), width = (0, 1), 2
    started = best
    from_one = 1
    hidden = 0
    hidden = best
    seen = False
    for step, (images, labels) in enumerate(loader):
        images, labels = images.to(device), labels.to(device)
        output = model(images)
        loss = criterion(output, labels)
        loss.backward()
        optimizer.step()

        # case: a count by `eq`
        right += output.argmax(1).eq(labels).sum().item()  # TL201 safe
        # becomes: right += output.argmax(1).eq(labels).sum()
    # added: right = int(right)

        # case: a count by `eq` with a shape between
        right += output.eq(labels.view_as(output)).view(-1).sum().item()  # TL201 safe
        # becomes: right += output.eq(labels.view_as(output)).view(-1).sum()
    # added: right = int(right)

        # case: a loss times the size of its batch
        total += loss.item() * images.size(0)  # TL201 unsafe
        # becomes: total += loss.detach().float() * images.size(0)
    # added: total = float(total)

        # case: a loss divided by a number
        total += loss.item() / len(loader)  # TL201 unsafe
        # becomes: total += loss.detach().float() / len(loader)
    # added: total = float(total)

        # case: a sum of parts gets parentheses
        total += (loss + output.mean()).item()  # TL201 unsafe
        # becomes: total += (loss + output.mean()).detach().float()
    # added: total = float(total)

        # case: a count in parentheses over several lines
        right += (output.argmax(1)  # TL201 safe
            .eq(labels).sum()).item()
            # becomes: .eq(labels).sum())
    # added: right = int(right)

        # case: a count next to something that is not one
        right += (output > 0).sum().item()  # TL201 unsafe
        # becomes: right += (output > 0).sum().detach().float()
        right += 0.5
    # added: right = float(right)

        # case: no count: (output > 0).sum(dtype=torch.float16)
        right += (output > 0).sum(dtype=torch.float16).item()  # TL201 unsafe
        # becomes: right += (output > 0).sum(dtype=torch.float16).detach().float()
    # added: right = float(right)

        # case: no count: (output > 0).all()
        right += (output > 0).all().item()  # TL201 unsafe
        # becomes: right += (output > 0).all().detach().float()
    # added: right = float(right)

        # case: no count: (output > 0).float().sum()
        right += (output > 0).float().sum().item()  # TL201 unsafe
        # becomes: right += (output > 0).float().sum().detach().float()
    # added: right = float(right)

        # case: no count: output[output > 0].sum()
        right += output[output > 0].sum().item()  # TL201 unsafe
        # becomes: right += output[output > 0].sum().detach().float()
    # added: right = float(right)

        # case: a guarded read that is formatted
        total += loss.item()  # TL201 unsafe
        # becomes: total += loss.detach().float()
        if step % 100 == 0:
            print(f'{total / (step + 1):.3f}')
    # added: total = float(total)

        # case: a guarded read by `%`
        total += loss.item()  # TL201 unsafe
        # becomes: total += loss.detach().float()
        if step % 100 == 0:
            print('%.3f' % (total / 100))
    # added: total = float(total)

        # case: a guarded read by `format`
        total += loss.item()  # TL201 unsafe
        # becomes: total += loss.detach().float()
        if step % 100 == 0:
            print('{:.3f}'.format(total))
    # added: total = float(total)

        # case: the same word for something else
        total += loss.item()  # TL201 unsafe
        # becomes: total += loss.detach().float()
        log(total=step, other=x.total)
    # added: total = float(total)

        # case: an early end of the loop
        total += loss.item()  # TL201 unsafe
        # becomes: total += loss.detach().float()
        if step > 9: break
    # added: total = float(total)

        # case: a count beside a length
        right += (output > 0).sum().item()  # TL201 unsafe
        # becomes: right += (output > 0).sum().detach().float()
        right += len(images)
    # added: right = float(right)

        # case: a count beside one that is read otherwise
        right += (output > 0).sum().item()  # TL201 unsafe
        # becomes: right += (output > 0).sum().detach().float()
        right += (output > 1).sum().tolist()
    # added: right = float(right)

        # case: a count by a function
        right += torch.eq(output.argmax(1), labels).sum().item()  # TL201 safe
        # becomes: right += torch.eq(output.argmax(1), labels).sum()
    # added: right = int(right)

        # case: a count over several lines without parentheses of its own
        right += (output.argmax(1) == labels).sum(  # TL201 safe
        ).item()
        # becomes: )
    # added: right = int(right)

        # case: a count in needless parentheses
        right += ((output > 0).sum()).item()  # TL201 safe
        # becomes: right += (output > 0).sum()
    # added: right = int(right)

        # case: no fix for a print
        print(loss.item())  # TL201 | no fix: how often it is needed | says: print it every few steps

        # case: no fix for a meter
        meter.update(loss.item())  # TL201 | no fix: how often it is needed | says: log it every few steps

        # case: a sum of numbers that are copied before they are read
        total += loss.detach().cpu().item()  # TL201 unsafe
        # becomes: total += loss.detach().float()
    # added: total = float(total)

        # case: a sum of `float`
        total += float(loss)  # TL201 unsafe
        # becomes: total += loss.detach().float()
    # added: total = float(total)

        # case: no fix for a sum of `int`
        right += int((output > 0).sum())  # TL201 | no fix

        # case: no fix for a kept number that is added and shown on every step
        value = loss.item()  # TL201 | no fix: not only added
        total += value
        print(f"{value:.3f}")

        # case: no fix for a kept number that is added and passed on now and then
        value = loss.item()  # TL201 | no fix: not only added
        total += value
        if step % 100 == 0:
            log(value)

        # case: a kept number that is added and shown now and then
        value = loss.item()  # TL201 unsafe | fix says: Sum `total` on the device
        # becomes: value = loss.detach().float()
        total += value
        if step % 100 == 0:
            print(f"{value:.3f}")
    # added: total = float(total)

        # case: no fix for a sum in what starts as a list
        kept += loss.item()  # TL201 | no fix: does not start as a literal 0

        # case: no fix for a list in what starts as a number
        total.append(loss.item())  # TL201 | no fix: does not start as `[]`

        # case: no fix for a list of what has another name
        same = loss
        kept.append(same.item())  # TL201 | no fix: changed in place

        # case: no fix for a list of parts
        for part in output:
            kept.append(part.item())  # TL201 | no fix: changed in place

        # case: no fix for a list of what was computed before the loop
        kept.append(outer.item())  # TL201 | no fix: changed in place

        # case: a list of a loss that something else is changed by
        kept.append(loss.item())  # TL201 safe | fix says: Keep tensors in `kept`
        # becomes: kept.append(loss.detach())
        everything += loss
    # added: kept = torch.stack(kept).flatten().tolist() if kept else []

        # case: no fix for a coefficient that is also multiplied with something unknown
        scale = loss.exp().item()  # TL201 | no fix: only a number may be sure to fit
        again = (scale * output).mean() + (scale * factor)

        # case: a coefficient that is shown now and then
        scale = loss.exp().item()  # TL201 unsafe
        # becomes: scale = loss.exp().detach()
        again = (scale * output).mean()
        if step % 100 == 0:
            print(f"{scale:.3f}")

        # case: no fix for a coefficient that is passed on now and then
        scale = loss.exp().item()  # TL201 | no fix: only a number may be sure to fit
        again = (scale * output).mean()
        if step % 100 == 0:
            log(scale)

        # case: no fix for a coefficient that is shown on every step
        scale = loss.exp().item()  # TL201 | no fix: only a number may be sure to fit
        again = (scale * output).mean()
        print(f"{scale:.3f}")

        # case: no fix for a list that starts elsewhere
        losses.append(loss.item())  # TL201 | no fix: does not start as `[]`

        # case: no fix for the list of an object
        self.losses.append(loss.item())  # TL201 | no fix: the list is not a variable

        # case: a list
        kept.append(loss.item())  # TL201 safe | says: `torch.stack`
        # becomes: kept.append(loss.detach())
    # added: kept = torch.stack(kept).flatten().tolist() if kept else []

        # case: a list of `float`, annotated
        annotated.append(float(loss))  # TL201 safe
        # becomes: annotated.append(loss.detach())
    # added: annotated = torch.stack(annotated).flatten().tolist() if annotated else []

        # case: a list of detached tensors
        kept.append(loss.detach().item())  # TL201 safe
        # becomes: kept.append(loss.detach())
    # added: kept = torch.stack(kept).flatten().tolist() if kept else []

        # case: no fix for a list that is read in the loop
        kept.append(loss.item())  # TL201 | no fix: used again inside the loop
        if step % 100 == 0:
            print(sum(kept))

        # case: no fix for a list that is filled twice
        kept.append(loss.item())  # TL201 | no fix: used again inside the loop
        kept.append(output.mean().item())  # TL201 | no fix: used again inside the loop

        # case: a list that a list is added to
        kept += [loss.item()]  # TL201 | no fix: not only added | says: `torch.stack`

        # case: no fix for a list of what a captured graph overwrites
        graph = torch.cuda.CUDAGraph()
        kept.append(loss.item())  # TL201 | no fix: CUDA graph

        # case: no fix for a list of a loss that is changed in place later
        kept.append(loss.item())  # TL201 | no fix: changed in place
        loss /= 4

        # case: no fix for a list of a loss that a method changes
        kept.append(loss.item())  # TL201 | no fix: changed in place
        loss.div_(4)

        # case: no fix for a list of an item, which is a view
        kept.append(output[0].item())  # TL201 | no fix: changed in place

        # case: a list of something that is computed each time
        kept.append(output[0].exp().item())  # TL201 safe
        # becomes: kept.append(output[0].exp().detach())
    # added: kept = torch.stack(kept).flatten().tolist() if kept else []

        # case: a number that is kept, then added
        value = loss.item()  # TL201 unsafe | says: add it up on the device
        # becomes: value = loss.detach().float()
        total += value * len(images)
    # added: total = float(total)

        # case: a count that is kept, then added
        hits = (output > 0).sum().item()  # TL201 safe
        # becomes: hits = (output > 0).sum()
        right += hits
    # added: right = int(right)

        # case: a number that is kept for a sum and a list
        value = loss.item()  # TL201 unsafe
        # becomes: value = loss.detach().float()
        total += value
        kept.append(value)
    # added: total = float(total)
    # added: kept = torch.stack(kept).flatten().tolist() if kept else []

        # case: a number that is kept and printed now and then
        value = loss.item()  # TL201 safe | says: only used now and then
        # becomes: value = loss.detach()
        if step % 100 == 0:
            print(f"{value:.3f}")

        # case: no fix for a number that is passed on now and then
        value = loss.item()  # TL201 | no fix: move the read
        if step % 100 == 0:
            log(value)

        # case: no fix for a kept number whose tensor is changed
        value = loss.item()  # TL201 | no fix: changed in place
        loss /= 4
        total += value

        # case: no fix for a number that is added and passed on
        value = loss.item()  # TL201 | no fix: not only added to a sum
        total += value
        meter.update(value)

        # case: a coefficient
        scale = loss.exp().item()  # TL201 unsafe | says: torch can compute with the tensor
        # becomes: scale = loss.exp().detach()
        again = (2 * scale * model(images)).mean()

        # case: a coefficient in place
        again = output - loss.item()  # TL201 unsafe
        # becomes: again = output - loss.detach()

        # case: no fix for a coefficient that is also passed on
        scale = loss.exp().item()  # TL201 | no fix: only a number may be sure to fit
        again = (scale * output).mean()
        report(scale)

        # case: no fix for a coefficient that is an item, which is a view
        scale = output[0].item()  # TL201 | no fix: changed in place
        again = (scale * output).mean()

        # case: no coefficient of an object that does the backward pass
        accelerator.backward(loss)
        mean = loss.item() / accelerator.num_processes  # TL201 | no fix
        print(f"{accelerator.num_processes}")

        # case: a size
        first = images[: int(labels.max().item())]  # TL201 | says: at once by `.tolist()`

        # case: a decision
        if not math.isfinite(loss.item()):  # TL201 | says: let torch decide
            total = 0

        # case: what is stored, what is returned
        record["loss"] = loss.item()  # TL201 | says: store it
        return Stats(loss=output.mean().item())  # TL201 | says: return it

        # case: no fix for a difference
        total -= loss.item()  # TL201 | no fix: is not only added

        # case: no fix for a sum with something else
        total += loss.item() + 1  # TL201 | no fix: is not only added

        # case: no fix for a number divided by it
        total += 1 / loss.item()  # TL201 | no fix: is not only added

        # case: no fix for a product with another tensor
        total += loss.item() * other  # TL201 | no fix: is not only added

        # case: no fix for a sum that is reset inside
        total += loss.item()  # TL201 | no fix: also set inside the loop
        if step % 100 == 0:
            total = 0.0

        # case: no fix for a sum that is scaled inside
        total += loss.item()  # TL201 | no fix: more than additions
        total *= 0.9

        # case: no fix for a sum that is read on every step
        total += loss.item()  # TL201 | no fix: read on every step
        print(f'{total:.3f}')

        # case: no fix for a sum that is passed on
        total += loss.item()  # TL201 | no fix: must be a number
        if step % 100 == 0:
            log(total)

        # case: no fix for a sum that is printed without format
        total += loss.item()  # TL201 | no fix: must be a number
        if step % 100 == 0:
            print(f'{total}')

        # case: no fix for a sum that is printed as text
        total += loss.item()  # TL201 | no fix: must be a number
        if step % 100 == 0:
            print('%s' % total)

        # case: no fix for a sum that `format` prints as it is
        total += loss.item()  # TL201 | no fix: must be a number
        if step % 100 == 0:
            print('{}'.format(total))

        # case: no fix for a sum that `format` prints by its name
        total += loss.item()  # TL201 | no fix: must be a number
        if step % 100 == 0:
            print('{t}'.format(t=total))

        # case: no fix for a sum that is printed as text by its name
        total += loss.item()  # TL201 | no fix: must be a number
        if step % 100 == 0:
            print('%(t)5s' % {'t': total})

        # case: no fix for a sum that is printed by an unknown format
        total += loss.item()  # TL201 | no fix: must be a number
        if step % 100 == 0:
            print(line % total)

        # case: no fix for a sum that an unknown text formats
        total += loss.item()  # TL201 | no fix: must be a number
        if step % 100 == 0:
            print(line.format(total))

        # case: no fix for a sum that another method of a text takes
        total += loss.item()  # TL201 | no fix: must be a number
        if step % 100 == 0:
            print('loss'.ljust(total))

        # case: no fix for a sum that has an attribute read
        total += loss.item()  # TL201 | no fix: read on every step
        print(total.real)

        # case: no fix for a sum that goes into another
        total += loss.item()  # TL201 | no fix: read on every step
        everything += total

        # case: no fix for a sum whose `repr` is printed
        total += loss.item()  # TL201 | no fix: must be a number
        if step % 100 == 0:
            print(f'{total!r:>9}')

        # case: no fix for a sum that a nested function reads
        total += loss.item()  # TL201 | no fix: is used by a function inside the loop
        if step % 100 == 0:
            show(lambda: total)

        # case: two terms of one sum
        total += loss.item()  # TL201 unsafe
        # becomes: total += loss.detach().float()
        total += output.mean().item()  # TL201 unsafe
        # becomes: total += output.mean().detach().float()
    # added: total = float(total)

        # case: a count and a loss in one sum are not a whole number
        right += (output > 0).sum().item()  # TL201 unsafe
        # becomes: right += (output > 0).sum().detach().float()
        right += loss.item()  # TL201 unsafe
        # becomes: right += loss.detach().float()
    # added: right = float(right)

        # case: a loss in a sum
        total += loss.item()  # TL201

        # case: a count
        right += (output.argmax(1) == labels).sum().item()  # TL201

        # case: a number that ends the function
        current = loss.item()
        if current < best:
            return

        # case: the size of a batch times its loss
        right += len(images) * loss.item()  # TL201 unsafe
        # becomes: right += len(images) * loss.detach().float()
    # added: right = float(right)

        # case: a sum that is not a count, although it is whole
        right += output.sum().item()  # TL201 unsafe
        # becomes: right += output.sum().detach().float()
    # added: right = float(right)

        # case: a count that is divided is not an int
        right += (output > 0).sum().item() / 3  # TL201 unsafe
        # becomes: right += (output > 0).sum().detach().float() / 3
    # added: right = float(right)

        # case: a count that starts as a float stays one
        total += output.argmax(1).eq(labels).sum().item()  # TL201 safe
        # becomes: total += output.argmax(1).eq(labels).sum()
    # added: total = float(total)

        # case: a start that takes the place of another
        again += loss.item()  # TL201 unsafe
        # becomes: again += loss.detach().float()
    # added: again = float(again)

        # case: both zeros on one line
        both += loss.item()  # TL201 unsafe
        # becomes: both += loss.detach().float()
    # added: both = float(both)

        # case: both zeros by one assignment
        second += loss.item()  # TL201 unsafe
        # becomes: second += loss.detach().float()
    # added: second = float(second)

        # case: no fix for an attribute
        self.total += loss.item()  # TL201 | no fix: the sum is not a variable

        # case: no fix for a sum without a start
        unset += loss.item()  # TL201 | no fix: does not start as a literal 0

        # case: no fix for a sum that starts at something
        started += loss.item()  # TL201 | no fix: does not start as a literal 0

        # case: no fix for a sum that starts at one
        from_one += loss.item()  # TL201 | no fix: does not start as a literal 0

        # case: no fix for a sum that another start hides
        hidden += loss.item()  # TL201 | no fix: does not start as a literal 0

        # case: no fix for a sum that is returned inside
        total += loss.item()  # TL201 | no fix: must be a number
        if step % 100 == 0:
            return total

        # case: no fix for a sum that is yielded
        total += loss.item()  # TL201 | no fix: read on every step
        yield total

        # case: no fix for a boolean that starts as False
        seen += loss.item()  # TL201 | no fix: does not start as a literal 0

# head: a training loop that calls a helper
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
    note(loss)

# case: a helper
def note(value):
    print(value.item())  # TL201 | see: for images in loader:

# case: a function that only sounds like acting
def contact(value):
    pass
def note(value):
    print(value.item())  # TL201

# case: a loop in a helper
def note(value):
    for each in value:
        print(each.item())  # TL201 | says: once for each `each` of `value`.

# case: a loop in a helper that may be one of steps
def note(value):
    for each in range(3):
        print(value[each].item())  # TL201 | says: print it every few steps.
    while True:
        print(value.item())  # TL201 | says: print it every few steps.

# case: a parameter that the step gives something nobody knows
    show(mystery())
def note(value):
    pass
def show(value):
    print(value.item(), float(value))  # TL201 hint | marks: value.item()

# case: a parameter that the step gives a number
    show(3)
def note(value):
    pass
def show(value):
    print(value.item())

# case: a function that counts what is valid in a batch
    count_valid_tokens(images.to(device))
    valid_loss(images.to(device))
def note(value):
    pass
def count_valid_tokens(labels):
    return (labels > 0).sum().item()  # TL201
def valid_loss(labels):
    return (labels > 0).sum().item()

# case: a batch that moves itself
for batch in loader:
    batch.to(device)
    loss = model(batch.x)
    loss.backward()
    print(batch.y.max().item())  # TL201

# case: batches of a function that move themselves
for batch, info in with_info(loader):
    batch.to_device(device)
    loss = model(batch.x)
    loss.backward()
    print(batch.y.max().item())  # TL201
    step(batch)
def step(batch):
    print(batch.y.max().item())  # TL201

# case: a batch that moves to the host, and a module that moves
for batch in loader:
    batch.to("cpu")
    loss = model(batch.x.to(device))
    loss.backward()
    print(batch.y.max().item())
    for layer in layers:
        layer.to(device)
        print(layer.scale.item())  # TL201 hint

# head: none

# case: before the backward
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    print(loss.item())  # TL201
    loss.backward()

# case: a loop without an end
batches = iter(loader)
while True:
    images, labels = next(batches)
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    print(loss.item())  # TL201

# case: a function whose name starts with eval, but that trains
def evaluate_and_train():
    for images in loader:
        loss = model(images.to(device)).mean()
        loss.backward()
        print(loss.item())  # TL201

# case: lengths that stay on the CPU
for images, lengths in loader:
    loss = criterion(model(images.to(device)), 1)
    loss.backward()
    longest = lengths.max().item()

# case: outside of any loop
labels = labels.to(device)
classes = labels.max().item()

# case: after the loop
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
print(loss.item())

# case: in the loop's `else`
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
else:
    print(loss.item())

# case: in the epoch loop around
for epoch in range(9):
    for images in loader:
        loss = model(images.to(device)).mean()
        loss.backward()
    print(loss.item())

# case: a scheduler after each epoch
for epoch in range(9):
    for images in loader:
        loss = model(images.to(device)).mean()
        loss.backward()
    scheduler.step(loss.item())

# case: a loop that does not train
for images, labels in loader:
    print(model(images).item())

# case: an LBFGS closure
for images, labels in loader:
    def closure():
        optimizer.zero_grad()
        loss = criterion(model(images.to(device)), labels.to(device))
        loss.backward()
        print(loss.item())
        return loss
    optimizer.step(closure)

# case: a validation loop
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()

with torch.no_grad():
    for images, labels in loader:
        loss = criterion(model(images.to(device)), labels.to(device))
        test_loss += loss.item()

# case: a validation function
def validate(model):
    for images, labels in loader:
        loss = criterion(model(images.to(device)), labels.to(device))
        test_loss += loss.item()

# case: a function that acts
for images, labels in loader:
    output = model(images.to(device))
    loss = criterion(output, labels.to(device))
    loss.backward()
    select_action(output)
def select_action(output):
    return output.argmax().item()

# case: the condition of `while`
while loss.item() > 1e-3:
    loss = criterion(model(x.to(device)), y.to(device))
    loss.backward()

# case: `float` under another meaning
from mine import float
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
    print(float(loss))

# case: a parameter that nobody passes a tensor for
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
    note(1)
def note(value):
    print(float(value))

# case: a count becomes an int after the loop
right = 0
for images, labels in loader:
    output = model(images.to(device))
    loss = criterion(output, labels.to(device))
    loss.backward()
    right += (output.argmax(1) == labels).sum().item()  # TL201 safe
    # becomes: right += (output.argmax(1) == labels).sum()
# added: right = int(right)
print(right)

# case: a loss is summed in float32
total = 0.0
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
    total += loss.item()  # TL201 unsafe
    # becomes: total += loss.detach().float()
# added: total = float(total)
print(total / len(loader))

# case: no fix for a sum that starts only after the loop
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
    total += loss.item()  # TL201 | no fix: does not start as a literal 0
total = 0

# case: no fix for a sum that starts elsewhere
total = 0.0
def train():
    global total
    for images in loader:
        loss = model(images.to(device)).mean()
        loss.backward()
        total += loss.item()  # TL201 | no fix: does not start as a literal 0

# case: several sums of one loop
total, right, seen = 0.0, 0, 0
for images, labels in loader:
    output = model(images.to(device))
    loss = criterion(output, labels.to(device))
    loss.backward()
    total += loss.item()  # TL201 unsafe
    # becomes: total += loss.detach().float()
    right += (output.argmax(1) == labels).sum().item()  # TL201 safe
    # becomes: right += (output.argmax(1) == labels).sum()
    seen += len(images)
# added: total = float(total)
# added: right = int(right)
print(total, right / seen)

# case: a sum over all epochs becomes a number after the last
total = 0.0
for epoch in range(9):
    for images in loader:
        loss = model(images.to(device)).mean()
        loss.backward()
        total += loss.item()  # TL201 unsafe
        # becomes: total += loss.detach().float()
# added: total = float(total)
print(total)

# case: a sum of each epoch becomes a number after it
for epoch in range(9):
    total = 0.0
    for images in loader:
        loss = model(images.to(device)).mean()
        loss.backward()
        total += loss.item()  # TL201 unsafe
        # becomes: total += loss.detach().float()
    # added: total = float(total)
    print(total)

# case: a loop on one line
total = 0.0
while busy: loss = model(x.cuda()); loss.backward(); total += loss.item()  # TL201 unsafe
# becomes: while busy: loss = model(x.cuda()); loss.backward(); total += loss.detach().float()
# added: total = float(total)

# case: a loop on one line at the end of a function
def f():
    total = 0.0; x = 1
    while busy: loss = model(x.cuda()); loss.backward(); total += loss.item()  # TL201 unsafe
    # becomes: while busy: loss = model(x.cuda()); loss.backward(); total += loss.detach().float()
    # added: total = float(total)

# case: a count that a fraction is added to after the loop
right = 0
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
    right += (loss > 0).sum().item()  # TL201 safe
    # becomes: right += (loss > 0).sum()
# added: right = int(right)
right += 0.5

# case: no count: a comparison by a function under its own name
from torch import eq
right = 0
for images, labels in loader:
    output = model(images.to(device))
    output.mean().backward()
    right += eq(output, labels.to(device)).sum().item()  # TL201 unsafe
    # becomes: right += eq(output, labels.to(device)).sum().detach().float()
# added: right = float(right)

# case: no count: what a function of the file gives
def draw():
    return torch.zeros(3, device="cuda").sum()
right = 0
for images in loader:
    model(images.to(device)).mean().backward()
    right += draw().item()  # TL201 unsafe
    # becomes: right += draw().detach().float()
# added: right = float(right)

# case: an evaluation that runs on each step
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
    evaluate(loss)
def evaluate(value):
    print(value.item())

# case: a loop that a helper runs every so many steps
for step, images in enumerate(loader):
    loss = model(images.to(device)).mean()
    loss.backward()
    note([loss, loss], step)
def note(values, step):
    if step % 100 == 0:
        for value in values:
            print(value.item())

# case: a training loop that runs every so many epochs, its step in another file
from steps import train_step
def train(epoch):
    if epoch % 10 == 0:
        for images in loader:
            loss = train_step(model, images.to(device))
            print(loss.item())  # TL201 | see
# file: steps.py
import torch
def train_step(model, images):
    loss = model(images.cuda()).mean()
    loss.backward()
    return loss

# case: findings of one loop are a group
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
    print(loss.item())  # TL201 | group: first
    print(loss.max().item())  # TL201 | group: first
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
    print(loss.item())  # TL201 | group: second

# case: left alone: a step that the script takes once
def demonstrate():
    loss = model(torch.rand(3, 3, device=device)).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
if __name__ == "__main__":
    demonstrate()

# case: left alone: a step that the script takes once, through another function
class Agent:
    def learn(self):
        loss = model(torch.rand(3, 3, device=device)).mean()
        loss.backward()
        optimizer.step()
        print(loss.item())
def main():
    Agent().learn()
main()

# head: a step in a function that may run more than once
def learn(rank=0):
    loss = model(torch.rand(3, 3, device=device)).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())  # TL201

# case: a step that the script calls in a loop
def main():
    learn()
for epoch in range(1000):
    main()

# case: a step that a function which nobody is seen to call takes
def update():
    learn()

# case: a step that is handed to whatever starts the processes
torch.multiprocessing.spawn(learn, nprocs=2)

# head: none

# case: a list in a program that imports no torch itself [bare]
from torch import nn
from torch.optim import SGD
# added: import torch
def train(loader):
    model = nn.Linear(3, 3).cuda()
    optimizer = SGD(model.parameters(), lr=0.1)
    kept = []
    for images in loader:
        loss = model(images.cuda()).mean()
        loss.backward()
        optimizer.step()
        kept.append(loss.item())  # TL201 safe
        # becomes: kept.append(loss.detach())
    # added: kept = torch.stack(kept).flatten().tolist() if kept else []
    return kept

# case: a list over several loops [bare]
import torch
from torch import nn
def train(loader):
    model = nn.Linear(3, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    kept = []
    for epoch in range(9):
        for images in loader:
            loss = model(images.cuda()).mean()
            loss.backward()
            optimizer.step()
            kept.append(loss.item())  # TL201 unsafe
            # becomes: kept.append(loss.detach())
    # added: kept = torch.stack(kept).flatten().tolist() if kept else []
    return kept

# case: a program that uses no accelerator [bare]
import torch
model = torch.nn.Linear(3, 3).to("cpu")
for images in loader:
    loss = model(images.to("cpu")).mean()
    loss.backward()
    print(loss.item())

# case: the same program with one [bare]
import torch
model = torch.nn.Linear(3, 3).to("cuda")
for images in loader:
    loss = model(images.to("cuda")).mean()
    loss.backward()
    print(loss.item())  # TL201

# case: what Transformers passes to a callback are numbers and settings
from transformers import TrainerCallback
class Progress(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        print(f"{state.epoch:.2f} {args.seed} {control.should_save} {int(state.epoch)}")

# case: what Lightning passes to a callback
import lightning as L
class Progress(L.Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        print(f"{trainer.global_step} {batch_idx} {pl_module.threshold}")
        print(f"{outputs['loss']:.3f}")  # TL201

# case: a hook of a hand-written trainer, which looks up what it shows
from .base import HookBase
class Shows(HookBase):
    def after_step(self):
        losses = self.trainer.losses
        for key in losses:
            self.trainer.storage.put(key, losses[key].item())  # TL201 hint
        if self.trainer.step % 20 == 0:
            print(self.trainer.loss.item())
    def after_epoch(self):
        print(self.trainer.loss.item())
    def after_train_iter(self, runner, logs=None):
        if self.every_n_iters(runner, 50):
            print(runner.loss.item())
        print(f"{logs['loss']:.3f}")

# case: a callback of a hand-written loop
class Callback:
    def on_batch_end(self, batch, logs): ...
class Shows(Callback):
    def on_batch_end(self, batch, logs):
        self.total += model(batch.images.cuda()).mean().item()  # TL201
        print(f"{batch} {logs['loss']:.3f}")
    def on_epoch_end(self, logs):
        self.total += model(self.images.cuda()).mean().item()

# case: in a test [path=tests/test_training.py]
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
    print(loss.item())

# case: a function that draws something for a step
def sample_scale(value):
    return value * value.abs().max().item()  # TL201
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
    noise = sample_scale(loss)

# case: a function that makes something of the model, without gradients
def sample(value):
    with torch.no_grad():
        shown = model(value)
    return shown.abs().max().item()
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
    noise = sample(loss)

# head: a step, and objects of other files that hold numbers
from project import build_network, create_state, load_options
class Trainer:
    def __init__(self):
        self.model_loader = make_loader(options)
        self.model = None
    def start(self):
        model_names = options.model_names()
        self.model = self.model_loader.load(model_names, dtypes=options.model_dtypes())
    def fit(self, args, batch_of):
        progress = self.model.progress
        network = build_network(args).to(device)
        for step, (images, labels) in enumerate(loader):
            output = network(images.to(device))
            loss = criterion(output, labels.to(device))
            loss.backward()
            optimizer.step()

            # case: a counter of the model that a loader gave
            print(f"{progress.global_step} {progress.epoch}")
            print(int(progress.global_step), int(self.model.seen))
            writer.add_scalar("decay", self.model.ema.decay_at(step), progress.global_step)

            # case: a counter of the model that a function built
            print(f"{network.global_step}", int(network.seen))

            # case: a state that a function made of the model
            print(f"{create_state(network).step}")

            # case: a number next to the tensors of an output
            print(f"{output.num_tokens} {output.n_experts} {output.step} {output.batch_size}")
            print(int(output.batch_size[0] / 2))

            # case: a tensor of an output
            print(f"{output.loss} {output.aux_loss:.3f}")  # TL201 # TL201
            steps = int(output.lengths.max())  # TL201

            # case: what the built network returns, and its parameters
            print(network(images).mean().item())  # TL201
            for name, p in network.named_parameters():
                norms[f"{name}.norm"] = p.grad.norm()
                norms[name] = p.grad.norm().item()  # TL201

            # case: names next to modules and buffers
            for name, part in network.named_modules():
                print(f"{name}")
            for name, buffer in network.named_buffers():
                print(f"{name}")
                print(buffer.mean().item())  # TL201
            for index, (name, p) in enumerate(network.named_parameters()):
                print(f"{index} {name}")
                print(f"{p.mean()}")  # TL201

# head: a helper of the step, and what checks of types show
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    note({"loss": loss}, {})
def note(values, kept):
    for name, value in values.items():
        # case: only numbers come past the check
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        kept[name] = float(value)

        # case: only tensors come past the check
        if not isinstance(value, torch.Tensor):
            continue
        kept[name] = float(value)  # TL201

        # case: a number in its branch, a tensor in the other
        if isinstance(value, float):
            kept[name] = float(value)
        else:
            kept[name] = float(value)  # TL201

        # case: a condition in an expression
        kept[name] = float(value) if isinstance(value, (int, float)) else value.item()  # TL201 | marks: value.item()
        kept[name] = isinstance(value, str) and float(value)

        # case: an assertion
        assert isinstance(value, float)
        kept[name] = float(value)

        # case: either of two types
        if isinstance(value, float) or name in kept:
            kept[name] = float(value)  # TL201

        # case: what is made of it in the branch
        if isinstance(value, float):
            value = torch.tensor(value, device=device)
            kept[name] = float(value)  # TL201

# head: the step before a helper that is given what a command line says
import argparse
import models
parser = models.model_parser(argparse.ArgumentParser())
args = parser.parse_args()
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    adjust(args.epoch, args.steps, loss)

# case: a list of numbers, and a text
def adjust(epoch, steps, loss):
    for a_step in steps:
        if epoch >= int(a_step):
            epoch += 1
    return int(loss)  # TL201

# head: a helper of the step that looks for what is wrong
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    look_at(loss)
def look_at(loss):
    # case: the text of an error is made once
    if model.deep:
        count = int(loss.sum().item())
        raise ValueError(f"{count} of {loss.numel()}")

    # case: a branch that goes on
    if model.deep:
        count = int(loss.sum().item())  # TL201
        if count:
            raise ValueError(count)
    else:
        print(loss.item())  # TL201

    # case: the text of an assertion
    assert loss.dim() == 1, str(loss.max().item())
    assert loss.max().item(), "none"  # TL201
    return loss

# head: updates of PPO, each of several epochs over minibatches
class Trainer:
    def __init__(self, optimizers):
        self.optimizer, self.lr_scheduler = optimizers
    def train(self):
        for update in range(self.updates):
            values = play(model)
            for epoch in range(4):
                for batch in minibatches(values):
                    loss = criterion(model(batch.to(device)), batch)
                    loss.backward()
                    self.optimizer.step()
                    kl = model(batch).mean()

                    # case: in the loop over minibatches
                    kls.append(kl.item())  # TL201

                # case: in the loop over epochs, and in that over updates
                kls.append(kl.item())
            metrics["loss"] = loss.item()
            self.lr_scheduler.step()
            self.optim_schedule.step()

# head: a helper with branches that its callers choose
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    note(loss)
    note(loss, False, mode="mean", scale=3.0)
def note(loss, unbiased=False, mask=None, mode="mean", scale=1.0, **rest):
    # case: a flag that nobody sets
    if unbiased:
        kept["a"] = loss.item()
    else:
        kept["b"] = loss.item()  # TL201
    kept["c"] = loss.max().item() if not unbiased else loss.min().item()  # TL201 | marks: loss.max().item()

    # case: an argument that nobody passes
    if mask is not None:
        kept["a"] = loss.item()
    if mask is None and loss.item() > 3:  # TL201
        kept["b"] = loss.max().item()  # TL201

    # case: a text
    if mode == "sum":
        kept["a"] = loss.item()
    elif mode == "mean":
        kept["b"] = loss.item()  # TL201

    # case: what leaves the function
    if not unbiased:
        return loss.item()  # TL201
    kept["a"] = loss.max().item()

    # case: a name for the question, and a question that says nothing
    biased = not unbiased
    if not biased:
        kept["a"] = loss.item()
    if scale > 2 or rest:
        kept["b"] = loss.item()  # TL201

    # case: a number that may be true
    if scale:
        kept["a"] = loss.item()  # TL201
    else:
        kept["b"] = loss.item()

    # case: a parameter that is given another value
    unbiased = loss.dim() > 1
    if unbiased:
        kept["a"] = loss.item()  # TL201

    # case: the function that is called in such a branch, and one that passes a flag on
    show(loss) if unbiased else show(loss, False)
    tell(loss, unbiased)
def show(value, chatty=True):
    if chatty:
        kept["a"] = value.item()
    kept["b"] = value.item()  # TL201
def tell(value, chatty):
    if chatty:
        kept["c"] = value.item()

# head: none

# case: a function with a loop, and a flag that its only caller sets
def fit(debugged, kept, verbosity=0):
    for images, labels in loader:
        loss = criterion(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        if debugged:
            kept.append(loss.item())  # TL201
        else:
            kept.append(loss.max().item())
        if verbosity:
            kept.append(loss.mean().item())
fit(True, [])

# case: a function with a loop that nobody calls
def fit(debugged, kept):
    for images, labels in loader:
        loss = criterion(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        if debugged:
            kept.append(loss.item())  # TL201
        else:
            kept.append(loss.max().item())  # TL201

# case: a function with a loop, and a flag that one of two callers sets
def fit(debugged, kept):
    for images, labels in loader:
        loss = criterion(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        if debugged:
            kept.append(loss.item())  # TL201
        else:
            kept.append(loss.max().item())  # TL201
fit(True, [])
fit(False, [])

# case: a function with a loop, and a caller that gives it all at once
def fit(debugged, verbosity=0):
    for images, labels in loader:
        loss = criterion(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        if verbosity:
            kept.append(loss.item())  # TL201
fit(True, **settings)

# case: a test passes something else
def fit(debugged, kept):
    for images, labels in loader:
        loss = criterion(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        if debugged:
            kept.append(loss.item())  # TL201
        else:
            kept.append(loss.max().item())
if __name__ == "__main__":
    fit(True, [])
# file: tests/test_fit.py
from train import fit
fit(False, [])

# head: a helper that asks what it is given
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    reduce([loss, 3.0])
def reduce(data):
    # case: no caller is known to pass an array
    is_array = isinstance(data, np.ndarray)
    result = gather(torch.as_tensor(data).to(device))
    if is_array:
        return result.sum().item()
    elif not isinstance(data, torch.Tensor):
        return result.item()  # TL201

# head: matrices that a helper makes for the images of a step
for images, labels in loader:
    loss = criterion(model(augment(images.to(device))), labels.to(device))
    loss.backward()
    optimizer.step()
def drawn(size, scale, place="cpu"):
    return torch.eye(3, device=place).repeat(size, 1, 1) * scale
def corners(matrices, width):
    points = torch.tensor([[0, 0, 1], [width, 0, 1]], device=matrices.device)
    far, near = (matrices @ points.T).ceil().int()
    return far, near
def augment(images, matrices=None):
    # case: without a device they are in host memory
    if matrices is None:
        matrices = drawn(images.shape[0], 2.0)
    far, near = corners(matrices, images.shape[3])
    return images[:, :, far.item() : near.item()]

    # case: on the device of the images
    matrices = drawn(images.shape[0], 2.0, images.device)
    far, near = corners(matrices, images.shape[3])
    return images[:, :, far.item() : near.item()]  # TL201 # TL201

# head: a step whose loss gets another value
def fit(meter):
    for images, labels in loader:
        loss = compute(images, labels)
        loss.backward()
        optimizer.step()

        # case: before it does
        print(f"{loss:.3f}")  # TL201

        # case: what a meter gives
        meter.append(loss)
        loss = meter.aggregate()
        print(f"{loss:.3f}")
        note(int(loss), "{:.3f}".format(loss))

        # case: what the same function gives
        loss = compute(labels, images)
        print(f"{loss:.3f}")  # TL201

        # case: what an unknown function makes of it
        loss = mean_of(loss)
        print(loss.item())  # TL201
        print(f"{loss:.3f}")

# head: a step that looks at each parameter
for step, (images, labels) in enumerate(loader):
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    for i, (n, p) in enumerate(model.named_parameters()):
        # case: gradients that are there, and more
        if p.grad is not None and n != "bias":
            norms[n] = p.grad.norm().item()  # TL201
        if p.grad is not None and i > 0 and i % 2 == 0:
            norms[n] = p.grad.norm().item()  # TL201
        if p.grad is not None and torch.isfinite(p.grad).all():
            norms[n] = p.grad.norm().item()  # TL201
        if p.grad is not None and not (~torch.isfinite(p.grad)).any():
            norms[n] = p.grad.norm().item()  # TL201
        if p.grad is not None and p.grad.count_nonzero() > 0:
            norms[n] = p.grad.norm().item()  # TL201

        # case: some steps, or what is broken
        if p.grad is not None and step > 10:
            norms[n] = p.grad.norm().item()  # TL201
        if p.grad is not None and step < 10:
            norms[n] = p.grad.norm().item()
        if p.grad is not None and i % 2 == 0 and step % 100 == 0:
            norms[n] = p.grad.norm().item()
        if p.grad is not None and not torch.isfinite(p.grad).all():
            norms[n] = p.grad.norm().item()
        if (~torch.isfinite(p.grad)).any() or torch.isnan(p.grad).any():
            norms[n] = p.grad.norm().item()

# head: a helper of the step that looks at each parameter
for step, (images, labels) in enumerate(loader):
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    note(model, step)
def note(model, step):
    for i, p in enumerate(model.parameters()):
        # case: all but the first of them, and some steps
        if p.grad is not None and i > 0:
            norms[i] = p.grad.norm().item()  # TL201
        if p.grad is not None and step < 10:
            norms[i] = p.grad.norm().item()

# head: none

# case: the count of a loop whose rounds may be steps
for epoch in range(9):
    for i, images in enumerate(loader):
        trainer.train_on(images)
        if i == 0:
            print(trainer.loss.item())

# head: a module that trains in one branch
def train(net):
    for images, labels in loader:
        loss = criterion(net(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
train(Net().to(device))
class Net(nn.Module):
    def forward(self, x):
        # case: the other branch, which training need not take
        if self.deep and self.training:
            return x / x.max().item()  # TL201
        else:
            return x / x.min().item()  # TL201 hint

        # case: the same the other way round
        if not self.training or not self.deep:
            return x / x.max().item()  # TL201 hint
        return x / x.min().item()  # TL201

        # case: a branch that training always takes, and the other one
        if self.deep or self.training:
            return x / x.max().item()  # TL201
        else:
            return x / x.min().item()

# head: none

# case: in one file with Lightning, whose trainer takes the GPU where there is one [bare]
import lightning as L
import torch
class Net(L.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self.model(batch).mean()
        print(loss.item())  # TL201
        return loss
L.Trainer(max_epochs=3).fit(Net(), loader)

# case: the same with a trainer that stays on the CPU [bare]
import lightning as L
import torch
class Net(L.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self.model(batch).mean()
        print(loss.item())
        return loss
L.Trainer(accelerator="cpu").fit(Net(), loader)

# case: the same in two files [bare]
import lightning as L
import torch
class Net(L.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self.model(batch.to(self.device)).mean()
        print(loss.item())
        return loss
# file: main.py
from pytorch_lightning import Trainer
from train import Net
Trainer(accelerator="cpu").fit(Net(), loader)

# case: a test that stays on the CPU says nothing about a training [bare]
import lightning as L
import torch
class Net(L.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self.model(batch).mean()
        print(loss.item())  # TL201
        return loss
# file: tests/test_net.py
from lightning import Trainer
from train import Net
Trainer(accelerator="cpu").fit(Net(), loader)

# case: in one file with Transformers [bare]
from transformers import Trainer, TrainingArguments
class Mine(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        loss = model(**inputs).loss
        print(loss.item())  # TL201
        return loss
Mine(model, TrainingArguments("out", bf16=True)).train()

# case: with Accelerate, which is told to stay on the CPU [bare]
from accelerate import Accelerator
accelerator = Accelerator(cpu=True)
for batch in accelerator.prepare(loader):
    loss = model(batch.to(accelerator.device)).mean()
    accelerator.backward(loss)
    print(loss.item())

# case: MMEngine calls `forward` on each step [bare]
import torch
from mmengine.model import BaseModel
from mmengine.runner import Runner
class Net(BaseModel):
    def forward(self, images, labels, mode):
        loss = self.net(images).mean()
        if mode == "loss":
            print(loss.item())  # TL201
            return {"loss": loss}
        elif mode == "predict":
            print(loss.item(), mode)
            return loss
Runner(model=Net()).train()

# case: MMEngine does the backward pass and the step in one call [bare]
import torch
for batch in loader:
    loss = model(batch.cuda()).mean()
    optimizer.update_params(loss)
    print(loss.item())  # TL201

# case: a phase in which the model evaluates
for phase in ("train", "val"):
    for images in loader:
        loss = model(images.to(device)).mean()
        if phase == "train":
            loss.backward()
            optimizer.step()
            print(loss.item())  # TL201
        if phase == "val":
            print(loss.item())

# case: what does the backward pass of what it is given is not a loss
class Fabric:
    def __init__(self, strategy):
        self._strategy = strategy
    def backward(self, tensor, module):
        self._strategy.backward(tensor, module)
        print(f"{self._strategy.__class__.__name__} {self._strategy}")
        print(tensor.item())  # TL201
for images in loader:
    Fabric(plan).backward(model(images.to(device)).mean(), model)

# case: the norm of all gradients
for images in loader:
    loss = model(images.to(device)).mean()
    loss.backward()
    norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())  # TL201
    optimizer.step()

# case: one of several optimizers, each of which steps on each batch [bare]
import lightning as L
class Gan(L.LightningModule):
    def training_step(self, batch, batch_idx, optimizer_idx):
        loss = self.net(batch).mean()
        if optimizer_idx == 1:
            print(loss.item())  # TL201
        return loss
L.Trainer().fit(Gan(), loader)

# case: a step of another library [bare]
import paddle
from meters import update
for images in loader:
    loss = model(images.cuda()).mean()
    loss.backward()
    optimizer.step()
    update({"loss": loss})
# file: meters.py
def update(stats):
    for name in stats:
        meter.update(float(stats[name]))

# case: a sum over all epochs that is shown after each
total = 0
for epoch in range(3):
    for images in loader:
        loss = model(images.to(device)).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()  # TL201 | no fix: also read in the loop around the steps
    print(total)
