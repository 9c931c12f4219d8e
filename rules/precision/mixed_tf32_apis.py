"""Set TF32 in one place.

## What it does
Reports code that switches TF32 on by one of torch's two interfaces and off by the other: by
`allow_tf32` or `set_float32_matmul_precision` on one line, and by `fp32_precision`, which torch has
since 2.9, on another.

## Why it is slow
The later line decides, so the earlier one has no effect: either float32 is slower than somebody
wanted, or less exact. If the newer interface comes last, torch also refuses to answer by the older
one: `torch.backends.cuda.matmul.allow_tf32`, and for convolutions `torch.backends.cudnn.flags(…)`,
then raise a `RuntimeError` about a mix of both, perhaps in a library that asks for it.

## Example
```python
torch.set_float32_matmul_precision("high")
torch.backends.cuda.matmul.fp32_precision = "ieee"
```

## Use instead
```python
torch.backends.cuda.matmul.fp32_precision = "tf32"
```

## When it is silent
If both say the same; if a value is not a literal; if a condition decides about one of the lines, as
in `if hasattr(torch.backends, "fp32_precision")`; if they are in different functions; in tests; if
the project supports a torch older than 2.9.

## Fix safety
There is no fix: only you know which of the lines is meant.

## How verify confirms it
It cannot: there is no fix. Print `torch.backends.cuda.matmul.fp32_precision` to see what counts.

## References
- PyTorch CUDA notes, "TensorFloat-32 (TF32) on Ampere (and later) devices"
- `torch.set_float32_matmul_precision`
"""

import libcst as cst

from torchlint.rule import Context, Match, Module, Rule, because, calls, once, sets

_NEWER = {
    "torch.backends.cuda.matmul.fp32_precision": "matmul",
    "torch.backends.cudnn.conv.fp32_precision": "cudnn",
    "torch.backends.cudnn.rnn.fp32_precision": "cudnn",
}
_ON = (True, "tf32", "medium", "high")
_OFF = (False, "ieee", "highest")
_Place = tuple[cst.FunctionDef | None, str, bool | None]


def _contradicts(match: Match) -> bool:
    """Whether a line of the same function says the contrary by the newer interface."""
    module, what, node = match.module, "matmul", match.node
    if isinstance(node, cst.Assign):
        on = _is_on(node.value, module)
        if any(name.endswith("cudnn.allow_tf32") for name in _assigned(node, module)):
            what = "cudnn"
    else:
        on = _is_on(module.argument(match.call, "precision", 0), module)
    if on is None:
        return because(False, "the file does not show whether this switches TF32 on")
    contrary = (module.function(match.node), what, not on) in _newer(module)
    alone = "no line that always runs in the same function says the contrary by `fp32_precision`"
    return contrary or because(False, alone)


@once
def _newer(module: Module) -> set[_Place]:
    """What the newer interface always sets: in which function, for what, and whether to TF32."""
    return {
        (module.function(assign), _NEWER[name], _is_on(assign.value, module))
        for assign in module.nodes(cst.Assign)
        for name in _assigned(assign, module)
        if name in _NEWER and next(module.conditions(assign), None) is None
    }


def _assigned(assign: cst.Assign, module: Module) -> list[str]:
    return [name for each in assign.targets for name in module.resolve(each.target)]


def _is_on(value: cst.BaseExpression | None, module: Module) -> bool | None:
    known = module.literal(value)
    return True if known in _ON else False if known in _OFF else None


rule = Rule(
    code="TL504",
    summary="TF32 is switched on by one interface of torch and off by the other",
    finds=(
        sets(
            ("torch.backends.cuda.matmul.allow_tf32", "torch.backends.cudnn.allow_tf32"),
            where=(_contradicts,),
        ),
        calls("torch.set_float32_matmul_precision", where=(_contradicts,)),
    ),
    message="`fp32_precision` is set to the contrary of this, and the later line counts; keep one "
    "of them.",
    contexts=(Context.UNCONDITIONAL,),
    since=(2, 9),
    triggers=("fp32_precision",),
)
