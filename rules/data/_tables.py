"""Tables of pandas, and searches through all of their rows."""

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.rule import Module


def searched_table(item: cst.Subscript, module: Module) -> cst.BaseExpression | None:
    """`table` in `table[table.id == key]` and in `table.loc[table.id == key]`."""
    table = item.value
    if isinstance(table, cst.Attribute) and table.attr.value == "loc":
        table = table.value
    name = dotted_text(table)
    compared = (
        part
        for test in module.within(item.slice[0])
        if isinstance(test, cst.Comparison)
        for part in module.within(test.left)
    )
    return table if any(dotted_text(part) == name for part in compared) else None


def is_table(node: cst.BaseExpression | None, module: Module) -> bool:
    """Whether a name or an attribute stands for what pandas made."""
    if isinstance(node, cst.Attribute):
        bindings = module.values.assigned(module.class_(node), node.attr.value)
    else:
        bindings = module.flow.reaching(node) if isinstance(node, cst.Name) else []
    return any(_comes_from_pandas(each.value, module) for each in bindings)


def _comes_from_pandas(made: cst.BaseExpression | None, module: Module) -> bool:
    """`pd.read_csv(path)`, also with methods behind it, as in `.dropna()`."""
    while isinstance(made, cst.Call):
        if any(name.startswith("pandas.") for name in module.resolve(made.func)):
            return True
        made = made.func.value if isinstance(made.func, cst.Attribute) else None
    return False
