"""Records a session of an editor with the server: open, edit, diagnose, quick-fix, close.

    python benchmarks/editor_session.py
    python benchmarks/editor_session.py --out session.txt

Prints each message of the protocol as it went over the pipes, with milliseconds since the start.
The quick fix is made in the text and sent back, and what was found is gone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from editor_client import TRAIN, Client, Json, applied

CLEAN = TRAIN.replace("loss.item()", "loss.detach()")


class Recorded(Client):
    """A client that notes every message."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.lines: list[str] = []
        self._begun = time.perf_counter()
        super().__init__(process)

    def send(self, **message: object) -> None:
        self._note("editor → server", message)
        super().send(**message)

    def arrived(self, message: Json) -> None:
        self._note("server → editor", message)

    def say(self, words: str) -> None:
        self.lines.append(f"# {words}\n")

    def _note(self, way: str, message: Json) -> None:
        passed = 1000 * (time.perf_counter() - self._begun)
        shown = {key: value for key, value in message.items() if key != "jsonrpc"}
        text = json.dumps(shown, indent=2, ensure_ascii=False)
        self.lines.append(f"[{passed:7.0f} ms] {way}\n{text}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, help="where to write the transcript")
    options = parser.parse_args()
    command = [sys.executable, "-m", "torchlint", "server", "--isolated", "--no-cache"]
    with (
        tempfile.TemporaryDirectory(prefix="torchlint-session-") as name,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process,
    ):
        client = Recorded(process)
        mended = session(client, Path(name))
        code = process.wait()
        transcript = "\n".join(client.lines).replace(Path(name).as_uri(), "file:///project")
    print(transcript)
    print(f"The server ended with {code}; the finding is {'gone' if mended else 'still there'}.")
    if options.out is not None:
        options.out.write_text(transcript, encoding="utf-8")
    return 0 if mended and code == 0 else 1


def session(client: Recorded, folder: Path) -> bool:
    """Whether the quick fix has mended what was found."""
    client.capabilities = {"workspace": {"workspaceEdit": {"documentChanges": True}}}
    client.begin(folder)
    client.say("open")
    uri = client.open(folder / "train.py", CLEAN)
    client.until(uri, [])
    client.say("edit: somebody reads the loss on every step")
    client.change(uri, TRAIN)
    (found,) = client.found(uri)
    client.say("quick-fix")
    action, *_ = client.actions(uri, found["range"], "quickfix")
    (change,) = action["edit"]["documentChanges"]
    client.change(uri, applied(TRAIN, change["edits"]))
    left = client.found(uri)
    client.say("close")
    client.close(uri)
    client.end()
    return not left


if __name__ == "__main__":
    sys.exit(main())
