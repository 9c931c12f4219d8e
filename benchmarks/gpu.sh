#!/usr/bin/env bash
# Runs every check that needs a GPU and prints what it found as JSON.
# There is none yet: torchlint 0.1 reads code and never runs it. The list is therefore empty.
set -euo pipefail

cd "$(dirname "$0")/.."
"${PYTHON:-python3}" - <<'PYTHON'
import json
import platform
import re
from importlib import metadata
from pathlib import Path


def installed(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


here = re.search(r'__version__ = "(.+)"', Path("torchlint/__init__.py").read_text()).group(1)
print(
    json.dumps(
        {
            "checks": [],
            "note": "There is no check that needs a GPU yet; nothing was run.",
            "versions": {
                "torchlint": here,
                "python": platform.python_version(),
                "torch": installed("torch"),
            },
        },
        indent=2,
    )
)
PYTHON
