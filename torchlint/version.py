"""The version of torchlint."""

__version__ = "0.1.0"
