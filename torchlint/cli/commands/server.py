"""`torchlint server`: findings while you type."""

from __future__ import annotations

import os

import click

from torchlint.cli.command import Command
from torchlint.cli.options import cache_opener, cache_options

_EPILOG = """\b
Editors start the server themselves. Neovim 0.11, in init.lua:
  vim.lsp.config("torchlint", { cmd = { "torchlint", "server" }, filetypes = { "python" },
                                root_markers = { "pyproject.toml", ".git" } })
  vim.lsp.enable("torchlint")

\b
Helix, in languages.toml:
  [language-server.torchlint]
  command = "torchlint"
  args = ["server"]
  [[language]]
  name = "python"
  language-servers = ["torchlint"]

\b
VS Code: the extension in editors/vscode. docs/editors.md also covers Zed and PyCharm.

\b
Settings in the editor: enable, select, ignore, hints, pedantic and targetTorch. Everything else
comes from pyproject.toml or torchlint.toml, as for `torchlint check`.

\b
Exit codes: 0 after a regular shutdown, 1 if the editor went away without one, 2 if it cannot start.
"""


@click.command("server", cls=Command, epilog=_EPILOG)
@click.option("--config", metavar="FILE", help="Use this configuration file and no other.")
@click.option("--isolated", is_flag=True, help="Use no configuration file at all.")
@cache_options
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
def command(config: str | None, isolated: bool, cache_dir: str | None, no_cache: bool) -> None:
    """Run the language server for editors.

    It speaks the Language Server Protocol on standard input and output, and never runs the code
    that it checks. It needs pygls, which the extra `server` installs.
    """
    if config is not None and isolated:
        raise click.UsageError("--config and --isolated exclude each other; give one of them.")
    open_cache = cache_opener(cache_dir, no_cache=no_cache)
    try:
        from torchlint.server.features import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "cattrs"):
            raise
        raise click.ClickException(
            'The language server needs pygls; install it with `pip install "torchlint[server]"`.'
        ) from None
    from torchlint.server.settings import Options

    options = Options(None if config is None else os.path.abspath(config), isolated)
    raise click.exceptions.Exit(serve(options, open_cache))
