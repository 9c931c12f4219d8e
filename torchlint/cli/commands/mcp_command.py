"""`torchlint mcp`: answers the questions of a coding assistant."""

from __future__ import annotations

import os

import click

from torchlint.cli.command import Command
from torchlint.cli.options import Options, server_options
from torchlint.cli.planning import wishes_from
from torchlint.cli.resources import cache_opener


@click.command("mcp", cls=Command)
@click.argument("root", required=False, default=".", metavar="[ROOT]")
@server_options
def command(root: str, options: Options) -> None:
    """Run the server for coding assistants.

    It speaks the Model Context Protocol on standard input and output. It checks files in ROOT, by
    default this folder, and no others; it changes no file and never runs the code that it checks.
    It needs the package mcp, which the extra `mcp` installs.

    \f
    \b
    Assistants start the server themselves. Most of them read a JSON file with
      {"mcpServers": {"torchlint": {"command": "torchlint",
                                    "args": ["mcp", "/path/to/project"]}}}

    Tools:
      check        the findings of `torchlint check`, with each fix as an edit
      why          why rules did or did not report a line
      rule         the page of a rule
      fix_preview  the fixes as a diff

    Settings come from pyproject.toml or torchlint.toml, as for `torchlint check`.
    docs/assistants.md says more.

    Exit codes: 0 when the assistant has gone, 2 if the server cannot start.
    """
    if not os.path.isdir(root):
        raise click.UsageError(f"There is no folder `{root}`; name the one to check.")
    if options.config is not None:
        options.config = os.path.abspath(options.config)  # the server changes its folder
    wishes = wishes_from(options)
    open_cache = cache_opener(options)
    try:
        from torchlint.mcp.protocol import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("anyio", "mcp", "mcp_types", "pydantic"):
            raise
        raise click.ClickException(
            "The server for assistants needs the package mcp, version 2 or newer; run "
            "`pip install 'mcp>=2'`."
        ) from None
    from torchlint.mcp.root import AllowedFolder
    from torchlint.mcp.tools import Tools

    folder = AllowedFolder(root)
    serve(Tools(folder, wishes, open_cache), folder.folder)
