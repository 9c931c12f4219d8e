"""Where a rule may report, by the contexts that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint.rule import Context, calls

if TYPE_CHECKING:
    from tests.ruleapi.conftest import Found

FINDS = (calls("torch.f"),)
STEP = """\
import torch
for x, y in loader:
    loss(model(x), y).backward()
    optimizer.step()
"""


def test_hot_code_runs_on_each_step(found: Found) -> None:
    text = STEP + (
        "    torch.f()\n"
        "    if step % 100 == 0:\n"
        "        torch.f()\n"
        "    if rank == 0:\n"
        "        torch.f()\n"
        "    with torch.no_grad():\n"
        "        torch.f()\n"
        "torch.f()\n"
    )
    contexts = (Context.HOT,)
    assert found(text, finds=FINDS, contexts=contexts) == [
        "train.py:5",
        "train.py:9",
        "train.py:11",
    ]


def test_cold_code_can_be_what_makes_a_hint(found: Found) -> None:
    text = STEP + (
        "    torch.f()\n"
        "    if step % 100 == 0:\n"
        "        torch.f()\n"
        "    helped()\n"
        "torch.f()\n"
        "def helped():\n"
        "    torch.f()\n"
        "def idle():\n"
        "    torch.f()\n"
    )
    rows = ["train.py:5", "train.py:7?", "train.py:9?", "train.py:11", "train.py:13?"]
    assert found(text, finds=FINDS, else_hint=(Context.HOT,)) == rows


def test_a_helper_of_another_file_may_be_what_makes_no_hint(found: Found) -> None:
    helper = "import torch\ndef log():\n    torch.f()\ndef idle():\n    torch.f()\n"
    files = {"train.py": f"from tools import log\n{STEP}    log()\n", "tools.py": helper}
    assert found(files, finds=FINDS, else_hint=(Context.HOT,)) == ["tools.py:3", "tools.py:5?"]


def test_code_of_another_file_is_hot_if_a_step_calls_it(found: Found) -> None:
    helper = "import torch\ndef log():\n    torch.f()\ndef idle():\n    torch.f()\n"
    files = {"train.py": f"from tools import log\n{STEP}    log()\n", "tools.py": helper}
    assert found(files, finds=FINDS, contexts=(Context.HOT,)) == ["tools.py:3"]


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("def __getitem__(self, i):\n    torch.f()", True),
        ("def collate(samples):\n    torch.f()", True),
        ("def build():\n    torch.f()", False),
    ],
)
def test_code_runs_for_each_batch(found: Found, text: str, reported: bool) -> None:
    text = f"import torch\n{text}\n"
    assert bool(found(text, finds=FINDS, contexts=(Context.PER_BATCH,))) is reported
    assert found(text, finds=FINDS, else_hint=(Context.PER_BATCH,)) == [
        "train.py:3" if reported else "train.py:3?"
    ]


def test_code_in_evaluation_is_outside_of_training(found: Found) -> None:
    text = """\
    import torch
    torch.f()
    def evaluate(model):
        torch.f()
    def train(model):
        with torch.no_grad():
            torch.f()
        torch.f()
    """
    contexts = (Context.OUTSIDE_EVALUATION,)
    assert found(text, finds=FINDS, contexts=contexts) == ["train.py:2", "train.py:8"]


def test_code_is_conditional_if_a_condition_or_an_error_decides(found: Found) -> None:
    text = """\
    import torch
    torch.f()
    if args.debug:
        torch.f()
    torch.f() if args.debug else None
    try:
        torch.f()
    except RuntimeError:
        torch.f()
    if __name__ == "__main__":
        torch.f()
    """
    contexts = (Context.UNCONDITIONAL,)
    expected = ["train.py:2", "train.py:7", "train.py:11"]
    assert found(text, finds=FINDS, contexts=contexts) == expected


def test_an_entry_is_a_script_that_somebody_starts(found: Found) -> None:
    body = "import torch\ntorch.f()\n"
    files = {"main.py": f"{body}if __name__ == '__main__':\n    pass\n", "part.py": body}
    assert found(files, finds=FINDS, contexts=(Context.ENTRY,)) == ["main.py:2"]


@pytest.mark.parametrize(
    ("context", "word"), [(Context.ACCELERATOR, "model.cuda()"), (Context.TRAINS, "l.backward()")]
)
def test_a_program_is_all_files_that_import_each_other(
    found: Found, context: Context, word: str
) -> None:
    files = {
        "main.py": f"import torch\nimport part\n{word}\n",
        "part.py": "import torch\ntorch.f()\n",
        "other.py": "import torch\ntorch.f()\n",
    }
    assert found(files, finds=FINDS, contexts=(context,)) == ["part.py:2"]
    assert found(files, finds=FINDS, else_hint=(context,)) == ["other.py:2?", "part.py:2"]


def test_loading_is_what_a_dataset_and_a_collate_function_do(found: Found) -> None:
    text = STEP + (
        "    torch.f()\n"
        "class Data:\n"
        "    def __getitem__(self, i):\n"
        "        torch.f()\n"
        "    def __len__(self):\n"
        "        torch.f()\n"
        "def gather(samples):\n"
        "    torch.f()\n"
        "DataLoader(data, collate_fn=gather)\n"
    )
    rows = ["train.py:8", "train.py:12"]
    assert found(text, finds=FINDS, contexts=(Context.LOADING,)) == rows


@pytest.mark.parametrize(
    ("helper", "found_there"), [("amp()", False), ("conv()", True), ("other()", False)]
)
def test_a_rule_may_ask_for_words_of_the_whole_program(
    found: Found, helper: str, found_there: bool
) -> None:
    files = {"train.py": f"import helper\n{STEP}    torch.f()\n", "helper.py": helper}
    rows = found(
        files, finds=FINDS, program_has={"convolutions": r"conv\("}, program_lacks={"amp": r"amp\("}
    )
    assert bool(rows) is found_there
