"""Starts the command line, and turns whatever goes wrong into one line and an exit code."""

# Nothing is imported before the folder that `python -m` puts first is off the path again: it holds
# what is checked. Not even from __future__; sys is part of the interpreter.
import sys

if __name__ == "__main__" and not getattr(sys.flags, "safe_path", False):
    del sys.path[0]

import gc

# To look for cycles in what is being imported takes a twentieth of a start, and finds none.
gc.set_threshold(100_000)

import atexit
import contextlib
import os
from typing import Final

import click

from torchlint.cli import COMPLETES, torchlint
from torchlint.debug import VARIABLE
from torchlint.report.terminal.safe_text import visible

TROUBLE: Final = 2
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141
RULES_LOADED: Final = "torchlint.ruleapi.registry"
"""The module that loads the rules of plugins, if a command needs rules."""


def main() -> None:
    """The `torchlint` command."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal in an old encoding shows what it cannot print as \x.., and nothing fails.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    if "--debug" in sys.argv:
        os.environ[VARIABLE] = "1"
    code = _complete() if COMPLETES in os.environ else run(sys.argv[1:])
    if code == INTERRUPTED:
        # A thread that is still parsing takes the interpreter down if it ends around it.
        atexit._run_exitfuncs()
        os._exit(code)
    sys.exit(code)


def _complete() -> int:
    from torchlint.cli.completions import complete

    return complete(os.environ[COMPLETES])


def run(words: list[str]) -> int:
    """Runs one command line and returns its exit code; `--debug` lets exceptions through."""
    try:
        code = _invoke(words)
        sys.stdout.flush()
    except BrokenPipeError:
        _close_quietly()
        return PIPE_CLOSED
    except (KeyboardInterrupt, click.Abort):
        _say("Interrupted.")
        return INTERRUPTED
    except click.ClickException as error:
        _explain(error, words)
        _tell_of_plugins()
        return TROUBLE
    except Exception as error:
        if "--debug" in words:
            raise
        _say(
            f"torchlint failed: {type(error).__name__}: {error}. "
            "This is a bug in torchlint; run again with --debug and report what it prints."
        )
        return TROUBLE
    return code


def _invoke(words: list[str]) -> int:
    # Not torchlint.main(): it would answer a closed pipe with 1, which means "findings" here.
    code = 0
    try:
        with torchlint.make_context("torchlint", list(words)) as context:
            try:
                torchlint.invoke(context)
            except click.exceptions.Exit as done:
                code = done.exit_code
            if _tell_of_plugins():
                code = max(code, TROUBLE)
    except click.exceptions.Exit as done:
        return done.exit_code
    return code


def _tell_of_plugins() -> bool:
    """Whether something is wrong with a plugin; it is then printed, if it has not been."""
    if RULES_LOADED not in sys.modules:
        return False
    from torchlint.cli.printing import print_troubles

    return print_troubles()


def _explain(error: click.ClickException, words: list[str]) -> None:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return
    _say(f"Error: {error.format_message()}")
    if isinstance(error, click.UsageError):
        # An option without its value comes without a context.
        command = words[0] if words and words[0] in torchlint.list_commands(None) else ""
        path = f"torchlint {command}".rstrip() if error.ctx is None else error.ctx.command_path
        _say(f"Try `{path} --help`.")


def _say(message: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(visible(message) + "\n")


def _close_quietly() -> None:
    # What is still buffered would raise again when the interpreter flushes at exit.
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
