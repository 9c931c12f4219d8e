# TL407: which backward passes compute gradients that are zeroed before any step uses them.

# every program:
import torch
from setup import combine, criterion, loader, netD, netE, netG, real

# head: a generator and a discriminator
opt_d = torch.optim.SGD(netD.parameters(), lr=0.1)
opt_g = torch.optim.SGD(netG.parameters(), lr=0.1)

# case: the discriminator learns first
for z in loader:
    netD.zero_grad()
    errD_real = criterion(netD(real), 1)
    errD_real.backward()
    fake = netG(z)
    errD_fake = criterion(netD(fake.detach()), 0)
    errD_fake.backward()
    opt_d.step()
    netG.zero_grad()
    output = netD(fake)
    errG = criterion(output, 1)
    errG.backward()  # TL407 hint | no fix: forward pass | says: gradients of `netD` … `requires_grad_(False)` on it | see: netD(fake)
    opt_g.step()

# case: the generator learns first
for z in loader:
    opt_g.zero_grad()
    fake = netG(z)
    (-netD(fake).mean()).backward()  # TL407 hint | says: `netD`
    opt_g.step()
    opt_d.zero_grad()
    (netD(fake.data) - netD(real)).mean().backward()
    opt_d.step()

# case: with a scaler
for z in loader:
    opt_d.zero_grad()
    scaler.scale(netD(netG(z).detach()).mean() - netD(real).mean()).backward()
    scaler.step(opt_d)
    opt_g.zero_grad()
    scaler.scale(-netD(netG(z)).mean()).backward()  # TL407 hint | says: `netD`
    scaler.step(opt_g)

# case: with a loss that is given to a framework
for z in loader:
    opt_d.zero_grad()
    fabric.backward(netD(netG(z).detach()).mean())
    opt_d.step()
    opt_g.zero_grad()
    fabric.backward(-netD(netG(z)).mean())  # TL407 hint
    opt_g.step()

# case: losses that are added, and a penalty
for z in loader:
    opt_d.zero_grad()
    fake = netG(z)
    penalty = gradient_penalty(netD, fake.detach())
    (netD(fake.detach()).mean() + penalty).backward()
    opt_d.step()
    opt_g.zero_grad()
    loss = (fake - real).abs().mean()
    loss += -netD(combine(fake, real)).mean()
    loss += penalty
    loss.backward()  # TL407 hint
    opt_g.step()

# case: several results of a model
for z in loader:
    opt_d.zero_grad()
    fake, style = netG(z)
    score, features = netD(fake.detach())
    score.mean().backward()
    opt_d.step()
    opt_g.zero_grad()
    score, features = netD(fake)
    features.mean().backward()  # TL407 hint
    opt_g.step()

# case: an annotated result
for z in loader:
    opt_d.zero_grad()
    netD(netG(z).detach()).mean().backward()
    opt_d.step()
    opt_g.zero_grad()
    loss: torch.Tensor
    loss: torch.Tensor = -netD(netG(z)).mean()
    loss.backward()  # TL407 hint
    opt_g.step()

# case: the generator learns on every other step
for step, z in enumerate(loader):
    for _ in range(3):
        opt_d.zero_grad()
        netD(netG(z).detach()).mean().backward()
        opt_d.step()
    if step % 2 == 0:
        opt_g.zero_grad()
        (-netD(netG(z)).mean()).backward()  # TL407 hint
        opt_g.step()

# case: the discriminator goes back through the generator
for z in loader:
    opt_d.zero_grad()
    fake = netG(z)
    lossD = netD(fake).mean() - netD(real).mean()
    lossD.backward()  # TL407 hint | says: gradients of `netG` … detach its output before `netD`
    opt_d.step()
    opt_g.zero_grad()
    criterion(netG(z), real).backward()
    opt_g.step()

# case: a step in a function
def train_step(z):
    opt_d.zero_grad()
    netD(netG(z).detach()).mean().backward()
    opt_d.step()
    opt_g.zero_grad()
    (-netD(netG(z)).mean()).backward()  # TL407 hint
    opt_g.step()

# case: an actor and a critic of a class
class Agent:
    def __init__(self):
        self.actor = Actor()
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters())
        self.critic = Critic()
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters())

    def train(self, state, action, reward):
        loss = criterion(self.critic(state, action), reward)
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()
        loss = -self.critic.first(state, self.actor(state)).mean()
        self.actor_optimizer.zero_grad()
        loss.backward()  # TL407 hint | says: `self.critic`
        self.actor_optimizer.step()

# case: two discriminators
opt_d = torch.optim.SGD([*netD.parameters(), *netE.parameters()], lr=0.1)
for z in loader:
    fake = netG(z)
    opt_d.zero_grad()
    (netD(fake.detach()) + netE(fake.detach())).mean().backward()
    opt_d.step()
    opt_g.zero_grad()
    (netE(fake) + netD(fake)).mean().backward()  # TL407 hint | says: `netD` and `netE`
    opt_g.step()

# case: gradients are off
for z in loader:
    opt_d.zero_grad()
    netD(netG(z).detach()).mean().backward()
    opt_d.step()
    for p in netD.parameters():
        p.requires_grad = False
    opt_g.zero_grad()
    (-netD(netG(z)).mean()).backward()
    opt_g.step()

# case: gradients are off in another file
from switches import freeze_all
for z in loader:
    opt_d.zero_grad()
    netD(netG(z).detach()).mean().backward()
    opt_d.step()
    freeze_all(netD)
    opt_g.zero_grad()
    (-netD(netG(z)).mean()).backward()
    opt_g.step()
# file: switches.py
def freeze_all(model):
    model.requires_grad_(False)

# case: the generator learns from other losses
for z in loader:
    opt_d.zero_grad()
    netD(netG(z).detach()).mean().backward()
    opt_d.step()
    opt_g.zero_grad()
    score = netD(netG(z)).mean()
    score = score.item()
    (netG(z) - real).mean().mul(score).backward()
    opt_g.step()

# case: nothing goes into the discriminator but what a generator without gradients made
for z in loader:
    opt_d.zero_grad()
    with torch.no_grad():
        fake = netG(z)
    netD(fake).mean().backward()
    opt_d.step()
    opt_g.zero_grad()
    netG(z).mean().backward()
    opt_g.step()

# case: gradients of a batch are off
for z in loader:
    z = z.cuda()
    z.requires_grad = False
    opt_d.zero_grad()
    netD(netG(z).detach()).mean().backward()
    opt_d.step()
    opt_g.zero_grad()
    (-netD(netG(z)).mean()).backward()  # TL407 hint
    opt_g.step()

# case: a part of the generator has an optimizer
opt_h = torch.optim.SGD(netH.layers.parameters(), lr=0.1)
for z in loader:
    opt_d.zero_grad()
    netD(netH(z).detach()).mean().backward()
    opt_d.step()
    opt_h.zero_grad()
    (-netD(netH(z)).mean()).backward()  # TL407 hint | says: `netD`
    opt_h.step()

# case: only an index comes from the generator
for z in loader:
    fake, places, slice_ids = netG(z)
    opt_d.zero_grad()
    (netD(fake.detach()) - netD(cut(real, slice_ids))).mean().backward()
    opt_d.step()
    opt_g.zero_grad()
    criterion(fake, real).backward()
    opt_g.step()

# case: a function may detach
for z in loader:
    opt_g.zero_grad()
    fake = netG(z)
    loss_g(fake).backward()
    opt_g.step()
    opt_d.zero_grad()
    loss_d(fake).backward()
    opt_d.step()

# case: nothing shows that the generator has an optimizer
opt_h = torch.optim.SGD(some_of(netH), lr=0.1)
for z in loader:
    opt_d.zero_grad()
    netD(netH(z).detach()).mean().backward()
    opt_d.step()
    opt_h.zero_grad()
    (-netD(netH(z)).mean()).backward()  # TL407 hint | says: `netD`
    opt_h.step()

# case: an optimizer of unknown parameters, or of none
for z in loader:
    opt_d.zero_grad()
    netD(netH(z)).mean().backward()
    optimizer.step()
    opt_d.zero_grad()
    netD(netH(z)).mean().backward()
    print(z)

# case: both learn from each loss
for z in loader:
    opt_d.zero_grad()
    opt_g.zero_grad()
    netD(netG(z)).mean().backward()
    opt_d.step()
    opt_g.step()

# case: gradients of two losses are added
for z in loader:
    netD(netG(z)).mean().backward()
    opt_g.step()
    opt_g.zero_grad()
    netD(netG(z).detach()).mean().backward()
    opt_d.step()
    opt_d.zero_grad()

# case: both are zeroed
for z in loader:
    netD(netG(z)).mean().backward()
    opt_d.zero_grad()
    opt_g.zero_grad()
    opt_d.step()
    opt_g.step()

# case: the discriminator learns in another function
for z in loader:
    opt_g.zero_grad()
    (-netD(netG(z)).mean()).backward()
    opt_g.step()
    learn(netD)

# case: an item takes the loss
for z in loader:
    opt_d.zero_grad()
    losses["d"] = netD(netG(z).detach()).mean()
    losses["d"].backward()
    opt_d.step()
    opt_g.zero_grad()
    losses["g"] = netD(netG(z)).mean()
    opt_g.step()

# case: once
opt_d.zero_grad()
(-netD(netG(x)).mean()).backward()
opt_g.step()
opt_d.step()

# case: a test [path=tests/test_it.py]
for z in loader:
    opt_d.zero_grad()
    netD(netG(z).detach()).mean().backward()
    opt_d.step()
    opt_g.zero_grad()
    (-netD(netG(z)).mean()).backward()
    opt_g.step()

# head: none

# case: one optimizer for both
optimizer = torch.optim.SGD([*netG.parameters(), *netD.parameters()], lr=0.1)
for z in loader:
    optimizer.zero_grad()
    netD(netG(z)).mean().backward()
    optimizer.step()

# case: a discriminator that does not learn
opt_g = torch.optim.SGD(netG.parameters(), lr=0.1)
for z in loader:
    netD.zero_grad()
    opt_g.zero_grad()
    netD(netG(z)).mean().backward()
    opt_g.step()

# case: parameters that go elsewhere
count_d = sum(p.numel() for p in netD.parameters())
opt_g = torch.optim.SGD(netG.parameters(), lr=0.1)
for z in loader:
    netD.zero_grad()
    opt_g.zero_grad()
    netD(netG(z)).mean().backward()
    opt_g.step()

# case: a long chain of models
opt_0 = torch.optim.SGD(net_0.parameters(), lr=0.1)
opt_1 = torch.optim.SGD(net_1.parameters(), lr=0.1)
opt_2 = torch.optim.SGD(net_2.parameters(), lr=0.1)
opt_3 = torch.optim.SGD(net_3.parameters(), lr=0.1)
opt_4 = torch.optim.SGD(net_4.parameters(), lr=0.1)
opt_5 = torch.optim.SGD(net_5.parameters(), lr=0.1)
opt_6 = torch.optim.SGD(net_6.parameters(), lr=0.1)
net_7 = torch.nn.Linear(2, 2)
opt_7 = torch.optim.SGD(net_7.parameters(), lr=0.1)
for z in loader:
    opt_7.zero_grad()
    net_7(net_6(net_5(net_4(net_3(net_2(net_1(net_0(z)))))))).mean().backward()
    opt_6.step()
    opt_7.zero_grad()
    net_7(real).mean().backward()
    opt_7.step()

# case: Lightning with optimizers of the same names
import lightning as L
class Net(L.LightningModule):
    def configure_optimizers(self):
        opt_g = torch.optim.SGD(self.netG.parameters(), lr=0.1)
        opt_d = torch.optim.SGD(self.netD.parameters(), lr=0.1)
        return opt_g, opt_d

    def training_step(self, z, index):
        opt_g, opt_d = self.optimizers()
        opt_g.zero_grad()
        self.manual_backward(-self.netD(self.netG(z)).mean())  # TL407 hint
        opt_g.step()
        opt_d.zero_grad()
        self.manual_backward(self.netD(self.netG(z).detach()).mean())
        opt_d.step()

# case: models, optimizers and losses in dictionaries
class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def train_step(self, batch):
        losses = {}
        fake = self.model["generator"](batch)
        losses["adversarial"] = -self.model["discriminator"](fake).mean()
        losses["distance"] = (fake - batch).abs().mean()
        self.optimizer["generator"].zero_grad()
        sum(losses[each] for each in losses).backward()  # TL407 hint | says: `self.model.discriminator`
        self.optimizer["generator"].step()
        self.optimizer["discriminator"].zero_grad()
        self.model["discriminator"](fake.detach()).mean().backward()
        self.optimizer["discriminator"].step()

# case: losses are computed in functions of the file, and a function zeroes all gradients
def d_loss(nets, x):
    with torch.no_grad():
        fake = nets.generator(x)
    return nets.discriminator(x).mean() - nets.discriminator(fake).mean()

def g_loss(nets, x):
    fake = nets.generator(x)
    losses = []
    for part in nets.discriminator(fake):
        losses.append(part.mean())
    return -sum(losses)

class Solver:
    def reset(self):
        for optimizer in self.optims.values():
            optimizer.zero_grad()

    def train(self, loader):
        nets = self.nets
        for x in loader:
            self.reset()
            d_loss(nets, x).backward()
            self.optims.discriminator.step()
            loss = g_loss(nets, x)
            self.reset()
            loss.backward()  # TL407 hint | says: gradients of `nets.discriminator` … `requires_grad_(False)` on it
            self.optims.generator.step()

# case: a method for each of them, and one that calls both
class Model:
    def __init__(self):
        self.opt_g = torch.optim.Adam(self.netG.parameters())
        self.opt_d = torch.optim.Adam(self.netD.parameters())

    def forward(self):
        self.fake = self.netG(self.real)

    def backward_D(self):
        loss = self.netD(self.real).mean() - self.netD(self.fake.detach()).mean()
        loss.backward()

    def backward_G(self):
        self.loss_G = -self.netD(self.fake).mean() + (self.fake - self.real).abs().mean()
        self.loss_G.backward()  # TL407 hint | says: `self.netD`

    def optimize_parameters(self):
        self.forward()
        self.opt_d.zero_grad()
        self.backward_D()
        self.opt_d.step()
        self.opt_g.zero_grad()
        self.backward_G()
        self.opt_g.step()

# case: an actor and a critic that learn in methods of their own
class Agent:
    def __init__(self):
        self.actor_opt = torch.optim.Adam(self.actor.parameters())
        self.critic_opt = torch.optim.Adam(self.critic.parameters())

    def update_critic(self, obs, action):
        loss = self.critic(obs, action).mean()
        self.critic_opt.zero_grad(set_to_none=True)
        loss.backward()
        self.critic_opt.step()

    def update_actor(self, obs):
        loss = -self.critic(obs, self.actor(obs)).mean()
        self.actor_opt.zero_grad(set_to_none=True)
        loss.backward()  # TL407 hint | says: `self.critic`
        self.actor_opt.step()

    def update(self, obs, action):
        self.update_critic(obs, action)
        self.update_actor(obs)

# case: the discriminator is part of a loss
class State:
    pass

def load(generator, discriminator):
    state = State()
    state.optimizer_g = torch.optim.AdamW(generator.parameters())
    state.generator = generator
    optimizer_d = torch.optim.AdamW(discriminator.parameters())
    state.optimizer_d = optimizer_d
    gan_loss = losses.GANLoss(discriminator)
    state.gan_loss = gan_loss
    return state

def step(state, batch, accel):
    fake = state.generator(batch)
    output = {"disc": state.gan_loss.discriminator_loss(fake, batch)}
    state.optimizer_d.zero_grad()
    accel.backward(output["disc"])
    accel.step(state.optimizer_d)
    output["gen"] = state.gan_loss.generator_loss(fake, batch)
    state.optimizer_g.zero_grad()
    accel.backward(output["gen"])  # TL407 hint | says: `gan_loss`
    accel.step(state.optimizer_g)

# case: a part of the generator, and another model, are frozen
opt_d = torch.optim.SGD(netD.parameters(), lr=0.1)
opt_g = torch.optim.SGD(netG.parameters(), lr=0.1)
for p in netG.encoder.parameters():
    p.requires_grad = False
requires_grad(netE, False)
for z in loader:
    opt_d.zero_grad()
    netD(netG(z).detach()).mean().backward()
    opt_d.step()
    opt_g.zero_grad()
    (-netD(netG(z)).mean()).backward()  # TL407 hint
    opt_g.step()

# case: a function freezes what it is given, by the name of its parameter
def learn(model, on):
    for p in model.parameters():
        p.requires_grad = on

opt_d = torch.optim.SGD(netD.parameters(), lr=0.1)
opt_g = torch.optim.SGD(netG.parameters(), lr=0.1)
for z in loader:
    learn(netD, True)
    opt_d.zero_grad()
    netD(netG(z).detach()).mean().backward()
    opt_d.step()
    learn(netD, False)
    opt_g.zero_grad()
    (-netD(netG(z)).mean()).backward()
    opt_g.step()

# case: a list of models is frozen
class Model:
    def __init__(self):
        self.opt_g = torch.optim.Adam(self.netG.parameters())
        self.opt_d = torch.optim.Adam(self.netD.parameters())

    def step(self, z):
        for net in [self.netD, self.netE]:
            for p in net.parameters():
                p.requires_grad = False
        self.opt_g.zero_grad()
        (-self.netD(self.netG(z)).mean()).backward()
        self.opt_g.step()
        self.opt_d.zero_grad()
        self.netD(self.netG(z).detach()).mean().backward()
        self.opt_d.step()

# case: one optimizer of a loop over both
class Trainer:
    def step(self, z):
        for optimizer in (self.opt_g, self.opt_d):
            optimizer.zero_grad()
        self.netD(self.netG(z)).mean().backward()
        for optimizer in (self.opt_g, self.opt_d):
            optimizer.step()

# case: within a context that freezes
opt_d = torch.optim.SGD(netD.parameters(), lr=0.1)
opt_g = torch.optim.SGD(netG.parameters(), lr=0.1)
for z in loader:
    opt_d.zero_grad()
    netD(netG(z).detach()).mean().backward()
    opt_d.step()
    opt_g.zero_grad()
    with frozen(netD):
        (-netD(netG(z)).mean()).backward()
    opt_g.step()
