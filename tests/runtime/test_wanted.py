"""What a script that failed seems to want of its command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint.runtime.failures import ERROR, Failed, from_ended
from torchlint.runtime.probe.messages import Ended
from torchlint.runtime.wanted import wanted

if TYPE_CHECKING:
    from pathlib import Path

ARGUMENTS = "Its own arguments go after `--`, as in `-- --data FOLDER`."
RANKS = "It needs ranks; start them with `--nproc-per-node N`, 2 or more."
FRAME = '  File "/work/train.py", line 3, in <module>\n'

MISSES = {
    "argparse": ("exit code 2", "usage: train.py [-h] --data DATA\ntrain.py: error: the following"),
    "click": ("exit code 2", "Error: Missing option '--data'."),
    "fire": ("exit code 2", "ERROR: The function received no value for the required argument: x"),
    "tyro": ("exit code 2", "╭─ Required options ─╮"),
    "docopt": ("exit code 1", "Usage:\n  train.py --data=FOLDER"),
    "a box": ("exit code 1", " Usage: train.py [OPTIONS] DATA\n╭─ Error ─╮"),
    "absl": (
        "exit code 1",
        "FATAL Flags parsing error:\n  flag --data=None: Flag --data must have a value other than "
        "None.\nPass --helpshort or --helpfull to see help on flags.",
    ),
    "absl, unparsed": (
        "IllegalFlagValueError",
        f"{FRAME}    app.run(main)\nabsl.flags._exceptions.IllegalFlagValueError: flag --data",
    ),
    "hydra": (
        "exit code 1",
        "Error executing job with overrides: []\nomegaconf.errors.MissingMandatoryValue: Missing "
        "mandatory value: data.path\n    full_key: data.path",
    ),
    "hydra, a choice": ("exit code 1", "You must specify 'db', e.g, db=<OPTION>"),
    "omegaconf": ("MissingMandatoryValue", "MissingMandatoryValue: Missing mandatory value: data"),
    "sys.argv": (
        "IndexError",
        f"{FRAME}    data = sys.argv[1]\nIndexError: list index out of range",
    ),
    "its parts": (
        "ValueError",
        f"{FRAME}    _, data = sys.argv\nValueError: not enough values to unpack",
    ),
    "an assertion": ("AssertionError", f"{FRAME}    assert len(sys.argv) > 1\nAssertionError"),
    "an option": ("ValueError", f"{FRAME}    raise\nValueError: please specify --data"),
    "an option, said": ("exit code 1", "Warning: slow\n--data is required"),
}
OTHERS = {
    "a value": ("ValueError", f"{FRAME}    load(usage)\nValueError: disk usage: 90 %"),
    "an index": ("IndexError", f"{FRAME}    data[1]\nIndexError: list index out of range"),
    "an index below": (
        "IndexError",
        f"{FRAME}    main(sys.argv)\n{FRAME}    data[1]\nIndexError: list index out of range",
    ),
    "an exit": ("exit code 1", "no CUDA"),
    "a package": ("ImportError", f"{FRAME}    import x\nImportError: you need pip install --pre x"),
    "an option of others": ("RuntimeError", f"{FRAME}    x()\nRuntimeError: nvcc --gpu died"),
}
DISTRIBUTED = {
    "torch": (
        "ValueError",
        f"{FRAME}    raise _env_error(x)\nValueError: Error initializing torch.distributed using "
        "env:// rendezvous: environment variable RANK expected, but not set",
    ),
    "environ": (
        "KeyError",
        f'{FRAME}    int(os.environ["LOCAL_RANK"])\n  File "<frozen os>", line 679\nKeyError: '
        "'LOCAL_RANK'",
    ),
    "getenv": ("TypeError", f'{FRAME}    int(os.getenv("WORLD_SIZE"))\nTypeError: int() argument'),
    "no group": ("ValueError", "ValueError: Default process group has not been initialized"),
}


def asked(kind: str, tail: str, *, arguments: bool = False, ranks: int = 1) -> str:
    failed = Failed(ERROR, f"It failed with {kind}.", kind=kind, tail=tail)
    return wanted(failed, arguments=arguments, ranks=ranks)


@pytest.mark.parametrize(("kind", "tail"), MISSES.values(), ids=list(MISSES))
def test_a_script_that_misses_its_arguments(kind: str, tail: str) -> None:
    assert asked(kind, tail) == ARGUMENTS
    assert asked(kind, tail, arguments=True) == ""


@pytest.mark.parametrize(("kind", "tail"), OTHERS.values(), ids=list(OTHERS))
def test_a_script_that_fails_otherwise(kind: str, tail: str) -> None:
    assert asked(kind, tail) == ""


@pytest.mark.parametrize(("kind", "tail"), DISTRIBUTED.values(), ids=list(DISTRIBUTED))
def test_a_script_that_misses_its_ranks(kind: str, tail: str) -> None:
    assert asked(kind, tail, arguments=True) == RANKS
    assert asked(kind, tail, ranks=2) == ""


@pytest.mark.parametrize("code", [0, 1])
def test_a_usage_that_is_printed_to_stdout(tmp_path: Path, code: int) -> None:
    out, err = tmp_path / "stdout", tmp_path / "stderr"
    out.write_text("Usage: train.py DATA\n")
    err.write_text("a warning\n" if code else "")
    failed = from_ended(Ended(code=code), "run", str(err), str(out))
    assert wanted(failed, arguments=False, ranks=1) == ARGUMENTS


def test_what_a_failed_script_printed_is_shown_if_it_says_nothing_else(tmp_path: Path) -> None:
    out, err = tmp_path / "stdout", tmp_path / "stderr"
    out.write_text("no such data\n")
    failed = from_ended(Ended(code=3), "run", str(err), str(out))
    assert failed.tail == "no such data"
    err.write_text("a reason\n")
    failed = from_ended(Ended(code=3), "run", str(err), str(out))
    assert failed.tail == "a reason"
