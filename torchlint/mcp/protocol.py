"""The tools over the Model Context Protocol, on standard input and output."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any, Final

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import FailFast, Field, ValidationError

from torchlint.config.settings import ConfigError, shortened
from torchlint.debug import debugging
from torchlint.files.reading import SourceError
from torchlint.mcp.incoming_lines import channel
from torchlint.mcp.root import RefusedPathError
from torchlint.report.terminal.safe_text import visible
from torchlint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.mcp.tools import Tools

_MOST_PATHS: Final = 1_000
_INSTRUCTIONS: Final = (
    "torchlint finds what makes PyTorch training code slow. Check the whole project, so that calls "
    "between files count. Line numbers are those of the file as it was checked. The tools read "
    "files of one folder, change none and run no code."
)
_READS_ONLY: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_Paths = Annotated[
    list[str],
    FailFast(),
    Field(max_length=_MOST_PATHS, description='Files and folders, such as ["."] for all.'),
]


class _Server(MCPServer[Any]):
    """Says what is wrong with a call in one sentence."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        for tool in await self.list_tools():
            properties = tool.input_schema["properties"]
            unknown = next((each for each in arguments if each not in properties), None)
            if tool.name == name and unknown is not None:
                shown = visible(shortened(unknown))
                raise ToolError(
                    f"{name} has no argument `{shown}`; it has {', '.join(properties)}."
                )
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                wrong = cause.errors(include_url=False, include_context=False)[0]
                place = ".".join(map(str, wrong["loc"]))
                raise ToolError(f"Argument `{place}` of {name}: {wrong['msg']}.") from None
            if isinstance(cause, ToolError):
                raise cause from None
            raise


def serve(tools: Tools, root: str) -> None:
    """Answers until the client closes its end.

    The SDK keeps the channel to itself: what else is printed goes to standard error.
    """
    # What can be imported must not change with the working directory.
    sys.path[:] = map(os.path.abspath, sys.path)
    os.chdir(root)
    level: Any = "INFO" if debugging() else "CRITICAL"
    server = _Server("torchlint", version=__version__, instructions=_INSTRUCTIONS, log_level=level)
    _add(server, tools)
    anyio.run(_answering, server)


async def _answering(server: _Server) -> None:
    lowlevel = server._lowlevel_server  # as its `run_stdio_async` does, which takes no stream
    async with channel() as (read, write):
        await lowlevel.run(read, write, lowlevel.create_initialization_options())


def _add(server: _Server, tools: Tools) -> None:
    turn = threading.Lock()

    def answer(ask: Callable[[], str]) -> str:
        """
        Raises:
            ToolError: with the sentence for the assistant.
        """
        try:
            # What is printed would reach the channel when Python flushes it at its end.
            with turn, redirect_stdout(sys.stderr):
                return ask()
        except RefusedPathError as error:
            raise ToolError(str(error)) from None
        except (ConfigError, SourceError) as error:
            raise ToolError(visible(str(error))) from None
        except Exception as error:
            if debugging():
                raise
            raise ToolError(
                visible(
                    f"torchlint failed: {type(error).__name__}: {error}. "
                    "This is a bug in torchlint; please report it."
                )
            ) from None

    def check(
        paths: _Paths,
        hints: Annotated[bool, Field(description="Also what is likely but not certain.")] = False,
    ) -> str:
        """Report what makes PyTorch training code slow: lines, codes, reasons, fixes as edits."""
        return answer(lambda: tools.check(paths, hints=hints))

    def why(
        place: Annotated[str, Field(description="train.py:42, or lab.ipynb:3:12 with the cell.")],
        rule: Annotated[str | None, Field(description="Only this rule, such as TL201.")] = None,
    ) -> str:
        """Explain why rules did or did not report a line, and what would change that."""
        return answer(lambda: tools.why(place, rule))

    def rule(code: Annotated[str, Field(description="A code, TL201, or a name.")]) -> str:
        """The page of a rule: why it is slow, what to write instead, what its fix may change."""
        return answer(lambda: tools.rule(code))

    def fix_preview(
        paths: _Paths,
        unsafe: Annotated[
            bool, Field(description="Also fixes that may change results, memory or checkpoints.")
        ] = False,
    ) -> str:
        """The fixes as a unified diff. Nothing is written."""
        return answer(lambda: tools.fix_preview(paths, unsafe=unsafe))

    for tool in (check, why, rule, fix_preview):
        server.add_tool(tool, annotations=_READS_ONLY, structured_output=False)
