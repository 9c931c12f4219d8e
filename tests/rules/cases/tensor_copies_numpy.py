# TL105: which copies are reported, how surely, and when memory must not be shared.

# every program:
import cv2
import gymnasium as gym
import numpy as np
import torch

# head: a dataset that reads an image for each sample
class Photos(torch.utils.data.Dataset):
    def __getitem__(self, index):
        image = cv2.imread(self.files[index])

        # case: in __getitem__
        return torch.tensor(image)  # TL105

        # case: moved right away
        return torch.tensor(image).cuda()  # TL105 | says: copies the whole array

        # case: converted right away
        return torch.tensor(image).float()  # TL105

        # case: a dtype that the array has
        return torch.tensor(image.astype(np.float32), dtype=torch.float32)  # TL105

        # case: the same dtype under another name
        return torch.tensor(image.astype('f4'), dtype=torch.float)  # TL105

        # case: a device that is the CPU
        return torch.tensor(image, device='cpu')  # TL105

        # case: options that ask for nothing
        return torch.tensor(image, dtype=None, requires_grad=False)  # TL105

        # case: a dtype, where the array's is unknown
        return torch.tensor(np.load('x.npy'), dtype=torch.float32)  # TL105 hint | says: copies only if needed

        # case: a dtype that is unknown
        return torch.tensor(image, dtype=dtype)  # TL105 hint

        # case: a device that is unknown
        return torch.tensor(image, device=self.device)  # TL105 hint

        # case: an in-place method on the only copy
        return torch.tensor(image.astype(np.float32)).div_(255)  # TL105

        # case: a tensor whose gradient alone is switched
        return torch.tensor(image).requires_grad_()  # TL105

        # case: an array that is written after the tensor has left
        x = torch.tensor(image).cuda()  # TL105
        image[0] = 0
        return x

        # case: a number
        return torch.tensor(3.0)

        # case: a list of numbers
        return torch.tensor([1, 2, 3])

        # case: a list by name
        ids = [1, 2]
        return torch.tensor(ids)

        # case: a number of NumPy
        return torch.tensor(np.float64(3))

        # case: a mean
        return torch.tensor(image.mean())

        # case: a mean, as a function
        return torch.tensor(np.mean(image))

        # case: a random number
        return torch.tensor(np.random.uniform(0, 1))

        # case: a function of a number
        return torch.tensor(np.sqrt(3.0))

        # case: a function of something unknown
        return torch.tensor(np.sqrt(self.scale))

        # case: something unknown that is cast
        return torch.tensor(ratio.astype(np.float64))

        # case: something unknown
        return torch.tensor(self.data)

        # case: a tensor
        x = torch.zeros(3)
        return torch.tensor(x)

        # case: a shape
        return torch.tensor(image.shape)

        # case: a dtype that the array does not have
        return torch.tensor(image, dtype=torch.float32)

        # case: float64 to float32
        return torch.tensor(np.random.rand(3, 4), dtype=torch.float32)

        # case: the GPU
        return torch.tensor(image, device='cuda')

        # case: one of the GPUs
        return torch.tensor(image, device=torch.device('cuda:1'))

        # case: a GPU by its index
        return torch.tensor(image, device=0)

        # case: a gradient
        return torch.tensor(image, requires_grad=True)

        # case: pinned memory
        return torch.tensor(image, pin_memory=True)

        # case: a copy that is asked for
        return torch.tensor(image, copy=True)

        # case: pinned memory, perhaps
        return torch.tensor(image, pin_memory=self.pin)

        # case: the array is written afterwards
        x = torch.tensor(image)
        image[0] = 0
        return x

        # case: a view of the array is written afterwards
        x = torch.tensor(image.transpose(2, 0, 1))
        image[0] = 0
        return x

        # case: the array is added to afterwards
        x = torch.tensor(image)
        image += 1
        return x

        # case: the array is filled afterwards
        x = torch.tensor(image)
        image.fill(0)
        return x

        # case: the array is copied onto afterwards
        x = torch.tensor(image)
        np.copyto(image, 0)
        return x

        # case: the array is an output afterwards
        x = torch.tensor(image)
        np.add(image, 1, out=image)
        return x

        # case: the tensor is written
        x = torch.tensor(image)
        x[0] = 0
        return x

        # case: the tensor is added to
        x = torch.tensor(image)
        x += 1
        return x

        # case: the tensor is changed in place
        x = torch.tensor(image)
        x.add_(1)
        return x

        # case: the tensor is changed in place at once
        return torch.tensor(image).add_(1)

        # case: a memory map
        data = np.memmap('x.bin', dtype=np.uint16)
        return torch.tensor(data[0:8])

        # case: a file that is mapped
        data = np.load('x.npy', mmap_mode='r')
        return torch.tensor(data.reshape(3, 4))

        # case: a buffer
        return torch.tensor(np.frombuffer(self.bytes, dtype=np.uint8))

        # case: a copy that the code asks for
        image = np.load(self.files[index])
        if self.copy:
            return torch.tensor(image)
        return torch.from_numpy(image)

        # case: a broadcast view
        return torch.tensor(np.broadcast_to(image, (2, 3)))

        # case: an array of objects
        return torch.tensor(np.array(names, dtype=object))

        # case: an array of strings
        return torch.tensor(np.array(names, dtype=str))

        # case: as_tensor
        return torch.as_tensor(image), torch.tensor(self.label)

        # case: from_numpy
        return torch.from_numpy(image), torch.tensor(self.label)

        # case: an array or something else
        x = image if self.raw else self.feature
        return torch.tensor(x)

# head: vectorized environments
envs = gym.vector.SyncVectorEnv(makers)

# case: the observation of an environment, moved away
obs, _ = envs.reset()
x = torch.tensor(obs).to(device)  # TL105 hint

# case: the observation of an environment, under another name
next_obs, reward, done, _, _ = envs.step(action)
obs = next_obs
x = torch.tensor(obs)

# case: no fix: an environment fills its observation again
obs, reward, _, _, _ = envs.step(action)
x = torch.tensor(reward).to(device)  # TL105 hint | no fix: environment

# case: no fix: an environment fills its first observation again
x = torch.tensor(envs.reset(seed=0)[0], device=device)  # TL105 hint | no fix: environment

# head: none

# case: in a step loop
for batch in loader:
    x = torch.tensor(np.stack(batch))  # TL105
    loss = model(x)
    loss.backward()
    optimizer.step()

# case: in a function that does one step
def step(batch):
    loss = model(torch.tensor(np.stack(batch)))  # TL105
    loss.backward()
    optimizer.step()

# case: in a collate function, by its name
def collate(batch):
    return torch.tensor(np.stack(batch))  # TL105

# case: in a collate function, by its use
def join(batch):
    return torch.tensor(np.stack(batch))  # TL105

loader = torch.utils.data.DataLoader(data, collate_fn=join)

# case: in a loop that plays an environment
while not done:
    action = policy(torch.tensor(np.stack(frames)))  # TL105
    frame, reward, done, _, _ = env.step(action)
    frames.append(frame)

# case: once, at set-up
mean = torch.tensor(np.load('mean.npy'))  # TL105 hint

# case: every hundred steps
for step, batch in enumerate(loader):
    loss = model(batch)
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        show(torch.tensor(np.stack(history)))  # TL105 hint

# case: in evaluation
def evaluate(env, policy):
    while not done:
        action = policy(torch.tensor(np.stack(frames)))  # TL105 hint
        frame, reward, done, _, _ = env.step(action)

# case: a parameter that is annotated as an array
def collate(batch: np.ndarray):
    return torch.tensor(batch)  # TL105 hint

# case: the bounds of an action space
scale = torch.tensor((env.action_space.high - env.action_space.low) / 2)  # TL105 hint

# case: a typed constructor
x = torch.FloatTensor(np.random.normal(0, 1, (4, 4)))  # TL105 hint

# case: a typed constructor with one of several arrays
names, labels = np.unique(x, return_inverse=True)
y = torch.LongTensor(labels)  # TL105 hint

# case: a typed constructor in a step loop
for batch in loader:
    loss = model(torch.Tensor(np.stack(batch)))  # TL105 hint
    loss.backward()
    optimizer.step()

# case: a constructor on the GPU
x = torch.cuda.LongTensor(np.where(mask)[1])  # TL105 hint

# case: an alias of one or the other
Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor
z = Tensor(np.random.normal(0, 1, (4, 4)))  # TL105 hint

# case: an alias whose types are the same by default
Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.Tensor
z = Tensor(np.ones((4, 4)))  # TL105 hint

# case: an item of an array, which a typed constructor takes only if it is one
class Buffer:
    def __init__(self):
        self.state = np.zeros((1000, 4))

    def sample(self, index):
        return torch.FloatTensor(self.state[index])  # TL105 hint

# case: what has been reshaped
def act(state):
    return policy(torch.FloatTensor(state.reshape(1, -1)))  # TL105 hint

# case: what an unknown function made of an array
def prepare(points):
    return torch.Tensor(jitter(np.asarray(points)))  # TL105 hint

# case: what is sliced like an array
def prepare(points):
    points[:, 0:3] = scale(points)
    return torch.Tensor(points)  # TL105 hint

# case: the old way to start an environment
env = gym.make('CartPole-v1')
state = torch.FloatTensor(env.reset())  # TL105 hint

# case: what a method of the file returns
class Photos:
    def pull(self, index):
        return cv2.imread(self.files[index])

    def tensor(self, index):
        return torch.Tensor(self.pull(index))  # TL105 hint

# case: what an object of the file keeps
class Tree:
    def __init__(self):
        self.data = np.zeros(9, dtype=record)

    def find(self, index):
        return index, self.data[index]["state"]

tree = Tree()
_, states = tree.find(mask)
x = torch.tensor(states)  # TL105 hint

# case: an interpolation
from scipy import interpolate
f = interpolate.interp2d(x, y, z, kind="cubic")
bias = torch.Tensor(f(dx, dy))  # TL105 hint

# case: a sparse matrix made dense
x = torch.FloatTensor(np.array(m.todense()))  # TL105 hint

# case: torch under another name
import torch as th
x = th.FloatTensor(np.ones(3))  # TL105 hint

# case: an array that is written before
x = np.zeros((4, 4))
x[0] = 1
y = torch.tensor(x)  # TL105 hint

# case: an array that is written before, again on each round
def collate(batch):
    found = []
    for item in batch:
        x = np.zeros((4, 4))
        x[0] = item
        found.append(torch.tensor(x))  # TL105
    return found

# case: a label, which may be a number
class Photos(torch.utils.data.Dataset):
    def __init__(self):
        self.labels = np.load("labels.npy")

    def __getitem__(self, index):
        return torch.tensor(self.labels[index])

# case: one of the numbers in an array
for value in np.zeros(3):
    x = torch.tensor(value)

# case: the array is written on the next round
frame = np.zeros((4, 4))
while not done:
    frame[0] = read()
    policy(torch.tensor(frame))
    _, _, done, _ = env.step(0)

# case: a replay buffer
class Buffer:
    def __init__(self):
        self.state = np.zeros((1000, 4))

    def add(self, state):
        self.state[self.index] = state

    def sample(self, index):
        return torch.tensor(self.state[:100])

# case: the observation of an environment
env = gym.make("CartPole-v1")
obs, _ = env.reset()
while not done:
    action = policy(torch.tensor(obs))
    obs, reward, done, _, _ = env.step(action)

# case: a memory map of the dataset
class Tokens(torch.utils.data.Dataset):
    def __init__(self):
        self.data = np.memmap("x.bin", dtype=np.uint16)

    def __getitem__(self, index):
        return torch.tensor(self.data[index : index + 8])

# case: the size of a tensor
x = torch.FloatTensor(3, 4)

# case: the size of a tensor, by a number
def make(n):
    return torch.FloatTensor(n)

# case: the size of a tensor, by a shape
x = torch.Tensor(np.zeros(3).shape)

# case: a typed constructor with a list
x = torch.LongTensor([1, 2])

# case: a typed constructor with a tensor
x = torch.FloatTensor(torch.zeros(3).reshape(3, 1))

# case: a typed constructor with something unknown
x = torch.FloatTensor(features)

# case: an alias for different types
Tensor = torch.LongTensor if labels else torch.FloatTensor
x = Tensor(np.ones(3))

# case: a class of the project
from shapes import Tensor
x = Tensor(np.ones(3))

# case: the conversion of a tensor
x = torch.zeros(3).type(torch.FloatTensor)

# case: an array, or what the caller passed
def collate(batch=None):
    if batch is None:
        batch = np.zeros(3)
    return torch.tensor(batch)

# case: a test [path=tests/test_model.py]
x = torch.tensor(np.ones(3))

# case: the fix of a fresh array
x = torch.tensor(np.stack(xs))  # TL105 hint safe
# becomes: x = torch.as_tensor(np.stack(xs))

# case: the fix of a converted array
x = torch.tensor(cv2.imread(name).astype(np.float32))  # TL105 hint safe
# becomes: x = torch.as_tensor(cv2.imread(name).astype(np.float32))

# case: the fix of a computed array
x = torch.tensor(np.ones(3) / 2, dtype=dtype)  # TL105 hint safe
# becomes: x = torch.as_tensor(np.ones(3) / 2, dtype=dtype)

# case: the fix of a fresh array under a keyword
x = torch.tensor(data=np.zeros(3))  # TL105 hint safe
# becomes: x = torch.as_tensor(data=np.zeros(3))

# case: the fix of an image, which the library may keep
x = torch.tensor(cv2.imread(name))  # TL105 hint unsafe
# becomes: x = torch.as_tensor(cv2.imread(name))

# case: the fix of a view
x = torch.tensor(np.zeros((4, 4))[0:2])  # TL105 hint unsafe
# becomes: x = torch.as_tensor(np.zeros((4, 4))[0:2])

# case: the fix of an array that is not copied
x = torch.tensor(np.array(np.load('x.npy'), copy=False))  # TL105 hint unsafe
# becomes: x = torch.as_tensor(np.array(np.load('x.npy'), copy=False))

# case: the fix of an array that is converted only if needed
x = torch.tensor(np.load('x.npy').astype('f4', copy=False))  # TL105 hint unsafe
# becomes: x = torch.as_tensor(np.load('x.npy').astype('f4', copy=False))

# case: the fix of an array that is written into another
x = torch.tensor(np.add(np.ones(3), 1, out=kept))  # TL105 hint unsafe
# becomes: x = torch.as_tensor(np.add(np.ones(3), 1, out=kept))

# case: the fix of an array that is written into another, by position
x = torch.tensor(np.exp(np.ones(3), kept))  # TL105 hint unsafe
# becomes: x = torch.as_tensor(np.exp(np.ones(3), kept))

# case: the fix of a typed constructor
x = torch.FloatTensor(np.random.normal(0, 1, (3, 4))).to(device)  # TL105 hint safe
# becomes: x = torch.from_numpy(np.random.normal(0, 1, (3, 4))).float().to(device)

# case: the fix of a typed constructor of bytes, which are moved as they are
x = torch.FloatTensor(np.stack(frames).astype(np.uint8)).to(device)  # TL105 hint unsafe | says: if it holds bytes
# becomes: x = torch.from_numpy(np.stack(frames).astype(np.uint8)).to(device).float()

# case: the fix of a typed constructor of bytes that stay in host memory
x = torch.FloatTensor(np.stack(frames).astype(np.uint8)).mean()  # TL105 hint unsafe
# becomes: x = torch.from_numpy(np.stack(frames).astype(np.uint8)).float().mean()

# case: the fix of a typed constructor of integers
x = torch.LongTensor(np.concatenate(xs))  # TL105 hint safe
# becomes: x = torch.from_numpy(np.concatenate(xs)).long()

# case: the fix of a typed constructor, where an integer would be a size
x = torch.LongTensor(np.array(x))  # TL105 hint unsafe
# becomes: x = torch.from_numpy(np.array(x)).long()

# case: the fix of the constructor that follows the default dtype
x = torch.Tensor(np.ones(3))  # TL105 hint unsafe
# becomes: x = torch.from_numpy(np.ones(3)).float()

# case: the fix of a constructor on the GPU
x = torch.cuda.FloatTensor(np.ones(3))  # TL105 hint unsafe
# becomes: x = torch.as_tensor(np.ones(3), dtype=torch.float32, device="cuda")

# case: the fix of something that is hardly no array
x = torch.FloatTensor(state.reshape(1, -1))  # TL105 hint unsafe
# becomes: x = torch.as_tensor(state.reshape(1, -1), dtype=torch.float32)

# case: a named array is shared only if the user says so
kept = np.ones(3)
x = torch.tensor(kept)  # TL105 hint unsafe

# case: what a function of the file returns may be kept by it
def draw():
    global kept
    kept = np.ones(3)
    return kept

x = torch.tensor(draw())  # TL105 hint unsafe

# case: what a method of the file returns may be kept by it
class Noise:
    def draw(self):
        self.kept = np.ones(3)
        return self.kept + 0

    def tensor(self):
        return torch.tensor(self.draw())  # TL105 hint unsafe

# case: a typed constructor of a named array is changed only if the user says so
kept = np.ones(3)
x = torch.FloatTensor(kept)  # TL105 hint unsafe

# case: a constructor imported by its name is spelled out
from torch import tensor
x = tensor(np.stack(xs))  # TL105 hint safe
# becomes: x = torch.as_tensor(np.stack(xs))

# case: comments inside the call stay
x = torch.FloatTensor(  # TL105 hint safe
# becomes: x = torch.from_numpy(
    np.stack(xs),  # one row each
)
# becomes: ).float()

# case: no fix: the tensor is resized
x = torch.tensor(np.stack(xs))  # TL105 hint | no fix: resized
x.resize_(100)

# case: no fix: the tensor is resized at once
x = torch.tensor(np.stack(xs)).resize_(100)  # TL105 hint | no fix: resized

# case: no fix: the dtype may force the copy, and the tensor is written
frames = np.load('x.npy')
x = torch.tensor(frames, dtype=torch.float32, device=device).div_(255)  # TL105 hint | no fix: written in place

# case: no fix: the device may force the copy, and the array is written
frames = np.load('x.npy')
x = torch.tensor(frames, device=device)  # TL105 hint | no fix: written in place
frames[0] = 0

# case: no fix: the name is that of constructors on both devices
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
x = Tensor(np.ones(3))  # TL105 hint | no fix: on the GPU

# case: no fix where torch has no name [bare]
import numpy as np
from torch import tensor, FloatTensor

x = tensor(np.ones(3))  # TL105 hint | no fix: not imported
y = FloatTensor(np.ones(3))  # TL105 hint | no fix: not imported

# case: a parameter that nothing is known of
def collate(batch):
    return torch.tensor(batch)

# case: a parameter that is an array or a tensor
def collate(batch: np.ndarray | torch.Tensor):
    return torch.tensor(batch)

# case: no fix: an environment fills its rewards again, on each step
envs = gym.vector.SyncVectorEnv(makers)
while not done:
    obs, reward, done, _, _ = envs.step(policy(obs))
    rewards = torch.tensor(reward).to(device)  # TL105 hint | no fix: environment

# case: torch is imported in the function alone [bare]
import numpy as np
def load():
    import torch
    return torch.tensor(np.stack(xs))  # TL105 hint safe
    # becomes: return torch.as_tensor(np.stack(xs))

# case: the fix of a typed constructor, where a whole number would be a size
x = torch.LongTensor(np.array(x, dtype=np.int64))  # TL105 hint unsafe

# case: not parsed: numbers and lists that are written out [bare, unread]
import numpy as np
import torch
x = torch.tensor(-1)
y = torch.tensor(len(words))
z = torch.tensor([word for word in words])

# case: not parsed: `tensor` of another package [bare, unread]
import numpy as np
from house import tensor
x = tensor(np.zeros(3))

# case: not parsed: arrays are only in a docstring [bare, unread]
def f(shape):
    """Like numpy, but on a device."""
    return torch.tensor(shape)

# head: a step that gives arrays to constructors of the GPU
import numpy as np
import torch

Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
for images in loader:
    loss = model(images)
    loss.backward()
    optimizer.step()

    # case: random numbers, to the GPU where there is one
    noise = Tensor(np.random.normal(0, 1, (64, 100)))  # TL105 | says: let torch draw | no fix

    # case: random numbers, to the GPU
    noise = torch.cuda.FloatTensor(np.random.rand(64, 100))  # TL105 unsafe | says: to the GPU

    # case: numbers that the host has
    counts = np.zeros(9)
    labels = torch.cuda.LongTensor(counts)  # TL105 unsafe | says: or keep them there

    # case: what hardly is something else than an array
    rows = table[:, 0].reshape(9)
    labels = torch.cuda.LongTensor(rows)  # TL105 hint | says: to the GPU

    # case: now and then, to the GPU
    if step % 100 == 0:
        noise = Tensor(np.random.normal(0, 1, (64, 100)))  # TL105 hint

# head: a table that a generator has drawn
import numpy as np
import torch

rng = np.random.default_rng(0)
table = rng.standard_normal((8192, 1024), dtype=np.float32)
for step in range(1000):
    loss = model(rows)
    loss.backward()
    optimizer.step()

    # case: all of it in each step, where a part is taken
    rows = torch.tensor(table)[picked]  # TL105 unsafe

    # case: a single draw of a generator
    scale = torch.tensor(rng.normal())
