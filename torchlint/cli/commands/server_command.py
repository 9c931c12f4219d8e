"""`torchlint server`: findings while you type."""

from __future__ import annotations

import os

import click

from torchlint.cli.command import Command
from torchlint.cli.options import Options, server_options
from torchlint.cli.planning import wishes_from
from torchlint.cli.resources import cache_opener


@click.command("server", cls=Command)
@server_options
def command(options: Options) -> None:
    """Run the language server for editors.

    It speaks the Language Server Protocol on standard input and output, and never runs the code
    that it checks. It needs pygls, which the extra `server` installs.

    \f
    \b
    Editors start the server themselves. Neovim 0.11, in init.lua:
      vim.lsp.config("torchlint", {
        cmd = { "torchlint", "server" }, filetypes = { "python" },
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

    VS Code: the extension in editors/vscode. docs/editors.md also covers Zed and PyCharm.

    Settings in the editor: enable, select, ignore, hints, pedantic and targetTorch. Everything else
    comes from pyproject.toml or torchlint.toml, as for `torchlint check`.

    Exit codes: 0 after a regular shutdown, 1 if the editor went away without one, 2 if it cannot
    start.
    """
    if options.config is not None:
        options.config = os.path.abspath(options.config)  # the server changes its folder
    wishes = wishes_from(options)
    open_cache = cache_opener(options)
    try:
        from torchlint.server.features import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "cattrs"):
            raise
        raise click.ClickException(
            "The language server needs the package pygls; run `pip install pygls`."
        ) from None
    raise click.exceptions.Exit(serve(wishes, open_cache))
