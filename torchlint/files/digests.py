"""BLAKE2 without loading OpenSSL, which takes 3 ms of each start."""

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["blake2b"]
