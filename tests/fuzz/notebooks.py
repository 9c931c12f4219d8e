"""Notebooks: fixes change code and nothing else, whatever the JSON looks like."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

from tests.fuzz.programs import odd, piled_up, tampered
from tests.fuzz.properties import assert_nothing_crashed, said
from torchlint.config.settings import Selection
from torchlint.files.reading import MOST_LINES
from torchlint.fixes.fixer import apply, fix_targets
from torchlint.notebooks.document import Notebook
from torchlint.project.target import Target
from torchlint.silence.tiers import Wanted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_FILE: Final = "train.ipynb"
_FORMATS: Final = ("text", "concise", "json", "github")
_LINES: Final = (
    "%matplotlib inline", "!pip install torch \\\n  numpy", "files = !ls", "model?", "%%time", "%%bash",
    "x = '''", "(", "await f()", "    x = 1", "#\x00", "\ufeff", "\ud800", "\r", "\x0c", "\u2028",
)  # fmt: skip
_BLANK_LINES: Final = (*[1_000] * 20, MOST_LINES // 2, MOST_LINES - 100, MOST_LINES + 1)
_INDENTS: Final = (None, 0, 1, 4, "\t")


@dataclass(frozen=True)
class NotebookCase:
    """A notebook that is checked and then fixed."""

    data: bytes
    output_format: str

    @property
    def files(self) -> Mapping[str, bytes]:
        return {_FILE: self.data}

    def hold(self, folder: Path) -> None:
        path = folder / _FILE
        words = ["check", "--isolated", "--no-cache", "--jobs", "1", "--hints", str(path)]
        code, _ = said([*words, "--output-format", self.output_format])
        assert code in (0, 1, 2)
        target = Target(str(path), Selection(), (2, 13))
        report = fix_targets([target], unsafe=True, wanted=Wanted(hints=True))
        assert_nothing_crashed(each for each in report.diagnostics if each.kind != "fix")
        assert apply(report.files) == ()
        after = path.read_bytes()
        if not report.files:
            assert after == self.data
            return
        assert without_code(after) == without_code(self.data)
        assert around_code(after) == around_code(self.data)
        again = fix_targets([target], unsafe=True, wanted=Wanted(hints=True))
        assert not again.files, "another fix changes it again"


def without_code(data: bytes) -> Any:
    """What a notebook says in addition to its code."""
    content = json.loads(data)
    for cell in content["cells"]:
        if cell.get("cell_type") == "code":
            assert isinstance(cell["source"], (list, str))
            cell["source"] = type(cell["source"]).__name__
    return content


def around_code(data: bytes) -> list[str]:
    """The JSON around the code cells, character by character."""
    edges = [0]
    for cell in Notebook(_FILE, data).cells:
        edges += [cell.start, cell.end]
    text = data.decode()
    return [text[a:b] for a, b in zip(edges[::2], [*edges[1::2], len(text)], strict=True)]


def notebooks(texts: Sequence[str]) -> st.SearchStrategy[NotebookCase]:
    cells = st.lists(
        st.one_of(
            tampered(texts).map(_halved),
            odd().map(lambda text: [text]),
            piled_up().map(_halved),
            st.sampled_from(_BLANK_LINES).map(lambda count: ["\n" * count]),
        ),
        max_size=3,
    )
    return st.builds(
        NotebookCase, st.builds(_notebook, cells, st.randoms()), st.sampled_from(_FORMATS)
    )


def _halved(text: str) -> list[str]:
    """A program in two cells, cut where a statement of the module begins."""
    starts = [found.start() for found in re.finditer(r"(?m)^(?=[A-Za-z@])", text)]
    cut = starts[len(starts) // 2] if starts else 0
    return [text[:cut], text[cut:]]


def _notebook(programs: list[list[str]], random: Any) -> bytes:
    cells: list[dict[str, object]] = []
    for source in (part for program in programs for part in program):
        lines = source.split("\n")
        if random.random() < 0.5:
            lines.insert(random.choice((0, random.randint(0, len(lines)))), random.choice(_LINES))
        source = "\n".join(lines)
        cells.append(
            {
                "cell_type": random.choice(("code", "code", "code", "markdown")),
                "metadata": {"source": ["import torch"]},
                "source": source.splitlines(True) if random.random() < 0.7 else source,
                "outputs": [{"text": source[:50], "data": [[], {}]}],
            }
        )
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    if random.random() < 0.5:
        content = dict(reversed(content.items()))
    text = json.dumps(content, indent=random.choice(_INDENTS), ensure_ascii=random.random() < 0.3)
    if random.random() < 0.1:
        cut = random.randint(0, len(text))
        text = text[:cut] + random.choice(("", "[", "{", '"', "\\", "\0")) + text[cut + 1 :]
    if random.random() < 0.2:
        text = text.replace("\n", "\r\n")
    return text.encode("utf-8", "replace")
