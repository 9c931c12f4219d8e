"""Refuses uploads in a way that lets the script continue.

A call that would upload does nothing and returns what it would have returned; `programs` does so
with commands. What neither reaches, a request that changes something on another machine, is refused
with an error: `PUT`, `PATCH` and `DELETE`, not `POST`, which logging in and many downloads need.

Not caught: uploads by `POST` through libraries not named here, by mail, by `ssh`, by a library that
speaks its protocol in C. The journal lists their connections where Python makes them.
"""

from __future__ import annotations

import functools
import inspect
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe import on_import
from torchlint.runtime.probe.world.journal import RefusedError, is_local

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from torchlint.runtime.probe.world.journal import Journal

_CHANGING = ("PUT", "PATCH", "DELETE")
_CHANGES_A_REPOSITORY = tuple(
    """
    upload_ preupload_ create_ delete_ move_ update_ duplicate_ super_squash_ comment_ merge_
    rename_ edit_ change_ hide_ batch_ copy_files add_ set_space_ run_job run_uv_job
    """.split()
)
"""How the names of the functions begin."""


def install(journal: Journal) -> None:
    """Refuse from now on; libraries as soon as they are imported."""
    for name, refuse in (
        ("huggingface_hub.hf_api", _huggingface),
        ("botocore.client", _aws),
        ("aiobotocore.client", _aws_async),
        ("google.cloud.storage.blob", _google),
        ("azure.storage.blob", _azure),
        ("httpx", _httpx),
        ("httpx2", _httpx),
        ("aiohttp", _aiohttp),
    ):
        on_import.change(name, refuse, journal)


# Libraries ----------------------------------------------------------------------------------


def _doing_nothing(
    journal: Journal, what: str, answer: Callable[[dict[str, Any]], Any], real: Callable[..., Any]
) -> Callable[..., Any]:
    """Notes the upload and gives the answer to its arguments, by name."""
    signature = inspect.signature(real)

    @functools.wraps(real)
    def do_nothing(*args: Any, **kwargs: Any) -> Any:
        arguments = signature.bind(*args, **kwargs).arguments
        target = arguments.get("repo_id")
        journal.note("upload", f"{what} {target}" if target else what, kept=False)
        return answer(arguments)

    return do_nothing


def _huggingface(module: ModuleType, journal: Journal) -> None:
    """https://huggingface.co/docs/huggingface_hub/package_reference/hf_api"""
    api = getattr(module, "HfApi", None)
    if api is None:
        return
    for name, real in list(vars(api).items()):
        if name.startswith(_CHANGES_A_REPOSITORY) and inspect.isfunction(real):
            answer = functools.partial(_of_huggingface, module, name)
            refuse = _doing_nothing(journal, f"huggingface_hub.{name}", answer, real)
            setattr(api, name, refuse)
            alias = getattr(module, name, None)
            if inspect.ismethod(alias):
                setattr(module, name, refuse.__get__(alias.__self__))


def _of_huggingface(module: ModuleType, name: str, arguments: dict[str, Any]) -> Any:
    kind = arguments.get("repo_type")
    repository = f"{kind}s/" if kind in ("dataset", "space") else ""
    url = f"https://huggingface.co/{repository}{arguments.get('repo_id') or 'nobody/nothing'}"
    answer: Any = None
    if name in ("create_repo", "duplicate_repo", "duplicate_space"):
        answer = module.RepoUrl(url)
    elif name.startswith(("upload_f", "create_commit", "delete_f")):
        answer = module.CommitInfo(
            commit_url=f"{url}/commit/{'0' * 40}",
            commit_message=str(arguments.get("commit_message") or "nothing"),
            commit_description="",
            oid="0" * 40,
        )
    if not arguments.get("run_as_future"):
        return answer
    future: Future[Any] = Future()
    future.set_result(answer)
    return future


_STORED = {
    "ETag": '"nothing"',
    "UploadId": "nothing",
    "ResponseMetadata": {"HTTPStatusCode": 200, "HTTPHeaders": {}, "RetryAttempts": 0},
}
"""What S3 answers to an upload or a part of one."""
_S3_READS = ("Get", "Head", "List", "Select")


def _is_upload(client: Any, operation: str) -> bool:
    service = client.meta.service_model.service_name
    return bool(service == "s3" and not operation.startswith(_S3_READS))


def _aws(module: ModuleType, journal: Journal) -> None:
    _store_nothing(getattr(module, "BaseClient", None), lambda: dict(_STORED), journal)


def _aws_async(module: ModuleType, journal: Journal) -> None:
    async def stored() -> dict[str, object]:
        return dict(_STORED)

    _store_nothing(getattr(module, "AioBaseClient", None), stored, journal)


def _store_nothing(client: Any, answer: Callable[[], object], journal: Journal) -> None:
    real = getattr(client, "_make_api_call", None)
    if real is None:
        return

    def call(self: Any, operation_name: str, api_params: Any) -> Any:
        if _is_upload(self, operation_name):
            journal.note("upload", f"s3 {operation_name}", kept=False)
            return answer()
        return real(self, operation_name, api_params)

    client._make_api_call = call


def _nothing_from(holder: Any, names: str, what: str, journal: Journal) -> None:
    for name in names.split():
        real = getattr(holder, name, None)
        if real is not None:
            refuse = _doing_nothing(journal, f"{what}.{name}", lambda _arguments: None, real)
            setattr(holder, name, refuse)


def _google(module: ModuleType, journal: Journal) -> None:
    names = "upload_from_file upload_from_filename upload_from_string delete rewrite compose"
    _nothing_from(getattr(module, "Blob", None), names, "google.cloud.storage.Blob", journal)


def _azure(module: ModuleType, journal: Journal) -> None:
    for name in ("BlobClient", "ContainerClient"):
        methods = "upload_blob upload_page stage_block commit_block_list append_block delete_blob"
        _nothing_from(getattr(module, name, None), methods, f"azure.storage.blob.{name}", journal)


# Requests -----------------------------------------------------------------------------------


def _refuse_request(journal: Journal, method: str, host: str) -> None:
    if method.upper() in _CHANGING and not is_local(host):
        what = f"HTTP {method.upper()} to {host}"
        journal.note("upload", what, kept=False)
        raise RefusedError(what)


def _httpx(module: ModuleType, journal: Journal) -> None:
    for name in ("Client", "AsyncClient"):
        client = getattr(module, name)

        def send(
            self: Any, request: Any, *args: Any, _real: Any = client.send, **kwargs: Any
        ) -> Any:
            _refuse_request(journal, request.method, request.url.host)
            return _real(self, request, *args, **kwargs)

        client.send = functools.wraps(client.send)(send)


def _aiohttp(module: ModuleType, journal: Journal) -> None:
    real = module.ClientRequest.__init__

    @functools.wraps(real)
    def init(self: Any, method: str, url: Any, *args: Any, **kwargs: Any) -> None:
        _refuse_request(journal, method, url.host or "")
        real(self, method, url, *args, **kwargs)

    module.ClientRequest.__init__ = init
