"""Give OpenCV one thread in each worker process.

## What it does
Reports a loader with worker processes whose dataset calls OpenCV, where nothing in the program
calls `cv2.setNumThreads`.

## Why it is slow
OpenCV uses a thread for each processor, in each worker process: eight workers on a machine with
eight processors run 64 threads, which keep each other waiting. PyTorch limits its own threads in
workers to one, but not those of OpenCV. OpenCV has no thread pool that survives a `fork` either, so
each worker starts its own.

## Example
```python
import cv2
from torch.utils.data import DataLoader, Dataset


class Photos(Dataset):
    def __getitem__(self, index):
        image = cv2.imread(self.files[index])
        return cv2.resize(image, (224, 224), interpolation=cv2.INTER_AREA)


loader = DataLoader(Photos(), batch_size=32, num_workers=8)
```

## Use instead
```python
import cv2
from torch.utils.data import DataLoader, Dataset

cv2.setNumThreads(0)


class Photos(Dataset):
    def __getitem__(self, index):
        image = cv2.imread(self.files[index])
        return cv2.resize(image, (224, 224), interpolation=cv2.INTER_AREA)


loader = DataLoader(Photos(), batch_size=32, num_workers=8)
```

## When it is silent
In programs with `setNumThreads`, or with Albumentations, which calls it; in programs without
`num_workers`; where the dataset only reads images, draws, or converts colors, which takes one
thread; in tests. In a file without a loader, the first call of OpenCV is reported. It is a hint,
since it costs little where there are fewer workers than processors.

## Fix safety
There is no fix: where the program starts, only you know.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against fixed.py` compares with your own
version, on the CPU too.

## References
- OpenCV documentation, `cv::setNumThreads`
- Albumentations documentation, "Benchmarks", on `cv2.setNumThreads(0)` with PyTorch's `DataLoader`
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.loading.loaders import LOADER, loader_without_workers
from torchlint.analysis.loading.sample_code import makes_sample
from torchlint.rule import Effect, Module, Reported, Rule, Tier, because, once

_ONE_THREAD = frozenset(
    f"cv2.{name}"
    for name in (
        "imread imwrite imdecode imencode cvtColor VideoCapture flip split merge line circle "
        "rectangle putText polylines fillPoly fillConvexPoly drawContours ellipse findContours "
        "getRotationMatrix2D getPerspectiveTransform getAffineTransform"
    ).split()
)

rule = Rule(
    code="TL116",
    effect=Effect.LARGE,
    summary="each worker process of a loader runs OpenCV on all processors",
    tier=Tier.HINT,
    triggers=(r"\bcv2\b", r"__getitems?__"),
    program_has={"`num_workers`": r"num_workers\s{0,9}=\s{0,9}(?!0\b)[\w(]"},
    program_lacks={"`setNumThreads`": r"setNumThreads|albumentations"},
)


@rule.on(cst.Call)
def runs_threads_in_each_worker(call: cst.Call, module: Module) -> Iterable[Reported]:
    """A loader with workers; in a file without loaders, the first call of OpenCV."""
    loads = module.calls(call, LOADER)
    threaded = _threaded(module)
    if not loads and (call is not threaded or LOADER in module.calls_by_name):
        return ()
    if threaded is None:
        return because((), "no dataset of the file calls what OpenCV does in threads")
    loader = loader_without_workers(call, module) if loads else None
    if loader is not None and not loader.workers.elsewhere:
        return because((), "this loader has no worker processes")
    message = (
        "OpenCV starts threads on all processors in each worker of a loader; call "
        "`cv2.setNumThreads(0)` where the program starts."
    )
    return rule.report(module, call, message)


@once
def _threaded(module: Module) -> cst.Call | None:
    """A call of OpenCV that its threads work on, in code that makes samples."""
    for call in module.nodes(cst.Call):
        for name in module.resolve(call.func):
            if name.startswith("cv2.") and name not in _ONE_THREAD and makes_sample(call, module):
                return call
    return None
