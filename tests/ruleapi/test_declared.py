"""What declared rules find, and which files are parsed for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
import pytest

from torchlint.analysis.training.syncs import Operand, operand_of_value
from torchlint.files.words import Words
from torchlint.rule import (
    Applicability,
    Argument,
    Context,
    Fix,
    Match,
    assigns,
    calls,
    configures,
    exports,
    first_step,
    method,
    passes,
    remove,
    sets,
)

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
        (b"from torch import nn\nx = nn.DataParallel(m)", True),
        (b"from torch.nn.parallel import DataParallel as D\nx = D(m)", True),
        (b"from torch import nn\nx = nn.DistributedDataParallel(m)", False),
        (b"from helpers import DataParallel\nx = DataParallel(m)", False),
        (b"Trainer(strategy='dp')", True),
        (b"Trainer(strategy='ddp')", False),
        (b"Trainer(devices='dp')", False),
    ],
)
def test_the_words_of_a_file_follow_from_the_names(text: bytes, parsed: bool) -> None:
    words = Words(text)
    patterns = (calls("torch.nn.DataParallel"), calls("a.Trainer", Argument("strategy", bad="dp")))
    assert any(all(map(words.match, each.words)) for each in patterns) is parsed


@pytest.mark.parametrize(
    ("name", "text", "parsed"),
    [
        ("torch.utils.checkpoint.checkpoint", b"import torch.utils.checkpoint as c", True),
        ("torch.utils.checkpoint.checkpoint", b"from .blocks import checkpoint", False),
        ("torch.zeros", b"zeros(3)", True),
        ("pandas.read_csv", b"read_csv(path)", True),
    ],
)
def test_the_words_of_a_name_include_its_package_in_torch(
    name: str, text: bytes, parsed: bool
) -> None:
    assert all(map(Words(text).match, calls(name).words)) is parsed


@pytest.mark.parametrize(("text", "parsed"), [(b"o.step_()", True), (b"def step_(self)", False)])
def test_a_method_is_looked_for_where_it_is_called(text: bytes, parsed: bool) -> None:
    assert all(map(Words(text).match, method("step_").words)) is parsed


def test_an_argument_that_may_be_missing_or_positional_narrows_no_file() -> None:
    words = Words(b"from torch.utils.data import *\nDataLoader(d)")
    pattern = calls(LOADER, Argument("pin_memory", 7, bad=False, missing=True))
    assert all(map(words.match, pattern.words))


def test_a_keyword_is_found_in_the_call_of_whatever_function(found: Found) -> None:
    text = """\
    import torch
    tokenizer(texts, padding="max_length")
    make()(padding="longest")
    padding = "max_length"
    def pad(padding="max_length"): ...
    """
    assert found(text, finds=(passes("padding", "max_length"),)) == ["train.py:2"]


def test_a_setting_may_have_several_names_and_be_bad_whatever_it_gets(found: Found) -> None:
    pattern = sets(("torch.backends.cudnn.Benchmark", "torch.cuda.benchmark"))
    text = """\
    import torch
    torch.backends.cudnn.Benchmark = True
    torch.cuda.benchmark = flag
    torch.backends.cudnn.benchmark = True
    torch.Benchmark = True
    """
    assert found(text, finds=(pattern,)) == ["train.py:2", "train.py:3"]


def test_an_attribute_is_found_on_whatever_object_gets_a_bad_literal(found: Found) -> None:
    text = """\
    import torch
    model.fc.requires_grad = False
    model.fc.requires_grad = True
    requires_grad = False
    a = b.requires_grad = False
    model.fc.other = False
    """
    pattern = assigns("requires_grad", False)
    assert found(text, finds=(pattern,)) == ["train.py:2", "train.py:5"]


def test_an_environment_variable_is_found_however_code_sets_it(found: Found) -> None:
    text = """\
    import os, torch
    from os import environ
    os.environ["BLOCKING"] = "1"
    environ["BLOCKING"] = "1"
    os.environ.setdefault("BLOCKING", "1")
    os.putenv("BLOCKING", "1")
    os.environ["BLOCKING"] = "0"
    os.environ.setdefault("BLOCKING", "0")
    os.environ["OTHER"] = "1"
    os.environ[name] = "1"
    os.environ.setdefault("OTHER", "1")
    settings["BLOCKING"] = "1"
    """
    rows = [f"train.py:{row}" for row in (3, 4, 5, 6)]
    assert found(text, finds=(exports("BLOCKING", "1"),)) == rows


LOOP = """\
for x, y in loader:
    loss(model(x), y).backward()
    optimizer.step()
"""
STEP = """\
def step(x, y):
    loss(model(x), y).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (f"import torch\n{LOOP}{LOOP}", 2),
        (f"import torch\n{STEP}{LOOP}", 2),
        (f"import torch\n{LOOP}{STEP}", 2),
        ("import torch\nwhile True:\n    loss.backward()\n    optimizer.step()\n", 2),
        ("import torch\ndef half(loss):\n    loss.backward()\n", None),
    ],
)
def test_the_first_step_of_a_file_has_what_its_program_never_does(
    found: Found, text: str, row: int | None
) -> None:
    expected = [] if row is None else [f"train.py:{row}"]
    assert found(text, finds=(first_step(),)) == expected


def test_a_match_must_satisfy_all_conditions_of_its_pattern(found: Found) -> None:
    def has_one(match: Match) -> bool:
        return len(match.call.args) == 1

    def has_a_name(match: Match) -> bool:
        return isinstance(match.call.args[0].value, cst.Name)

    text = "import torch\ntorch.f(x)\ntorch.f(1)\ntorch.f(x, y)\ny.f(x)\n"
    assert found(text, finds=(calls("torch.f", where=(has_one, has_a_name)),)) == ["train.py:2"]


def test_what_a_condition_found_reaches_the_message_by_its_type(found: Found) -> None:
    def number(match: Match) -> int | None:
        value = match.module.literal(match.call.args[0].value)
        return value if isinstance(value, int) else None

    def words(match: Match) -> list[str]:
        return ["many"] if match.found(int) > 1 else []

    pattern = calls("torch.f", where=(number, words))
    text = "import torch\ntorch.f(0)\ntorch.f(1)\ntorch.f(2)\ntorch.f(x)\n"
    says = lambda match: f"{match.found(int)} {match.found(list)[0]}"  # noqa: E731
    assert found(text, show="message", finds=(pattern,), message=says) == ["2 many"]


def test_a_pattern_may_say_what_it_means_and_ask_for_words_of_its_own(found: Found) -> None:
    patterns = (
        calls("torch.f", message="Worse.", program_has={"more": r"\bmore\b"}),
        calls("torch.g", program_lacks={"less": r"\bless\b"}),
    )
    text = "import torch\ntorch.f()\ntorch.g()\n"
    assert found(text, show="message", finds=patterns) == ["Bad."]
    assert found(f"{text}more\n", show="message", finds=patterns) == ["Worse.", "Bad."]
    assert found(f"{text}more, less\n", show="message", finds=patterns) == ["Worse."]


def test_a_rule_about_a_tensor_is_silent_where_there_is_none(found: Found) -> None:
    def read(match: Match) -> Operand | None:
        return operand_of_value(match.module.value(match.receiver))

    text = f"""\
import torch
{LOOP}    loss.nonzero()
    x.shape.nonzero()
    help(x.cuda(), x.shape)
def help(a, b):
    a.nonzero()
    b.nonzero()
"""
    declared = {"finds": (method("nonzero", where=(read,)),), "contexts": (Context.HOT,)}
    assert found(text, **declared) == ["train.py:9"]


def test_a_fix_of_its_own_may_be_safer_than_that_of_the_rule(found: Found) -> None:
    def change(match: Match) -> Fix:
        text, edit = remove(match)
        return Fix(Applicability.SAFE, text, (edit,))

    text = "import torch\ntorch.f()\n"
    declared = {"finds": (calls("torch.f"),), "fix": Applicability.UNSAFE, "change": change}
    assert found(text, show="fix", **declared) == ["safe"]
