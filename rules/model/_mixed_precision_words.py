"""Words that show mixed precision in the text of a file."""

from typing import Final

MIXED_PRECISION: Final = (
    r"(?m)^[^#\n]*(?:\bautocast\b|\bGradScaler\b|\b(?:fp16|bf16)\s{0,9}=\s{0,9}True|"
    r"precision\s{0,9}=\s{0,9}['\"]?(?:16|bf16|fp16))"
)
