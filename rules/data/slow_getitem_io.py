"""Read a file once, not for every sample.

## What it does
Reports `__getitem__` of a dataset, and what it calls, where it reads or opens the same file for
every sample: `np.load(self.path)`, `pd.read_csv("labels.csv")`, `h5py.File(self.path)`. Also where
it searches a whole table (`self.table[self.table.id == key]`), where it takes rows of a table with
`iloc`, where it lists the same folder, and where it takes one column of rows of a Hugging Face
dataset (`dataset[rows]["label"]`), which reads all columns.

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
It is a hint for `np.load(path, mmap_mode="r")`, which reads little, and for searches, rows and
columns of a table.

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

from torchlint.analysis.literals import literal
from torchlint.analysis.loading.sample_code import loads_samples, makes_sample
from torchlint.analysis.names import dotted_text
from torchlint.analysis.uses import receiver
from torchlint.rule import Effect, Module, Reported, Rule, Tier, because

from ._fixed_paths import is_fixed
from ._per_sample import is_kept, is_rare

_READERS = tuple(
    "numpy.load numpy.loadtxt numpy.genfromtxt torch.load json.load pickle.load joblib.load "
    "h5py.File zipfile.ZipFile tarfile.open sqlite3.connect lmdb.open scipy.io.loadmat "
    "PIL.Image.open cv2.imread pandas.read_ os.listdir os.scandir glob.glob".split()
)
_LISTS = ("os.", "glob.")
_RUNS_ELSEWHERE = "no `__getitem__` of a dataset in the file runs this"


rule = Rule(
    code="TL108",
    effect=Effect.LARGE,
    summary="a dataset reads the same file for every sample",
    triggers=(
        r"__getitems?__|get_item",
        r"[dD]ataset",
        r"load|open|read|File\(|connect|pandas|genfromtxt|listdir|scandir|glob|hf_d|datasets",
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
    if not is_fixed(path, module):
        return because((), "{:code} may be another file for each sample", path or call)
    if is_kept(call, module) or is_rare(call, module):
        return ()
    mapped = module.argument(call, "mmap_mode") is not None
    what = "folder" if any(name.startswith(_LISTS) for name in names) else "file"
    message = (
        f"`{dotted_text(call.func)}` reads the same {what} for every sample; read it once in "
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


@rule.on(cst.Subscript)
def reads_all_columns_of_rows(item: cst.Subscript, module: Module) -> Iterable[Reported]:
    """`self.hf_dataset[rows]["label"]`."""
    rows = item.value
    if not isinstance(rows, cst.Subscript) or not isinstance(_key(item), str):
        return ()
    if not _is_hugging_face_table(rows.value, module):
        return because((), "{:code} is not known as a dataset of Hugging Face", rows.value)
    if isinstance(_key(rows), str) or not loads_samples(item, module):
        return because((), "no `__getitem__` of a dataset runs this, or it takes a column first")
    message = (
        "This reads and converts all columns of these rows for one of them; choose the column "
        "first (`select_columns`), or keep it in an array."
    )
    return rule.report(module, item, message, tier=Tier.HINT)


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


def _key(item: cst.Subscript) -> object:
    index = item.slice[0].slice
    return literal(index.value) if isinstance(index, cst.Index) else None


def _is_hugging_face_table(node: cst.BaseExpression, module: Module) -> bool:
    """Whether it is a dataset of Hugging Face, by what made it or by its name."""
    if isinstance(node, cst.Attribute):
        bindings = module.values.assigned(module.class_(node), node.attr.value)
    else:
        bindings = module.flow.reaching(node)
    made = [each.value for each in bindings if isinstance(each.value, cst.Call)]
    if any(name.startswith("datasets.") for each in made for name in module.resolve(each.func)):
        return True
    return dotted_text(node).rpartition(".")[2] in ("hf_dataset", "hf_ds")
