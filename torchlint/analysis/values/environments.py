"""Gym environments: what they return, and which loops step them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.values.kinds import UNKNOWN_VALUE, Kind, Value, sounds_like_optimizer

if TYPE_CHECKING:
    from torchlint.analysis.values.inference import Inference

_PACKAGES = ("gym.", "gymnasium.", "envpool.", "procgen.")
_ENVIRONMENT = ":environment:"
_VECTOR = ":vector-environment:"
_SPACES = ("action_space", "observation_space")
_PLAYED = frozenset({"env", "envs", "environment", "environments"})
_OBSERVED = {"reset": (0,), "step": (0,)}
_VECTOR_ARRAYS = {"reset": (0,), "step": (0, 1, 2, 3)}


def made_environment(name: str) -> Value | None:
    """The environment that `gym.make` or a vector environment's constructor returns."""
    if not name.startswith(_PACKAGES):
        return None
    last = name.rpartition(".")[2]
    vectors = ".vector." in name or last.endswith("VectorEnv")
    if vectors or name.startswith(("envpool.", "procgen.")):
        return Value(Kind.UNKNOWN, classes=(_VECTOR,))
    if last == "make":
        return Value(Kind.UNKNOWN, classes=(_ENVIRONMENT,))
    return None


def is_environment(value: Value) -> bool:
    return _ENVIRONMENT in value.classes or _VECTOR in value.classes


def wraps_environment(name: str) -> bool:
    """Whether a class takes an environment and is one again: gym's wrappers, and their heirs."""
    if not name.startswith(_PACKAGES):
        return False
    return ".wrappers." in name or name.endswith("Wrapper")


def first_observation(node: cst.BaseExpression, values: Inference) -> bool:
    """Whether an expression is `env.reset()`, from which older gyms return the observation."""
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value == "reset"
        and is_environment(values.value(node.func.value))
    )


def observed(source: cst.CSTNode | None, index: int, values: Inference) -> Value | None:
    """The `index`-th of what `env.step(…)` or `env.reset()` returns; None for other calls."""
    if not isinstance(source, cst.Call) or not isinstance(source.func, cst.Attribute):
        return None
    owner = values.value(source.func.value)
    method = source.func.attr.value
    if method not in _OBSERVED or not is_environment(owner):
        return None
    arrays = _VECTOR_ARRAYS if _VECTOR in owner.classes else _OBSERVED
    return Value(Kind.ARRAY) if index in arrays[method] else UNKNOWN_VALUE


def is_bound_of_space(node: cst.Attribute) -> bool:
    """`env.action_space.high`: the bounds of a box, as arrays."""
    owner = dotted_text(node.value).rpartition(".")[2]
    return node.attr.value in ("high", "low") and owner.endswith(_SPACES)


def plays_environment(call: cst.Call, values: Inference) -> bool:
    """Whether a call is `env.step(…)`."""
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "step":
        return False
    owner = dotted_text(call.func.value).rpartition(".")[2]
    if sounds_like_optimizer(owner):
        return False
    return owner in _PLAYED or is_environment(values.value(call.func.value))
