"""torchlint reads PyTorch training code, says what makes it slow and mends it."""

__version__ = "0.1.0"
