"""TL201: which reads are reported, which are left alone, and when a sum stays on the device."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TYPE_CHECKING

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.finding import Applicability, Tier
from torchlint.fixes.fixer import fix_targets
from torchlint.project.target import Target

if TYPE_CHECKING:
    from torchlint.finding import Finding

ONLY = Selection(select=("TL201",), ignore=())
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


def targets(code: str) -> list[Target]:
    return [Target("train.py", ONLY, (2, 13), (HEADER + dedent(code)).encode())]


def findings(code: str) -> list[Finding]:
    report = check(targets(code))
    assert not report.diagnostics
    return list(report.findings)


def loop(body: str, *, before: str = "", after: str = "") -> str:
    """A step loop with these lines at its end; `step` counts its rounds."""
    inside = indent(STEP + dedent(body).strip("\n"), "    ")
    head = "for step, (images, labels) in enumerate(loader):\n"
    return f"{dedent(before)}{head}{inside}\n{dedent(after)}"


REPORTED = {
    "a loss": loop("print(loss.item())"),
    "a loss in a sum": loop("total += loss.item()", before="total = 0.0\n"),
    "a count": loop("right += (output.argmax(1) == labels).sum().item()", before="right = 0\n"),
    "a detached loss": loop("losses.append(loss.detach().item())"),
    "`.data`": loop("print(loss.data.item())"),
    "an element": loop("print(output[0, 0].item())"),
    "a norm of gradients": loop(
        "print(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item(), loss.item())"
    ),
    "a gradient": loop("for p in model.parameters():\n    print(p.grad.norm().item())"),
    "a moved label": loop("print(labels.max().item())"),
    "`float` of a tensor": loop("history.append(float(loss))"),
    "`int` of a tensor": loop("count = int((output > 0).sum())"),
    "in an f-string": loop('print(f"{loss.item():.3f}")'),
    "in a progress bar": loop("bar.set_postfix(loss=loss.item())"),
    "in a dict for a logger": loop('wandb.log({"loss": loss.item()})'),
    "an element of a list of them": loop("parts = [loss, loss * 2]\nprint(parts[0].item())"),
    "a comprehension over them": loop("print([v.item() for v in [loss, loss]])"),
    "the first of several returned": loop("a, b = model.both(images), 1\nprint(model(a).item())"),
    "before the backward": """
        for images, labels in loader:
            loss = criterion(model(images.to(device)), labels.to(device))
            print(loss.item())
            loss.backward()
    """,
    "a loop without an end": """
        batches = iter(loader)
        while True:
            images, labels = next(batches)
            loss = criterion(model(images.to(device)), labels.to(device))
            loss.backward()
            print(loss.item())
    """,
    "a helper": loop("note(loss)") + "def note(value):\n    print(value.item())\n",
    "a skipped warm-up": loop("if step < 500: continue\nprint(loss.item())"),
    "the other arm of a guard": loop("if step % 10 == 0:\n    pass\nelse:\n    print(loss.item())"),
    "a condition that decides nothing": loop("if loss.item() > 10:\n    print('high')"),
    "a comparison that ends nothing": loop("best = min(best, loss.item())"),
    "a name that only sounds like acting": loop("fraction = loss.item()"),
    "a function that only sounds like acting": loop("note(loss)")
    + "def contact(value):\n    pass\ndef note(value):\n    print(value.item())\n",
    "a scheduler on each step": loop("scheduler.step(loss.item())"),
    "a function whose name starts with eval, but that trains": (
        "def evaluate_and_train():\n" + indent(loop("print(loss.item())"), "    ")
    ),
}

ALONE = {
    "items of a dict": loop("for key, value in extra.items():\n    print(key)"),
    "item with an argument": loop("print(loss.item(0))"),
    "item not called": loop("read = loss.item"),
    "item of a NumPy number": loop("eps = np.finfo(np.float32).eps.item()"),
    "item of an array": loop("print(np.zeros(3).max().item())"),
    "item of a pandas column": loop("print(table['loss'].max().item())"),
    "item of a tensor that is known to be on the CPU": loop("print(torch.zeros(3).sum().item())"),
    "lengths that stay on the CPU": """
        for images, lengths in loader:
            loss = criterion(model(images.to(device)), 1)
            loss.backward()
            longest = lengths.max().item()
    """,
    "a tensor after `.cpu()`, which TL202 reports": loop("print(loss.cpu().item())"),
    "a tensor after `.to('cpu')`, which TL202 reports": loop("print(loss.to('cpu').item())"),
    "outside of any loop": "labels = labels.to(device)\nclasses = labels.max().item()\n",
    "after the loop": loop("pass", after="print(loss.item())\n"),
    "in the loop's `else`": loop("pass") + "else:\n    print(loss.item())\n",
    "in the epoch loop around": (
        "for epoch in range(9):\n" + indent(loop("pass"), "    ") + "    print(loss.item())\n"
    ),
    "a scheduler after each epoch": (
        "for epoch in range(9):\n"
        + indent(loop("pass"), "    ")
        + "    scheduler.step(loss.item())\n"
    ),
    "a loop that does not train": (
        "for images, labels in loader:\n    print(model(images).item())\n"
    ),
    "every so many steps": loop("if step % log_every == 0:\n    print(loss.item())"),
    "every so many steps, in the main process": loop(
        "if step % log_interval == 0 and master_process:\n    print(loss.item())"
    ),
    "every so many steps, as an expression": loop("shown = loss.item() if step % 9 == 0 else 0"),
    "when logging": loop("if args.verbose:\n    print(loss.item())"),
    "when saving": loop("if should_save(step):\n    save(loss.item())"),
    "on the last step": loop("if step == len(loader) - 1:\n    print(loss.item())"),
    "when the loss broke": loop("if torch.isnan(loss):\n    raise E(loss.item())"),
    "after skipping most rounds": loop("if step % 100: continue\nprint(loss.item())"),
    "in an `except` block": loop("try:\n    f()\nexcept RuntimeError:\n    print(loss.item())"),
    "an LBFGS closure": """
        for images, labels in loader:
            def closure():
                optimizer.zero_grad()
                loss = criterion(model(images.to(device)), labels.to(device))
                loss.backward()
                print(loss.item())
                return loss
            optimizer.step(closure)
    """,
    "a validation loop": loop("pass")
    + """
with torch.no_grad():
    for images, labels in loader:
        loss = criterion(model(images.to(device)), labels.to(device))
        test_loss += loss.item()
""",
    "a validation function": """
        def validate(model):
            for images, labels in loader:
                loss = criterion(model(images.to(device)), labels.to(device))
                test_loss += loss.item()
    """,
    "a validation loop in the step loop": loop(
        """
        with torch.no_grad():
            for images, labels in val_loader:
                total += criterion(model(images.to(device)), labels.to(device)).item()
        """
    ),
    "after eval() in the step loop": loop(
        "model.eval()\nprint(model(images).sum().item())\nmodel.train()"
    ),
    "an action for an environment": loop(
        "action = output.argmax()\nstate, reward, done, _ = env.step(action.item())"
    ),
    "an action by its name": loop("action = output.argmax()\nplay(action.item())"),
    "an action that goes to the environment later": loop(
        "choice = output.argmax().item()\nstate = env.step(choice)"
    ),
    "a function that acts": loop("select_action(output)")
    + "def select_action(output):\n    return output.argmax().item()\n",
    "the next word of a sentence": loop("next_word = output.argmax()\nplay(next_word.item())"),
    "a test that ends the loop": loop("if loss.item() < 1e-3:\n    break"),
    "a number that ends the loop": loop("current = loss.item()\nif current < 1e-3:\n    break"),
    "a number that ends the function": (
        "def train():\n"
        + indent(loop("current = loss.item()\nif current < best:\n    return"), "    ")
    ),
    "the condition of `while`": """
        while loss.item() > 1e-3:
            loss = criterion(model(x.to(device)), y.to(device))
            loss.backward()
    """,
    "`float` of a number": loop("rate = float(optimizer.param_groups[0]['lr'])"),
    "`int` of a size": loop("count = int(images.size(0))"),
    "`float` of a length": loop("share = float(len(images)) / 3"),
    "`int` of a text with a base": loop("number = int(loss, 16)"),
    "`float` without argument": loop("zero = float()"),
    "`float` of something that may be a number": loop(
        "kept = 0.0\nif step in marked:\n    kept = loss\nprint(float(kept))"
    ),
    "`float` under another meaning": loop("print(float(loss))", before="from mine import float\n"),
    "`float` of what nobody knows": loop("print(float(mystery(loss)))"),
    "a shape": loop("rows = output.shape[0].item()"),
    "something nobody knows": loop("print(mystery.item())"),
    "a parameter that nobody passes a tensor for": loop("note(1)")
    + "def note(value):\n    print(float(value))\n",
    "a module": loop("print(model.item())"),
    "suppressed": loop("print(loss.item())  # torchlint: ignore[TL201]"),
}


@pytest.mark.parametrize("code", REPORTED.values(), ids=list(REPORTED))
def test_it_reports(code: str) -> None:
    found = findings(code)
    assert found
    assert {finding.tier for finding in found} == {Tier.DEFAULT}


@pytest.mark.parametrize("code", ALONE.values(), ids=list(ALONE))
def test_it_leaves_alone(code: str) -> None:
    assert findings(code) == []


def test_nothing_is_said_of_a_program_that_uses_no_accelerator() -> None:
    header = HEADER.replace('"cuda"', '"cpu"')
    code = header + loop("print(loss.item())")
    report = check([Target("train.py", ONLY, (2, 13), code.encode())])
    assert report.findings == ()


@pytest.mark.parametrize(
    "body",
    [
        "if rank == 0:\n    print(loss.item())",
        "if accelerator.is_main_process:\n    print(loss.item())",
        "with torch.no_grad():\n    print((output.argmax(1) == labels).sum().item())",
    ],
    ids=["in the first process only", "in the main process only", "under no_grad in the loop"],
)
def test_it_only_hints_at(body: str) -> None:
    assert [finding.tier for finding in findings(loop(body))] == [Tier.HINT]


def test_findings_of_one_loop_belong_together() -> None:
    code = loop("print(loss.item())\nprint(output.max().item())")
    first, second = findings(code + code)[:2]
    other = findings(code + code)[2]
    assert first.group == second.group
    assert other.group not in (None, first.group)


def test_the_message_names_how_it_is_read_and_what_to_do() -> None:
    (item,) = findings(loop("print(loss.item())"))
    assert item.message.startswith("`.item()` makes the host wait for the GPU on every step;")
    (number,) = findings(loop("print(float(loss))"))
    assert number.message.startswith("`float(…)` of a tensor makes the host wait")


# fixes -------------------------------------------------------------------------------------

FIXED = {
    "a count becomes an int after the loop": (
        Applicability.SAFE,
        loop(
            "right += (output.argmax(1) == labels).sum().item()",
            before="right = 0\n",
            after="print(right)\n",
        ),
        loop(
            "right += (output.argmax(1) == labels).sum()",
            before="right = 0\n",
            after="right = int(right)\nprint(right)\n",
        ),
    ),
    "a count by `eq`": (
        Applicability.SAFE,
        loop("right += output.argmax(1).eq(labels).sum().item()", before="right = 0\n"),
        loop(
            "right += output.argmax(1).eq(labels).sum()",
            before="right = 0\n",
            after="right = int(right)\n",
        ),
    ),
    "a count by `eq` with a shape between": (
        Applicability.SAFE,
        loop(
            "right += output.eq(labels.view_as(output)).view(-1).sum().item()", before="right = 0\n"
        ),
        loop(
            "right += output.eq(labels.view_as(output)).view(-1).sum()",
            before="right = 0\n",
            after="right = int(right)\n",
        ),
    ),
    "a loss is summed in float32": (
        Applicability.UNSAFE,
        loop("total += loss.item()", before="total = 0.0\n", after="print(total / len(loader))\n"),
        loop(
            "total += loss.detach().float()",
            before="total = 0.0\n",
            after="total = float(total)\nprint(total / len(loader))\n",
        ),
    ),
    "a loss times the size of its batch": (
        Applicability.UNSAFE,
        loop("total += loss.item() * images.size(0)", before="total = 0.0\n"),
        loop(
            "total += loss.detach().float() * images.size(0)",
            before="total = 0.0\n",
            after="total = float(total)\n",
        ),
    ),
    "the size of a batch times its loss": (
        Applicability.UNSAFE,
        loop("total += len(images) * loss.item()", before="total = 0\n"),
        loop(
            "total += len(images) * loss.detach().float()",
            before="total = 0\n",
            after="total = float(total)\n",
        ),
    ),
    "a loss divided by a number": (
        Applicability.UNSAFE,
        loop("total += loss.item() / len(loader)", before="total = 0.0\n"),
        loop(
            "total += loss.detach().float() / len(loader)",
            before="total = 0.0\n",
            after="total = float(total)\n",
        ),
    ),
    "a sum of parts gets parentheses": (
        Applicability.UNSAFE,
        loop("total += (loss + output.mean()).item()", before="total = 0.0\n"),
        loop(
            "total += (loss + output.mean()).detach().float()",
            before="total = 0.0\n",
            after="total = float(total)\n",
        ),
    ),
    "a sum that is no count, although it is whole": (
        Applicability.UNSAFE,
        loop("total += output.sum().item()", before="total = 0\n"),
        loop(
            "total += output.sum().detach().float()",
            before="total = 0\n",
            after="total = float(total)\n",
        ),
    ),
    "a count that is divided is no int": (
        Applicability.UNSAFE,
        loop("share += (output > 0).sum().item() / 3", before="share = 0\n"),
        loop(
            "share += (output > 0).sum().detach().float() / 3",
            before="share = 0\n",
            after="share = float(share)\n",
        ),
    ),
    "a count in parentheses over several lines": (
        Applicability.SAFE,
        loop("right += (output.argmax(1)\n    .eq(labels).sum()).item()", before="right = 0\n"),
        loop(
            "right += (output.argmax(1)\n    .eq(labels).sum())",
            before="right = 0\n",
            after="right = int(right)\n",
        ),
    ),
    "a count that starts as a float stays one": (
        Applicability.SAFE,
        loop("right += output.argmax(1).eq(labels).sum().item()", before="right = 0.0\n"),
        loop(
            "right += output.argmax(1).eq(labels).sum()",
            before="right = 0.0\n",
            after="right = float(right)\n",
        ),
    ),
    "a count beside something that is none": (
        Applicability.UNSAFE,
        loop("right += (output > 0).sum().item()\nright += 0.5", before="right = 0\n"),
        loop(
            "right += (output > 0).sum().detach().float()\nright += 0.5",
            before="right = 0\n",
            after="right = float(right)\n",
        ),
    ),
    "a start that takes the place of another": (
        Applicability.UNSAFE,
        loop("total += loss.item()", before="total = 1\ntotal = 0\n"),
        loop(
            "total += loss.detach().float()",
            before="total = 1\ntotal = 0\n",
            after="total = float(total)\n",
        ),
    ),
    **{
        f"no count: {operand}": (
            Applicability.UNSAFE,
            loop(f"right += {operand}.item()", before="right = 0\n"),
            loop(
                f"right += {operand}.detach().float()",
                before="right = 0\n",
                after="right = float(right)\n",
            ),
        )
        for operand in (
            "(output > 0).sum(dtype=torch.float16)",
            "(output > 0).all()",
            "(output > 0).float().sum()",
            "output.sum()",
            "output[output > 0].sum()",
        )
    },
    "both zeros on one line": (
        Applicability.UNSAFE,
        loop("total += loss.item()", before="count, total = 0, 0.0\n"),
        loop(
            "total += loss.detach().float()",
            before="count, total = 0, 0.0\n",
            after="total = float(total)\n",
        ),
    ),
    "both zeros by one assignment": (
        Applicability.UNSAFE,
        loop("total += loss.item()", before="count = total = 0\n"),
        loop(
            "total += loss.detach().float()",
            before="count = total = 0\n",
            after="total = float(total)\n",
        ),
    ),
    "a guarded read that is formatted": (
        Applicability.UNSAFE,
        loop(
            "total += loss.item()\nif step % 100 == 0:\n    print(f'{total / (step + 1):.3f}')",
            before="total = 0.0\n",
        ),
        loop(
            "total += loss.detach().float()\n"
            "if step % 100 == 0:\n    print(f'{total / (step + 1):.3f}')",
            before="total = 0.0\n",
            after="total = float(total)\n",
        ),
    ),
    "a guarded read by `%`": (
        Applicability.UNSAFE,
        loop(
            "total += loss.item()\nif step % 100 == 0:\n    print('%.3f' % (total / 100))",
            before="total = 0.0\n",
        ),
        loop(
            "total += loss.detach().float()\n"
            "if step % 100 == 0:\n    print('%.3f' % (total / 100))",
            before="total = 0.0\n",
            after="total = float(total)\n",
        ),
    ),
    "a guarded read by `format`": (
        Applicability.UNSAFE,
        loop(
            "total += loss.item()\nif step % 100 == 0:\n    print('{:.3f}'.format(total))",
            before="total = 0.0\n",
        ),
        loop(
            "total += loss.detach().float()\nif step % 100 == 0:\n"
            "    print('{:.3f}'.format(total))",
            before="total = 0.0\n",
            after="total = float(total)\n",
        ),
    ),
    "the same word for something else": (
        Applicability.UNSAFE,
        loop("total += loss.item()\nlog(total=step, other=x.total)", before="total = 0.0\n"),
        loop(
            "total += loss.detach().float()\nlog(total=step, other=x.total)",
            before="total = 0.0\n",
            after="total = float(total)\n",
        ),
    ),
    "an early end of the loop": (
        Applicability.UNSAFE,
        loop("total += loss.item()\nif step > 9: break", before="total = 0.0\n"),
        loop(
            "total += loss.detach().float()\nif step > 9: break",
            before="total = 0.0\n",
            after="total = float(total)\n",
        ),
    ),
}


def fixed(code: str, *, unsafe: bool = True) -> str:
    report = fix_targets(targets(code), unsafe=unsafe)
    assert not report.diagnostics
    after = report.files[0].after.decode() if report.files else HEADER + dedent(code)
    return after.removeprefix(HEADER)


@pytest.mark.parametrize(("applicability", "before", "after"), FIXED.values(), ids=list(FIXED))
def test_the_fix_of(applicability: Applicability, before: str, after: str) -> None:
    (finding,) = findings(before)
    assert finding.fix is not None
    assert finding.fix.applicability is applicability
    assert fixed(before) == after
    assert fixed(before, unsafe=False) == (after if applicability is Applicability.SAFE else before)
    assert findings(after) == []


def test_several_sums_of_one_loop_are_all_fixed() -> None:
    before = loop(
        "total += loss.item()\nright += (output.argmax(1) == labels).sum().item()\n"
        "seen += len(images)",
        before="total, right, seen = 0.0, 0, 0\n",
        after="print(total, right / seen)\n",
    )
    after = loop(
        "total += loss.detach().float()\n"
        "right += (output.argmax(1) == labels).sum()\nseen += len(images)",
        before="total, right, seen = 0.0, 0, 0\n",
        after="XX\nprint(total, right / seen)\n",
    )
    result = fixed(before)
    head, _, tail = after.partition("XX\n")
    assert result.startswith(head)
    assert result.endswith(tail)
    ends = result[len(head) : len(result) - len(tail)].splitlines()
    assert sorted(ends) == ["right = int(right)", "total = float(total)"]


def test_two_terms_of_one_sum_are_both_fixed() -> None:
    before = loop("total += loss.item()\ntotal += output.mean().item()", before="total = 0.0\n")
    assert fixed(before) == loop(
        "total += loss.detach().float()\ntotal += output.mean().detach().float()",
        before="total = 0.0\n",
        after="total = float(total)\n",
    )


def test_a_count_and_a_loss_in_one_sum_are_no_whole_number() -> None:
    before = loop("x += (output > 0).sum().item()\nx += loss.item()", before="x = 0\n")
    assert fixed(before) == loop(
        "x += (output > 0).sum().detach().float()\nx += loss.detach().float()",
        before="x = 0\n",
        after="x = float(x)\n",
    )


def test_a_sum_over_all_epochs_becomes_a_number_after_the_last() -> None:
    def epochs(line: str, end: str) -> str:
        body = indent(loop(line), "    ")
        return f"total = 0.0\nfor epoch in range(9):\n{body}{end}print(total)\n"

    before = epochs("total += loss.item()", "")
    assert fixed(before) == epochs("total += loss.detach().float()", "total = float(total)\n")


def test_a_sum_of_each_epoch_becomes_a_number_after_it() -> None:
    def epochs(line: str, end: str) -> str:
        body = indent(loop(line, before="total = 0.0\n"), "    ")
        return f"for epoch in range(9):\n{body}{end}    print(total)\n"

    before = epochs("total += loss.item()", "")
    assert fixed(before) == epochs("total += loss.detach().float()", "    total = float(total)\n")


WITHHELD = {
    "a print": (loop("print(loss.item())"), "goes elsewhere than into a sum"),
    "a meter": (loop("meter.update(loss.item())"), "goes elsewhere than into a sum"),
    "a list": (loop("losses.append(loss.item())"), "stack them after the loop"),
    "`float`": (loop("total += float(loss)", before="total = 0.0\n"), "goes elsewhere"),
    "an attribute": (loop("self.total += loss.item()"), "goes elsewhere than into a sum"),
    "a difference": (loop("total -= loss.item()", before="total = 0.0\n"), "goes elsewhere"),
    "a sum with something else": (
        loop("total += loss.item() + 1", before="total = 0.0\n"),
        "goes elsewhere",
    ),
    "a number divided by it": (
        loop("total += 1 / loss.item()", before="total = 0.0\n"),
        "goes elsewhere",
    ),
    "a product with another tensor": (
        loop("total += loss.item() * other", before="total = 0.0\n"),
        "goes elsewhere",
    ),
    "a sum without a start": (loop("total += loss.item()"), "does not start as a literal 0"),
    "a sum that starts only after the loop": (
        loop("total += loss.item()", after="total = 0\n"),
        "does not start as a literal 0",
    ),
    "a sum that starts elsewhere": (
        "total = 0.0\ndef train():\n    global total\n"
        + indent(loop("total += loss.item()"), "    "),
        "does not start as a literal 0",
    ),
    "a sum that starts at something": (
        loop("total += loss.item()", before="total = best\n"),
        "does not start as a literal 0",
    ),
    "a sum that starts at one": (
        loop("total += loss.item()", before="total = 1\n"),
        "does not start as a literal 0",
    ),
    "a sum that another start hides": (
        loop("total += loss.item()", before="total = 0\ntotal = best\n"),
        "does not start as a literal 0",
    ),
    "a sum that is reset inside": (
        loop("total += loss.item()\nif step % 100 == 0:\n    total = 0.0", before="total = 0.0\n"),
        "also set inside the loop",
    ),
    "a sum that is scaled inside": (
        loop("total += loss.item()\ntotal *= 0.9", before="total = 0.0\n"),
        "more than additions",
    ),
    "a sum that is read on every step": (
        loop("total += loss.item()\nprint(f'{total:.3f}')", before="total = 0.0\n"),
        "read on every step",
    ),
    "a sum that is returned inside": (
        "def train():\n"
        + indent(
            loop(
                "total += loss.item()\nif step % 100 == 0:\n    return total",
                before="total = 0.0\n",
            ),
            "    ",
        ),
        "must be a number",
    ),
    "a sum that is yielded": (
        "def train():\n"
        + indent(loop("total += loss.item()\nyield total", before="total = 0.0\n"), "    "),
        "read on every step",
    ),
    "a sum that is passed on": (
        loop("total += loss.item()\nif step % 100 == 0:\n    log(total)", before="total = 0.0\n"),
        "must be a number",
    ),
    "a sum that is printed without format": (
        loop(
            "total += loss.item()\nif step % 100 == 0:\n    print(f'{total}')",
            before="total = 0.0\n",
        ),
        "must be a number",
    ),
    "a sum that is printed as text": (
        loop(
            "total += loss.item()\nif step % 100 == 0:\n    print('%s' % total)",
            before="total = 0.0\n",
        ),
        "must be a number",
    ),
    "a sum that `format` prints as it is": (
        loop(
            "total += loss.item()\nif step % 100 == 0:\n    print('{}'.format(total))",
            before="total = 0.0\n",
        ),
        "must be a number",
    ),
    "a sum that `format` prints by its name": (
        loop(
            "total += loss.item()\nif step % 100 == 0:\n    print('{t}'.format(t=total))",
            before="total = 0.0\n",
        ),
        "must be a number",
    ),
    "a sum that is printed as text by its name": (
        loop(
            "total += loss.item()\nif step % 100 == 0:\n    print('%(t)5s' % {'t': total})",
            before="total = 0.0\n",
        ),
        "must be a number",
    ),
    "a sum whose `repr` is printed": (
        loop(
            "total += loss.item()\nif step % 100 == 0:\n    print(f'{total!r:>9}')",
            before="total = 0.0\n",
        ),
        "must be a number",
    ),
    "a sum that a nested function reads": (
        loop(
            "total += loss.item()\nif step % 100 == 0:\n    show(lambda: total)",
            before="total = 0.0\n",
        ),
        "is used by a function inside the loop",
    ),
}


@pytest.mark.parametrize(("code", "reason"), WITHHELD.values(), ids=list(WITHHELD))
def test_the_fix_is_withheld_for(code: str, reason: str) -> None:
    (finding,) = findings(code)
    assert finding.fix is None
    assert finding.withheld is not None
    assert reason in finding.withheld
    assert fixed(code) == dedent(code)


def test_the_fix_needs_a_place_after_the_loop() -> None:
    (finding,) = findings(
        "total = 0.0\nwhile busy: loss = model(x.cuda()); loss.backward(); total += loss.item()\n"
    )
    assert finding.fix is not None
    (finding,) = findings(
        "def f():\n    total = 0.0; x = 1\n"
        "    while busy: loss = model(x.cuda()); loss.backward(); total += loss.item()"
    )
    assert finding.fix is not None


def test_a_boolean_is_no_zero_to_start_from() -> None:
    (finding,) = findings(loop("seen += loss.item()", before="seen = False\n"))
    assert finding.fix is None
