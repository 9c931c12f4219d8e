"""Keeps runs out of experiment trackers.

Switched off where a tracker has a switch, since nothing then starts and nothing is stored; else
told to stay off the network and to store in the run's scratch folder. Most read the environment;
where an argument in the script would overrule it, the argument is overruled too.

Not caught: Aim with a remote repository, Trackio with a space of its own, trackers that are not
named here. TensorBoard and CSV loggers write files, which the sandbox takes care of.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe import on_import

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.runtime.probe.world.journal import Journal

_SWITCHES = {
    # Offline would start a service that writes to the project, and refuses `use_artifact`;
    # disabled, every method is still there. https://docs.wandb.ai/support/difference_wandbinit_modes
    "WANDB_MODE": "disabled",
    # https://huggingface.co/docs/transformers/main_classes/callback#transformers.integrations.CometCallback
    "COMET_MODE": "DISABLED",
    "COMET_START_ONLINE": "0",
    # https://clear.ml/docs/latest/docs/guides/set_offline
    "CLEARML_OFFLINE_MODE": "1",
    # https://docs.swanlab.cn/en/api/environment-variable.html
    "SWANLAB_MODE": "disabled",
    # https://dvc.org/doc/user-guide/env
    "DVC_STUDIO_OFFLINE": "true",
    "DVC_NO_ANALYTICS": "true",
    "DVC_EXP_AUTO_PUSH": "false",
    # The filesystem store is asked for by name since MLflow 3.
    "MLFLOW_ALLOW_FILE_STORE": "true",
    # https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
_FOLDERS = ("WANDB_DIR", "COMET_OFFLINE_DIRECTORY", "CLEARML_CACHE_DIR")
_STORES = ("MLFLOW_TRACKING_URI", "MLFLOW_REGISTRY_URI")

_OVERRULED: dict[str, Mapping[str, Mapping[str, object]]] = {
    "wandb": {"init": {"mode": "disabled"}},
    "swanlab": {"init": {"mode": "disabled"}},
    "comet_ml": {
        "start": {"online": False},
        "Experiment.__init__": {"disabled": True},
        "ExistingExperiment.__init__": {"disabled": True},
    },
    "neptune": {
        "init_run": {"mode": "debug"},
        "init_model": {"mode": "debug"},
        "init_model_version": {"mode": "debug"},
        "init_project": {"mode": "debug"},
    },
    "neptune_scale": {"Run.__init__": {"mode": "disabled"}},
}


def install(scratch: str, journal: Journal) -> None:
    """Switch trackers off, in this process and those that it starts."""
    folder = os.path.join(scratch, "trackers")
    os.makedirs(folder, exist_ok=True)
    store = f"file://{folder}/mlruns"
    os.environ.update(_SWITCHES)
    os.environ.update(dict.fromkeys(_FOLDERS, folder))
    os.environ.update(dict.fromkeys(_STORES, store))
    os.environ["NEPTUNE_MODE"] = _neptune_mode()
    for module, arguments in _OVERRULED.items():
        on_import.call(module, functools.partial(_overrule, module, arguments, journal))
    on_import.call("mlflow", functools.partial(_keep_store, store, journal))


def _neptune_mode() -> str:
    """The two clients call the same thing by different names, and take no other.

    https://docs.neptune.ai/configuration/modes, https://docs.neptune.ai/environment_variables
    """
    return "disabled" if importlib.util.find_spec("neptune_scale") else "debug"


def _overrule(module: str, arguments: Mapping[str, Mapping[str, object]], journal: Journal) -> None:
    for name, forced in arguments.items():
        holder: Any = sys.modules[module]
        *path, last = name.split(".")
        # Another version may have other names, or the project may have a module of that name.
        with suppress(AttributeError, TypeError):
            for part in path:
                holder = getattr(holder, part)
            real = getattr(holder, last)
            setattr(holder, last, _with(real, forced, f"{module}.{name}", journal))


def _with(real: Any, forced: Mapping[str, object], name: str, journal: Journal) -> Any:
    what = name.removesuffix(".__init__")

    @functools.wraps(real)
    def call(*args: Any, **kwargs: Any) -> Any:
        journal.note("upload", f"{what}, switched off", kept=False)
        return real(*args, **{**kwargs, **forced})

    return call


def _keep_store(store: str, journal: Journal) -> None:
    mlflow: Any = sys.modules["mlflow"]
    for name in ("set_tracking_uri", "set_registry_uri"):
        real = getattr(mlflow, name, None)
        if real is not None:
            setattr(mlflow, name, functools.partial(_set_store, real, store, name, journal))


def _set_store(real: Any, store: str, name: str, journal: Journal, uri: Any = None) -> None:
    journal.note("upload", f"mlflow.{name}({str(uri)!r}), kept in a temporary folder", kept=False)
    real(store)
