"""The floor: parses the files of a list with LibCST and does nothing else.

Usage: parse_loop.py LIST [on|off]    LIST has one path per line; the word switches gc.
"""

import gc
import sys
from pathlib import Path

import libcst as cst

if sys.argv[2:] == ["off"]:
    gc.disable()
for path in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
    data = Path(path).read_bytes()
    try:
        cst.parse_module(data)
    except cst.ParserSyntaxError:
        sys.stderr.write(f"{path} does not parse\n")
