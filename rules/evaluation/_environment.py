"""Environment variables that a file sets, and when they count."""

import libcst as cst

from torchlint.analysis.literals import literal
from torchlint.rule import Module


def change_of(
    module: Module, variable: str, values: tuple[str, ...]
) -> cst.BaseSmallStatement | None:
    """Where a file takes an environment variable away, or gives it another value than these."""
    for text in module.nodes(cst.SimpleString):
        if literal(text) != variable:
            continue
        line, call = module.small_statement(text), module.call_with(text)
        if isinstance(line, cst.Del) or (call and module.calls(call, "os.environ.pop")):
            return line
        if isinstance(line, cst.Assign) and literal(line.value) not in values:
            return line
    return None


def is_imported_before(package: str, node: cst.CSTNode, module: Module) -> bool:
    """Whether a file imports something of a package above a node."""
    imports = (*module.nodes(cst.Import), *module.nodes(cst.ImportFrom))
    return any(
        package in module.source(each) and module.order(each) < module.order(node)
        for each in imports
    )
