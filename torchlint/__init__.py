"""torchlint reads PyTorch training code, says what makes it slow and fixes it.

From Python, `check_source`, `check_paths` and `fix_source` do what the commands do. Rules are
written with `torchlint.rule`. Everything else may change without notice.
"""

# No other import: `python -m torchlint` runs this while the folder that it checks is still on the
# path. mypy takes the name for the one of typing.
from torchlint.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.finding import Applicability, Diagnostic, Edit, Finding, Fix, Position, Tier
    from torchlint.library import (
        CheckResult,
        ConfigError,
        FixResult,
        check_paths,
        check_source,
        fix_source,
    )

__all__ = [
    "Applicability",
    "CheckResult",
    "ConfigError",
    "Diagnostic",
    "Edit",
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


def __getattr__(name: str) -> object:
    # On demand: the command line starts in the time that importing all this would take.
    if name not in __all__:
        raise AttributeError(f"module `torchlint` has no attribute `{name}`")
    from torchlint import library

    return getattr(library, name)
