# TL409: which parts of a loss are computed while their weight is 0.

# every program:
import torch
from setup import criterion, discriminator, loader, model, optimizer, options, perceptual, render

# head: none

# case: the weight is chosen by the step
for iteration, x in enumerate(loader):
    lambda_normal = options.lambda_normal if iteration > 7000 else 0.0
    lambda_dist = 0 if iteration <= 3000 else options.lambda_dist
    package = render(model, x)
    normal_error = 1 - (package["normal"] * package["surface"]).sum(dim=0)
    normal_loss = lambda_normal * normal_error.mean()  # TL409 hint | marks: lambda_normal * normal_error.mean() | says: `lambda_normal` is 0 | no fix: elsewhere | see: lambda_normal
    loss = criterion(package["image"], x) + normal_loss
    loss = loss + package["distortion"].mean() * lambda_dist  # TL409 hint
    loss.backward()
    optimizer.step()

# case: the weight is set under a condition
for epoch in range(100):
    if epoch < options.warmup:
        weight = 0.0
    else:
        weight = options.weight
    for x, y in loader:
        optimizer.zero_grad()
        output = model(x)
        loss = criterion(output, y) + 0.5 * weight * perceptual(output, y).mean()  # TL409 hint
        loss.backward()
        optimizer.step()

# case: the weight is 0 at first
for step, (x, y) in enumerate(loader):
    weight = 0
    if step >= options.start:
        weight = options.weight
    output = model(x)
    aux_loss = perceptual(output, y)
    loss = criterion(output, y) + weight * aux_loss  # TL409 hint
    loss.backward()
    optimizer.step()

# case: a function of VQGANs, and a weight within the product
for global_step, x in enumerate(loader):
    factor = adopt_weight(options.factor, global_step, threshold=options.start)
    output = model(x)
    g_loss = -discriminator(output).mean()
    loss = criterion(output, x) + options.weight * factor * g_loss  # TL409 hint
    loss = loss + (1.0 if global_step > 100 else 0.0) * perceptual(output, x).mean()  # TL409 hint | says: `the weight` is 0
    loss.backward()
    optimizer.step()

# case: it is left out
for step, (x, y) in enumerate(loader):
    weight = options.weight if step > 7000 else 0.0
    output = model(x)
    loss = criterion(output, y)
    if weight > 0:
        loss = loss + weight * perceptual(output, y).mean()
    if step > 7000:
        loss = loss + weight * perceptual(output, y).mean()
    loss.backward()
    optimizer.step()

# case: numbers, other conditions and other operators
for step, (x, y) in enumerate(loader):
    rate = 0.1 if step > 100 else 0.0
    total = rate * 3
    rate = options.rate if options.fine else 0.0
    ramp = 1.0 if step > 100 else 0.5
    start = 0
    output = model(x)
    loss = criterion(output, y) + rate * perceptual(output, y).mean() + total
    loss = loss + ramp * perceptual(output, y).mean() + start * perceptual(output, y).mean()
    loss.backward()
    optimizer.step()

# case: in evaluation
model.eval()
with torch.no_grad():
    for step, (x, y) in enumerate(loader):
        weight = 0.1 if step > 100 else 0.0
        print(weight * criterion(model(x), y))

# case: a test [path=tests/test_it.py]
for step, (x, y) in enumerate(loader):
    weight = 0.1 if step > 100 else 0.0
    loss = weight * perceptual(model(x), y).mean()
    loss.backward()
    optimizer.step()
