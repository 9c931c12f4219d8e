"""Read a file once, not for every sample.

## What it does
Reports `__getitem__` of a dataset, and what it calls, where it reads or opens the same file for
every sample: `np.load(self.path)`, `pd.read_csv("labels.csv")`, `h5py.File(self.path)`. Also where
it searches a whole table (`self.table[self.table.id == key]`), and where it takes rows of a table
with `iloc`.

## Why it is slow
The time to read the file is paid for each sample and not once, so an epoch costs the size of the
file times the number of samples. A search through a table compares all of its rows for each sample.
A row of a table, `table.iloc[index]`, is about a hundred times slower than a row of an array,
measured on a CPU, since pandas makes an object for it.

## Example
```python
class Spectra(Dataset):
    def __init__(self, path):
        self.path = path

    def __getitem__(self, index):
        return torch.from_numpy(np.load(self.path)[index])
```

## Use instead
```python
class Spectra(Dataset):
    def __init__(self, path):
        self.spectra = np.load(path)

    def __getitem__(self, index):
        return torch.from_numpy(self.spectra[index])
```
Open HDF5 files, archives and databases in `__getitem__`, but only once in each worker:
`if self.file is None: self.file = h5py.File(self.path)`. Group a table once by what you look for,
and turn the columns that you need into arrays.

## When it is silent
Unless the file is the same for all samples for certain: where its name depends on a parameter, an
item of a list or anything else that may differ; under any condition, such as
`if self.file is None`; where the result is kept; in functions with a cache; in tests.
It is a hint for `np.load(path, mmap_mode="r")`, which reads little, and for searches and rows of a
table.

## Fix safety
There is no fix: what is kept in memory, and what is opened in each worker process, depends on the
size and kind of the file.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against fixed.py` compares with your own
version, on the CPU too.

## References
- PyTorch tutorials, `intermediate_source/intermediate_data_loading_tutorial.py`
- PyTorch documentation, `torch.utils.data`, "Map-style datasets"
- pandas documentation, "Indexing and selecting data"
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.literals import UNKNOWN, literal
from torchlint.analysis.loading.sample_code import makes_sample
from torchlint.analysis.names import Binding, How, dotted_text
from torchlint.analysis.uses import method_name, receiver
from torchlint.rule import Effect, Module, Reported, Rule, Tier, because

from ._per_sample import is_kept, is_rare

_READERS = tuple(
    "numpy.load numpy.loadtxt numpy.genfromtxt torch.load json.load pickle.load joblib.load "
    "h5py.File zipfile.ZipFile tarfile.open sqlite3.connect lmdb.open scipy.io.loadmat "
    "PIL.Image.open cv2.imread pandas.read_".split()
)
_RUNS_ELSEWHERE = "no `__getitem__` of a dataset in the file runs this"
_KEEPING = ("os.path.", "pathlib.", "builtins.open", "builtins.str", "gzip.open", "os.fspath")
_KEEPING_METHODS = frozenset({"joinpath", "open", "as_posix", "format"})
_DEEPEST = 6


rule = Rule(
    code="TL108",
    effect=Effect.LARGE,
    summary="a dataset reads the same file for every sample",
    triggers=(
        r"__getitems?__",
        r"[dD]ataset",
        r"load|open|read|File\(|connect|pandas|genfromtxt",
    ),
)


@rule.on(cst.Call)
def reads_the_same_file(call: cst.Call, module: Module) -> Iterable[Reported]:
    path = call.args[0].value if call.args else None
    names = module.resolve(call.func)
    if not any(name.startswith(_READERS) for name in names):
        return ()
    if not makes_sample(call, module):
        return because((), _RUNS_ELSEWHERE)
    if not _is_fixed(path, module):
        return because((), "{:code} may be another file for each sample", path or call)
    if is_kept(call, module) or is_rare(call, module):
        return ()
    mapped = module.argument(call, "mmap_mode") is not None
    message = (
        f"`{dotted_text(call.func)}` reads the same file for every sample; read it once in "
        "`__init__`, or open it once in each worker."
    )
    little = "with `mmap_mode` it reads little of the file"
    tier = because(Tier.HINT, little) if mapped else None
    return rule.report(module, call, message, tier=tier)


@rule.on(cst.Subscript)
def searches_a_table(item: cst.Subscript, module: Module) -> Iterable[Reported]:
    table, sampled = _searched_table(item, module), makes_sample(item, module)
    rows = dotted_text(item.value).endswith(".iloc")
    searched = _is_table(table, module)
    if not rows and not searched and not (sampled and table):
        return ()
    if not sampled:
        return because((), _RUNS_ELSEWHERE)
    if searched:
        message = "This searches the whole table for every sample; group it once in `__init__`."
        tier = because(Tier.HINT, "in a small table a search takes no time")
        return rule.report(module, item, message, tier=tier)
    if not rows:
        return because((), "{:code} is not known to be a table of pandas", table)
    message = "pandas makes an object for each row that is taken; keep the columns as arrays."
    return rule.report(module, item, message, tier=Tier.HINT)


# fixed paths --------------------------------------------------------------------------------------


def _is_fixed(node: cst.BaseExpression | None, module: Module, depth: int = 0) -> bool:
    """Whether an expression is the same for all samples, for certain: made of literals, of what
    the constructor keeps, and of names of the module."""
    if depth > _DEEPEST:
        return False
    if isinstance(node, cst.Name):
        bindings = module.flow.reaching(node)
        return bool(bindings) and all(_is_bound_once(each, module, depth) for each in bindings)
    if isinstance(node, cst.Attribute):
        return _is_same_for_all(node, module, depth)
    parts: list[cst.BaseExpression] = []
    if isinstance(node, cst.Call):
        parts = [arg.value for arg in node.args]
        if method_name(node) in _KEEPING_METHODS:
            parts.append(receiver(node))
        elif not any(name.startswith(_KEEPING) for name in module.resolve(node.func)):
            return False
    elif isinstance(node, cst.BinaryOperation):
        parts = [node.left, node.right]
    elif isinstance(node, cst.FormattedString):
        whole = (each for each in node.parts if isinstance(each, cst.FormattedStringExpression))
        parts = [each.expression for each in whole]
    elif literal(node) is UNKNOWN:
        return False
    return all(_is_fixed(each, module, depth + 1) for each in parts)


def _is_bound_once(binding: Binding, module: Module, depth: int) -> bool:
    if binding.how is How.IMPORT:
        return True
    if binding.how not in (How.ASSIGNMENT, How.CONTEXT):
        return False
    return module.function(binding.node) is None or _is_fixed(binding.value, module, depth + 1)


def _is_same_for_all(node: cst.Attribute, module: Module, depth: int) -> bool:
    """`self.path` that only the constructor sets; `args.path` of the module."""
    if dotted_text(node.value) == "self":
        bindings = module.values.assigned(module.class_(node), node.attr.value)
        return bool(bindings) and not any(makes_sample(each.node, module) for each in bindings)
    return _is_fixed(node.value, module, depth + 1)


# tables -------------------------------------------------------------------------------------------


def _searched_table(item: cst.Subscript, module: Module) -> cst.BaseExpression | None:
    """`table` in `table[table.id == key]` and in `table.loc[table.id == key]`."""
    table = item.value
    if isinstance(table, cst.Attribute) and table.attr.value == "loc":
        table = table.value
    tests = (each for each in module.within(item.slice[0]) if isinstance(each, cst.Comparison))
    parts = (dotted_text(part) for test in tests for part in module.within(test.left))
    return table if dotted_text(table) in parts else None


def _is_table(node: cst.BaseExpression | None, module: Module) -> bool:
    """Whether a name or an attribute holds what pandas made."""
    if isinstance(node, cst.Attribute):
        bindings = module.values.assigned(module.class_(node), node.attr.value)
    else:
        bindings = module.flow.reaching(node)
    return any(_comes_from_pandas(each.value, module) for each in bindings)


def _comes_from_pandas(made: cst.BaseExpression | None, module: Module) -> bool:
    """`pd.read_csv(path)`, also with methods behind it, as in `.dropna()`."""
    while isinstance(made, cst.Call):
        if any(name.startswith("pandas.") for name in module.resolve(made.func)):
            return True
        made = receiver(made)
    return False
