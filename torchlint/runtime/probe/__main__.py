"""Started in place of the user's script: `python …/probe/__main__.py SETTINGS.json`."""

import os
import sys

# Python put this folder first; a module of ours must not hide one of the user's.
HERE = os.path.dirname(os.path.realpath(__file__))
SAFE_PATH = not sys.path or sys.path[0] != HERE
if not SAFE_PATH:
    del sys.path[0]


def load_torchlint(folder: str) -> None:
    """Import this copy of torchlint from where it is, and leave `sys.path` as it is."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("torchlint", os.path.join(folder, "__init__.py"))
    assert spec is not None
    assert spec.loader is not None
    sys.modules["torchlint"] = package = module_from_spec(spec)
    spec.loader.exec_module(package)


if __name__ == "__main__":
    load_torchlint(os.path.dirname(os.path.dirname(HERE)))
    from torchlint.runtime.probe import lifecycle

    lifecycle.main(sys.argv[1], safe_path=SAFE_PATH)
