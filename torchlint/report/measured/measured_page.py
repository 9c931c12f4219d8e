"""The page of a measurement: no network, no script. Whatever a template prints is escaped, and its
hidden characters are shown."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from torchlint.experiment import figures
from torchlint.report.measured.measured_words import on_gpu
from torchlint.report.terminal.safe_text import plural, visible

if TYPE_CHECKING:
    from torchlint.report.measured.measured_json import Json


def render(command: str, template: str, document: Json, *, room: str = "", **names: object) -> str:
    """The page of a report.

    Args:
        command: that made it.
        room: has the template, if it is not that of the command.
        document: all that the page is about; a program finds it in the page.
        names: what the template knows by name, `result` among them.
    """
    import jinja2
    from markupsafe import Markup, escape

    def shown(value: object) -> object:
        """Text without characters that hide or reorder others."""
        is_plain = isinstance(value, str) and not hasattr(value, "__html__")
        return visible(str(value)) if is_plain else value

    def prose(text: str) -> Markup:
        """Text whose words between backticks are code."""
        parts = [escape(visible(part)) for part in text.split("`")]
        if len(parts) % 2 == 0:
            return escape(visible(text))
        code = Markup("<code>{}</code>")
        return Markup("").join(
            code.format(part) if at % 2 else part for at, part in enumerate(parts) if part
        )

    rooms = (f"torchlint.report.{room or command}", "torchlint.report.measured", "torchlint.report")
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(each) for each in rooms]),
        autoescape=True,
        finalize=shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = prose
    environment.globals.update(
        command=command,
        figures=figures,
        on_gpu=on_gpu,
        plural=plural,
        program=shlex.join,
        raw=Markup(_embedded(document)),  # noqa: S704 - ASCII, and no sign in it that HTML knows
        **names,
    )
    return environment.get_template(template).render()


def _embedded(document: Json) -> str:
    """JSON for an element `script`, so that nothing in it ends the element."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
