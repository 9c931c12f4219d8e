"""Lists the Python files of a tree that mention torch, and those that pass torchlint's gate.

Usage: relevant_files.py TREE MENTION_LIST GATE_LIST    writes two lists, one path per line
"""

import sys
from pathlib import Path

from torchlint.engine.gate import wanted_by
from torchlint.ruleapi.registry import all_rules

tree, mention_list, gate_list = map(Path, sys.argv[1:])
rules = list(all_rules().values())
mention, gate = [], []
for path in sorted(tree.rglob("*.py")):
    data = path.read_bytes()
    if b"torch" in data:
        mention.append(path)
        if wanted_by(data, rules):
            gate.append(path)
mention_list.write_text("".join(f"{path}\n" for path in mention), encoding="utf-8")
gate_list.write_text("".join(f"{path}\n" for path in gate), encoding="utf-8")
