"""The templates of pages: whatever they print is escaped, and its hidden characters are shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from torchlint.report.terminal.safe_text import visible

if TYPE_CHECKING:
    import jinja2


def environment(*packages: str) -> jinja2.Environment:
    """Where templates are found.

    Args:
        packages: those with a folder `templates`; the first that has a name is taken.
    """
    import jinja2

    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(each) for each in packages]),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def embedded(value: object) -> object:
    """JSON for an element `script`, so that nothing in it ends the element.

    Raises:
        ValueError: a number in it is not finite.
    """
    from markupsafe import Markup

    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 - ASCII, and no sign in it that HTML knows


def _shown(value: object) -> object:
    """Whatever a template prints: text without characters that hide or reorder others."""
    if hasattr(value, "__html__") or not isinstance(value, str):
        return value
    return visible(value)
