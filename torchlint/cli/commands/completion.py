"""`torchlint completion`: lets a shell complete what is typed."""

from __future__ import annotations

import click

from torchlint.cli.command import Choice, Command
from torchlint.cli.options import DEBUG
from torchlint.cli.printing import print_lines

_EPILOG = """\b
Where to put it:
  bash   torchlint completion bash > ~/.local/share/bash-completion/completions/torchlint
         or, without the package bash-completion, in ~/.bashrc:
         eval "$(torchlint completion bash)"
  zsh    torchlint completion zsh > ~/.zfunc/_torchlint
         with `fpath+=~/.zfunc` above `autoload -Uz compinit && compinit` in ~/.zshrc
  fish   torchlint completion fish > ~/.config/fish/completions/torchlint.fish

\b
The folder must exist; a shell that is started afterwards completes commands, options and their
values, codes and names of rules, and paths. bash must be 4.4 or newer; macOS brings 3.2.

\b
Exit codes: 0, or 2 for a shell that is not known.
"""


@click.command("completion", cls=Command, epilog=_EPILOG)
@click.argument("shell", type=Choice(("bash", "zsh", "fish")), metavar="bash|zsh|fish")
@DEBUG
def command(shell: str) -> None:
    """Print the script that completes torchlint's words in a shell."""
    from torchlint.cli.completions import script

    print_lines(script(shell).rstrip("\n").split("\n"))
