"""Trackers get no runs, whatever the script tells them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.shielded import run_shielded, write_files

if TYPE_CHECKING:
    from pathlib import Path

LIBRARIES = {
    "wandb/__init__.py": """
        def init(project=None, mode=None):
            return project, mode
    """,
    "swanlab.py": "def init(project=None, mode=None): return project, mode",
    "comet_ml/__init__.py": """
        class Experiment:
            def __init__(self, api_key=None, disabled=False):
                self.api_key, self.disabled = api_key, disabled
        def start(online=None):
            return online
    """,
    "neptune/__init__.py": "def init_run(project=None, mode='async'): return mode",
    "mlflow/__init__.py": """
        uri = None
        def set_tracking_uri(uri):
            globals()["uri"] = uri
    """,
}


def test_a_tracker_is_switched_off_by_the_environment(tmp_path: Path) -> None:
    script = """
        import os
        names = "WANDB_MODE COMET_START_ONLINE CLEARML_OFFLINE_MODE NEPTUNE_MODE SWANLAB_MODE"
        print([os.environ[name] for name in names.split()])
        print(os.environ["MLFLOW_TRACKING_URI"])
    """
    project = write_files(tmp_path / "project", {"train.py": script})
    online = {"WANDB_MODE": "online", "MLFLOW_TRACKING_URI": "https://far.example"}
    run = run_shielded(project, "train.py", env=online)
    assert run.lines == [
        "['disabled', '0', '1', 'debug', 'disabled']",
        f"file://{run.scratch}/trackers/mlruns",
    ]


def test_the_newer_client_of_neptune_gets_its_own_word(tmp_path: Path) -> None:
    files = {"train.py": "import os; print(os.environ['NEPTUNE_MODE'])"}
    library = write_files(tmp_path / "site", {"neptune_scale/__init__.py": ""})
    project = write_files(tmp_path / "project", files)
    run = run_shielded(project, "train.py", env={"PYTHONPATH": str(library)})
    assert run.lines == ["disabled"]


def test_arguments_of_the_script_do_not_switch_a_tracker_on(tmp_path: Path) -> None:
    script = """
        import comet_ml, mlflow, neptune, swanlab, wandb
        from wandb import init
        print(wandb.init(project="p", mode="online"), init("p"))
        print(swanlab.init(mode="cloud"), neptune.init_run(project="p", mode="sync"))
        experiment = comet_ml.Experiment("key", disabled=False)
        print(experiment.api_key, experiment.disabled, isinstance(experiment, comet_ml.Experiment))
        print(comet_ml.start(online=True))
        mlflow.set_tracking_uri("https://far.example")
        print(mlflow.uri)
    """
    project = write_files(tmp_path / "project", {"train.py": script, **LIBRARIES})
    run = run_shielded(project, "train.py")
    assert run.lines == [
        "('p', 'disabled') ('p', 'disabled')",
        "(None, 'disabled') debug",
        "key True True",
        "False",
        f"file://{run.scratch}/trackers/mlruns",
    ]
    assert {what for kind, what in run.effects() if kind == "upload"} == {
        "wandb.init, switched off",
        "swanlab.init, switched off",
        "neptune.init_run, switched off",
        "comet_ml.Experiment, switched off",
        "comet_ml.start, switched off",
        "mlflow.set_tracking_uri('https://far.example'), kept in a temporary folder",
    }
