"""torchlint reads PyTorch training code, says what makes it slow and fixes it."""

__version__ = "0.1.0"
