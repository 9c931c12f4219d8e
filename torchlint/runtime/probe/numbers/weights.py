"""The weights that training starts from: copied from a reference, or changed in the last place."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from torchlint.runtime.probe import private
from torchlint.runtime.probe.numbers.realign import ISOLATED
from torchlint.runtime.probe.numbers.streams import number, rank

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.runtime.probe.run_settings import RunSettings

Own = tuple[int, float, float]
"""Size, mean and root mean square of a parameter as the program itself made it."""


class FirstWeights:
    """Meets the models of a script, one after the other, before each is called for the first time.

    Args:
        settings: of the run: `level`, `state`, `save_state` and `perturb` say what is done.
    """

    def __init__(self, settings: RunSettings) -> None:
        self.own: dict[str, Own] = {}
        """By parameter; empty where no weights are taken over."""
        self.parameters: dict[str, Tensor] = {}
        """Every parameter that has been met, named by its model's class and its place there."""
        self._perturb = settings.perturb
        self._file = settings.state if settings.level >= ISOLATED else None
        self._saves = settings.save_state and rank() == 0
        self._loads = not settings.save_state
        self._reference: dict[str, dict[str, Tensor]] = {}
        self._labels: dict[str, int] = {}
        self._known: set[int] = set()
        self._shaken: dict[str, float] = {}
        self._precision = 0.0

    def meet(self, model: nn.Module) -> list[str]:
        """Give a model its first weights; the names of the parameters that are new."""
        model = plain_model(model)
        label = self._label(model)
        parameters: dict[str, Tensor] = {
            f"{label}.{_plain_name(name)}": parameter
            for name, parameter in model.named_parameters()
            if id(parameter) not in self._known
        }
        self._known.update(map(id, parameters.values()))
        self.parameters.update(parameters)
        if self._file is not None:
            self._take_over(label, model, parameters)
        self._shake(parameters)
        return list(parameters)

    def meet_parameters(self, parameters: list[Tensor]) -> list[str]:
        """Parameters that an optimizer changes; the names of those that are new."""
        new = [parameter for parameter in parameters if id(parameter) not in self._known]
        self._known.update(map(id, new))
        count = len(self.parameters)
        named = {f"parameter {count + place}": each for place, each in enumerate(new, 1)}
        self.parameters.update(named)
        self._shake(named)
        return list(named)

    def met_precision(self, dtype: torch.dtype) -> list[str]:
        """The script computes in `dtype`; the names of the parameters that change with it.

        A weight that is rounded to bfloat16 before it is used has to be shaken by a last place of
        bfloat16.
        """
        if not dtype.is_floating_point or torch.finfo(dtype).eps <= self._precision:
            return []
        self._precision = torch.finfo(dtype).eps
        return self._shake(self.parameters)

    def _label(self, model: nn.Module) -> str:
        name = type(model).__name__
        count = self._labels[name] = self._labels.get(name, 0) + 1
        return name if count == 1 else f"{name}#{count}"

    def _take_over(self, label: str, model: nn.Module, parameters: dict[str, Tensor]) -> None:
        self.own.update({name: _own(parameter) for name, parameter in parameters.items()})
        tensors = {name: tensor for name, tensor in _tensors(model) if _is_plain(tensor)}
        if self._saves:
            copies = {name: tensor.detach().cpu() for name, tensor in tensors.items()}
            self._reference[label] = copies
            self._write()
        elif self._loads:
            known = self._read().get(label, {})
            for name, tensor in tensors.items():
                first = known.get(name)
                if first is not None and _is_same_kind(first, tensor):
                    tensor.data.copy_(first)

    def _shake(self, parameters: dict[str, Tensor]) -> list[str]:
        if self._perturb is None:
            return []
        changed = []
        for name, parameter in parameters.items():
            if not _is_plain(parameter) or not parameter.is_floating_point():
                continue
            eps = max(torch.finfo(parameter.dtype).eps, self._precision)
            if eps > self._shaken.get(name, 0.0):
                self._shaken[name] = eps
                signs = _signs(parameter, number(self._perturb, name))
                parameter.data.mul_(1 + eps * signs)
                changed.append(name)
        return changed

    def _write(self) -> None:
        assert self._file is not None
        buffer = io.BytesIO()
        torch.save(self._reference, buffer)
        draft = f"{self._file}.{os.getpid()}"
        with open(draft, "wb") as stream:
            stream.write(buffer.getbuffer())
        os.replace(draft, self._file)

    def _read(self) -> dict[str, dict[str, Tensor]]:
        if not self._reference and self._file is not None and os.path.exists(self._file):
            with open(self._file, "rb") as stream:
                buffer = io.BytesIO(stream.read())
            self._reference = torch.load(buffer, map_location="cpu", weights_only=True)
        return self._reference


def plain_model(model: nn.Module) -> nn.Module:
    """The model inside the wrappers of data-parallel training and of `torch.compile`."""
    wrappers = (nn.DataParallel, nn.parallel.DistributedDataParallel)
    while True:
        inner: Any = model.module if isinstance(model, wrappers) else private.uncompiled(model)
        if not isinstance(inner, nn.Module):
            return model
        model = inner


def _tensors(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        yield _plain_name(name), tensor


def _plain_name(name: str) -> str:
    return ".".join(part for part in name.split(".") if part != private.UNCOMPILED)


def _is_plain(tensor: Tensor) -> bool:
    """A tensor that holds all its values itself."""
    return type(tensor) in (Tensor, nn.Parameter) and tensor.layout is torch.strided


def _is_same_kind(first: Tensor, tensor: Tensor) -> bool:
    return first.shape == tensor.shape and first.dtype == tensor.dtype


def _own(parameter: Tensor) -> Own:
    if not _is_plain(parameter) or not parameter.is_floating_point() or not parameter.numel():
        return 0, 0.0, 0.0
    values = parameter.detach().to("cpu", torch.float64)
    return values.numel(), float(values.mean()), float(values.square().mean().sqrt())


def _signs(parameter: Tensor, seed: int) -> Tensor:
    generator = torch.Generator("cpu").manual_seed(seed)
    draws = torch.randint(0, 2, parameter.shape, generator=generator, device="cpu")
    return (draws * 2 - 1).to(parameter.device, parameter.dtype)
