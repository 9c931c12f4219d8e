"""TL202: which copies to the host are reported, which are hints, and which are left alone."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TYPE_CHECKING

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.finding import Tier
from torchlint.project.target import Target

if TYPE_CHECKING:
    from torchlint.finding import Finding

ONLY = Selection(select=("TL202",), ignore=())
HEADER = """\
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader

device = torch.device("cuda")
model = nn.Linear(3, 3).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(photos, num_workers=4)
"""
STEP = """\
images, labels = images.to(device), labels.to(device)
output = model(images)
loss = criterion(output, labels)
loss.backward()
optimizer.step()
"""


def findings(code: str, header: str = HEADER) -> list[Finding]:
    report = check([Target("train.py", ONLY, (2, 13), (header + dedent(code)).encode())])
    assert not report.diagnostics
    return list(report.findings)


def loop(body: str, *, before: str = "", after: str = "") -> str:
    """A step loop with these lines at its end; `step` counts its rounds."""
    inside = indent(STEP + dedent(body).strip("\n"), "    ")
    head = "for step, (images, labels) in enumerate(loader):\n"
    return f"{dedent(before)}{head}{inside}\n{dedent(after)}"


REPORTED = {
    "`.cpu()`": loop("chosen = output.cpu()"),
    "`.to('cpu')`": loop("chosen = output.to('cpu')"),
    "`.to(device='cpu')`": loop("chosen = output.to(device='cpu')"),
    "`.to(torch.device('cpu'))`": loop("chosen = output.to(torch.device('cpu'))"),
    "`.to` a name for the CPU": loop("chosen = output.to(host)", before="host = 'cpu'\n"),
    "`.numpy()`": loop("chosen = output.detach().numpy()"),
    "`.tolist()`": loop("chosen = output.argmax(1).tolist()"),
    "`np.asarray`": loop("chosen = np.asarray(output)"),
    "`np.array`": loop("chosen = np.array(loss.data)"),
    "a list that grows": loop("outputs.append(output.detach().cpu())"),
    "a list that is extended": loop("outputs.extend(output.tolist())"),
    "for torch": loop("right = torch.eq(output.cpu(), labels)"),
    "for NumPy": loop("mean = np.mean(output.detach().cpu().numpy())"),
    "in a print": loop("print(loss.cpu())"),
    "for work that torch does as well": loop("chosen = output.cpu().argmax(1)"),
    "a moved label": loop("classes = labels.cpu()"),
    "a gradient": loop("for p in model.parameters():\n    grads.append(p.grad.cpu())"),
    "before the backward": """
        for images, labels in loader:
            output = model(images.to(device))
            shown = output.cpu()
            criterion(output, labels.to(device)).backward()
    """,
    "in a helper": loop("note(output)") + "def note(value):\n    return value.cpu()\n",
    "the other arm of a guard": loop("if step % 9 == 0:\n    pass\nelse:\n    x = output.cpu()"),
    "a list that only sounds like a store": loop("restored.update(output.cpu())"),
}

HINTED = {
    "a matcher takes it": loop("match = linear_sum_assignment(output.detach().cpu())"),
    "a metric takes it": loop("average_precision(output.detach().cpu().numpy())"),
    "a method of an object takes it": loop("evaluator.compute(output.cpu())"),
    "a suppression that runs on the CPU": loop("keep = nms(output.detach().cpu(), 0.5)"),
    "in the first process only": loop("if rank == 0:\n    shown = output.cpu()"),
    "under no_grad in the loop": loop("with torch.no_grad():\n    shown = output.cpu()"),
}

ALONE = {
    "a module": loop("model.cpu()"),
    "a module that changes its mode": loop("model.eval().cpu()"),
    "a module whose parameters are read": loop("for p in model.cpu().parameters(): pass"),
    "a module by its name": loop("save(generator.cpu())"),
    "a list of numbers": loop("print([1, 2].tolist())"),
    "an array": loop("print(np.zeros(3).tolist())"),
    "an array as an array": loop("table = np.asarray([1, 2])"),
    "what was copied before": loop("x = torch.zeros(3).cpu()"),
    "a batch that was not moved": """
        for images, names in loader:
            loss = criterion(model(images.to(device)), 1)
            loss.backward()
            shown = names.tolist()
    """,
    "`.to` another device": loop("x = output.to('cuda:1')"),
    "`.to` a dtype": loop("x = output.to(torch.float16)"),
    "`.to` nothing": loop("x = output.to()"),
    "every so many steps": loop("if step % 100 == 0:\n    show(output.cpu())"),
    "after skipping most rounds": loop("if step % 100: continue\nshow(output.cpu())"),
    "when saving": loop("if save_now:\n    torch.save(output.cpu(), 'x')"),
    "in an `except` block": loop("try:\n    f()\nexcept E:\n    x = output.cpu()"),
    "an LBFGS closure": """
        for images, labels in loader:
            def closure():
                loss = criterion(model(images.to(device)), labels.to(device))
                loss.backward()
                history.append(loss.cpu())
                return loss
            optimizer.step(closure)
    """,
    "a validation loop that collects predictions": loop("pass")
    + "model.eval()\nwith torch.no_grad():\n    for images, labels in loader:\n"
    + "        predictions.append(model(images.to(device)).cpu())\n",
    "a function that generates": """
        def generate(model, prompts):
            for prompt in prompts:
                out = model(prompt.to(device))
                texts.append(out.cpu())
    """,
    "a loop that does not train": (
        "for images, labels in loader:\n    outputs.append(model(images.to(device)).cpu())\n"
    ),
    "after the loop": loop("pass", after="shown = output.cpu()\n"),
    "an export after training": loop("pass", after="torch.save(model.cpu(), 'x')\n"),
    "an action for an environment": loop("state = env.step(output.argmax(1).cpu().numpy())"),
    "an action by its name": loop("actions = output.argmax(1)\nplay(actions.cpu())"),
    "an action that goes to the environment later": loop(
        "chosen = output.argmax(1).cpu()\nstate = env.step(chosen)"
    ),
    "a function that acts": loop("select_action(output)")
    + "def select_action(output):\n    return output.argmax(1).cpu().numpy()\n",
    "a replay buffer": loop("replay_buffer.push(output.detach().cpu(), 1)"),
    "a memory that is appended to": loop("memory.append(output.detach().cpu())"),
    "lengths for a packed sequence": loop(
        "lengths = output.argmax(1)\n"
        "packed = torch.nn.utils.rnn.pack_padded_sequence(images, lengths.cpu())"
    ),
    "what nobody knows": loop("print(mystery.compute().tolist())"),
    "an array of what nobody knows": loop("print(np.asarray(mystery(output)))"),
    "an array of something that may be a number": loop(
        "kept = 0.0\nif step in marked:\n    kept = loss\nprint(np.asarray(kept))"
    ),
    "a number, which TL201 reports": loop("print(loss.item())"),
    "`.cpu` that is not called": loop("move = output.cpu"),
    "`.tolist` with an argument": loop("x = output.tolist(1)"),
    "suppressed": loop("x = output.cpu()  # torchlint: ignore[host-copy-in-step-loop]"),
}


@pytest.mark.parametrize("code", REPORTED.values(), ids=list(REPORTED))
def test_it_reports(code: str) -> None:
    (finding,) = findings(code)
    assert finding.tier is Tier.DEFAULT
    assert finding.fix is None


@pytest.mark.parametrize("code", HINTED.values(), ids=list(HINTED))
def test_it_hints_at(code: str) -> None:
    (finding,) = findings(code)
    assert finding.tier is Tier.HINT


@pytest.mark.parametrize("code", ALONE.values(), ids=list(ALONE))
def test_it_leaves_alone(code: str) -> None:
    assert findings(code) == []


def test_the_copies_of_one_chain_are_one_finding() -> None:
    (finding,) = findings(loop("x = output.detach().cpu().numpy().tolist()"))
    assert "`.cpu()`" in finding.message


def test_nothing_is_said_of_a_program_that_uses_no_accelerator() -> None:
    assert findings(loop("x = output.cpu()"), HEADER.replace('"cuda"', '"cpu"')) == []


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("x = output.cpu()", "do what follows on the device, or copy once after the loop"),
        ("outputs.append(output.cpu())", "for `outputs.append`; do that on the device"),
        ("x = np.mean(output.cpu().numpy())", "for `np.mean`"),
        ("match(output.cpu())", "`match` may need it there, else keep the work on the device"),
        ("x = output.to('cpu')", '`.to("cpu")` copies a tensor to the host'),
        ("x = np.asarray(output)", "`np.asarray()` copies a tensor to the host"),
    ],
)
def test_the_message_names_the_copy_and_who_takes_it(body: str, words: str) -> None:
    (finding,) = findings(loop(body))
    assert words in finding.message
    assert "on every step" in finding.message


def test_findings_of_one_loop_belong_together() -> None:
    first, second = findings(loop("x = output.cpu()\ny = loss.tolist()"))
    assert first.group == second.group is not None
