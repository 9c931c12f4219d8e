# TL408: which models compute gradients that no optimizer uses, and which do not.

# every program:
import torch
from setup import Generator, Net, freeze_all, head, image, loader, path

# head: the input of a generator is optimized
latent = torch.zeros(1, 512, device="cuda", requires_grad=True)
optimizer = torch.optim.Adam([latent], lr=0.1)
net = Generator(512)
net.load_state_dict(torch.load(path))

# case: it is only switched to evaluation
net.eval()  # TL408 hint | no fix: elsewhere | says: No optimizer trains `net` … `requires_grad_(False)` | see: (net(latent)
net = net.to("cuda")
net.eval()
for _ in range(100):
    optimizer.zero_grad()
    (net(latent) - image).square().mean().backward()
    optimizer.step()

# case: the loss of its result
net.eval()  # TL408 hint
for _ in range(100):
    images, _ = net([latent])
    loss = images.mean() + 1
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# case: its result goes into another
score = Net().cuda().eval()  # TL408 hint | says: `score`
net.eval()  # TL408 hint | says: `net`
for _ in range(100):
    optimizer.zero_grad()
    score(net(latent)).mean().backward()
    optimizer.step()

# case: a backbone under a new head
net.eval()  # TL408 hint
optimizer = torch.optim.Adam(head.parameters())
for images, labels in loader:
    optimizer.zero_grad()
    head(net(images)).mean().backward()
    optimizer.step()

# case: it is frozen
net.eval().requires_grad_(False)
for _ in range(100):
    optimizer.zero_grad()
    net(latent).mean().backward()
    optimizer.step()

# case: it is frozen in another line
net.eval()
net.requires_grad_(False)
for _ in range(100):
    optimizer.zero_grad()
    net(latent).mean().backward()
    optimizer.step()

# case: its parameters are frozen
net.eval()
for p in net.parameters():
    p.requires_grad = False
for _ in range(100):
    optimizer.zero_grad()
    net(latent).mean().backward()
    optimizer.step()

# case: a function freezes it
net.eval()
freeze_all(net)
for _ in range(100):
    optimizer.zero_grad()
    net(latent).mean().backward()
    optimizer.step()

# case: a part of it is frozen
net.eval()
net.mapping.requires_grad_(False)
for _ in range(100):
    optimizer.zero_grad()
    net(latent).mean().backward()
    optimizer.step()

# case: it learns
optimizer = torch.optim.Adam(net.parameters())
net.eval()
for _ in range(100):
    optimizer.zero_grad()
    net(latent).mean().backward()
    optimizer.step()

# case: it is a part of what learns
model = Net(net, head)
optimizer = torch.optim.Adam(model.parameters())
net.eval()
for _ in range(100):
    optimizer.zero_grad()
    net(latent).mean().backward()
    optimizer.step()

# case: it is switched back
net.eval()
for _ in range(100):
    net.train()
    optimizer.zero_grad()
    net(latent).mean().backward()
    optimizer.step()

# case: gradients are off
net.eval()
for _ in range(100):
    with torch.no_grad():
        features = net(latent)
    optimizer.zero_grad()
    (features * latent).mean().backward()
    optimizer.step()

# case: no backward pass goes through it
net.eval()
for images, labels in loader:
    optimizer.zero_grad()
    head(images).mean().backward()
    optimizer.step()
    print(net(images))

# case: once
net.eval()
net(latent).mean().backward()
optimizer.step()

# case: a distributed one
net.eval()  # TL408 hint
net = torch.nn.parallel.DistributedDataParallel(net)
for _ in range(100):
    optimizer.zero_grad()
    net(latent).mean().backward()
    optimizer.step()

# case: not a switch
net.eval(data)
for _ in range(100):
    optimizer.zero_grad()
    net(latent).mean().backward()
    optimizer.step()

# case: a part of it alone is switched
net.norms.eval()
for _ in range(100):
    optimizer.zero_grad()
    net(latent).mean().backward()
    optimizer.step()

# case: another model of the same name, in another function
def evaluate():
    net = Net()
    net.eval()
for _ in range(100):
    optimizer.zero_grad()
    net(latent).mean().backward()
    optimizer.step()

# case: a model that is given
def invert(net):
    net.eval()
    for _ in range(100):
        optimizer.zero_grad()
        net(latent).mean().backward()
        optimizer.step()

# case: a loss, and a class that freezes itself
from losses import PerceptualLoss
class Frozen(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for p in self.parameters():
            p.requires_grad = False
percept = PerceptualLoss().cuda().eval()
frozen = Frozen().eval()
for _ in range(100):
    optimizer.zero_grad()
    (percept(latent) + frozen(latent)).mean().backward()
    optimizer.step()
