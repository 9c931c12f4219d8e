# TL701: which evaluations with gradients on are reported.

# every program:
import torch

# head: an evaluation
def validate(model, loader, criterion):
    model.eval()
    total = 0.0

    # case: a loop over a loader
    for images, labels in loader:  # TL701 unsafe | marks: loader | says: `@torch.no_grad()`
        total += criterion(model(images), labels).item()
    return total / len(loader)

    # case: through a progress bar
    for images, labels in tqdm(loader):  # TL701
        total += criterion(model(images), labels).item()
    return total

    # case: losses that are summed up as tensors are graphs that stay
    for images, labels in loader:  # TL701
        total += criterion(model(images), labels)
    return total

    # case: a context that leaves gradients on
    for images, labels in loader:  # TL701
        with torch.autocast("cuda"), tqdm(total=3) as bar:
            total += criterion(model(images), labels).item()

    # case: two loops, which one decorator covers
    for images, labels in loader:  # TL701
        total += criterion(model(images), labels).item()
    for images, labels in loader:
        total += criterion(model(images), labels).item()

    # case: two loops, one in the other
    for name in names:
        for images, labels in loader:  # TL701 | marks: loader
            total += criterion(model(images), labels).item()

    # case: steps of a sequence in each batch
    for images, labels in loader:  # TL701 | marks: loader
        for step in range(steps):
            total += criterion(model(images), labels).item()

    # case: nothing is returned
    for images, labels in loader:  # TL701
        if model(images).isnan().any().item():
            return

    # case: a condition as a loop
    while todo:  # TL701 | marks: todo
        total += float(model(todo.pop()).sum())

    # case: gradients off around the loop
    with torch.no_grad():
        for images, labels in loader:
            total += criterion(model(images), labels).item()

    # case: gradients off in the loop
    for images, labels in loader:
        with torch.inference_mode():
            total += criterion(model(images), labels).item()

    # case: a context that may switch them off
    with self.frozen():
        for images, labels in loader:
            total += criterion(model(images), labels).item()

    # case: an option decides
    for images, labels in loader:
        with torch.set_grad_enabled(trains):
            total += criterion(model(images), labels).item()

    # case: a switch that stays [unread]
    torch.set_grad_enabled(False)
    for images, labels in loader:
        total += criterion(model(images), labels).item()

    # case: an attack
    for images, labels in loader:
        images = pgd_attack(model, images, labels)
        total += criterion(model(images), labels).item()

    # case: an attack in a function of the file
    for images, labels in loader:
        total += criterion(model(worst(images)), labels).item()
    def worst(images):
        return images + torch.autograd.grad(model(images).sum(), images)[0]

    # case: gradients of the input
    for images, labels in loader:
        images.requires_grad_(True)
        score = model(images).sum()
        score.backward()
        total += images.grad.abs().sum().item()

    # case: a whole step
    for images, labels in loader:
        loss = criterion(model(images), labels)
        loss.backward()

    # case: no model is called in the loop
    for images, labels in loader:
        total += criterion(images, labels).item()

    # case: a step by its optimizer alone
    for images, labels in loader:
        loss = criterion(model(images), labels)
        optimizer.step(loss)

    # case: one pass through modules
    for module in modules:
        x = module(x)

    # case: one of several models
    nets[0].eval()
    for images, labels in loader:
        total += nets[1](images).sum().item()

    # case: an index
    for step, (images, labels) in enumerate(loader, 0):  # TL701
        total += criterion(model(images), labels).item()

    # case: as many rounds as images
    for index in range(len(images)):  # TL701
        total += criterion(model(images[index]), labels[index]).item()

    # case: a pipeline that switches gradients off itself
    pipeline.eval()
    for images, labels in loader:
        total += pipeline(images).sum().item()

    # case: a warm-up
    for _ in range(10):
        model(images)

    # case: frozen parameters
    model.requires_grad_(False)
    for images, labels in loader:
        total += criterion(model(images), labels).item()

# head: none

# case: another switch, and no module by its name
def check(backbone2d, loader):
    backbone2d.eval()
    for images, labels in loader:  # TL701
        correct += backbone2d(images).argmax(1).eq(labels).sum().item()
    return correct

# case: `.train(False)`
def check(net, loader):
    net.train(False)
    for images, labels in loader:  # TL701
        correct += net(images).argmax(1).eq(labels).sum().item()

# case: the loop switches the model
for images, labels in loader:  # TL701 | no fix: outside of functions | says: `with torch.no_grad():`
    net = net.eval()
    correct += net(images).argmax(1).eq(labels).sum().item()

# case: two loops outside of functions
net = make()
net.eval()
for images, labels in loader:  # TL701
    correct += net(images).argmax(1).eq(labels).sum().item()
    again += net(images).argmax(1).eq(labels).sum().item()
for images, labels in other_loader:  # TL701
    correct += net(images).argmax(1).eq(labels).sum().item()

# case: a switch, and no loader
def spell(net, text):
    net.eval()
    for letter in text:  # TL701
        print(net(letter).argmax().item())

# case: models that are loaded
from mine import Net
def load_for_inference(names):
    for name in names:
        models.append(Net.build_model(name))

# case: parameters that are frozen elsewhere
def validate(net, loader):
    net.eval()
    for images, labels in loader:
        correct += net(images).argmax(1).eq(labels).sum().item()
net.requires_grad_(False)

# case: a method of a class that is not a module
class Embedder:
    def embed(self, loader):
        self.net.eval()
        for images, labels in loader:  # TL701
            print(self.net(images).argmax().item())

# case: a switch in another function
def load(net):
    net.eval()
def embed(net, loader):
    for images, labels in loader:
        print(net(images).argmax().item())

# case: a mode that the caller chooses
def embed(net, loader, mode):
    net.train(mode)
    for images, labels in loader:
        print(net(images).argmax().item())

# case: an evaluation without a loop [unread]
def validate(net, images):
    net.eval()
    return net(images)

# case: a loop without an evaluation [unread]
def validate(net, images):
    net.eval()
    return net(images)
def train(net, loader):
    for images, labels in loader:
        net(images).sum().backward()

# case: a switch under a condition
def main(net, loader):
    if evaluates:
        net.eval()
        test(net)
    for images, labels in loader:
        print(net(images).argmax().item())

# case: an epoch that also trains
def main(net, train_loader, val_loader):
    for epoch in range(10):
        net.train()
        for images, labels in train_loader:
            criterion(net(images), labels).backward()
            optimizer.step()
        net.eval()
        for images, labels in val_loader:  # TL701 | no fix: also trains
            correct += net(images).argmax(1).eq(labels).sum().item()
        for images, labels in test_loader:  # TL701
            correct += net(images).argmax(1).eq(labels).sum().item()

# case: an epoch that also trains, and keeps the losses as tensors
def main(net, train_loader, val_loader):
    for epoch in range(10):
        for images, labels in train_loader:
            criterion(net(images), labels).backward()
            optimizer.step()
        net.eval()
        for images, labels in val_loader:  # TL701 hint
            losses.append(criterion(net(images), labels))
        net.train()

# case: a training loop that evaluates as well
def main(net, loader):
    for images, labels in loader:
        net.train()
        optimizer.step(criterion(net(images), labels))
        net.eval()
        correct = net(images)

# case: a name, and no switch
def test(net, loader):
    for images, labels in loader:  # TL701
        correct += net(images).argmax(1).eq(labels).sum().item()
    return correct

# case: a name, and no switch, and tensors that are returned
def test(net, loader):
    for images, labels in loader:  # TL701 hint
        outputs.append(net(images))
    return outputs, loader

# case: a name, and a switch in another function
def load(net):
    net.eval()
def test(net, loader):
    for images, labels in loader:  # TL701 hint
        score = net(images)
    return score

# case: a name, and a mode that the caller chooses
def test(net, loader, mode):
    net.train(mode)
    for images, labels in loader:  # TL701 hint
        score = net(images)
    return score

# case: a name, and tensors that an object keeps
def test(self, net, loader):
    for images, labels in loader:  # TL701 hint
        self.outputs[labels] = net(images)

# case: a name, and tensors that an object keeps as a sum
def test(self, net, loader):
    for images, labels in loader:  # TL701 hint
        self.total += net(images)

# case: a name, and tensors in a list of the function
def test(net, loader):
    for images, labels in loader:  # TL701
        outputs.append(net(images))
    return len(loader)

# case: a name, and a tensor that is returned
def test(net, loader):
    for images, labels in loader:  # TL701 hint
        score = net(images)
    return {"score": score}

# case: a name, and no loader
def predict(net, text):
    for letter in text:  # TL701 hint
        hidden = net(letter, hidden)
    return hidden.argmax().item()

# case: a name for a training as well
def train_and_validate(net, loader):
    for images, labels in loader:
        correct += net(images).argmax(1).eq(labels).sum().item()

# case: features without a name for an evaluation
def embed(net, loader):
    net.eval()
    for images, labels in loader:  # TL701 hint
        features.append(net(images))
    return torch.cat(features)

# case: features as arrays
def embed(net, loader):
    net.eval()
    for images, labels in loader:  # TL701
        features.append(net(images).cpu().numpy())
    return features

# case: no evaluation
def embed(net, loader):
    for images, labels in loader:
        print(net(images).argmax().item())

# case: training comes back
def embed(net, loader):
    net.eval()
    net.train()
    for images, labels in loader:
        print(net(images).argmax().item())

# case: another model evaluates
def embed(net, teacher, loader):
    teacher.eval()
    for images, labels in loader:
        print(net(images).argmax().item())

# case: under a decorator [unread]
@torch.no_grad()
def validate(net, loader):
    net.eval()
    for images, labels in loader:
        correct += net(images).argmax(1).eq(labels).sum().item()

# case: under a decorator that may switch gradients off
@evaluation_mode
def validate(net, loader):
    net.eval()
    for images, labels in loader:
        correct += net(images).argmax(1).eq(labels).sum().item()

# case: under a decorator that does not
class Task:
    @staticmethod
    def validate(net, loader):
        net.eval()
        for images, labels in loader:  # TL701 | no fix: other decorators
            correct += net(images).argmax(1).eq(labels).sum().item()

# case: a call without gradients
def validate(net, loader):
    net.eval()
    for images, labels in loader:
        correct += net(images).argmax(1).eq(labels).sum().item()
def run(net, loader):
    with torch.no_grad():
        validate(net, loader)

# case: a call of a call without gradients
def validate(net, loader):
    net.eval()
    for images, labels in loader:
        correct += net(images).argmax(1).eq(labels).sum().item()
def report(net, loader):
    return validate(net, loader)
with torch.no_grad():
    report(net, loader)

# case: a switch at the top level
def validate(net, loader):
    net.eval()
    for images, labels in loader:
        correct += net(images).argmax(1).eq(labels).sum().item()
torch.set_grad_enabled(False)

# case: a call without gradients in another file [path=evaluation.py]
def validate(net, loader):
    net.eval()
    for images, labels in loader:
        correct += net(images).argmax(1).eq(labels).sum().item()
# file: train.py
import torch
from evaluation import validate
with torch.no_grad():
    validate(net, loader)

# case: a call in a function without gradients in another file [path=evaluation.py]
def validate(net, loader):
    net.eval()
    for images, labels in loader:
        correct += net(images).argmax(1).eq(labels).sum().item()
# file: train.py
import torch
from evaluation import validate
@torch.no_grad()
def main():
    with torch.no_grad():
        test(net)
    validate(net, loader)

# case: a call with gradients in another file [path=evaluation.py]
def validate(net, loader):
    net.eval()
    for images, labels in loader:  # TL701
        correct += net(images).argmax(1).eq(labels).sum().item()
# file: train.py
import torch
from evaluation import validate
with torch.no_grad():
    infer(net)
validate(net, loader)

# case: a switch in another file [path=evaluation.py]
def validate(net, loader):
    net.eval()
    for images, labels in loader:
        correct += net(images).argmax(1).eq(labels).sum().item()
# file: train.py
import torch
from evaluation import validate
torch.set_grad_enabled(False)
validate(net, loader)

# case: a part of a model
class Loss(torch.nn.Module):
    def forward(self, images):
        self.backbone.eval()
        for image in images:
            total += self.backbone(image).sum().item()

# case: a module that evaluates itself
class Task(torch.nn.Module):
    def validate(self, loader):
        self.backbone.eval()
        for images, labels in loader:  # TL701
            total += self.backbone(images).sum().item()

# case: a base class that may switch gradients off
from mine import Evaluator
class Task(Evaluator):
    def validate(self, loader):
        for images, labels in loader:
            total += self.model(images).sum().item()

# case: a base class, and a switch
from mine import Evaluator
class Task(Evaluator):
    def validate(self, loader):
        self.model.eval()
        for images, labels in loader:  # TL701
            total += self.model(images).sum().item()

# case: no import of torch itself [bare]
import torch.nn as nn
def validate(net, loader):
    net.eval()
    for images, labels in loader:  # TL701 unsafe
        correct += net(images).argmax(1).eq(labels).sum().item()

# case: a test [path=tests/test_net.py]
def test_net(net, loader):
    net.eval()
    for images, labels in loader:
        assert net(images).argmax(1).eq(labels).all().item()

# case: a test by its import
import pytest
def test_net(net, loader):
    net.eval()
    for images, labels in loader:
        assert net(images).argmax(1).eq(labels).all().item()

# case: a test that can be run as a script
import unittest
def test_net(net, loader):
    net.eval()
    for images, labels in loader:
        assert net(images).argmax(1).eq(labels).all().item()
if __name__ == "__main__":
    unittest.main()

# case: a script that is called a test [path=test_net.py]
import argparse
def test_net(net, loader):
    net.eval()
    for images, labels in loader:  # TL701
        correct += net(images).argmax(1).eq(labels).sum().item()

# head: none

# case: an evaluator in a file of its own
class Evaluator:
    def run(self, model, loader):
        for images, labels in loader:  # TL701 unsafe
            self.meter.update(model(images).argmax(1).eq(labels).sum().item())

# case: an evaluator that is called, and where that is without gradients
class ScoreEvaluator:
    def __call__(self, model, loader):
        for images, labels in loader:
            self.meter.update(model(images).argmax(1).eq(labels).sum().item())
# file: use.py
import torch
from train import ScoreEvaluator
evaluator = ScoreEvaluator()
with torch.no_grad():
    evaluator(model, loader)

# case: an evaluator that is called with gradients
class ScoreEvaluator:
    def __call__(self, model, loader):
        for images, labels in loader:  # TL701 unsafe
            self.meter.update(model(images).argmax(1).eq(labels).sum().item())
# file: use.py
from train import ScoreEvaluator
ScoreEvaluator()(model, loader)

# case: a class of another name
class Runner:
    def run(self, model, loader):
        for images, labels in loader:
            self.meter.update(model(images).argmax(1).eq(labels).sum().item())

# case: words about gradients in a comment
def evaluate(model, loader):
    model.eval()
    for images, labels in loader:  # TL701 unsafe
        # without no_grad, so far
        correct += model(images).argmax(1).eq(labels).sum().item()

# case: a function inside of the evaluation
def evaluate(model, loader):
    model.eval()
    def right(output, labels):
        return output.argmax(1).eq(labels).sum().item()
    for images, labels in loader:  # TL701 unsafe
        correct += right(model(images), labels)

# case: a function that is switched, inside of one that is not
def main(model, loader):
    @torch.no_grad()
    def score(images):
        return ema(images)
    model.eval()
    for images, labels in loader:  # TL701 unsafe
        correct += model(images).argmax(1).eq(labels).sum().item()
