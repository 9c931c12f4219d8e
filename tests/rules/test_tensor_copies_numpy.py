"""TL105: which copies are reported, how surely, and when memory must not be shared."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.engine.tiers import Wanted
from torchlint.finding import Applicability, Finding, Tier
from torchlint.fixes.fixer import fix_targets
from torchlint.project.target import Target

FIXTURES = Path(__file__).parents[2] / "fixtures" / "tensor-copies-numpy"
ONLY = Selection(select=("TL105",), ignore=())
HEADER = "import cv2\nimport gymnasium as gym\nimport numpy as np\nimport torch\n\n"


def findings(code: str, path: str = "train.py") -> list[Finding]:
    target = Target(path, ONLY, (2, 13), (HEADER + dedent(code)).encode())
    report = check([target])
    assert not report.diagnostics
    return list(report.findings)


def fixed(code: str, *, unsafe: bool = True) -> str:
    target = Target("train.py", ONLY, (2, 13), (HEADER + dedent(code)).encode())
    report = fix_targets([target], unsafe=unsafe, wanted=Wanted(hints=True))
    assert not report.diagnostics
    after = report.files[0].after.decode() if report.files else HEADER + dedent(code)
    return after.removeprefix(HEADER)


def in_dataset(line: str) -> str:
    """The line as the end of a `__getitem__`, which runs for each sample."""
    return f"""
class Photos(torch.utils.data.Dataset):
    def __getitem__(self, index):
        image = cv2.imread(self.files[index])
        {line}
"""


REPORTED = {
    "in __getitem__": (in_dataset("return torch.tensor(image)"), Tier.DEFAULT),
    "in a step loop": (
        """
        for batch in loader:
            x = torch.tensor(np.stack(batch))
            loss = model(x)
            loss.backward()
            optimizer.step()
        """,
        Tier.DEFAULT,
    ),
    "in a function that does one step": (
        """
        def step(batch):
            loss = model(torch.tensor(np.stack(batch)))
            loss.backward()
            optimizer.step()
        """,
        Tier.DEFAULT,
    ),
    "in a collate function, by its name": (
        "def collate(batch):\n    return torch.tensor(np.stack(batch))",
        Tier.DEFAULT,
    ),
    "in a collate function, by its use": (
        """
        def join(batch):
            return torch.tensor(np.stack(batch))

        loader = torch.utils.data.DataLoader(data, collate_fn=join)
        """,
        Tier.DEFAULT,
    ),
    "in a loop that plays an environment": (
        """
        while not done:
            action = policy(torch.tensor(np.stack(frames)))
            frame, reward, done, _, _ = env.step(action)
            frames.append(frame)
        """,
        Tier.DEFAULT,
    ),
    "moved right away": (in_dataset("return torch.tensor(image).cuda()"), Tier.DEFAULT),
    "converted right away": (in_dataset("return torch.tensor(image).float()"), Tier.DEFAULT),
    "a dtype that the array has": (
        in_dataset("return torch.tensor(image.astype(np.float32), dtype=torch.float32)"),
        Tier.DEFAULT,
    ),
    "the same dtype under another name": (
        in_dataset("return torch.tensor(image.astype('f4'), dtype=torch.float)"),
        Tier.DEFAULT,
    ),
    "a device that is the CPU": (
        in_dataset("return torch.tensor(image, device='cpu')"),
        Tier.DEFAULT,
    ),
    "options that ask for nothing": (
        in_dataset("return torch.tensor(image, dtype=None, requires_grad=False)"),
        Tier.DEFAULT,
    ),
    "once, at set-up": ("mean = torch.tensor(np.load('mean.npy'))", Tier.HINT),
    "every hundred steps": (
        """
        for step, batch in enumerate(loader):
            loss = model(batch)
            loss.backward()
            optimizer.step()
            if step % 100 == 0:
                show(torch.tensor(np.stack(history)))
        """,
        Tier.HINT,
    ),
    "in evaluation": (
        """
        def evaluate(env, policy):
            while not done:
                action = policy(torch.tensor(np.stack(frames)))
                frame, reward, done, _, _ = env.step(action)
        """,
        Tier.HINT,
    ),
    "a dtype, where the array's is unknown": (
        in_dataset("return torch.tensor(np.load('x.npy'), dtype=torch.float32)"),
        Tier.HINT,
    ),
    "a dtype that is unknown": (in_dataset("return torch.tensor(image, dtype=dtype)"), Tier.HINT),
    "a device that is unknown": (
        in_dataset("return torch.tensor(image, device=self.device)"),
        Tier.HINT,
    ),
    "a parameter that is annotated as an array": (
        "def collate(batch: np.ndarray):\n    return torch.tensor(batch)",
        Tier.HINT,
    ),
    "the observation of an environment, moved away": (
        """
        envs = gym.vector.SyncVectorEnv(makers)
        obs, _ = envs.reset()
        x = torch.tensor(obs).to(device)
        """,
        Tier.HINT,
    ),
    "the observation of an environment, by its index": (
        """
        envs = gym.vector.SyncVectorEnv(makers)
        x = torch.tensor(envs.reset(seed=0)[0], device=device)
        """,
        Tier.HINT,
    ),
    "the bounds of an action space": (
        "scale = torch.tensor((env.action_space.high - env.action_space.low) / 2)",
        Tier.HINT,
    ),
    "a typed constructor": ("x = torch.FloatTensor(np.random.normal(0, 1, (4, 4)))", Tier.HINT),
    "a typed constructor with one of several arrays": (
        "names, labels = np.unique(x, return_inverse=True)\ny = torch.LongTensor(labels)",
        Tier.HINT,
    ),
    "a typed constructor in a step loop": (
        """
        for batch in loader:
            loss = model(torch.Tensor(np.stack(batch)))
            loss.backward()
            optimizer.step()
        """,
        Tier.HINT,
    ),
    "a constructor on the GPU": ("x = torch.cuda.LongTensor(np.where(mask)[1])", Tier.HINT),
    "an alias of one or the other": (
        """
        Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor
        z = Tensor(np.random.normal(0, 1, (4, 4)))
        """,
        Tier.HINT,
    ),
    "an alias whose types are the same by default": (
        """
        Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.Tensor
        z = Tensor(np.ones((4, 4)))
        """,
        Tier.HINT,
    ),
    "an item of an array, which a typed constructor takes only if it is one": (
        """
        class Buffer:
            def __init__(self):
                self.state = np.zeros((1000, 4))

            def sample(self, index):
                return torch.FloatTensor(self.state[index])
        """,
        Tier.HINT,
    ),
    "what has been reshaped": (
        "def act(state):\n    return policy(torch.FloatTensor(state.reshape(1, -1)))",
        Tier.HINT,
    ),
    "what an unknown function made of an array": (
        "def prepare(points):\n    return torch.Tensor(jitter(np.asarray(points)))",
        Tier.HINT,
    ),
    "what is sliced like an array": (
        """
        def prepare(points):
            points[:, 0:3] = scale(points)
            return torch.Tensor(points)
        """,
        Tier.HINT,
    ),
    "the old way to start an environment": (
        "env = gym.make('CartPole-v1')\nstate = torch.FloatTensor(env.reset())",
        Tier.HINT,
    ),
    "what a method of the file returns": (
        """
        class Photos:
            def pull(self, index):
                return cv2.imread(self.files[index])

            def tensor(self, index):
                return torch.Tensor(self.pull(index))
        """,
        Tier.HINT,
    ),
    "what an object of the file keeps": (
        """
        class Tree:
            def __init__(self):
                self.data = np.zeros(9, dtype=record)

            def find(self, index):
                return index, self.data[index]["state"]

        tree = Tree()
        _, states = tree.find(mask)
        x = torch.tensor(states)
        """,
        Tier.HINT,
    ),
    "an interpolation": (
        """
        from scipy import interpolate
        f = interpolate.interp2d(x, y, z, kind="cubic")
        bias = torch.Tensor(f(dx, dy))
        """,
        Tier.HINT,
    ),
    "a sparse matrix made dense": ("x = torch.FloatTensor(np.array(m.todense()))", Tier.HINT),
    "torch under another name": ("import torch as th\nx = th.FloatTensor(np.ones(3))", Tier.HINT),
    "an array that is written before": (
        "x = np.zeros((4, 4))\nx[0] = 1\ny = torch.tensor(x)",
        Tier.HINT,
    ),
    "an array that is written before, anew on each round": (
        """
        def collate(batch):
            found = []
            for item in batch:
                x = np.zeros((4, 4))
                x[0] = item
                found.append(torch.tensor(x))
            return found
        """,
        Tier.DEFAULT,
    ),
    "an in-place method on the only copy": (
        in_dataset("return torch.tensor(image.astype(np.float32)).div_(255)"),
        Tier.DEFAULT,
    ),
    "a tensor of which only the gradient is switched": (
        in_dataset("return torch.tensor(image).requires_grad_()"),
        Tier.DEFAULT,
    ),
    "an array that is written after the tensor has left": (
        in_dataset("x = torch.tensor(image).cuda()\n        image[0] = 0\n        return x"),
        Tier.DEFAULT,
    ),
}


@pytest.mark.parametrize(("code", "tier"), REPORTED.values(), ids=REPORTED)
def test_reported(code: str, tier: Tier) -> None:
    assert [finding.tier for finding in findings(code)] == [tier]


LEFT_ALONE = {
    "a number": in_dataset("return torch.tensor(3.0)"),
    "a list of numbers": in_dataset("return torch.tensor([1, 2, 3])"),
    "a list by name": in_dataset("ids = [1, 2]\n        return torch.tensor(ids)"),
    "a number of NumPy": in_dataset("return torch.tensor(np.float64(3))"),
    "a mean": in_dataset("return torch.tensor(image.mean())"),
    "a mean, as a function": in_dataset("return torch.tensor(np.mean(image))"),
    "a random number": in_dataset("return torch.tensor(np.random.uniform(0, 1))"),
    "a function of a number": in_dataset("return torch.tensor(np.sqrt(3.0))"),
    "a function of something unknown": in_dataset("return torch.tensor(np.sqrt(self.scale))"),
    "a label, which may be a number": """
        class Photos(torch.utils.data.Dataset):
            def __init__(self):
                self.labels = np.load("labels.npy")

            def __getitem__(self, index):
                return torch.tensor(self.labels[index])
        """,
    "one of the numbers in an array": ("for value in np.zeros(3):\n    x = torch.tensor(value)"),
    "something unknown that is cast": in_dataset("return torch.tensor(ratio.astype(np.float64))"),
    "something unknown": in_dataset("return torch.tensor(self.data)"),
    "a tensor": in_dataset("x = torch.zeros(3)\n        return torch.tensor(x)"),
    "a shape": in_dataset("return torch.tensor(image.shape)"),
    "a dtype that the array does not have": in_dataset(
        "return torch.tensor(image, dtype=torch.float32)"
    ),
    "float64 to float32": in_dataset(
        "return torch.tensor(np.random.rand(3, 4), dtype=torch.float32)"
    ),
    "the GPU": in_dataset("return torch.tensor(image, device='cuda')"),
    "one of the GPUs": in_dataset("return torch.tensor(image, device=torch.device('cuda:1'))"),
    "a GPU by its index": in_dataset("return torch.tensor(image, device=0)"),
    "a gradient": in_dataset("return torch.tensor(image, requires_grad=True)"),
    "pinned memory": in_dataset("return torch.tensor(image, pin_memory=True)"),
    "a copy that is asked for": in_dataset("return torch.tensor(image, copy=True)"),
    "pinned memory, perhaps": in_dataset("return torch.tensor(image, pin_memory=self.pin)"),
    "the array is written afterwards": in_dataset(
        "x = torch.tensor(image)\n        image[0] = 0\n        return x"
    ),
    "a view of the array is written afterwards": in_dataset(
        "x = torch.tensor(image.transpose(2, 0, 1))\n        image[0] = 0\n        return x"
    ),
    "the array is added to afterwards": in_dataset(
        "x = torch.tensor(image)\n        image += 1\n        return x"
    ),
    "the array is filled afterwards": in_dataset(
        "x = torch.tensor(image)\n        image.fill(0)\n        return x"
    ),
    "the array is copied onto afterwards": in_dataset(
        "x = torch.tensor(image)\n        np.copyto(image, 0)\n        return x"
    ),
    "the array is an output afterwards": in_dataset(
        "x = torch.tensor(image)\n        np.add(image, 1, out=image)\n        return x"
    ),
    "the array is written on the next round": """
        frame = np.zeros((4, 4))
        while not done:
            frame[0] = read()
            policy(torch.tensor(frame))
            _, _, done, _ = env.step(0)
        """,
    "a replay buffer": """
        class Buffer:
            def __init__(self):
                self.state = np.zeros((1000, 4))

            def add(self, state):
                self.state[self.index] = state

            def sample(self, index):
                return torch.tensor(self.state[:100])
        """,
    "the observation of an environment": """
        env = gym.make("CartPole-v1")
        obs, _ = env.reset()
        while not done:
            action = policy(torch.tensor(obs))
            obs, reward, done, _, _ = env.step(action)
        """,
    "the observation of an environment, under another name": """
        envs = gym.vector.SyncVectorEnv(makers)
        next_obs, reward, done, _, _ = envs.step(action)
        obs = next_obs
        x = torch.tensor(obs)
        """,
    "the tensor is written": in_dataset(
        "x = torch.tensor(image)\n        x[0] = 0\n        return x"
    ),
    "the tensor is added to": in_dataset(
        "x = torch.tensor(image)\n        x += 1\n        return x"
    ),
    "the tensor is changed in place": in_dataset(
        "x = torch.tensor(image)\n        x.add_(1)\n        return x"
    ),
    "the tensor is changed in place at once": in_dataset("return torch.tensor(image).add_(1)"),
    "a memory map": in_dataset(
        "data = np.memmap('x.bin', dtype=np.uint16)\n        return torch.tensor(data[0:8])"
    ),
    "a memory map of the dataset": """
        class Tokens(torch.utils.data.Dataset):
            def __init__(self):
                self.data = np.memmap("x.bin", dtype=np.uint16)

            def __getitem__(self, index):
                return torch.tensor(self.data[index : index + 8])
        """,
    "a file that is mapped": in_dataset(
        "data = np.load('x.npy', mmap_mode='r')\n        return torch.tensor(data.reshape(3, 4))"
    ),
    "a buffer": in_dataset("return torch.tensor(np.frombuffer(self.bytes, dtype=np.uint8))"),
    "a broadcast view": in_dataset("return torch.tensor(np.broadcast_to(image, (2, 3)))"),
    "an array of objects": in_dataset("return torch.tensor(np.array(names, dtype=object))"),
    "an array of strings": in_dataset("return torch.tensor(np.array(names, dtype=str))"),
    "the size of a tensor": "x = torch.FloatTensor(3, 4)",
    "the size of a tensor, by a number": "def make(n):\n    return torch.FloatTensor(n)",
    "the size of a tensor, by a shape": "x = torch.Tensor(np.zeros(3).shape)",
    "a typed constructor with a list": "x = torch.LongTensor([1, 2])",
    "a typed constructor with a tensor": "x = torch.FloatTensor(torch.zeros(3).reshape(3, 1))",
    "a typed constructor with something unknown": "x = torch.FloatTensor(features)",
    "an alias for different types": """
        Tensor = torch.LongTensor if labels else torch.FloatTensor
        x = Tensor(np.ones(3))
        """,
    "a class of the project": "from shapes import Tensor\nx = Tensor(np.ones(3))",
    "the conversion of a tensor": "x = torch.zeros(3).type(torch.FloatTensor)",
    "as_tensor": in_dataset("return torch.as_tensor(image), torch.tensor(self.label)"),
    "from_numpy": in_dataset("return torch.from_numpy(image), torch.tensor(self.label)"),
    "an array, or what the caller passed": """
        def collate(batch=None):
            if batch is None:
                batch = np.zeros(3)
            return torch.tensor(batch)
        """,
    "an array or something else": in_dataset(
        "x = image if self.raw else self.feature\n        return torch.tensor(x)"
    ),
}


@pytest.mark.parametrize("code", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(code: str) -> None:
    assert findings(code) == []


def test_tests_are_left_alone() -> None:
    assert findings("x = torch.tensor(np.ones(3))", path="tests/test_model.py") == []


# fixes -------------------------------------------------------------------------------------

SAFE = Applicability.SAFE
UNSAFE = Applicability.UNSAFE
FIXED = {
    "a fresh array": ("torch.tensor(np.stack(xs))", "torch.as_tensor(np.stack(xs))", SAFE),
    "a converted array": (
        "torch.tensor(cv2.imread(name).astype(np.float32))",
        "torch.as_tensor(cv2.imread(name).astype(np.float32))",
        SAFE,
    ),
    "a computed array": (
        "torch.tensor(np.ones(3) / 2, dtype=dtype)",
        "torch.as_tensor(np.ones(3) / 2, dtype=dtype)",
        SAFE,
    ),
    "a fresh array under a keyword": (
        "torch.tensor(data=np.zeros(3))",
        "torch.as_tensor(data=np.zeros(3))",
        SAFE,
    ),
    "an image, which the library may keep": (
        "torch.tensor(cv2.imread(name))",
        "torch.as_tensor(cv2.imread(name))",
        UNSAFE,
    ),
    "a view": (
        "torch.tensor(np.zeros((4, 4))[0:2])",
        "torch.as_tensor(np.zeros((4, 4))[0:2])",
        UNSAFE,
    ),
    "an array that is not copied": (
        "torch.tensor(np.array(np.load('x.npy'), copy=False))",
        "torch.as_tensor(np.array(np.load('x.npy'), copy=False))",
        UNSAFE,
    ),
    "an array that is converted only if it must": (
        "torch.tensor(np.load('x.npy').astype('f4', copy=False))",
        "torch.as_tensor(np.load('x.npy').astype('f4', copy=False))",
        UNSAFE,
    ),
    "an array that is written into another": (
        "torch.tensor(np.add(np.ones(3), 1, out=kept))",
        "torch.as_tensor(np.add(np.ones(3), 1, out=kept))",
        UNSAFE,
    ),
    "an array that is written into another, by position": (
        "torch.tensor(np.exp(np.ones(3), kept))",
        "torch.as_tensor(np.exp(np.ones(3), kept))",
        UNSAFE,
    ),
    "a typed constructor": (
        "torch.FloatTensor(np.random.normal(0, 1, (3, 4))).to(device)",
        "torch.from_numpy(np.random.normal(0, 1, (3, 4))).float().to(device)",
        SAFE,
    ),
    "a typed constructor of integers": (
        "torch.LongTensor(np.concatenate(xs))",
        "torch.from_numpy(np.concatenate(xs)).long()",
        SAFE,
    ),
    "a typed constructor, where an integer would be a size": (
        "torch.LongTensor(np.array(x))",
        "torch.from_numpy(np.array(x)).long()",
        UNSAFE,
    ),
    "the constructor that follows the default dtype": (
        "torch.Tensor(np.ones(3))",
        "torch.from_numpy(np.ones(3)).float()",
        UNSAFE,
    ),
    "a constructor on the GPU": (
        "torch.cuda.FloatTensor(np.ones(3))",
        'torch.as_tensor(np.ones(3), dtype=torch.float32, device="cuda")',
        UNSAFE,
    ),
    "something that is hardly no array": (
        "torch.FloatTensor(state.reshape(1, -1))",
        "torch.as_tensor(state.reshape(1, -1), dtype=torch.float32)",
        UNSAFE,
    ),
}


@pytest.mark.parametrize(("before", "after", "safety"), FIXED.values(), ids=FIXED)
def test_fixed(before: str, after: str, safety: Applicability) -> None:
    (finding,) = findings(f"x = {before}\n")
    assert finding.fix is not None
    assert finding.fix.applicability is safety
    assert fixed(f"x = {before}\n") == f"x = {after}\n"
    assert fixed(f"x = {after}\n") == f"x = {after}\n"
    assert fixed(f"x = {before}\n", unsafe=False) == f"x = {after if safety is SAFE else before}\n"


def test_a_named_array_is_shared_only_if_the_user_says_so() -> None:
    (finding,) = findings("kept = np.ones(3)\nx = torch.tensor(kept)")
    assert finding.fix is not None
    assert finding.fix.applicability is UNSAFE


def test_what_a_function_of_the_file_returns_may_be_kept_by_it() -> None:
    code = """
        def draw():
            global kept
            kept = np.ones(3)
            return kept

        x = torch.tensor(draw())
        """
    (finding,) = findings(code)
    assert finding.fix is not None
    assert finding.fix.applicability is UNSAFE


def test_what_a_method_of_the_file_returns_may_be_kept_by_it() -> None:
    code = """
        class Noise:
            def draw(self):
                self.kept = np.ones(3)
                return self.kept + 0

            def tensor(self):
                return torch.tensor(self.draw())
        """
    (finding,) = findings(code)
    assert finding.fix is not None
    assert finding.fix.applicability is UNSAFE


def test_a_typed_constructor_of_a_named_array_is_changed_only_if_the_user_says_so() -> None:
    (finding,) = findings("kept = np.ones(3)\nx = torch.FloatTensor(kept)")
    assert finding.fix is not None
    assert finding.fix.applicability is UNSAFE


def test_a_constructor_imported_by_its_name_is_spelled_out() -> None:
    before = "from torch import tensor\nx = tensor(np.stack(xs))\n"
    assert fixed(before) == "from torch import tensor\nx = torch.as_tensor(np.stack(xs))\n"


def test_comments_inside_the_call_stay() -> None:
    before = "x = torch.FloatTensor(\n    np.stack(xs),  # one row each\n)\n"
    after = "x = torch.from_numpy(\n    np.stack(xs),  # one row each\n).float()\n"
    assert fixed(before) == after


WITHHELD = {
    "the tensor is resized": (
        "x = torch.tensor(np.stack(xs))\nx.resize_(100)",
        "resized",
    ),
    "the tensor is resized at once": ("x = torch.tensor(np.stack(xs)).resize_(100)", "resized"),
    "the dtype may force the copy, and the tensor is written": (
        "frames = np.load('x.npy')\n"
        "x = torch.tensor(frames, dtype=torch.float32, device=device).div_(255)",
        "written in place",
    ),
    "the device may force the copy, and the array is written": (
        "frames = np.load('x.npy')\nx = torch.tensor(frames, device=device)\nframes[0] = 0",
        "written in place",
    ),
    "an environment fills its observation again": (
        "envs = gym.vector.SyncVectorEnv(makers)\n"
        "obs, reward, _, _, _ = envs.step(action)\n"
        "x = torch.tensor(reward).to(device)",
        "environment",
    ),
    "an environment fills its first observation again": (
        "envs = gym.vector.SyncVectorEnv(makers)\n"
        "x = torch.tensor(envs.reset(seed=0)[0], device=device)",
        "environment",
    ),
    "the name stands for constructors here and there": (
        "Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor\nx = Tensor(np.ones(3))",
        "on the GPU",
    ),
}


@pytest.mark.parametrize(("code", "reason"), WITHHELD.values(), ids=WITHHELD)
def test_withheld(code: str, reason: str) -> None:
    (finding,) = findings(code)
    assert finding.fix is None
    assert reason in str(finding.withheld)


def test_nothing_is_offered_where_torch_has_no_name() -> None:
    code = b"import numpy as np\nfrom torch import tensor, FloatTensor\n\n"
    code += b"x = tensor(np.ones(3))\ny = FloatTensor(np.ones(3))\n"
    found = check([Target("train.py", ONLY, (2, 13), code)]).findings
    assert [finding.fix for finding in found] == [None, None]
    assert all("not imported" in str(finding.withheld) for finding in found)


# whole programs ----------------------------------------------------------------------------


def test_the_bad_program_becomes_the_fixed_one() -> None:
    target = Target("program.py", ONLY, (2, 13), (FIXTURES / "bad.py").read_bytes())
    (file,) = fix_targets([target], unsafe=True, wanted=Wanted(hints=True)).files
    assert file.after.decode() == (FIXTURES / "fixed.py").read_text()


@pytest.mark.parametrize("name", ["fixed.py", "clean.py"])
def test_nothing_is_said_of_a_program_without_the_pattern(name: str) -> None:
    target = Target("program.py", ONLY, (2, 13), (FIXTURES / name).read_bytes())
    report = check([target])
    assert not report.diagnostics
    assert report.findings == ()
