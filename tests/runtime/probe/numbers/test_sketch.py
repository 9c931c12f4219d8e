"""Sketches of tensors: exact where they must be, near where they may be."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torchlint.runtime.probe.numbers.sketch import BUCKETS, Sketch, Sketcher  # noqa: E402

PERIOD = 1 << 16
CHUNK = 1 << 22


def digest(tensor: torch.Tensor) -> int:
    return int(Sketcher()(tensor).digest)


def apart(one: Sketch, other: Sketch) -> float:
    return float((one.sums - other.sums)[:BUCKETS].norm())


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


def test_the_layout_in_memory_does_not_count() -> None:
    picture = normal(2, 3, 5, 7)
    sketch = Sketcher()(picture)
    for same in (
        picture.to(memory_format=torch.channels_last),
        picture.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0),
        torch.stack([picture, picture], dim=-1)[..., 0],
        torch.nn.Parameter(picture),
    ):
        assert digest(same) == int(sketch.digest)
        assert torch.equal(Sketcher()(same).sums, sketch.sums)


@pytest.mark.parametrize("size", [1, 9, PERIOD, PERIOD + 1, 3 * PERIOD, CHUNK + 5])
def test_one_bit_changes_the_digest(size: int) -> None:
    values = normal(size)
    before = digest(values)
    for place in (0, size // 2, size - 1):
        other = values.clone()
        other.view(torch.int32)[place] ^= 1
        assert digest(other) != before
    assert digest(values.clone()) == before


@pytest.mark.parametrize("distance", [1, BUCKETS, PERIOD, CHUNK])
def test_two_values_that_change_places_change_the_digest(distance: int) -> None:
    values = normal(CHUNK + 2 * PERIOD)
    other = values.clone()
    other[0], other[distance] = values[distance], values[0]
    assert digest(other) != digest(values)


def test_zero_and_minus_zero_have_different_bits() -> None:
    assert digest(torch.zeros(3)) != digest(-torch.zeros(3))


@pytest.mark.parametrize("size", [4, 1000, 3 * PERIOD + 17])
def test_sketches_are_as_far_apart_as_the_tensors(size: int) -> None:
    values, change = (
        normal(size),
        1e-3 * torch.randn(size, generator=torch.Generator().manual_seed(2)),
    )
    far = apart(Sketcher()(values), Sketcher()(values + change))
    assert float(change.norm()) / 3 < far < 3 * float(change.norm())


def test_a_change_of_all_values_alike_is_seen_as_well() -> None:
    values = torch.ones(10_000)
    far = apart(Sketcher()(values), Sketcher()(values * 1.001))
    assert 0.1 / 3 < far < 3 * 0.1


def test_the_last_sum_is_the_square_of_the_norm() -> None:
    values = normal(1000)
    assert float(Sketcher()(values).sums[-1]) == pytest.approx(float(values.double().norm()) ** 2)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor(3.5),
        torch.tensor([True, False]),
        torch.arange(5),
        torch.ones(3, dtype=torch.bfloat16),
        torch.ones(3, dtype=torch.float64),
        torch.ones(3, dtype=torch.complex64).conj(),
        torch.tensor([1j, 2j]).imag.neg(),
        torch.zeros(0, 3),
        torch.tensor([float("nan"), 1.0]),
    ],
    ids=lambda tensor: f"{tensor.dtype} {list(tensor.shape)}",
)
def test_every_dense_tensor_has_a_sketch(tensor: torch.Tensor) -> None:
    sketch = Sketcher()(tensor)
    assert sketch.digest.shape == ()
    assert sketch.sums.shape == (BUCKETS + 1,)
    assert digest(tensor.clone()) == int(sketch.digest)


def test_a_sketch_needs_no_gradient_and_takes_no_random_number() -> None:
    state = torch.get_rng_state()
    weight = torch.nn.Parameter(normal(5))
    assert not Sketcher()(weight * 2).sums.requires_grad
    assert torch.equal(torch.get_rng_state(), state)


def test_the_scripts_defaults_do_not_matter() -> None:
    before = Sketcher()(normal(20)).sums
    torch.set_default_dtype(torch.float64)
    try:
        with torch.device("meta"):
            values = torch.randn(
                20,
                generator=torch.Generator("cpu").manual_seed(1),
                device="cpu",
                dtype=torch.float32,
            )
            assert torch.equal(Sketcher()(values).sums, before)
    finally:
        torch.set_default_dtype(torch.float32)
