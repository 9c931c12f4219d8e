"""Which code runs only with some versions of torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from torchlint.analysis.versions import depends_on_version

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("text", "depends"),
    [
        ("probe(x)", False),
        ("if args.fast:\n  probe(x)", False),
        ("if torch.__version__ < '2':\n  probe(x)", True),
        ("if TORCH_2:\n  pass\nelse:\n  probe(x)", True),
        ("if hasattr(torch, 'amp'):\n  probe(x)", True),
        ("try:\n  import a\nexcept ImportError:\n  probe(x)", True),
        ("try:\n  probe(x)\nexcept ImportError:\n  pass", False),
    ],
)
def test_a_condition_asks_for_a_version_or_a_name_is_missing(
    probed: Callable[..., Any], text: str, depends: bool
) -> None:
    asked = probed(text)
    assert depends_on_version(asked.call, asked.module) is depends
