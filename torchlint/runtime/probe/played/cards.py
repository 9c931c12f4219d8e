"""Cards that can be played: what they say of themselves, and limits that their makers publish."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_GB: Final = 10**9
_GIB: Final = 2**30


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU.

    Args:
        key: what the user types.
        name: what `torch.cuda.get_device_name` answers.
        capability: compute capability, major and minor.
        memory: bytes.
        processors: streaming multiprocessors.
        bandwidth: bytes a second between the card's memory and its processors.
        flops: operations a second by type, dense and with accumulation in float32; `tf32` is what
            float32 is where TF32 is switched on.
        source: of the figures.
    """

    key: str
    name: str
    capability: tuple[int, int]
    memory: int
    processors: int
    bandwidth: float
    flops: dict[str, float]
    source: str


def _flops(
    float32: float, float16: float, bfloat16: float | None = None, tf32: float | None = None
) -> dict[str, float]:
    """From TFLOP/s. Before Ampere there is no bfloat16 in the tensor cores, and no TF32."""
    return {
        "float32": float32 * 1e12,
        "tf32": (tf32 or float32) * 1e12,
        "float16": float16 * 1e12,
        "bfloat16": (bfloat16 if bfloat16 is not None else float32) * 1e12,
    }


CARDS: Final = {
    card.key: card
    for card in (
        Card(
            "h200",
            "NVIDIA H200",
            (9, 0),
            141 * _GB,
            132,
            4800 * _GB,
            _flops(67, 989, 989, 494.7),
            "https://www.nvidia.com/en-us/data-center/h200/",
        ),
        Card(
            "h100",
            "NVIDIA H100 80GB HBM3",
            (9, 0),
            80 * _GIB,
            132,
            3350 * _GB,
            _flops(67, 989, 989, 494.7),
            "https://www.nvidia.com/en-us/data-center/h100/",
        ),
        Card(
            "a100",
            "NVIDIA A100-SXM4-80GB",
            (8, 0),
            80 * _GIB,
            108,
            2039 * _GB,
            _flops(19.5, 312, 312, 156),
            "https://www.nvidia.com/en-us/data-center/a100/",
        ),
        Card(
            "a10",
            "NVIDIA A10",
            (8, 6),
            24 * _GIB,
            72,
            600 * _GB,
            _flops(31.2, 125, 125, 62.5),
            "https://www.nvidia.com/en-us/data-center/products/a10-gpu/",
        ),
        Card(
            "l4",
            "NVIDIA L4",
            (8, 9),
            24 * _GIB,
            58,
            300 * _GB,
            _flops(30.3, 121, 121, 60),
            "https://www.nvidia.com/en-us/data-center/l4/",
        ),
        Card(
            "t4",
            "Tesla T4",
            (7, 5),
            16 * _GIB,
            40,
            320 * _GB,
            _flops(8.1, 65),
            "https://www.nvidia.com/en-us/data-center/tesla-t4/",
        ),
        Card(
            "v100",
            "Tesla V100-SXM2-32GB",
            (7, 0),
            32 * _GIB,
            80,
            900 * _GB,
            _flops(15.7, 125),
            "https://www.nvidia.com/en-us/data-center/v100/",
        ),
        Card(
            "rtx3090",
            "NVIDIA GeForce RTX 3090",
            (8, 6),
            24 * _GIB,
            82,
            936 * _GB,
            _flops(35.6, 71, 71, 35.6),
            "https://www.nvidia.com/content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf",
        ),
        Card(
            "rtx4090",
            "NVIDIA GeForce RTX 4090",
            (8, 9),
            24 * _GIB,
            128,
            1008 * _GB,
            _flops(82.6, 165.2, 165.2, 82.6),
            "https://images.nvidia.com/aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf",
        ),
    )
}
DEFAULT: Final = "a100"
