"""Where a script starts, and where to insert a line that must run first."""

import re

import libcst as cst

from torchlint.analysis.entry_points import entry_points
from torchlint.analysis.names import How, dotted_text
from torchlint.rule import Applicability, Fix, Module, edits

_CUDNN = "torch.backends.cudnn"
_IMPORTS = (cst.Import, cst.ImportFrom)
_ITERATES_OVER_DATA = re.compile(r"epoch|loader|batch|\bsteps?\b|iteration")
_Statement = cst.BaseStatement | cst.BaseSmallStatement
_EXITS = ("sys.exit", "os._exit", "builtins.exit", "builtins.quit")
_NEW_PROCESSES = frozenset({"spawn", "Process", "start_processes", "notebook_launcher"})


def start_of(module: Module) -> cst.CSTNode | None:
    """The node where the script starts: the test of its main guard, the head of the loop or call at
    the top level that runs it, or the function that its command line runs. None for a file with
    definitions only."""
    if module.main_guard is not None:
        return module.main_guard.test
    if not module.is_entry and not any(_trains_here(each, module) for each in module.top_level):
        return None
    started: cst.CSTNode | None = None
    for statement in module.top_level:
        if isinstance(statement, cst.For):
            return statement.iter
        if isinstance(statement, cst.While):
            return statement.test
        call = _bare_call(statement)
        if call is not None and _of_project(call, module):
            started = call
    entries = (module.parent(entry.node) for entry in entry_points(module))
    names = (each.name for each in entries if isinstance(each, cst.FunctionDef))
    return started or next(iter(module.training_calls), None) or next(names, None)


def _trains_here(statement: cst.CSTNode, module: Module) -> bool:
    """Whether a loop at the top level iterates over epochs or batches, or calls a function of
    the file that trains."""
    if not isinstance(statement, cst.For | cst.While):
        return False
    heads = [statement.iter, statement.target] if isinstance(statement, cst.For) else []
    heads += [statement.test] if isinstance(statement, cst.While) else []
    if any(_ITERATES_OVER_DATA.search(module.source(each).lower()) for each in heads):
        return True
    training = module.loops.training_functions - {None}
    names = [":" + module.qualified_name(each) for each in training]
    return any(module.calls(call, *names) for call in module.calls_within(statement.body))


def _bare_call(statement: cst.CSTNode) -> cst.Call | None:
    first = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
    if isinstance(first, cst.Expr) and isinstance(first.value, cst.Call):
        return first.value
    return None


def _of_project(call: cst.Call, module: Module) -> bool:
    """Whether a call runs the script's own code: `main()`, `app.run(main)`, `fire.Fire()`."""
    if any(entry.node is call and entry.names for entry in entry_points(module)):
        return True
    expressions = [call.func, *(arg.value for arg in call.args)]
    return any(name.startswith(":") for each in expressions for name in module.resolve(each))


def switch_on(module: Module) -> Fix | None:
    """The fix that sets `cudnn.benchmark` when the script starts; None without a place for it."""
    first = None if _starts_processes(module) else _first_statement(module)
    namespace = _bound(_CUDNN, module)
    torch = _bound("torch", module)
    line = f"{namespace or (torch or 'torch') + '.backends.cudnn'}.benchmark = True"
    imports = () if namespace or torch else edits.add_import(module, "torch")
    edit = edits.insert_before(module, first, line) if first is not None else None
    bound = namespace or torch
    last = _last_import(module, bound) if edit is None and bound else None
    edit = edits.insert_after(module, last, line) if last else edit
    if edit is None:
        return None
    return Fix(Applicability.UNSAFE, f"Set `{line}` when the script starts", (*imports, edit))


def _starts_processes(module: Module) -> bool:
    """Whether other processes train: they import the script and do not run its main block."""
    return any(
        dotted_text(call.func).rpartition(".")[2] in _NEW_PROCESSES
        for call in module.nodes(cst.Call)
    )


def _first_statement(module: Module) -> _Statement | None:
    """The first statement of `main()` if the main block calls it, else of the main block."""
    if module.main_guard is None:
        return None
    calls = module.calls_within(module.main_guard.body)
    called = any(module.calls(call, ":main") for call in calls)
    main = module.definitions.named(":main") if called else None
    block = main if isinstance(main, cst.FunctionDef) else module.main_guard
    statements: list[cst.BaseStatement | cst.BaseSmallStatement] = []
    for statement in block.body.body:  # compound statements, and the parts of lines
        parts = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
        statements += (
            each for each in parts if isinstance(each, cst.BaseStatement | cst.BaseSmallStatement)
        )
    documented = isinstance(block, cst.FunctionDef) and block.get_docstring() is not None
    return next(iter(statements[documented:]), None)


def _bound(dotted: str, module: Module) -> str | None:
    """The name of an imported module at the top level, if it is bound to nothing else."""
    for name, bindings in module.names.module.bindings.items():
        imports = all(each.how is How.IMPORT and each.dotted == dotted for each in bindings)
        if imports and all(_statement_that_imports(each.node, module) for each in bindings):
            return name
    return None


def _statement_that_imports(node: cst.CSTNode, module: Module) -> _Statement | None:
    """The statement at the top level behind which an import has been made for certain: itself, or
    a `try` around it, if each `except` ends the program."""
    line = module.parent(node)
    if not isinstance(node, _IMPORTS) or not isinstance(line, cst.SimpleStatementLine):
        return None
    if module.parent(line) is module.tree:
        return node
    block = module.parent(line)
    around = module.parent(block) if block is not None else None
    if not isinstance(around, cst.Try) or module.parent(around) is not module.tree:
        return None
    ends = block is around.body and all(_ends(each, module) for each in around.handlers)
    return around if ends else None


def _ends(handler: cst.ExceptHandler, module: Module) -> bool:
    """Whether an `except` ends the program: its last statement raises or calls `exit`."""
    last = handler.body.body[-1]
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    if isinstance(last, cst.Expr) and isinstance(last.value, cst.Call):
        return module.calls(last.value, *_EXITS)
    return isinstance(last, cst.Raise)


def _last_import(module: Module, bound: str) -> _Statement | None:
    """The last import at the top level before any definition, or the one that binds a name if that
    comes later."""
    last: cst.BaseSmallStatement | None = None
    for statement in module.tree.body:
        if isinstance(statement, cst.FunctionDef | cst.ClassDef | cst.For | cst.While):
            break
        if isinstance(statement, cst.SimpleStatementLine):
            imports = [each for each in statement.body if isinstance(each, _IMPORTS)]
            last = imports[-1] if imports else last
    first = module.names.module.bindings[bound][0]
    binds = _statement_that_imports(first.node, module)
    found: list[_Statement] = [each for each in (last, binds) if each is not None]
    return max(found, key=module.order, default=None)
