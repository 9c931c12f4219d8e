"""`torchlint completion`: shell completion."""

from __future__ import annotations

import click

from torchlint.cli.command import Command, WordChoice
from torchlint.cli.options import DEBUG
from torchlint.cli.printing import print_lines


@click.command("completion", cls=Command)
@click.argument("shell", type=WordChoice(("bash", "zsh", "fish")), metavar="bash|zsh|fish")
@DEBUG
def command(shell: str) -> None:
    """Print a completion script for a shell.

    \f
    Where to put it:
      bash   torchlint completion bash > ~/.local/share/bash-completion/completions/torchlint
             or, without the package bash-completion, in ~/.bashrc:
             eval "$(torchlint completion bash)"
      zsh    torchlint completion zsh > ~/.zfunc/_torchlint
             with `fpath+=~/.zfunc` above `autoload -Uz compinit && compinit` in ~/.zshrc
      fish   torchlint completion fish > ~/.config/fish/completions/torchlint.fish

    The folder must exist. New shells then complete commands, options and their values, rule codes
    and names, and paths. bash must be 4.4 or newer; macOS comes with 3.2.

    Exit codes: 0, or 2 for an unknown shell.
    """
    from torchlint.cli.completions import script

    print_lines(script(shell).rstrip("\n").split("\n"))
