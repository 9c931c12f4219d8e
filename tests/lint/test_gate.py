"""Which files are worth parsing, and what their bytes show before that."""

from __future__ import annotations

import pytest

from torchlint.lint.gate import imports, mentions_torch, skim
from torchlint.lint.rule import Rule


def rule(code: str = "TL901", **rest: object) -> Rule:
    return Rule(code=code, name=code.lower(), family="test", summary="", **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "mentions"),
    [
        (b"import torch\n", True),
        (b"from pytorch_lightning import Trainer\n", True),
        (b"import lightning as L\n", True),
        (b"from accelerate import Accelerator\n", True),
        (b"import numpy\n", False),
        (b"", False),
        (b"\xff\xfe\x00torch", True),
    ],
)
def test_only_files_that_mention_torch_matter(data: bytes, mentions: bool) -> None:
    assert mentions_torch(data) is mentions


class TestSkim:
    def test_a_rule_wants_a_file_in_which_each_of_its_triggers_matches(self) -> None:
        both = rule(triggers=(r"DataLoader\b", r"\bnet\w*"))
        assert skim(b"DataLoader(x); network", [both]).codes == ("TL901",)
        assert skim(b"DataLoader(x)", [both]).codes == ()
        assert skim(b"DataLoaders; network", [both]).codes == ()

    def test_a_rule_without_triggers_wants_nothing(self) -> None:
        assert skim(b"anything", [rule()]).codes == ()

    def test_a_rule_may_look_once_more(self) -> None:
        narrow = rule(triggers=("a",))
        narrow.narrow(lambda data: b"b" in data)
        assert skim(b"a", [narrow]).codes == ()
        assert skim(b"ab", [narrow]).codes == ("TL901",)

    def test_a_woken_file_is_wanted_for_less(self) -> None:
        sleepy = rule(triggers=(r"backward\(",), wakes=(r"\.item\(\)", "loss"))
        assert skim(b"loss.item()", [sleepy]).codes == ()
        assert skim(b"loss.item()", [sleepy], woken=True).codes == ("TL901",)
        assert skim(b"x.item()", [sleepy], woken=True).codes == ()
        assert skim(b"loss.item()", [rule(triggers=("backward",))], woken=True).codes == ()

    def test_codes_keep_the_order_of_the_rules(self) -> None:
        rules = [rule("TL902", triggers=("a",)), rule("TL901", triggers=("a",))]
        assert skim(b"a", rules).codes == ("TL902", "TL901")

    def test_clues_are_noted_whether_or_not_the_file_is_wanted(self) -> None:
        curious = rule(triggers=("never",), clues={"benchmark": r"cudnn\.benchmark", "other": "x"})
        found = skim(b"cudnn.benchmark = True", [curious])
        assert (found.codes, found.clues) == ((), {"benchmark"})


IMPORTS = {
    "one": ("import torch", ["torch"]),
    "several": ("import os, numpy as np, a.b", ["os", "numpy", "a.b"]),
    "indented": ("try:\n    import torch\nexcept E:\n\timport other", ["torch", "other"]),
    "from": ("from torch import nn", ["torch", "torch.nn"]),
    "from, under another name": ("from a.b import c as d", ["a.b", "a.b.c"]),
    "from, several": ("from a import b, c", ["a", "a.b", "a.c"]),
    "from, in parentheses": ("from a import (\n    b,\n    c as d,\n)", ["a", "a.b", "a.c"]),
    "a dot": ("from . import utils", [".", ".utils"]),
    "dots and a name": ("from ..pkg.mod import f", ["..pkg.mod", "..pkg.mod.f"]),
    "a star": ("from utils import *", ["utils"]),
    "with a comment": ("from a import b  # c, d", ["a", "a.b"]),
    "on one line with more": ("import a; x = 1", ["a"]),
    "each once": ("import a\nimport a", ["a"]),
    "no import": ("x = important\n# import a\nfrom_a = 1", []),
    "Windows lines": ("import a\r\nfrom b import c\r\n", ["a", "b", "b.c"]),
}


@pytest.mark.parametrize(("text", "names"), IMPORTS.values(), ids=list(IMPORTS))
def test_imports_are_read_off_the_bytes(text: str, names: list[str]) -> None:
    assert imports(text.encode()) == names


def test_bytes_that_are_no_text_do_not_matter() -> None:
    assert imports(b"import \xff\xfe\nimport a\n") == ["a"]
