"""What is not a message of the protocol is answered all the same, if it asks for something."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from torchlint.mcp.incoming_lines import MOST_OF_A_LINE

if TYPE_CHECKING:
    from pathlib import Path

CALL = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "check", "arguments": {"paths": ["%s"]}}}'
START = (
    '{"jsonrpc": "2.0", "id": "start", "method": "initialize", "params": {"protocolVersion":'
    ' "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}'
)
LINES = {
    CALL % r"\ud800": (1, "The request cannot be read: it has a lone surrogate"),
    '{"jsonrpc": "2.0", "id": 2, "method": 4}': (2, "This is not a request"),
    '{"jsonrpc": "2.0", "id": "\\udfff", "method": "tools/list"}': (None, "The request cannot be"),
    "[" * 100_000: (None, "The message is not JSON"),
    "[]": (None, "The message is not a JSON object"),
    CALL % ("x" * MOST_OF_A_LINE): (None, "The message is too long: the limit is 4,194,304"),
    '{"jsonrpc": "2.0", "method": 4}': None,
    '{"jsonrpc": "2.0", "id": 3}': None,
    " ": None,
    '{"jsonrpc": "2.0", "id": 4, "method": 5}': (4, "This is not a request"),
}


def test_a_line_that_is_not_a_message_gets_an_error_and_the_next_is_read(tmp_path: Path) -> None:
    expected = [each for each in LINES.values() if each is not None]
    with subprocess.Popen(
        [sys.executable, "-m", "torchlint", "mcp", tmp_path, "--no-cache"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.writelines(f"{line}\n" for line in (*LINES, START))
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline())]
        while answers[-1]["id"] != "start":
            answers.append(json.loads(server.stdout.readline()))
        server.stdin.close()
    assert server.returncode == 0
    assert "result" in answers.pop()
    assert [each["id"] for each in answers] == [request for request, _ in expected]
    for answer, (_, sentence) in zip(answers, expected, strict=True):
        assert answer["error"]["message"].startswith(sentence)
