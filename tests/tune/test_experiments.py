"""What each experiment proposes, as the text that becomes of a script."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

import pytest

from torchlint.analysis.module import Module
from torchlint.files.reading import Source
from torchlint.finding import Applicability, Finding, Fix, Position, Tier
from torchlint.fixes.fixer import made
from torchlint.ruleapi.experiment import Bench, Experiment, Proposal
from torchlint.ruleapi.registry import all_experiments
from torchlint.source.parse import parse

if TYPE_CHECKING:
    from torchlint.ruleapi.experiment import Device

BY_NAME = {each.name: each for each in all_experiments()}
TORCH = (2, 13)
SCRIPT = """\
import torch
from torch import nn
from torch.utils.data import DataLoader


def main():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.LazyLinear(10))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = DataLoader(Images(), batch_size=64)
    for step, (x, y) in enumerate(loader):
        x = x.to("cuda")
        optimizer.zero_grad()
        out = model(x)
        loss = criterion(out, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print(step, loss)


main()
"""


def source(text: str) -> Source:
    return Source("train.py", text.encode(), text, "utf-8", bom=False)


def proposals(name: str, text: str, bench: Bench) -> dict[str, Proposal]:
    module = Module(source(text), parse(source(text)), TORCH)
    return {each.option: each for each in BY_NAME[name].proposals(module, bench)}


def bench(device: Device = "cpu", processors: int = 2, torch: tuple[int, int] = TORCH) -> Bench:
    return Bench(device, processors, torch)


def becomes(name: str, text: str, option: str = "", where: Bench | None = None) -> str:
    """The text with a proposal made."""
    proposal = proposals(name, text, where or bench())[option]
    edits = tuple(each for each in proposal.edits if each is not None)
    fix = Fix(Applicability.UNSAFE, proposal.message, edits)
    here = Position(1, 1)
    found = Finding("", name, Tier.HINT, proposal.message, "train.py", here, here, fix)
    return made(source(text), [found]).text


def options(name: str, text: str = SCRIPT, where: Bench | None = None) -> list[str]:
    return list(proposals(name, text, where or bench()))


def changed(name: str, text: str = SCRIPT, option: str = "", where: Bench | None = None) -> str:
    """The lines that a proposal adds or changes, without their indentation."""
    before = text.splitlines()
    after = becomes(name, text, option, where).splitlines()
    return "\n".join(line.strip() for line in after if line not in before)


CHANGES = [
    ("worker-number", "2", "loader = DataLoader(Images(), batch_size=64, num_workers=2, "
     "persistent_workers=True)"),
    ("torch-threads", "1", "torch.set_num_threads(1)"),
    ("flush-subnormals", "", "torch.set_flush_denormal(True)"),
    ("fused-update", "", "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)"),
    ("foreach-clipping", "",
     "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)"),
    ("channels-last", "", "model.to(memory_format=torch.channels_last)"),
    ("compile-model", "default",
     "compiled_model = torch.compile(model)\nout = compiled_model(x)"),
    ("compile-model", "max-autotune-no-cudagraphs",
     'compiled_model = torch.compile(model, mode="max-autotune-no-cudagraphs")\n'
     "out = compiled_model(x)"),
    ("autocast-bfloat16", "", 'with torch.autocast("cpu", dtype=torch.bfloat16):\n'
     "out = model(x)\nloss = criterion(out, y)"),
    ("compiled-update", "", "optimizer.step = torch.compile(optimizer.step)"),
    ("rare-logs", "", "if step % 50 == 0:\nprint(step, loss)"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "option", "lines"), CHANGES, ids=lambda each: str(each)[:24])
def test_what_an_experiment_changes(name: str, option: str, lines: str) -> None:
    assert changed(name, SCRIPT, option) == lines
    assert f"{name} {option}".strip() not in becomes(name, SCRIPT, option)


def test_on_a_gpu_others_pay() -> None:
    gpu = bench("cuda", 8)
    assert changed("pinned-copies", SCRIPT, where=gpu) == (
        "loader = DataLoader(Images(), batch_size=64, pin_memory=True)\n"
        'x = x.to("cuda", non_blocking=True)'
    )
    assert changed("tensor-float32", SCRIPT, where=gpu) == (
        'torch.set_float32_matmul_precision("high")'
    )
    assert "reduce-overhead" in options("compile-model", SCRIPT, gpu)
    assert '"cuda"' in changed("autocast-bfloat16", SCRIPT, where=gpu)
    for name in ("flush-subnormals", "torch-threads", "foreach-clipping"):
        assert options(name, SCRIPT, gpu) == []
    assert options("pinned-copies") == options("tensor-float32") == []


def test_float16_scales_the_loss_and_steps_with_the_scaler() -> None:
    gpu = bench("cuda", 8)
    assert changed("autocast-float16", SCRIPT, where=gpu) == (
        'scaler = torch.amp.GradScaler("cuda")\n'
        'with torch.autocast("cuda", dtype=torch.float16):\n'
        "out = model(x)\n"
        "loss = criterion(out, y)\n"
        "scaler.scale(loss).backward()\n"
        "scaler.unscale_(optimizer)\n"
        "scaler.step(optimizer)\n"
        "scaler.update()"
    )
    assert options("autocast-float16") == []
    apart = SCRIPT.replace(
        "    for step", "    train(model, optimizer)\n\ndef train(m, o):\n    for step"
    )
    assert options("autocast-float16", apart, gpu) == []


def test_what_is_added_to_a_loss_is_part_of_it() -> None:
    text = SCRIPT.replace(
        "        loss.backward()", "        loss += 0.1 * out.abs().mean()\n        loss.backward()"
    )
    assert changed("autocast-bfloat16", text).endswith("loss += 0.1 * out.abs().mean()")


def test_float16_is_left_out_where_scaled_gradients_are_read() -> None:
    gpu = bench("cuda", 8)
    clip = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
    for by_hand in (
        "for p in model.parameters():\n            p.grad.clamp_(-1, 1)",
        "clip_gradients(optimizer)",
    ):
        assert options("autocast-float16", SCRIPT.replace(clip, by_hand), gpu) == []


def test_no_array_is_made_of_bfloat16() -> None:
    text = SCRIPT.replace("print(step, loss)", "save(out.detach().cpu().numpy())")
    assert options("autocast-bfloat16", text) == []
    text = SCRIPT.replace("print(step, loss)", "labels.append(y); scores.append(out.detach())")
    assert options("autocast-bfloat16", text) == [""]
    epoch = "    roc_auc_score(torch.cat(labels).numpy(), torch.cat(scores).numpy())\n\n\nmain()"
    assert options("autocast-bfloat16", text.replace("\n\nmain()", epoch)) == []
    for known in ("torch.cat(scores).numpy()", "np.concatenate(scores)"):
        far = text.replace("scores.append(out.detach())", "p = out.sigmoid(); scores += [p]")
        far = "import numpy as np\n" + far.replace("\n\nmain()", f"    save({known})\n\n\nmain()")
        assert options("autocast-bfloat16", far) == []
    counted = far.replace("p = out.sigmoid()", "p = out.sum().item()")
    assert options("autocast-bfloat16", counted) == [""]
    other = epoch.replace("torch.cat(scores).numpy()", "known")
    assert options("autocast-bfloat16", text.replace("\n\nmain()", other)) == [""]


CRITIC = """\
        for _ in range(5):
            d_loss = model(x).mean()
            d_loss.backward()
            optimizer.step()
        loss = -model(x).mean()
        loss.backward()
        optimizer.step()
"""


def test_a_loss_above_which_another_step_is_taken_has_no_site() -> None:
    start = SCRIPT.index("        optimizer.zero_grad()")
    text = f"{SCRIPT[:start]}{CRITIC}\n\nmain()\n"
    assert changed("autocast-bfloat16", text) == (
        'with torch.autocast("cpu", dtype=torch.bfloat16):\nd_loss = model(x).mean()'
    )


SEQUENTIAL = "nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.LazyLinear(10))"
OWN = SCRIPT.replace(SEQUENTIAL, "Net()")
MADE = "    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)\n"
BRANCHES = """\
    if adam:
        optimizer = torch.optim.Adam(model.parameters())
    else:
        optimizer = torch.optim.SGD(model.parameters())
"""


def test_a_model_is_compiled_in_each_branch_that_makes_an_optimizer() -> None:
    after = becomes("compile-model", OWN.replace(MADE, BRANCHES), "default")
    assert after.count("model.compile()") == 2


def test_a_model_of_torch_is_compiled_once_below_the_line_that_makes_it() -> None:
    after = becomes("compile-model", SCRIPT.replace(MADE, BRANCHES), "default")
    assert after.count("torch.compile(model)") == 1
    assert after.index("torch.compile(model)") < after.index("if adam")


def test_a_class_that_inherits_its_forward_is_compiled_as_one_of_torch() -> None:
    head = "class Net(nn.Sequential):\n    def __init__(self):\n        super().__init__(layers)\n"
    own = "    def forward(self, x):\n        return super().forward(x)\n"
    beside = "compiled_model = torch.compile(model)\nout = compiled_model(x)"
    assert changed("compile-model", f"{head}{OWN}", "default") == beside
    other = "class Net(Backbone, nn.Module):\n    pass\n"
    for text in (f"{head}{own}{OWN}", f"{other}{OWN}"):
        assert changed("compile-model", text, "default") == "model.compile()"


BLOCK = "class Block(nn.Module):\n    def forward(self, x):\n        return x\n"


def test_layers_with_code_of_their_own_are_compiled_in_place() -> None:
    filled = SCRIPT.replace("nn.Flatten()", "*[Block() for _ in range(4)]")
    helped = SCRIPT.replace(SEQUENTIAL, "build()")
    build = f"def build():\n    return {SEQUENTIAL.replace('nn.Flatten()', 'Block()')}\n"
    for text in (f"{BLOCK}{filled}", f"{BLOCK}{build}{helped}"):
        assert changed("compile-model", text, "default") == "model.compile()"
    other = SCRIPT.replace("nn.CrossEntropyLoss()", "Block()")
    assert "compiled_model" in changed("compile-model", f"{BLOCK}{other}", "default")


def test_only_the_training_runs_the_compiled_model() -> None:
    text = SCRIPT.replace(
        "        print(step, loss)\n",
        "        torch.save(model.state_dict(), path)\n"
        "    with torch.no_grad():\n"
        "        for x, y in val_loader:\n"
        "            score(model(x), y)\n",
    )
    after = becomes("compile-model", text, "default")
    assert after.count("compiled_model(") == after.count("out = compiled_model(x)") == 1


def test_one_model_is_compiled_beside_another_that_cannot_be() -> None:
    more = "    critic = nn.Linear(3, 1)\n    c_optimizer = torch.optim.SGD(critic.parameters())\n"
    text = OWN.replace("    loader =", f"{more}    loader =")
    proposal = proposals("compile-model", text, bench())["default"]
    assert proposal.message == "Compile `model`"
    assert changed("compile-model", text, "default") == "model.compile()"
    both = text.replace("        loss =", "        critic(x)\n        loss =")
    assert proposals("compile-model", both, bench())["default"].message == (
        "Compile `model` and `critic`"
    )


PASSED = SCRIPT.replace(
    "    for step,", "    train(model, loader)\n\n\ndef train(net, loader):\n    for step,"
)
PASSED = PASSED.replace("out = model(x)", "out = net(x)").replace(
    "(model.parameters(), 1", "(net.parameters(), 1"
)


def test_a_function_that_trains_is_given_the_compiled_model() -> None:
    assert changed("compile-model", PASSED, "default") == (
        "compiled_model = torch.compile(model)\ntrain(compiled_model, loader)"
    )


def test_no_model_of_torch_is_compiled_beside_where_the_training_would_not_run_it() -> None:
    wrapped = SCRIPT.replace(
        "    loader =", "    model = DistributedDataParallel(model)\n    loader ="
    )
    saved = PASSED.replace("print(step, loss)", "torch.save(net.state_dict(), path)")
    taken = SCRIPT.replace("print(step, loss)", "compiled_model = 1")
    chosen = SCRIPT.replace(
        "    criterion =", "    if other:\n        model = nn.Linear(3, 3)\n    criterion ="
    )
    for text in (wrapped, saved, taken, chosen):
        assert text not in (SCRIPT, PASSED)
        assert options("compile-model", text) == []


def test_a_pattern_that_is_compiled_is_no_model() -> None:
    assert "default" in options("compile-model", f"import re\nA = re.compile('a')\n{SCRIPT}")
    assert (
        options("compile-model", SCRIPT.replace("    loader", "    model.compile()\n    loader"))
        == []
    )


def test_settings_come_below_the_first_imports() -> None:
    late = f"{SCRIPT}import matplotlib.pyplot as plt\n"
    after = becomes("flush-subnormals", late)
    assert after.index("set_flush_denormal") < after.index("def main")
    renamed = SCRIPT.replace("import torch\n", "import torch as th\n").replace(
        "torch.optim", "th.optim"
    )
    assert "th.set_flush_denormal(True)" in becomes("flush-subnormals", renamed)


def test_workers_do_not_live_on_where_the_dataset_changes() -> None:
    text = SCRIPT.replace("DataLoader(Images(), ", "DataLoader(images, ")
    text = text.replace("    loader =", "    images = Images()\n    loader =")
    assert "persistent_workers" in changed("worker-number", text, "1")
    epochs = "    for epoch in range(9):\n        images.set_epoch(epoch)\n        run(loader)\n"
    text = text.replace("    for step", f"{epochs}    for step")
    assert changed("worker-number", text, "1").endswith("batch_size=64, num_workers=1)")


@pytest.mark.parametrize(
    ("step", "found"),
    [("stage.advance()", []), ("images.harder()", []), ("noise = stage.level()", ["0", "1", "2"])],
)
def test_no_worker_copies_what_the_steps_change(step: str, found: list[str]) -> None:
    text = SCRIPT.replace("DataLoader(Images(), ", "DataLoader(images, num_workers=workers, ")
    text = text.replace("    loader =", "    images = Images(stage)\n    loader =")
    text = text.replace("        x = x.to", f"        {step}\n        x = x.to")
    assert [each for each in options("worker-number", text) if "with" not in each] == found
    written = text.replace("DataLoader(images", "DataLoader(Images(stage)")
    assert bool(options("worker-number", written)) is (not step.startswith("stage.adv"))


def test_what_needs_workers_goes_with_them() -> None:
    given = SCRIPT.replace(
        "batch_size=64", "num_workers=4, persistent_workers=True, prefetch_factor=2"
    )
    assert changed("worker-number", given, "0") == (
        "loader = DataLoader(Images(), num_workers=0, persistent_workers=False, "
        "prefetch_factor=None)"
    )


def test_workers_prepare_more_batches_ahead() -> None:
    assert options("longer-prefetch") == []
    assert options("longer-prefetch", SCRIPT.replace("batch_size=64", "num_workers=0")) == []
    given = SCRIPT.replace("batch_size=64", "num_workers=workers")
    assert changed("longer-prefetch", given, "4") == (
        "loader = DataLoader(Images(), num_workers=workers, prefetch_factor=4 if workers else None)"
    )
    assert options("longer-prefetch", given.replace("=workers", "=workers()")) == []
    given = SCRIPT.replace("batch_size=64", "num_workers=2, prefetch_factor=4")
    assert options("longer-prefetch", given) == ["8"]
    assert changed("longer-prefetch", given, "8") == (
        "loader = DataLoader(Images(), num_workers=2, prefetch_factor=8)"
    )


def test_the_optimizer_is_known_by_its_name() -> None:
    text = SCRIPT.replace("optimizer = torch.optim.", "optimizer = choose().")
    assert text != SCRIPT
    for name in ("solver", "opt_d"):
        assert options("compile-model", re.sub(r"\boptimizer\b", name, text))[0] == "default"
    assert options("compile-model", re.sub(r"\boptimizer\b", "thing", text)) == []


def test_a_loss_may_come_with_other_results() -> None:
    text = SCRIPT.replace("out = model(x)", "out, loss = model(x, y)")
    text = text.replace("        loss = criterion(out, y)\n", "")
    assert changed("autocast-bfloat16", text) == (
        'with torch.autocast("cpu", dtype=torch.bfloat16):\nout, loss = model(x, y)'
    )


def test_an_optimizer_without_a_fused_kernel_updates_many_tensors_at_once() -> None:
    text = SCRIPT.replace("AdamW(", "RMSprop(")
    assert options("fused-update", text) == ["foreach"]
    assert options("fused-update", text, bench("cuda")) == []
    assert changed("fused-update", text, "foreach") == (
        "optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, foreach=True)"
    )


def test_the_step_is_compiled_below_what_wraps_it() -> None:
    scheduler = "    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)\n"
    text = SCRIPT.replace("    loader = ", f"{scheduler}    loader = ")
    after = becomes("compiled-update", text)
    assert after.index("StepLR") < after.index("optimizer.step = torch.compile")
    assert "scheduler.step" not in after
    chosen = f"    if warm:\n    {scheduler}"
    after = becomes("compiled-update", SCRIPT.replace("    loader = ", f"{chosen}    loader = "))
    assert f"{chosen}    optimizer.step = torch.compile" in after
    slower = SCRIPT.replace("print(step", "scheduled_lr(optimizer, step, loss)\n        print(step")
    after = becomes("compiled-update", slower)
    assert after.index("optimizer.step = torch.compile") < after.index("for step")


def test_a_larger_batch_counts_its_samples() -> None:
    found = proposals("larger-batch", SCRIPT, bench())
    assert {key: each.samples for key, each in found.items()} == {"x2": 2, "x4": 4}
    named = SCRIPT.replace("batch_size=64", "batch_size=SIZE").replace(
        "def main", "SIZE = 8\ndef main", 1
    )
    assert changed("larger-batch", named, "x2") == "SIZE = 16"
    assert options("larger-batch", SCRIPT.replace("=64", "=int(sys.argv[1])")) == []


def test_a_model_is_evaluated_in_inference_mode() -> None:
    evaluation = "    with torch.no_grad():\n        out = model(x)\n\n\nmain()"
    text = SCRIPT.replace("\n\nmain()", evaluation)
    assert changed("inference-mode", text) == "with torch.inference_mode():"
    average = text.replace("        out = model(x)\n\n\nmain", "        out = out + 1\n\n\nmain")
    assert options("inference-mode", average) == []


STEP = "        out = model(x)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = torch.stack([row * 0.5 for row in x])", "x = x * 0.5"),
        ("x = torch.stack([(r - 0.5).abs() / 2 for r in x[1:]])", "x = (x[1:] - 0.5).abs() / 2"),
        ("for i in range(len(x)):\n            t += x[i].item()", "t += x.sum().item()"),
        ("for v in x.data:\n            t += v.item()", "t += x.data.sum().item()"),
        ("for v in self.x:\n            t += v.item()", None),
        ("kept = []\n        for v in kept:\n            t += v.item()", None),
        ("rows = [x]\n        x = torch.stack([row * 0.5 for row in rows])", None),
        ("rows = [x] if t else x\n        x = torch.stack([row * 0.5 for row in rows])", None),
        ("x = torch.stack([row.mean() for row in x])", None),
        ("x = torch.stack([row * w for row in x])", None),
        ("x = torch.stack([row * 0.5 for row in x if row.any()])", None),
        ("x = torch.stack([row * 0.5 for row in x], dim=1)", None),
        ("for i in range(len(y)):\n            t += x[i].item()", None),
        ("for v in x:\n            t -= v.item()", None),
    ],
)
def test_a_loop_over_a_tensor_becomes_one_call(before: str, after: str | None) -> None:
    text = SCRIPT.replace(STEP, f"        {before}\n{STEP}")
    assert options("whole-tensors", text) == ([] if after is None else [""])
    if after is not None:
        assert changed("whole-tensors", text) == after


LOSS = """\
def focal(logits, target):
    chosen = logits.log_softmax(-1).gather(1, target[:, None])
    return -((1 - chosen.exp()) ** 2 * chosen).mean()


def main("""


def test_a_loss_by_hand_is_compiled() -> None:
    text = SCRIPT.replace("def main(", LOSS).replace("criterion(out", "focal(out")
    assert changed("compiled-loss", text) == "@torch.compile"
    assert becomes("compiled-loss", text).index("@torch.compile\ndef focal") > 0
    assert options("compiled-loss") == []
    few = LOSS.replace("((1 - chosen.exp()) ** 2 * chosen).mean()", "chosen")
    few = few.replace(".log_softmax(-1).gather(1, target[:, None])", "")
    assert options("compiled-loss", text.replace(LOSS, few)) == []


def test_an_older_torch_has_not_all_of_them() -> None:
    old = bench(torch=(2, 0))
    assert options("fused-update", SCRIPT, old) == options("compile-model", SCRIPT, old) == []
    assert options("foreach-clipping", SCRIPT, old) == [""]


def test_workers_take_processors_from_torch_on_a_cpu() -> None:
    assert options("worker-number") == ["1", "1 with threads 1", "2", "2 with threads 1"]
    given = SCRIPT.replace("batch_size=64", "num_workers=2, persistent_workers=True")
    assert options("worker-number", given) == ["0", "1", "1 with threads 1"]
    assert changed("worker-number", given, "1 with threads 1") == (
        "torch.set_num_threads(1)\nloader = DataLoader(Images(), num_workers=1, "
        "persistent_workers=True)"
    )
    chosen = SCRIPT.replace("import torch\n", "import torch\n\ntorch.set_num_threads(1)\n", 1)
    assert "1 with threads 1" not in options("worker-number", chosen)


def test_workers_up_to_the_processors() -> None:
    gpu = bench("cuda", 8)
    assert options("worker-number", SCRIPT, gpu) == ["1", "2", "4", "8"]
    given = SCRIPT.replace("batch_size=64", "num_workers=2, persistent_workers=True")
    assert options("worker-number", given, gpu) == ["0", "1", "4", "8"]
    assert changed("worker-number", given, "0") == "loader = DataLoader(Images(), num_workers=0)"
    assert changed("worker-number", given, "1") == (
        "loader = DataLoader(Images(), num_workers=1, persistent_workers=True)"
    )


def test_loaders_that_hide_their_arguments_are_left_alone() -> None:
    assert options("worker-number", SCRIPT.replace("batch_size=64", "**options")) == []


def test_a_given_number_of_threads_is_replaced() -> None:
    given = SCRIPT.replace("def main():\n", "def main():\n    torch.set_num_threads(1)\n")
    assert options("torch-threads", given) == ["2"]
    assert changed("torch-threads", given, "2") == "torch.set_num_threads(2)"


def test_a_slow_optimizer_is_fused_in_place() -> None:
    given = SCRIPT.replace("lr=1e-3", "foreach=False, lr=1e-3")
    assert changed("fused-update", given) == (
        "optimizer = torch.optim.AdamW(model.parameters(), fused=True, lr=1e-3)"
    )
    assert options("fused-update", SCRIPT.replace("lr=1e-3", "capturable=True")) == []
    assert options("fused-update", SCRIPT.replace("lr=1e-3", "fused=True")) == []


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("autocast-bfloat16", "# autocast elsewhere"),
        ("compile-model", "model = torch.compile(model)"),
        ("channels-last", "fmt = torch.channels_last"),
        ("flush-subnormals", "torch.set_flush_denormal(False)"),
        ("torch-threads", 'os.environ["OMP_NUM_THREADS"] = "1"'),
    ],
)
def test_what_a_script_has_chosen_is_not_proposed(name: str, chosen: str) -> None:
    assert options(name, SCRIPT.replace("main()\n", f"{chosen}\nmain()\n")) == []


def test_an_autocast_needs_lines_that_can_be_indented() -> None:
    text = SCRIPT.replace("criterion(out, y)", 'criterion(out, y, """a\n b""")')
    assert options("autocast-bfloat16", text) == []
    text = SCRIPT.replace("criterion(out, y)", "criterion(\n            out,\n            y)")
    assert "                out," in becomes("autocast-bfloat16", text).splitlines()


def test_logs_under_a_condition_stay() -> None:
    rare = SCRIPT.replace(
        "        print(step, loss)", "        if step % 9 == 0:\n            print(loss)"
    )
    assert options("rare-logs", rare) == []
    assert (
        options(
            "rare-logs",
            SCRIPT.replace("for step, (x, y) in enumerate(loader)", "for x, y in loader"),
        )
        == []
    )


@pytest.mark.parametrize(
    ("logged", "stays"),
    [
        ("average.update(loss.item())", True),
        ("next(rounds)", True),
        ("accuracy(out, y)", True),
        ("loss.item(), torch.norm(out), round(3.2)", False),
        ("f'{loss.detach().mean().item():.3f}', scheduler.get_last_lr()[0]", False),
    ],
)
def test_logs_that_may_change_something_stay(logged: str, stays: bool) -> None:
    text = SCRIPT.replace("print(step, loss)", f"print(step, {logged})")
    assert options("rare-logs", text) == ([] if stays else [""])


ATTENTION = """\
import math
import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.1)

    def forward(self, q, k, v, mask):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        weights = self.drop(weights)
        return weights @ v
"""


def test_an_attention_in_a_straight_line_is_one_call() -> None:
    assert becomes("fused-attention", ATTENTION).endswith(
        textwrap.indent(
            textwrap.dedent(
                """\
                return F.scaled_dot_product_attention(
                    q,
                    k,
                    v,
                    attn_mask=mask != 0,
                    dropout_p=self.drop.p if self.drop.training else 0.0,
                    scale=1.0 / math.sqrt(q.size(-1)),
                )
                """
            ),
            " " * 8,
        )
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return weights @ v", "return weights @ v, weights"),
        ("dim=-1", "dim=1"),
        ("        scores = scores.masked", "        if mask is not None:\n            scores = "
         "scores.masked"),
        ("k.transpose(-2, -1)", "k"),
        ("weights = self.drop(weights)", "weights = self.gate(weights)"),
        ("        weights = F", "        q = q + 1\n        weights = F"),
        ("        weights = F", "        mask = 1 - mask\n        weights = F"),
    ],
)  # fmt: skip
def test_an_attention_that_does_more_stays(old: str, new: str) -> None:
    assert old in ATTENTION
    assert options("fused-attention", ATTENTION.replace(old, new)) == []


@pytest.mark.parametrize(
    ("value", "is_mask"),
    [
        ("-torch.inf", True),
        ("-math.inf", True),
        ("float('-inf')", True),
        ("-float('inf')", True),
        ("-1e9", True),
        ("torch.finfo(scores.dtype).min", True),
        ("1e-9", False),
        ("-1e-9", False),
        ("0", False),
        ("float('inf')", False),
        ("self.fill", False),
    ],
)
def test_only_what_gets_no_weight_is_masked(value: str, is_mask: bool) -> None:
    text = ATTENTION.replace('float("-inf")', value)
    assert options("fused-attention", text) == ([""] if is_mask else [])


@pytest.mark.parametrize(
    ("made", "where", "is_causal"),
    [
        ("torch.tril(torch.ones(n, n)).view(1, 1, n, n)", "self.hidden[:, :, :T, :T] == 0", True),
        ("torch.ones(n, n, dtype=torch.bool).triu(1)", "self.hidden", True),
        ("torch.tril(torch.ones(n, n)).bool()", "~self.hidden[:T, :T]", True),
        ("torch.tril(torch.ones(n, n)).bool()", "self.hidden[:T, :T]", False),
        ("torch.tril(torch.ones(n, n))", "self.hidden[:T, :S] == 0", False),
        ("torch.tril(torch.ones(n, n))", "self.hidden[T:, T:] == 0", False),
        ("torch.tril(torch.ones(n, m))", "self.hidden == 0", False),
        ("torch.ones(n, n, dtype=torch.bool).triu(2)", "self.hidden", False),
        ("padding", "self.hidden", False),
    ],
)
def test_a_mask_that_hides_the_future_is_not_read(made: str, where: str, is_causal: bool) -> None:
    text = ATTENTION.replace("mask == 0", where)
    drop = "        self.drop = nn.Dropout(0.1)\n"
    for line in (f'self.register_buffer("hidden", {made})', f"self.hidden = {made}"):
        fused = becomes("fused-attention", text.replace(drop, f"{drop}        {line}\n"))
        assert ("is_causal=True," in fused) is is_causal
        assert ("attn_mask=" in fused) is not is_causal
    twice = f"{drop}        self.hidden = {made}\n        self.hidden = other\n"
    assert "is_causal" not in becomes("fused-attention", text.replace(drop, twice))


def test_a_bias_is_added_after_the_scale() -> None:
    """`scale * (q @ k + bias)` is another attention than `scale * q @ k + bias`."""
    line = '        scores = scores.masked_fill(mask == 0, float("-inf"))\n'
    biased = ATTENTION.replace(line, "        scores = scores + mask\n")
    assert "attn_mask=mask," in becomes("fused-attention", biased)
    scaled = ATTENTION.replace(" / math.sqrt(q.size(-1))", " + mask").replace(
        line, "        scores = scores * 0.125\n"
    )
    assert options("fused-attention", scaled) == []


def test_each_experiment_explains_itself() -> None:
    names = [each.name for each in all_experiments()]
    assert len(names) == len(set(names)) == 19
    for each in all_experiments():
        assert isinstance(each, Experiment)
        assert len(each.page) > 200, each.name
        assert each.summary
        assert each.speeds
