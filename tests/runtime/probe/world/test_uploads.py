"""Nothing is uploaded, and a script that would goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.shielded import Run, run_shielded, write_files

if TYPE_CHECKING:
    from pathlib import Path

GIT = """\
#!/bin/sh
echo "$@" >> "$CALLS"
echo done
"""


def run_with_programs(tmp_path: Path, script: str, *names: str) -> tuple[Run, list[str]]:
    """Run a script that finds these programs; with what they were called with."""
    programs = write_files(tmp_path / "bin", dict.fromkeys(names, GIT))
    for name in names:
        (programs / name).chmod(0o755)
    calls = tmp_path / "calls"
    calls.touch()
    project = write_files(tmp_path / "project", {"train.py": script})
    env = {"PATH": f"{programs}:/usr/bin:/bin", "CALLS": str(calls)}
    # The programs are to write down what they get, which is not Python's doing.
    run = run_shielded(project, "train.py", env=env, behind_fence=False)
    return run, calls.read_text().splitlines()


def test_a_program_that_uploads_is_not_started_and_seems_to_succeed(tmp_path: Path) -> None:
    script = """
        import os, subprocess
        print(subprocess.run(["git", "push"], check=True, capture_output=True))
        print(subprocess.check_output("git add . && git push", shell=True, text=True) == "")
        print(subprocess.call(args=("git", b"push"), cwd="/"), os.system("git push origin"))
        print(subprocess.Popen(iter(["git", "push"]), -1, None, None).wait())
        print(repr(os.popen("git push").read()), subprocess.getoutput("git push") == "")
        print(subprocess.run(["-c", "git push"], executable="sh", shell=False).returncode)
    """
    run, calls = run_with_programs(tmp_path, script, "git")
    assert calls == []
    assert len(run.lines) == 6
    assert ("upload", "git push") in run.effects()
    assert ("upload", "git add . && git push") in run.effects()


def test_other_programs_run_and_are_listed(tmp_path: Path) -> None:
    script = """
        import os, subprocess
        print(subprocess.check_output(["git", "status"], text=True).strip())
        print(os.system("git pull"), os.popen("git log -1").read().strip())
        print(subprocess.run(iter(["git", "diff"]), stdout=subprocess.DEVNULL).returncode)
        os.spawnlp(os.P_WAIT, "git", "git", "fetch")
    """
    run, calls = run_with_programs(tmp_path, script, "git")
    assert calls == ["status", "pull", "log -1", "diff", "fetch"]
    assert run.lines[0] == "done"
    listed = {what.split()[-1] for kind, what in run.effects(kept=True) if kind == "process"}
    assert {"status", "pull", "diff", "fetch"} <= listed


def test_a_process_that_would_become_an_uploader_is_refused(tmp_path: Path) -> None:
    script = """
        import os
        for attempt in (
            lambda: os.execvp("git", ["git", "push"]),
            lambda: os.posix_spawnp("git", ["git", "push"], os.environ),
        ):
            try:
                attempt()
            except ConnectionRefusedError as error:
                print(error)
        print(os.spawnlp(os.P_WAIT, "git", "git", "push"))
    """
    run, calls = run_with_programs(tmp_path, script, "git")
    assert calls == []
    assert run.lines[0] == "torchlint refuses uploads while it runs a script, and refused: git push"
    assert run.lines[2] == "127"


def test_requests_that_change_another_machine_are_refused(tmp_path: Path) -> None:
    script = """
        import socket, urllib.request
        from http.client import HTTPConnection

        def request(method, host="example.invalid"):
            connection = HTTPConnection(host)
            connection.sock, other = socket.socketpair()
            try:
                connection.request(method, "/x", b"data")
                return other.recv(3)
            except OSError as error:
                return error

        for method in ("PUT", "PATCH", "DELETE", "GET", "POST"):
            print(request(method))
        print(request("PUT", "127.0.0.1"), request("PUT", "localhost"))
    """
    project = write_files(tmp_path / "project", {"train.py": script})
    run = run_shielded(project, "train.py")
    refused = (
        "torchlint refuses uploads while it runs a script, and refused: HTTP {} to example.invalid"
    )
    assert run.lines == [
        *(refused.format(method) for method in ("PUT", "PATCH", "DELETE")),
        "b'GET'",
        "b'POS'",
        "b'PUT' b'PUT'",
    ]
    assert ("upload", "HTTP PUT to example.invalid") in run.effects()


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_a_library_with_a_wire_of_its_own_is_refused_them_too(library: str, tmp_path: Path) -> None:
    client = """
        class Client:
            def send(self, request, **kwargs):
                return request.method

        class AsyncClient(Client):
            pass
    """
    script = f"""
        import {library} as http
        from types import SimpleNamespace
        for method, host in (("GET", "far"), ("put", "far"), ("PUT", "localhost")):
            request = SimpleNamespace(method=method, url=SimpleNamespace(host=host))
            for client in (http.Client(), http.AsyncClient()):
                try:
                    print(client.send(request, stream=True))
                except ConnectionRefusedError as error:
                    print("refused")
    """
    files = {"train.py": script, f"{library}.py": client}
    run = run_shielded(write_files(tmp_path / "project", files), "train.py")
    assert run.lines == ["GET", "GET", "refused", "refused", "PUT", "PUT"]


@pytest.mark.needs("huggingface_hub")
def test_the_hub_gets_nothing_and_answers_as_it_would(tmp_path: Path) -> None:
    script = """
        import huggingface_hub
        from huggingface_hub import HfApi, create_repo, upload_file, upload_folder
        print(create_repo("me/model", exist_ok=True).repo_id)
        print(HfApi(token="t").create_repo("me/data", repo_type="dataset"))
        info = upload_file(path_or_fileobj=b"x", path_in_repo="x", repo_id="me/model")
        print(info.oid, info.commit_url)
        later = upload_folder(folder_path=".", repo_id="me/model", run_as_future=True)
        print(later.result().commit_message)
        print(huggingface_hub.create_commit("me/model", [], commit_message="said").commit_message)
        print(HfApi().create_tag("me/model", tag="v1"))
    """
    project = write_files(tmp_path / "project", {"train.py": script})
    run = run_shielded(project, "train.py", env={"HF_HOME": str(tmp_path / "cache")})
    nothing = "0" * 40
    assert run.lines == [
        "me/model",
        "https://huggingface.co/datasets/me/data",
        f"{nothing} https://huggingface.co/me/model/commit/{nothing}",
        "nothing",
        "said",
        "None",
    ]
    assert ("upload", "huggingface_hub.upload_folder me/model") in run.effects()


@pytest.mark.needs("huggingface_hub")
def test_a_model_is_not_pushed(tmp_path: Path) -> None:
    script = """
        from huggingface_hub import PyTorchModelHubMixin
        import torch
        class Model(torch.nn.Linear, PyTorchModelHubMixin):
            pass
        print(Model(1, 1).push_to_hub("me/model"))
    """
    project = write_files(tmp_path / "project", {"train.py": script})
    env = {"HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"}
    run = run_shielded(project, "train.py", env=env)
    assert "me/model/commit/000" in run.lines[-1]


STORAGE = {
    "botocore/__init__.py": "",
    "botocore/client.py": """
        from types import SimpleNamespace
        class BaseClient:
            def __init__(self, service):
                model = SimpleNamespace(service_name=service)
                self.meta = SimpleNamespace(service_model=model)
            def _make_api_call(self, operation_name, api_params):
                return "sent"
    """,
    "google/__init__.py": "",
    "google/cloud/__init__.py": "",
    "google/cloud/storage/__init__.py": "from google.cloud.storage.blob import Blob",
    "google/cloud/storage/blob.py": """
        class Blob:
            def upload_from_filename(self, filename):
                return "sent"
            def download_to_filename(self, filename):
                return "fetched"
    """,
    "train.py": """
        from botocore.client import BaseClient
        from google.cloud.storage import Blob
        s3, sts = BaseClient("s3"), BaseClient("sts")
        print(s3._make_api_call("PutObject", {})["ETag"], s3._make_api_call("GetObject", {}))
        print(s3._make_api_call("CreateMultipartUpload", {})["UploadId"])
        print(sts._make_api_call("AssumeRole", {}))
        print(Blob().upload_from_filename("x"), Blob().download_to_filename("x"))
    """,
}


def test_storage_in_the_cloud_is_read_and_not_written(tmp_path: Path) -> None:
    run = run_shielded(write_files(tmp_path / "project", STORAGE), "train.py")
    assert run.lines == ['"nothing" sent', "nothing", "sent", "None fetched"]
    assert run.effects() == {
        ("upload", "s3 PutObject"),
        ("upload", "s3 CreateMultipartUpload"),
        ("upload", "google.cloud.storage.Blob.upload_from_filename"),
    }
