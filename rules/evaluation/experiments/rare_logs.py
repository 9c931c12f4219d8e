"""Log every fiftieth step.

What is written in each step of a training is read by nobody: a curve of a few hundred points shows
the same. A call of a logger formats text, sends it somewhere or appends to a file, and if it takes
the value of a tensor, a GPU is waited for. The linter reports what is known to be slow; here every
call of a logger or of `print` in the step, and every row that is written to a log, is left out in
49 of 50 steps, whatever it costs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.uses import method_name
from torchlint.rule import Bench, Edit, Experiment, Module, Proposal, edits

_EVERY = 50
_LOGS = re.compile(
    r"^print$|(?:^|\.)(?:dump|log|info|debug|warning|log_metrics?|write|writerow|add_(?:scalars?|histogram|image|"
    r"text|figure))$"
)
_LOGGERS = re.compile(r"(?i)^(?:print|tqdm\.write)$|log|writer|wandb|mlflow|board|^json\.")

_READS = frozenset(
    "abs amax argmax cpu detach dim exp float format get get_last_lr int isoformat item items join "
    "keys log max mean min mul named_parameters norm now numel numpy "
    "parameters round size sqrt state_dict std strftime sum time tolist total_seconds values "
    "var".split()
)
_PURE = re.compile(r"^(?:math|time|numpy|torch)\.|^builtins\.(?!next$)")

experiment = Experiment(
    "every fiftieth step is logged",
    speeds=("other", "forward"),
)


def _only_reads(call: cst.Call, module: Module) -> bool:
    """Whether a call in what is logged is known to change nothing: `average.update(loss.item())`
    has to run in each step."""
    names = module.resolve(call.func)
    return method_name(call) in _READS or (
        len(names) > 0 and all(_PURE.search(each) for each in names)
    )


def _counter(loop: cst.CSTNode, module: Module) -> str:
    """The name that counts the rounds: `step` of `for step, x in enumerate(loader)`."""
    if not isinstance(loop, cst.For):
        return ""
    source, target = loop.iter, loop.target
    if not isinstance(source, cst.Call):
        return ""
    if module.calls(source, "builtins.range") and isinstance(target, cst.Name):
        return target.value if len(source.args) < 3 else ""
    if module.calls(source, "builtins.enumerate") and isinstance(target, cst.Tuple):
        first = target.elements[0].value
        return first.value if isinstance(first, cst.Name) else ""
    return ""


@experiment.proposes
def _propose(module: Module, _bench: Bench) -> Iterator[Proposal]:
    changes: list[Edit | None] = []
    for call in module.nodes(cst.Call):
        loop, name = module.step_loop(call), dotted_text(call.func)
        statement = module.small_statement(call)
        if (
            loop is None
            or not isinstance(statement, cst.Expr)
            or statement.value is not call
            or not (_LOGS.search(name) and _LOGGERS.search(name))
            or module.guard(call) is not None
            or not all(_only_reads(each, module) for each in module.calls_within(call)[1:])
        ):
            continue
        counter = _counter(loop.node, module)
        if counter and counter != "_":
            changes.append(edits.put_under(module, statement, f"if {counter} % {_EVERY} == 0:"))
    yield Proposal("", f"Log every {_EVERY}th step", changes)
