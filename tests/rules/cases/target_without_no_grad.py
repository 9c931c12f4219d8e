# TL713: which forward passes are reported whose results are only detached.

# every program:
import copy

import torch
import torch.nn.functional as F

# head: a training step
def train(net, target_net, critic_net, teacher, loader, optimizer, criterion):
    for state, action, reward, next_state in loader:

        # case: what is computed of it is detached
        value = target_net(next_state).max(1)[0]  # TL713 unsafe | marks: target_net(next_state)
        # becomes: with torch.no_grad():
        # added:     value = target_net(next_state).max(1)[0]
        expected = (reward + 0.99 * value).detach()
        F.mse_loss(net(state).gather(1, action), expected).backward()
        optimizer.step()

        # case: it is detached at once
        labels = teacher(state).detach()  # TL713 unsafe
        # becomes: with torch.no_grad():
        # added:     labels = teacher(state).detach()
        F.mse_loss(net(state), labels).backward()
        optimizer.step()

        # case: in place
        labels = F.softmax(teacher(state), 1).detach_()  # TL713 unsafe
        F.mse_loss(net(state), labels).backward()
        optimizer.step()

        # case: by `.data`
        labels = teacher(state)  # TL713 unsafe
        F.mse_loss(net(state), labels.data).backward()
        optimizer.step()

        # case: an annotation
        labels: torch.Tensor = teacher(state)  # TL713 unsafe
        F.mse_loss(net(state), labels.detach()).backward()
        optimizer.step()

        # case: in the loss itself
        F.mse_loss(net(state), teacher(state).detach()).backward()  # TL713 | no fix: may also
        optimizer.step()

        # case: one target network after the other
        action = target_net(next_state)  # TL713
        value = critic_net(torch.cat([next_state, action], 1))  # TL713
        F.mse_loss(net(state), (reward + value).detach()).backward()
        optimizer.step()

        # case: one in the other
        value = critic_net(next_state, target_net(next_state))  # TL713 | marks: critic_net(next_state, target_net(next_state))
        F.mse_loss(net(state), (reward + value).detach()).backward()
        optimizer.step()

        # case: two results
        first, second = target_net(next_state)  # TL713
        value = torch.min(first, second)
        F.mse_loss(net(state), (reward + value).detach()).backward()
        optimizer.step()

        # case: the method of another tensor
        value = values.gather(1, target_net(next_state).argmax(1))  # TL713
        F.mse_loss(net(state), value.detach()).backward()
        optimizer.step()

        # case: a tensor of the host
        value = target_net(next_state).cpu()
        F.mse_loss(net(state), value.detach()).backward()
        optimizer.step()

        # case: a statement of a line with a condition
        if late: labels = teacher(state).detach()  # TL713 | no fix
        F.mse_loss(net(state), labels).backward()
        optimizer.step()

        # case: an index of the best action
        best = target_net(next_state).argmax(1)  # TL713
        value = (-values[best] > 0).detach()
        F.mse_loss(net(state), value).backward()
        optimizer.step()

        # case: a part of a statement that needs gradients
        loss = net(state).mul(teacher(state).detach()).sum()  # TL713 | no fix: may also
        loss.backward()
        optimizer.step()

        # case: two statements of one line
        labels = teacher(state); labels = labels.detach()  # TL713 | no fix: other code
        F.mse_loss(net(state), labels).backward()
        optimizer.step()

        # case: a statement of two lines
        labels = teacher(  # TL713 unsafe
        # becomes: with torch.no_grad():
        # added:     labels = teacher(
            state
        )
        F.mse_loss(net(state), labels.detach()).backward()
        optimizer.step()

        # case: gradients off
        with torch.no_grad():
            labels = teacher(state)
        F.mse_loss(net(state), labels.detach()).backward()
        optimizer.step()

        # case: it is used with its graph as well
        fake = net(state)
        F.mse_loss(teacher(fake), fake.detach()).backward()
        optimizer.step()

        # case: it goes through a model that is trained with it
        fake = net(state)
        teacher(fake).mean().backward()
        show(fake.detach())
        optimizer.step()

        # case: it is never detached
        value = target_net(next_state)
        F.mse_loss(net(state), value).backward()
        optimizer.step()

        # case: it is not used
        value = target_net(next_state)
        F.mse_loss(net(state).detach(), net(state)).backward()  # TL713 | marks: net(state)
        optimizer.step()

        # case: what another function gets may keep its graph
        value = transformed(target_net(next_state))
        F.mse_loss(net(state), value.detach()).backward()
        optimizer.step()

        # case: what a function of another file gets
        from tools import smooth
        value = smooth(target_net(next_state))
        F.mse_loss(net(state), value.detach()).backward()
        optimizer.step()

        # case: another name for it is used with its graph
        value = target_net(next_state)
        scaled = 0.99 * value
        F.mse_loss(net(state), scaled).backward()
        optimizer.step()

        # case: a value that depends on itself
        value = target_net(next_state)
        for _ in range(3):
            value = 0.99 * value
        F.mse_loss(net(state), value.detach()).backward()
        optimizer.step()

        # case: what an object keeps
        self.value = target_net(next_state)
        F.mse_loss(net(state), self.value.detach()).backward()
        optimizer.step()

        # case: an output that is not a tensor
        value = target_net(next_state).loss
        F.mse_loss(net(state), value.detach()).backward()
        optimizer.step()

        # case: a condition
        value = target_net(next_state) if late else reward
        F.mse_loss(net(state), value.detach()).backward()
        optimizer.step()

        # case: an action for the host
        action = target_net(state).detach().cpu().numpy()
        step = target_net(state).cpu().data.numpy()
        F.mse_loss(net(state), reward).backward()
        optimizer.step()

        # case: an index
        values[target_net(next_state).detach()] = 3  # TL713
        sizes[sum(target_net(next_state))] = 3
        F.mse_loss(net(state), reward).backward()
        optimizer.step()

        # case: a loss
        loss = criterion(net(state), reward)
        loss.backward()
        total += loss.detach()
        optimizer.step()

        # case: in evaluation
        net.eval()
        labels = teacher(state).detach()
        net.train()
        F.mse_loss(net(state), labels).backward()
        optimizer.step()

# head: none

# case: a function that a step calls
def labels_of(teacher, images):
    scores = teacher(images)  # TL713
    return (scores / 2).detach()
def train(net, teacher, loader, optimizer):
    for images in loader:
        F.mse_loss(net(images), labels_of(teacher, images)).backward()
        optimizer.step()

# case: a function that is called without gradients
def labels_of(teacher, images):
    scores = teacher(images)
    return (scores / 2).detach()
def train(net, teacher, loader, optimizer):
    for images in loader:
        with torch.no_grad():
            labels = labels_of(teacher, images)
        F.mse_loss(net(images), labels).backward()
        optimizer.step()

# case: target networks of an object
class Agent:
    def __init__(self, critic):
        self.critic_target = copy.deepcopy(critic)
        for kept in self.critic_target.parameters():
            kept.data.mul_(0.5)
    def train(self, state, next_state, reward):
        value = self.critic_target(next_state)  # TL713
        value = reward + (0.99 * value).detach()
        F.mse_loss(self.critic(state), value).backward()
        self.optimizer.step()

# case: a frozen teacher
def train(net, teacher, loader, optimizer):
    teacher.requires_grad_(False)
    for images in loader:
        F.mse_loss(net(images), teacher(images).detach()).backward()
        optimizer.step()

# case: no training step
def label(teacher, images):
    return teacher(images).detach()

# case: a test [path=tests/test_teacher.py]
def train(net, teacher, loader, optimizer):
    for images in loader:
        F.mse_loss(net(images), teacher(images).detach()).backward()
        optimizer.step()
