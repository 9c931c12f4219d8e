"""torchlint reads PyTorch training code, says what makes it slow and fixes it.

From Python, `check_source`, `check_paths` and `fix_source` do what the commands do. Rules are
written with `torchlint.rule`. Everything else may change without notice.
"""

# Imports nothing: `python -m torchlint` runs this while the folder that it checks is still on the
# path, and so does the user's process in a verification. mypy takes the name for that of typing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.config.settings import ConfigError
    from torchlint.finding import (
        Applicability,
        Diagnostic,
        Edit,
        Effect,
        Finding,
        Fix,
        Position,
        Tier,
    )
    from torchlint.library import CheckResult, FixResult, check_paths, check_source, fix_source
    from torchlint.version import __version__

__all__ = [
    "Applicability",
    "CheckResult",
    "ConfigError",
    "Diagnostic",
    "Edit",
    "Effect",
    "Finding",
    "Fix",
    "FixResult",
    "Position",
    "Tier",
    "__version__",
    "check_paths",
    "check_source",
    "fix_source",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    # On demand: the command line starts in the time that importing all this would take.
    if name not in __all__:
        raise AttributeError(f"module `torchlint` has no attribute `{name}`")
    from torchlint import finding, library, version
    from torchlint.config import settings

    return next(
        getattr(each, name) for each in (library, finding, settings, version) if hasattr(each, name)
    )
