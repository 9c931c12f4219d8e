"""Whether a call of `zero_grad` is torch's own method or one of the user's."""

import libcst as cst

from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.analysis.names import How
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Module, because


def is_torchs(owner: cst.BaseExpression, module: Module) -> bool:
    """Whether an object is an optimizer or module with torch's own `zero_grad`."""
    if isinstance(owner, cst.Name) and owner.value == "self":
        class_ = module.class_(owner)
        own = "nothing shows that `self` is a module with torch's own `zero_grad`"
        return (class_ is not None and _inherits(class_, module)) or because(False, own)
    if not module.value(owner).has(Kind.OPTIMIZER | Kind.MODULE):
        return because(False, "nothing shows that {:code} is an optimizer or a module", owner)
    if any(_is_own(name, module) for name in _classes(owner, module)):
        return because(False, "the class of {:code} may have a `zero_grad` of its own", owner)
    return True


def _classes(owner: cst.BaseExpression, module: Module) -> list[str]:
    """The dotted names of the classes that the object can be an instance of."""
    classes = list(module.value(owner).classes)
    bindings = module.flow.reaching(owner)
    class_ = module.class_(owner)
    if class_ is not None and isinstance(owner, cst.Attribute):
        bindings = module.values.attributes.get(class_, {}).get(owner.attr.value, [])
    for binding in bindings:
        if binding.how is How.ASSIGNMENT and isinstance(binding.value, cst.Call):
            classes += module.resolve(binding.value.func)
    return classes


def _is_own(name: str, module: Module) -> bool:
    """Whether a class may have a `zero_grad` of its own: an optimizer that is not torch's, or
    a class of this file that defines one."""
    last = name.rpartition(".")[2].lstrip(":")
    if name.startswith(ANY.packages) or not last[:1].isupper():
        return False
    for class_ in module.nodes(cst.ClassDef):
        if ":" + module.qualified_name(class_) == name:
            return not _inherits(class_, module)
    return "opt" in last.lower() or "engine" in last.lower()


def _inherits(class_: cst.ClassDef, module: Module) -> bool:
    """Whether a class is a module that leaves `zero_grad` as torch wrote it."""
    own = "zero_grad" in module.definitions.own_methods(class_)
    bases = module.definitions.bases(class_)
    return not own and any(
        base.startswith("torch.nn.") or base.endswith(ANY.module_classes) for base in bases
    )
