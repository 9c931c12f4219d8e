#!/usr/bin/env bash
# Runs every check that needs a GPU, in less than nine minutes. Writes $OUT/gpu.json (here, if OUT is
# not set) and prints it. Exit code 0: all checks are well; 1: some are not; 2: they cannot be run.
#
#   PYTHON   a Python with a torch that sees the GPU; default: python3
#   WHEELS   a folder with wheels of packages that this Python lacks, where there is no registry
set -euo pipefail

refuse() {
  echo "gpu.sh: $1" >&2
  exit 2
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=$(command -v "${PYTHON:-python3}") || refuse "there is no ${PYTHON:-python3}; set PYTHON."
[[ $python == /* ]] || python=$PWD/$python
wheels=()
[ -z "${WHEELS:-}" ] || wheels=("$(cd "$WHEELS" && pwd)"/*.whl)
mkdir -p "${OUT:-.}"
out=$(cd "${OUT:-.}" && pwd)

# Away from the checkout: what Python finds there is not installed.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

gpu=$("$python" -c 'import torch; print(torch.cuda.is_available())' 2>/dev/null) ||
  refuse "$python has no torch; set PYTHON to one that has."
[ "$gpu" = True ] || refuse "torch sees no GPU here, so there is nothing to check."

if ! "$python" -c 'import torchlint.rules' 2>/dev/null; then
  mkdir source
  cp -R "$root"/{torchlint,rules,pyproject.toml,README.md,LICENSE} source
  "$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps \
    --no-build-isolation --target site ./source ${wheels[@]+"${wheels[@]}"} ||
    refuse "torchlint could not be installed for $python."
  export PYTHONPATH="$work/site${PYTHONPATH:+:$PYTHONPATH}"
fi
"$python" -c 'import click, libcst, numpy, psutil, rich, scipy, torchlint.rules' ||
  refuse "$python lacks a package; install it, or put its wheel into a folder and name it in WHEELS."

"$python" "$root/benchmarks/gpu_checks.py" "$out/gpu.json"
