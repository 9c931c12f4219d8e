"""First weights: taken over where they fit, shaken by one unit in the last place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from torchlint.runtime.probe.numbers.weights import FirstWeights  # noqa: E402
from torchlint.runtime.probe.run_settings import RECORD, RunSettings  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path


def first_weights(**settings: Any) -> FirstWeights:
    values: dict[str, Any] = {
        "mode": RECORD,
        "main": "",
        "project": "",
        **settings,
    }
    return FirstWeights(RunSettings(**values))


def state(path: Path) -> dict[str, Any]:
    return {"level": 2, "state": str(path / "state")}


class Net(nn.Module):
    def __init__(self, bias: bool = True, width: int = 3) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(1, 2, 3, bias=bias)
        self.norm = nn.BatchNorm2d(2)
        self.head = nn.Linear(width, 2)
        self.norm.running_mean += torch.rand(2)


def test_weights_and_buffers_are_taken_over_by_name_and_shape(tmp_path: Path) -> None:
    one, other, later = Net(), Net(bias=False, width=4), Net()
    first_weights(**state(tmp_path), save_state=True).meet(one)
    head = other.head.weight.clone()
    loads = first_weights(**state(tmp_path))
    assert loads.meet(other) == [f"Net.{name}" for name, _ in other.named_parameters()]
    assert torch.equal(other.convolution.weight, one.convolution.weight)
    assert torch.equal(other.norm.running_mean, one.norm.running_mean)
    assert torch.equal(other.head.bias, one.head.bias)
    assert torch.equal(other.head.weight, head), "another shape stays as it is"
    drawn = later.head.weight.clone()
    loads.meet(later)
    assert torch.equal(later.head.weight, drawn), "a second model has no first weights yet"


def test_the_reference_keeps_its_own_weights_and_every_model_is_saved(tmp_path: Path) -> None:
    models = [Net(), Net(), nn.Linear(2, 2)]
    copies = [[each.clone() for each in model.parameters()] for model in models]
    saves = first_weights(**state(tmp_path), save_state=True)
    for model in models:
        saves.meet(model)
    loads = first_weights(**state(tmp_path))
    for model, copy in zip([Net(), Net(), nn.Linear(2, 2)], copies, strict=True):
        loads.meet(model)
        assert all(map(torch.equal, model.parameters(), copy))


@pytest.mark.parametrize("level", [0, 1])
def test_below_level_2_every_program_has_its_own_weights(tmp_path: Path, level: int) -> None:
    first_weights(**state(tmp_path), save_state=True).meet(Net())
    other = Net()
    before = other.head.weight.clone()
    first = first_weights(level=level, state=str(tmp_path / "state"))
    first.meet(other)
    assert torch.equal(other.head.weight, before)
    assert first.own == {}


def test_what_the_program_had_made_itself_is_noted_before_it_is_taken_over(
    tmp_path: Path,
) -> None:
    first_weights(**state(tmp_path), save_state=True).meet(Net())
    other = Net()
    nn.init.constant_(other.head.weight, 2.0)
    with torch.no_grad():
        other.head.bias.copy_(torch.tensor([3.0, -3.0]))
    loads = first_weights(**state(tmp_path))
    loads.meet(other)
    assert loads.own["Net.head.weight"] == (6, 2.0, 2.0)
    assert loads.own["Net.head.bias"] == (2, 0.0, 3.0)


def test_taking_over_keeps_types_and_needs_the_same_one(tmp_path: Path) -> None:
    first_weights(**state(tmp_path), save_state=True).meet(Net())
    half = Net().to(torch.bfloat16)
    before = half.head.weight.clone()
    first_weights(**state(tmp_path)).meet(half)
    assert torch.equal(half.head.weight, before)


def test_a_copy_in_place_leaves_the_optimizers_parameters_alone(tmp_path: Path) -> None:
    first_weights(**state(tmp_path), save_state=True).meet(Net())
    other = Net()
    parameter, version = other.head.weight, other.head.weight._version
    first_weights(**state(tmp_path)).meet(other)
    assert other.head.weight is parameter
    assert parameter.requires_grad
    assert parameter._version == version, "what autograd has saved is not spoiled"


def shaken(model: nn.Module, seed: int) -> dict[str, torch.Tensor]:
    before = {name: each.detach().clone() for name, each in model.named_parameters()}
    first_weights(perturb=seed).meet(model)
    return {
        name: (each.detach() / before[name] - 1) / torch.finfo(each.dtype).eps
        for name, each in model.named_parameters()
    }


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_every_weight_is_shaken_by_about_one_unit_in_its_last_place(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    moved = shaken(nn.Linear(30, 20).to(dtype), 1)["weight"]
    assert ((moved.abs() > 0.4) & (moved.abs() < 2.1)).all()
    assert 200 < (moved > 0).sum() < 400


def test_signs_hang_on_the_seed_and_the_name_alone() -> None:
    def signs(seed: int, *, other_first: bool = False, **parts: int) -> torch.Tensor:
        torch.manual_seed(seed)
        model = nn.ModuleDict({name: nn.Linear(9, 9) for name in parts})
        return shaken(model, seed)["it.weight"].sign()

    assert torch.equal(signs(1, it=0), signs(1, before=0, it=0))
    assert not torch.equal(signs(1, it=0), signs(2, it=0))
    two = shaken(nn.ModuleDict({name: nn.Linear(9, 9) for name in ("one", "two")}), 1)
    assert not torch.equal(two["one.weight"].sign(), two["two.weight"].sign())


def test_shaking_takes_no_random_number_of_the_script() -> None:
    model = Net()
    before = torch.get_rng_state()
    first_weights(perturb=1).meet(model)
    assert torch.equal(torch.get_rng_state(), before)


def test_mixed_precision_shakes_the_weights_by_its_own_last_place_once() -> None:
    model = nn.Linear(30, 20)
    first = first_weights(perturb=1)
    names = first.meet(model)
    before = model.weight.detach().clone()
    assert first.met_precision(torch.bfloat16) == names
    moved = (model.weight.detach() / before - 1).abs() / torch.finfo(torch.bfloat16).eps
    assert ((moved > 0.9) & (moved < 1.1)).all()
    assert first.met_precision(torch.bfloat16) == []
    assert first.met_precision(torch.float16) == []
    half = nn.Linear(3, 2, dtype=torch.bfloat16)
    other = first_weights(perturb=1)
    other.meet(half)
    assert other.met_precision(torch.bfloat16) == [], "already shaken by as much"
    later = nn.Linear(3, 2, dtype=torch.float32)
    before = later.weight.detach().clone()
    first.meet(later)
    assert ((later.weight / before - 1).abs() > 1e-3).all(), "a model that is met later, too"


def test_nothing_is_shaken_without_being_asked() -> None:
    model = Net()
    before = [each.clone() for each in model.parameters()]
    first = first_weights()
    first.meet(model)
    assert first.met_precision(torch.bfloat16) == []
    assert all(map(torch.equal, model.parameters(), before))


def test_wrappers_and_shared_parameters_do_not_change_names() -> None:
    tied = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    tied[1].weight = tied[0].weight
    expected = ["Sequential.0.weight", "Sequential.0.bias", "Sequential.1.bias"]
    assert first_weights().meet(tied) == expected
    assert first_weights().meet(nn.DataParallel(tied)) == expected
    compiled = torch.compile(tied, backend="eager")
    assert first_weights().meet(compiled) == expected
    inner = nn.Sequential(nn.Linear(3, 3), torch.compile(nn.Linear(3, 3), backend="eager"))
    assert first_weights().meet(inner)[-1] == "Sequential.1.bias"


def test_models_of_the_same_class_are_told_apart_and_parts_are_met_once() -> None:
    first = first_weights()
    one, two = nn.Linear(2, 2), nn.Linear(2, 2)
    assert first.meet(one) == ["Linear.weight", "Linear.bias"]
    assert first.meet(two) == ["Linear#2.weight", "Linear#2.bias"]
    assert first.meet(nn.Sequential(one, nn.PReLU())) == ["Sequential.1.weight"]


def test_parameters_that_only_an_optimizer_knows_get_numbers() -> None:
    first = first_weights()
    model, alone = nn.Linear(2, 2), nn.Parameter(torch.ones(2))
    first.meet(model)
    assert first.meet_parameters([*model.parameters(), alone]) == ["parameter 3"]
    assert first.meet_parameters([alone]) == []
