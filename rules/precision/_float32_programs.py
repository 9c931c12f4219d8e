"""What the text of a program shows about the precision that it computes in."""

from torchlint.analysis.frameworks import frameworks

CODE = r"(?m)^[^#\n]*"
"""A pattern that starts so is not looked for in comments."""
CHOSEN_ELSEWHERE = {
    "mixed precision": (
        r"autocast|GradScaler|\b(?:use_)?amp\b|mixed_?precision|MixedPrecision|\.half\(|"
        r"\.bfloat16\(|(?:fp|bf|float)16|HalfTensor|\bdeepspeed\b|\bapex\b"
    ),
    "a framework's setting of the precision": frameworks.owned("mixed precision"),
    "double precision": r"set_default_dtype\(|\.double\(\)|DoubleTensor|\bgradcheck\b",
    "another GPU than NVIDIA's": r"\b(?:torch_xla|torch_directml|habana_frameworks|torch_npu)\b",
    "an environment that the model plays": CODE
    + r"(?:(?:import|from)\s+(?:atari_py|gym|gymnasium|pettingzoo)\b|\benvs?\.step\()",
}
"""Words of programs that choose a precision, or whose time is spent elsewhere."""
