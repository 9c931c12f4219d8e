"""Runs the user's script, or module, as the `__main__` of this process."""

from __future__ import annotations

import importlib.util
import io
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import TYPE_CHECKING, Any, TextIO, cast

from torchlint.runtime.probe import private
from torchlint.runtime.probe.messages import Ended
from torchlint.runtime.probe.script.script_error import describe, show

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType


@dataclass(frozen=True)
class End:
    """How the script ended. `error` is what it raised, other than `SystemExit`."""

    code: int
    exited: bool = False
    error: BaseException | None = None

    def message(self, project: str, *, steps: int) -> Ended:
        """For the parent."""
        status = "error" if self.error is not None else "exit" if self.exited else "finished"
        error = None if self.error is None else describe(self.error, project)
        return Ended(status, self.code, steps, error)

    def leave(self) -> None:
        """End this process as Python would: its buffers are written, its atexit functions run."""
        sys.exit(self.code)


def run(main: str, argv: Sequence[str], as_module: bool, *, safe_path: bool = False) -> End:
    """Run `main` to its end, and to the end of the threads and processes it waits for.

    What it raises is printed to its standard error, with the script's own frames only.

    Args:
        main: path of a script, as the user gave it, or dotted name of a module.
        argv: its arguments, without its own name.
        as_module: run as with `python -m`.
        safe_path: leave `sys.path` as it is.
    """
    try:
        if as_module:
            _run_module(main, argv, safe_path)
        else:
            _run_script(main, argv, safe_path)
    except SystemExit as stop:
        end = End(_exit_code(stop), exited=True)
    except BaseException as error:
        _say(show(error))
        end = End(1, error=error)
    else:
        end = End(0)
    with suppress(Exception):
        _wait_for_what_it_started()
    for name in ("stdout", "stderr"):
        with suppress(Exception):
            getattr(sys, name).flush()
    return end


def _run_script(path: str, argv: Sequence[str], safe_path: bool) -> None:
    # CPython joins the name as it was typed to the current folder, and normalizes nothing.
    file = path if os.path.isabs(path) else os.path.join(os.getcwd(), path)
    sys.argv = [path, *argv]
    if not safe_path:
        sys.path.insert(0, os.path.dirname(os.path.realpath(file)))
    main = _new_main(file, SourceFileLoader("__main__", file))
    with io.open_code(file) as stream:
        code = compile(stream.read(), file, "exec", dont_inherit=True)
    exec(code, vars(main))  # noqa: S102 - the user asked for it


def _run_module(name: str, argv: Sequence[str], safe_path: bool) -> None:
    sys.argv = ["-m", *argv]
    if not safe_path:
        sys.path.insert(0, os.getcwd())
    spec, code = _find_module(name)
    assert spec.origin is not None
    sys.argv[0] = spec.origin
    main = _new_main(spec.origin, spec.loader)
    vars(main).update(__spec__=spec, __package__=spec.parent, __cached__=spec.cached)
    exec(code, vars(main))  # noqa: S102 - the user asked for it


def _find_module(name: str) -> tuple[ModuleSpec, CodeType]:
    """As `python -m` looks for it: the parent packages are imported, a package's main is meant."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    if spec.submodule_search_locations is not None:
        return _find_module(f"{name}.__main__")
    get_code = getattr(spec.loader, "get_code", None)
    code = get_code(spec.name) if get_code is not None else None
    if code is None:
        raise ImportError(f"No code object available for {name}", name=name)
    return spec, code


def _new_main(file: str, loader: Any) -> ModuleType:
    main = ModuleType("__main__")
    values = {"__file__": file, "__loader__": loader, "__cached__": None, "__annotations__": {}}
    vars(main).update(values, __builtins__=sys.modules["builtins"])
    sys.modules["__main__"] = main
    # multiprocessing took this one while ours stood there; workers name classes by it.
    if "__mp_main__" in sys.modules:
        sys.modules["__mp_main__"] = main
    return main


def _wait_for_what_it_started() -> None:
    """Python ends when the last thread and the last process that are not daemons have ended."""
    private.wait_for_threads()
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is not None:
        for process in multiprocessing.active_children():
            if not process.daemon:
                process.join()


def _exit_code(stop: SystemExit) -> int:
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code
    _say(f"{stop.code}\n")
    return 1


def _say(text: str) -> None:
    # The script may have put anything there, a closed file too.
    with suppress(Exception):
        cast("TextIO", sys.stderr).write(text)
