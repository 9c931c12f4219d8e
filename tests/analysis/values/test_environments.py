"""What gym environments hand out, and which loops play them."""

from __future__ import annotations

import pytest

from tests.probed import probed
from torchlint.analysis.training.batches import runs_per_batch
from torchlint.analysis.values.kinds import Kind

IMPORTS = "import gymnasium as gym\n"
VECTOR = "envs = gym.vector.SyncVectorEnv(makers)\n"
ARRAYS_FROM = {
    "the observation after a reset": "env = gym.make('A')\nobs, _ = env.reset()\nprobe(obs)",
    "the observation after a step": (
        "env = gym.make('A')\nobs, r, d, t, _ = env.step(0)\nprobe(obs)"
    ),
    "the rewards of several environments": VECTOR + "_, r, _, _, _ = envs.step(0)\nprobe(r)",
    "the observation by its index": VECTOR + "probe(envs.reset()[0])",
    "a wrapped environment": (
        VECTOR + "envs = gym.wrappers.ClipAction(envs)\nobs, _ = envs.reset()\nprobe(obs)"
    ),
    "a wrapper of the file": (
        VECTOR
        + "class Mine(gym.Wrapper):\n  pass\nenvs = Mine(envs)\nobs, _ = envs.reset()\nprobe(obs)"
    ),
    "the bounds of a space": "probe(env.action_space.high)",
}


@pytest.mark.parametrize("code", ARRAYS_FROM.values(), ids=ARRAYS_FROM)
def test_environments_hand_out_arrays(code: str) -> None:
    module, node = probed(code, IMPORTS)
    assert module.value(node).only(Kind.ARRAY)


NO_ARRAYS = {
    "the reward of one environment": ("env = gym.make('A')\n_, r, _, _, _ = env.step(0)\nprobe(r)"),
    "what an environment has to say": VECTOR + "_, _, _, _, info = envs.step(0)\nprobe(info)",
    "what was rendered": VECTOR + "frame, _ = envs.render()\nprobe(frame)",
    "the step of something else": "x, _ = walker.step(0)\nprobe(x)",
    "the bounds of something else": "probe(band.high)",
}


@pytest.mark.parametrize("code", NO_ARRAYS.values(), ids=NO_ARRAYS)
def test_nothing_else_is_an_array(code: str) -> None:
    module, node = probed(code, IMPORTS)
    assert not module.value(node).is_array


PLAYED = {
    "a loop that plays an environment": ("while not done:\n  probe(x)\n  env.step(a)", True),
    "a loop that plays one that was made": (
        "world = gym.make('A')\nwhile not done:\n  probe(x)\n  world.step(a)",
        True,
    ),
    "a loop around a loop that plays": (
        "for e in range(9):\n  probe(x)\n  while not done:\n    env.step(a)",
        False,
    ),
    "a loop that steps a schedule": ("for e in range(9):\n  probe(x)\n  scheduler.step()", False),
    "a loop in which a function steps": (
        "for e in range(9):\n  probe(x)\n  def f():\n    env.step(a)",
        False,
    ),
    "now and then in a loop that plays": (
        "while not done:\n  env.step(a)\n  if step % 100 == 0:\n    probe(x)",
        False,
    ),
    "a sample": ("class D:\n  def __getitem__(self, i):\n    probe(x)", True),
    "a method that samples do not need": ("class D:\n  def __len__(self):\n    probe(x)", False),
    "a collate function": ("def collate_fn(batch):\n  probe(x)", True),
    "a class that collates": ("class Collate:\n  def __call__(self, b):\n    probe(x)", True),
    "another method of such a class": (
        "class Collate:\n  def setup(self, b):\n    probe(x)",
        False,
    ),
    "a function that a loader collates with": (
        "def pad(b):\n  probe(x)\nloader = DataLoader(data, collate_fn=pad)",
        True,
    ),
    "a hook of a framework": (
        "import lightning as L\nclass M(L.LightningModule):\n  def training_step(self, b, i):\n"
        "    probe(x)",
        True,
    ),
    "a step": ("for b in loader:\n  probe(x)\n  loss.backward()\n  optimizer.step()", True),
    "set-up": ("probe(x)", False),
}


@pytest.mark.parametrize(("code", "hot"), PLAYED.values(), ids=PLAYED)
def test_code_for_each_batch_is_told_from_the_rest(code: str, hot: bool) -> None:
    module, node = probed(code, IMPORTS)
    assert runs_per_batch(node, module) is hot
