"""Clusters that can check files: Dask's and Ray's, through the backends that they have for joblib.

The machines of a cluster need torchlint of the same version installed, and nothing of the project:
the files travel with the work.
"""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from torchlint.workers.safe_path import safe_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PATIENCE_S: Final = 30
"""How long a scheduler may take to answer."""


class ClusterError(Exception):
    """A cluster that cannot be used; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Processes on other machines.

    Args:
        name: what it is called in messages.
        processes: how many there are.
        backend: arguments of joblib's `parallel_config`, under which Parallel runs there.
    """

    name: str
    processes: int
    backend: Mapping[str, Any]


@contextmanager
def connected(backend: str, address: str | None) -> Iterator[Cluster]:
    """A connection to a cluster; what is printed meanwhile goes to standard error.

    Args:
        backend: one of `workers.BACKENDS`.
        address: of Dask's scheduler or Ray's head; None: what DASK_SCHEDULER_ADDRESS or
            RAY_ADDRESS says, else a temporary cluster on this machine.

    Raises:
        ClusterError: the packages are not installed, or nothing answers at the address.
    """
    package, open_ = {"dask": ("distributed", _dask), "ray": ("ray", _ray)}[backend]
    try:
        import_module(package)
    except ImportError as error:
        raise ClusterError(f"{package} is not installed; run `pip install {package}`.") from error
    # Ray prints what happens to its workers on standard output, which belongs to the findings.
    with safe_path(), redirect_stdout(sys.stderr), open_(address) as cluster:
        yield cluster


@contextmanager
def _dask(address: str | None) -> Iterator[Cluster]:
    distributed: Any = import_module("distributed")
    address = address or os.environ.get("DASK_SCHEDULER_ADDRESS")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(address, timeout=_PATIENCE_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(f"No Dask scheduler answers at {address}: {error}.") from error
    with client:
        processes = max(1, sum(client.nthreads().values()))
        backend = {"backend": "dask", "n_jobs": -1, "client": client}
        yield Cluster("The Dask cluster", processes, backend)


@contextmanager
def _ray(address: str | None) -> Iterator[Cluster]:
    ray: Any = import_module("ray")
    address = address or os.environ.get("RAY_ADDRESS")
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level=logging.CRITICAL,
            include_dashboard=None if address else False,
        )
    except Exception as error:  # Ray raises just that if it does not start in time
        where = f"No Ray cluster answers at {address}" if address else "Ray does not start here"
        raise ClusterError(f"{where}: {error}.") from error
    try:
        import_module("ray.util.joblib").register_ray()
        processes = max(2, int(ray.cluster_resources().get("CPU", 1)))
        yield Cluster("The Ray cluster", processes, {"backend": "ray", "n_jobs": processes})
    finally:
        ray.shutdown()
