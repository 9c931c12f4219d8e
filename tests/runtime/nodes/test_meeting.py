"""How agents find the parent, and whom they do not trust."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.runtime.nodes.meeting import Meeting, NodeError, announce, find

if TYPE_CHECKING:
    import socket
    from pathlib import Path

MEETING = Meeting(("10.0.0.5", "127.0.0.1"), 4711, "secret", 2)


def nobody(_meeting: Meeting) -> socket.socket | None:
    return None


def refused(path: Path, join: Any = nobody) -> str:
    with pytest.raises(NodeError) as raised:
        find(str(path), 0.0, join)
    return raised.value.message


def test_what_was_announced_is_found_and_only_the_user_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "meeting.json"
    announce(MEETING, str(path))
    wire: Any = object()
    assert find(str(path), 0.0, lambda _: wire) == (MEETING, wire)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["meeting.json"]


def test_a_folder_that_is_not_shared_is_named(tmp_path: Path) -> None:
    said = refused(tmp_path / "nowhere" / "meeting.json")
    assert said == (
        f"{tmp_path}/nowhere is not there on this node; give a folder that all nodes share with "
        "--shared."
    )


def test_a_parent_that_does_not_come_or_has_gone_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "meeting.json"
    assert f"{path} did not appear within 0 s; start the same command" in refused(path)
    announce(MEETING, str(path))
    assert "does not name a parent that answers within 0 s" in refused(path)


def test_a_file_that_others_can_write_or_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "meeting.json"
    announce(MEETING, str(path))
    path.chmod(0o620)
    assert "can be read or written by other users" in refused(path, lambda _: object())
    path.chmod(0o600)
    link = tmp_path / "link.json"
    link.symlink_to(path)
    assert "did not appear" in refused(link, lambda _: object())


def test_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "meeting.json"
    announce(Meeting(("127.0.0.1",), 1, "secret", 2, "0.0.1"), str(path))
    assert refused(path).startswith("Node 0 has torchlint 0.0.1 and this one ")


@pytest.mark.parametrize("text", ["", "no JSON", json.dumps({"type": "meeting", "port": "x"})])
def test_what_is_not_a_meeting_is_waited_over(tmp_path: Path, text: str) -> None:
    path = tmp_path / "meeting.json"
    path.write_text(text)
    path.chmod(0o600)
    assert "did not appear" in refused(path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(NodeError, match="cannot be written to"):
        announce(MEETING, str(tmp_path / "nowhere" / "meeting.json"))
