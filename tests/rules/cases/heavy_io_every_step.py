# TL705: files that are written on each training step.

# every program:
import copy
import io
import torch
import numpy as np
import matplotlib.pyplot as plt

# head: a training loop
for step, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()

    # case: a checkpoint
    torch.save(model.state_dict(), "last.pt")  # TL705 | no fix: how often | says: until this file is written

    # case: a checkpoint of the first process
    if rank == 0:
        torch.save(model.state_dict(), "last.pt")  # TL705

    # case: a module that the file does not import
    torchvision.utils.save_image(images, "images.png")

    # case: images, imported
    from torchvision.utils import save_image
    save_image(images, "images.png")  # TL705

    # case: images of OpenCV
    import cv2
    cv2.imwrite("image.png", image)  # TL705

    # case: images of Matplotlib
    plt.imsave("image.png", image)  # TL705

    # case: a figure
    plt.plot(losses)
    plt.savefig("losses.png")  # TL705

    # case: a figure, by its object
    figure.savefig("losses.png")  # TL705

    # case: a model of Transformers
    model.save_pretrained("last")  # TL705

    # case: Accelerate's state
    accelerator.save_state("last")  # TL705

    # case: arrays
    np.save("losses.npy", losses)  # TL705 hint | says: until this file is written

    # case: arrays in one file
    np.savez("losses.npz", losses=losses)  # TL705 hint

    # case: arrays in one file, compressed
    np.savez_compressed("losses.npz", losses=losses)  # TL705 hint

    # case: a histogram
    writer.add_histogram("weights", model.weight, step)  # TL705 hint | says: encoded and logged

    # case: an image for a logger
    writer.add_image("input", x[0], step)  # TL705 hint

    # case: an image for wandb
    import wandb
    wandb.log({"input": wandb.Image(x[0])})  # TL705 hint | says: encoded and logged

    # case: a scalar is cheap
    writer.add_scalar("lr", lr, step)

    # case: a copy of all weights
    weights = copy.deepcopy(model.state_dict())  # TL705 hint | says: copies all weights

    # case: a copy of all weights, imported
    from copy import deepcopy
    weights = deepcopy(model.state_dict())  # TL705 hint | says: copies all weights

    # case: a copy of something small
    now = copy.deepcopy(options)

    # case: a copy of what a function makes
    now = copy.deepcopy(make_options())

    # case: every thousand steps
    if step % 1000 == 0:
        torch.save(model.state_dict(), "last.pt")
        plt.savefig("losses.png")

    # case: the best so far
    if loss < best_loss:
        torch.save(model.state_dict(), "best.pt")

    # case: the end of the training
    if loss < small:
        torch.save(model.state_dict(), "last.pt")
        break

    # case: an error
    try:
        check(loss)
    except ValueError:
        torch.save(x, "broken.pt")

    # case: into memory
    torch.save(model.state_dict(), io.BytesIO())

    # case: into memory, by a name
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)

    # case: into a file, by a name
    path = make_path(step)
    torch.save(model.state_dict(), path)  # TL705

    # case: a method that may do anything
    store.save(model)

# head: a loop over epochs
for epoch in range(epochs):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()

    # case: once per epoch
    torch.save(model.state_dict(), "last.pt")

# head: none

# case: an epoch of one step
for epoch in range(200):
    loss = criterion(model(features)[train], labels[train])
    loss.backward()
    optimizer.step()
    torch.save(model.state_dict(), f"{epoch}.pt")  # TL705 hint
    plt.savefig("losses.png")  # TL705 hint

# case: an optimizer that computes the loss several times
for i in range(15):
    def closure():
        loss = criterion(model(features), labels)
        loss.backward()
        return loss
    optimizer.step(closure)
    plt.savefig(f"{i}.pdf")  # TL705 hint

# case: another function in the loop
for i in range(15000):
    def draw(color):
        plt.plot(losses, color)
    loss = criterion(model(features), labels)
    loss.backward()
    optimizer.step()
    draw("r")
    plt.savefig("losses.pdf")  # TL705

# case: a loop that counts to nothing
while True:
    loss = criterion(model(features), labels)
    loss.backward()
    optimizer.step()
    torch.save(model.state_dict(), "last.pt")  # TL705

# case: a helper that each step calls
def save(model):
    torch.save(model.state_dict(), "last.pt")  # TL705 | see: for x, y in loader

def train(model, loader):
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()
        save(model)

train(model, loader)

# case: a helper that some steps call
def save(model):
    torch.save(model.state_dict(), "last.pt")

for step, (x, y) in enumerate(loader):
    criterion(model(x), y).backward()
    optimizer.step()
    if step % 100 == 0:
        save(model)

# case: evaluation
@torch.no_grad()
def evaluate(model, loader):
    for x, y in loader:
        torch.save(model(x), "outputs.pt")

# case: a data set is made
for index, image in enumerate(images):
    torch.save(transform(image), f"{index}.pt")

# case: a test [path=tests/test_save.py]
for step, (x, y) in enumerate(loader):
    criterion(model(x), y).backward()
    optimizer.step()
    torch.save(model.state_dict(), "last.pt")

# head: epochs and batches
for epoch in range(epochs):
    for step, (x, y) in enumerate(loader):
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        # case: a condition that only the epoch decides
        if epoch % args.interval == 0:
            torch.save(model.state_dict(), "last.pt")  # TL705 hint | no fix | says: on every batch

        # case: the same, by a method
        if epoch % args.interval == 0:
            model.save_weights("last.pt")  # TL705 hint

        # case: a condition that the step decides too
        if epoch % args.interval == 0 and step == 0:
            torch.save(model.state_dict(), "last.pt")

        # case: a condition that a method may change
        if epoch % self.interval == 0:
            torch.save(model.state_dict(), "last.pt")

        # case: what writes nothing
        if epoch % args.interval == 0:
            model.load_weights("last.pt")

    # case: after the batches
    if epoch % args.interval == 0:
        torch.save(model.state_dict(), "last.pt")
