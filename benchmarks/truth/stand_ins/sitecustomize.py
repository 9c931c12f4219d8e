"""Stands in for what a training script would download: data sets, weights, tokenizers.

Put the folder of this file on PYTHONPATH. Nothing here, and nothing in the two files beside it,
knows a script or a repository: every stand-in goes by the kind and the shape of what is asked for.
torch and other packages are not imported here; each is patched right after the script itself has
imported it.

STAND_INS_BATCH=4 in the environment caps the batches of every DataLoader, for scripts that leave
no choice of their size. STAND_INS_SET=60000 makes the data sets of images and sound longer than
2,000 samples, for scripts that split them by numbers of their own.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.util
import os
import sys

for name, value in {
    "HF_HUB_OFFLINE": "1",
    "WANDB_MODE": "disabled",
    "MPLBACKEND": "Agg",
    "TQDM_DISABLE": "1",
}.items():
    os.environ.setdefault(name, value)


def old_names(module):
    """Names that NumPy has dropped, for older scripts."""
    old = {"Inf": module.inf, "Infinity": module.inf, "NaN": module.nan, "product": module.prod}
    old |= {"float_": module.float64, "bool8": module.bool_, "complex": complex}
    old |= {"float": float, "int": int, "bool": bool, "object": object}
    for name, value in old.items():
        if name not in vars(module):
            setattr(module, name, value)


def refuse(url, *args, **kwargs):
    """Any download that nothing stands in for."""
    raise OSError(f"stand-ins: nothing is downloaded, and nothing stands in for {url}")


def no_downloads(module):
    """`urllib.request`, by either of its functions."""
    plain = module.urlopen

    def urlopen(url, *args, **kwargs):
        said = getattr(url, "full_url", url)
        if "://" in said and "://127.0.0.1" not in said and "://localhost" not in said:
            refuse(said)
        return plain(url, *args, **kwargs)

    module.urlopen, module.urlretrieve = urlopen, refuse


class AnyWeights(dict):
    """Weights that were not downloaded: a model that loads them keeps its random ones."""


def any_weights(module):
    """`load_state_dict` takes them as if all had fitted."""
    plain = module.Module.load_state_dict

    def load_state_dict(self, state_dict, *args, **kwargs):
        if not isinstance(state_dict, AnyWeights):
            return plain(self, state_dict, *args, **kwargs)
        return module._IncompatibleKeys([], [])

    module.Module.load_state_dict = load_state_dict


def no_hub(module):
    """`torch.hub`: weights are `AnyWeights`, and code is not downloaded."""
    module.load_state_dict_from_url = lambda *args, **kwargs: AnyWeights()
    module.download_url_to_file = module.load = refuse


def no_weights(module):
    """The weights of torchvision's models."""
    module.WeightsEnum.get_state_dict = lambda self, *args, **kwargs: AnyWeights()


def small_batches(module):
    """Batches no larger than STAND_INS_BATCH says, and no more than two workers then."""
    plain = module.DataLoader.__init__
    most = int(os.environ.get("STAND_INS_BATCH", "0"))

    @functools.wraps(plain)
    def init(self, dataset, batch_size=1, *args, **kwargs):
        batch_size = most if batch_size is not None and batch_size > most else batch_size
        if kwargs.get("num_workers", 0) > 2:
            kwargs["num_workers"] = 2
        plain(self, dataset, batch_size, *args, **kwargs)

    if most:
        module.DataLoader.__init__ = init


def of(file, name):
    """A patch from a file beside this one, which is read when it is first needed."""

    def patch(module):
        getattr(importlib.import_module(file), name)(module)

    return patch


AFTER = {  # a module, and what patches it
    "numpy": old_names,
    "urllib.request": no_downloads,
    "torch.nn.modules.module": any_weights,
    "torch.hub": no_hub,
    "torch.utils.data.dataloader": small_batches,
    "torchvision.models._api": no_weights,
    "torchvision.datasets": of("stand_in_sets", "images"),
    "torchaudio": of("stand_in_sets", "sound_files"),
    "torchaudio.datasets": of("stand_in_sets", "sounds"),
    "torch_geometric.datasets": of("stand_in_sets", "graphs"),
    "datasets": of("stand_in_texts", "tables"),
    "tiktoken": of("stand_in_texts", "byte_encodings"),
    "evaluate": of("stand_in_texts", "metrics"),
    "transformers.models.auto.configuration_auto": of("stand_in_texts", "configurations"),
    "transformers.models.auto.tokenization_auto": of("stand_in_texts", "auto_tokenizers"),
    "transformers.modeling_utils": of("stand_in_texts", "models"),
    "transformers.tokenization_utils_base": of("stand_in_texts", "tokenizers"),
}


class Patching(importlib.abc.MetaPathFinder):
    """Patches a module as soon as it has been imported."""

    def __init__(self):
        self.busy = set()

    def find_spec(self, name, path, target=None):
        patch = AFTER.get(name)
        if patch is None or name in self.busy:
            return None
        self.busy.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.busy.discard(name)
        # A folder of the script with the same name has no loader that runs code.
        if spec is None or spec.loader is None or is_ours(spec):
            return spec
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            patch(module)

        spec.loader.exec_module = exec_module
        return spec


def is_ours(spec):
    """Whether it is the script's own module, such as a `datasets.py` beside it."""
    libraries = ("site-packages", "dist-packages", os.path.dirname(os.__file__))
    return not any(each in (spec.origin or "") for each in libraries)


sys.meta_path.insert(0, Patching())
