# TL115: batches that cost as much as the whole buffer to draw.

# every program:
import random
from collections import deque

import numpy as np
import torch

# head: a buffer
class ReplayBuffer:
    def __init__(self, size):
        self.memory = deque(maxlen=size)
        self.rewards = []
        self.states = np.zeros((size, 4))

    def sample(self, batch_size):
        # case: a shuffle of all
        return self.states[np.random.choice(self.size, batch_size, replace=False)]  # TL115 hint | says: default_rng

        # case: a shuffle of a few
        return np.random.choice(9_999, batch_size, replace=False), np.random.permutation(100)[:4]

        # case: with replacement
        return self.states[np.random.choice(self.size, batch_size)]

        # case: by priority
        return np.random.choice(self.size, batch_size, p=self.priorities)  # TL115 hint | says: adds up
        return np.random.choice(self.size, batch_size, replace=False, p=self.priorities)  # TL115 hint

        # case: a part of a permutation
        return np.random.permutation(self.size)[:batch_size]  # TL115 hint | says: np.random.randint
        return torch.randperm(self.size)[:batch_size]  # TL115 hint | says: torch.randint

        # case: all of a permutation, or of a batch
        return torch.randperm(self.size), torch.randperm(batch_size)[:4]

        # case: a deque
        return random.sample(self.memory, batch_size)  # TL115 hint | says: walked through

        # case: a list
        return random.sample(self.rewards, batch_size)

        # case: an array of all
        return np.array(self.rewards)[index], list(self.memory)  # TL115 hint | marks: np.array(self.rewards)  # TL115 hint

        # case: an array that is one already
        return np.array(self.states), np.array(batch_size), list()

        # case: a copy of all
        return self.states[: self.filled].copy(), self.store["a"][:].clone()  # TL115 hint  # TL115 hint

        # case: a copy of a part
        return self.states[index].copy(), self.states[4:].copy(), states[:4].copy(), self.states[:4, 1].copy(), self.states[::2].copy()

        # case: one by one
        return [self.memory[index] for index in indices]  # TL115 hint | says: sample by sample

        # case: one by one, in a loop
        for index in indices:  # TL115 hint | marks: indices
            states.append(self.memory[index])
        return [self.memory[index] for index in indices]

        # case: a tree
        for number in range(batch_size):  # TL115 hint
            states.append(self.tree.get_leaf(number))

        # case: loops over something else
        for key in self.keys:
            batch[key] = self.arrays[key]
        return [each.state for each in batch], [self.memory[0] for index in indices]

        # case: now and then
        if self.episode is None:
            self.episode = np.random.choice(self.size, batch_size, replace=False)

# head: none

# case: another method
class ReplayBuffer:
    def clear(self):
        return np.random.choice(self.size, 4, replace=False), np.array(self.memory)

# case: another class
class Grid:
    def sample(self, count):
        return np.random.choice(self.size, count, replace=False), [self.memory[i] for i in count]

# head: a training step
def train(model, states, optimizer):
    for step in range(1000):
        # case: a shuffle of all on each step
        index = np.random.choice(len(states), 256, replace=False)  # TL115 hint
        loss = model(states[index])
        loss.backward()
        optimizer.step()

        # case: now and then, or what is only one by one
        if step % 100 == 0:
            index = np.random.choice(len(states), 256, replace=False)
        loss = model(torch.stack([states[i] for i in index]))
        loss.backward()
        optimizer.step()

# head: none

# case: negatives that are looked up
def random_neq(low, high, seen):
    item = np.random.randint(low, high)
    while item in seen:  # TL115 hint | says: one by one | marks: item in seen
        item = np.random.randint(low, high)
    return item

# case: an item of an array
def negatives(users, seen, count):
    items = np.random.randint(0, count, len(users))
    for i, user in enumerate(users):
        while items[i] in seen[user]:  # TL115 hint
            items[i] = random.randint(0, count)

# case: until one is found
def negative(seen, count, tries):
    while True:
        item = random.randrange(count)
        if item not in seen:  # TL115 hint | marks: item not in seen
            return item

# case: a list of those to draw again
def negatives(sampler, seen, count):
    left, items = np.arange(count), np.zeros(count)
    while len(left) > 0:
        items[left] = sampler.sampling(len(left))
        left = np.array([i for i, item in zip(left, items[left]) if item in seen])  # TL115 hint | marks: left = np.array([i for i, item in zip(left, items[left]) if item in seen])
    return items

# case: all at once
def negatives(seen, count):
    left = np.arange(count)
    while len(left) > 0:
        items = np.random.randint(0, count, len(left))
        left = left[np.isin(items, seen)]
        names = [each for each in seen if each in left]
    return items, names

# case: what is not drawn
def first(seen, names):
    while seen in names:
        seen = seen + 1
    while True:
        count = random.randint(0, 9)
        if seen == count or count < 3 or seen in names:
            return seen

# case: for an evaluation
def evaluate(model, seen, count):
    model.eval()
    with torch.no_grad():
        item = random.randint(0, count)
        while item in seen:
            item = random.randint(0, count)
        return model(item)
