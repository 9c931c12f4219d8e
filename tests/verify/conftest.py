"""What the tests of verify share."""

from tests.scenes import scene
from tests.warm_start import gpu_start, warm_start, warm_torchlint

__all__ = ["gpu_start", "scene", "warm_start", "warm_torchlint"]
