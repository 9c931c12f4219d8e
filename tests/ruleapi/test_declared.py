"""What declared rules find, and which files are parsed for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint.files.words import Words
from torchlint.rule import Argument, Match, calls, configures, method, sets

if TYPE_CHECKING:
    from tests.ruleapi.conftest import Found

LOADER = "torch.utils.data.DataLoader"


def test_a_call_is_found_by_its_full_name_through_imports(found: Found) -> None:
    text = """\
    import torch as t
    from torch.cuda import synchronize as wait
    t.cuda.synchronize()
    wait()
    other.synchronize()
    """
    assert found(text, finds=(calls("torch.cuda.synchronize"),)) == ["train.py:3", "train.py:4"]


@pytest.mark.parametrize(
    ("call", "bad"),
    [
        ("DataLoader(d, pin_memory=False)", True),
        ("DataLoader(d, 1, None, None, None, 0, None, False)", True),
        ("DataLoader(d)", True),
        ("DataLoader(d, pin_memory=True)", False),
        ("DataLoader(d, pin_memory=0)", False),
        ("DataLoader(d, pin_memory=args.pin)", False),
        ("DataLoader(d, **options)", False),
        ("DataLoader(*options)", False),
    ],
)
def test_an_argument_is_bad_by_its_literal_or_where_it_is_missing(
    found: Found, call: str, bad: bool
) -> None:
    pattern = calls(LOADER, Argument("pin_memory", 7, bad=False, missing=True))
    text = f"from torch.utils.data import DataLoader\n{call}\n"
    assert bool(found(text, finds=(pattern,))) is bad


def test_a_call_with_two_bad_arguments_is_found_once(found: Found) -> None:
    pattern = calls(LOADER, Argument("shuffle", bad=False), Argument("drop_last", bad=False))
    text = f"import torch\n{LOADER}(d, shuffle=False, drop_last=False)\n"
    assert found(text, finds=(pattern,)) == ["train.py:2"]


def test_a_method_is_found_on_whatever_object(found: Found) -> None:
    pattern = method("retain_graph_", Argument("flag", 0, bad=("a", "b")))
    text = "import torch\nx.retain_graph_('b')\ny().retain_graph_('c')\nretain_graph_('a')\n"
    assert found(text, finds=(pattern,)) == ["train.py:2"]


def test_a_setting_is_found_where_it_gets_a_bad_literal(found: Found) -> None:
    pattern = sets("torch.backends.cudnn.enabled", False)
    text = """\
    import torch
    from torch.backends import cudnn
    torch.backends.cudnn.enabled = False
    cudnn.enabled = flag
    cudnn.enabled = True
    cudnn.enabled = False
    """
    assert found(text, finds=(pattern,)) == ["train.py:3", "train.py:6"]


def test_a_setting_of_a_framework_is_found_by_its_own_keyword(found: Found) -> None:
    text = """\
    import lightning as L
    L.Trainer(strategy="dp")
    L.Trainer(strategy="ddp")
    L.Fabric(accelerator="dp")
    other.Trainer(strategy="dp")
    """
    assert found(text, finds=(configures("strategy", "dp"),)) == ["train.py:2", "train.py:4"]


@pytest.mark.parametrize(
    ("torch", "count"), [((1, 12), 0), ((1, 13), 2), ((1, 14), 2), ((2, 0), 1), ((2, 1), 0)]
)
def test_versions_of_torch_bound_a_rule_and_a_pattern(
    found: Found, torch: tuple[int, int], count: int
) -> None:
    patterns = (calls("torch.first", until=(2, 0)), calls("torch.second"))
    text = "import torch\ntorch.first()\ntorch.second()\n"
    assert len(found(text, torch, finds=patterns, since=(1, 13), until=(2, 1))) == count


def test_reasons_keep_a_match_from_being_reported_or_make_it_a_hint(found: Found) -> None:
    def is_small(match: Match) -> bool:
        return len(match.call.args) < 2

    def is_large(match: Match) -> bool:
        return len(match.call.args) > 2

    text = "import torch\ntorch.f(1)\ntorch.f(1, 2)\ntorch.f(1, 2, 3)\n"
    declared = {"finds": (calls("torch.f", hint_if=(is_small,)),), "unless": (is_large,)}
    assert found(text, **declared) == ["train.py:2?", "train.py:3"]


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        (b"x = DataParallel(m)", True),
        (b"x = DistributedDataParallel(m)", False),
        (b"Trainer(strategy='dp')", True),
        (b"Trainer(strategy='ddp')", False),
        (b"Trainer(devices='dp')", False),
    ],
)
def test_the_words_of_a_file_follow_from_the_names(text: bytes, parsed: bool) -> None:
    words = Words(text)
    patterns = (calls("torch.nn.DataParallel"), calls("a.Trainer", Argument("strategy", bad="dp")))
    assert any(all(map(words.match, each.words)) for each in patterns) is parsed


@pytest.mark.parametrize(("text", "parsed"), [(b"o.step_()", True), (b"def step_(self)", False)])
def test_a_method_is_looked_for_where_it_is_called(text: bytes, parsed: bool) -> None:
    assert all(map(Words(text).match, method("step_").words)) is parsed


def test_an_argument_that_may_be_missing_or_positional_narrows_no_file() -> None:
    words = Words(b"DataLoader(d)")
    pattern = calls(LOADER, Argument("pin_memory", 7, bad=False, missing=True))
    assert all(map(words.match, pattern.words))
