"""Stands in for what a training script would download: data sets, weights, tokenizers.

Put the folder of this file on PYTHONPATH. Nothing here knows a script or a repository: every
stand-in goes by the kind and the shape of what is asked for. torch and other packages are not
imported here; each is patched right after the script itself has imported it.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("WANDB_MODE", "disabled")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("TQDM_DISABLE", "1")

WORDS = "the cat sat on a mat and saw one of many birds in that old tree by noon".split()
PER_SET = 2000  # samples in each data set
IMAGES = {  # name: (height, width), mode, classes
    **dict.fromkeys(("MNIST", "FashionMNIST", "KMNIST", "QMNIST"), ((28, 28), "L", 10)),
    **dict.fromkeys(("EMNIST", "Omniglot", "USPS"), ((28, 28), "L", 26)),
    **dict.fromkeys(("CIFAR10", "SVHN"), ((32, 32), "RGB", 10)),
    "CIFAR100": ((32, 32), "RGB", 100),
    "STL10": ((96, 96), "RGB", 10),
    "CelebA": ((218, 178), "RGB", 40),
    "LSUN": ((64, 64), "RGB", 10),
    **dict.fromkeys(("ImageNet", "Imagenette", "Food101", "Flowers102"), ((256, 256), "RGB", 100)),
}
SEGMENTED = ("VOCSegmentation", "OxfordIIITPet", "SBDataset")


def a_text(number: int, words: int = 40) -> str:
    """The same words for the same number."""
    return " ".join(WORDS[(number * 7 + i * (i + 3)) % len(WORDS)] for i in range(words))


def an_image(number, size, mode="RGB", classes=256):
    """An image of noise, the same one for the same number."""
    import numpy as np
    from PIL import Image

    shape = size if mode == "L" else (*size, 3)
    noise = np.random.RandomState(number).randint(0, classes, shape, dtype=np.uint8)
    return Image.fromarray(noise)


def old_names(module):
    """Names that NumPy has dropped, for older scripts."""
    old = {
        "Inf": module.inf,
        "bool8": module.bool_,
        "Infinity": module.inf,
        "float_": module.float64,
    }
    old |= {"float": float, "int": int, "bool": bool, "object": object, "complex": complex}
    for name, value in {**old, "NaN": module.nan, "product": module.prod}.items():
        if name not in vars(module):
            setattr(module, name, value)


# torchvision ---------------------------------------------------------------------------------


def image_sets(module):
    """Data sets of torchvision that are downloaded; what reads a folder stays as it is."""
    import numpy as np
    import torch

    class Made(module.VisionDataset):
        size, mode, count = (32, 32), "RGB", 10

        def __init__(self, root=".", *args, transform=None, target_transform=None, **kwargs):
            given = [each for each in args if callable(each)]
            super().__init__(
                root,
                transform=transform or (given[0] if given else None),
                target_transform=target_transform or (given[1] if given[1:] else None),
            )
            flags = [each for each in args if isinstance(each, bool)]
            self.train = kwargs.get("train", flags[0] if flags else True)
            self.classes = [str(each) for each in range(self.count)]
            self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
            shape = (PER_SET, *self.size) if self.mode == "L" else (PER_SET, *self.size, 3)
            targets = np.arange(PER_SET) % self.count
            if self.mode == "L":
                self.data = torch.randint(0, 256, shape, dtype=torch.uint8)
                self.targets = torch.from_numpy(targets)
            else:
                self.data = np.random.RandomState(0).randint(0, 256, shape, dtype=np.uint8)
                self.targets = targets.tolist()
            self.labels = targets
            self.imgs = self.samples = [(str(i), int(t)) for i, t in enumerate(targets)]

        def __len__(self):
            return len(self.targets)

        def __getitem__(self, number):
            from PIL import Image

            image = Image.fromarray(np.asarray(self.data[number]))
            target = self.target(number)
            image = self.transform(image) if self.transform else image
            return image, self.target_transform(target) if self.target_transform else target

        def target(self, number):
            return int(self.targets[number])

    class Mask(Made):
        size, count = (128, 128), 2

        def target(self, number):
            return an_image(number, self.size, "L", classes=2)

    for name, (size, mode, count) in IMAGES.items():
        kind = {"size": size, "mode": mode, "count": count, "__module__": __name__}
        made = type(name, (Made,), kind)
        setattr(module, name, made)
        globals().setdefault(name, made)  # so that it can be pickled
    for name in SEGMENTED:
        setattr(module, name, type(name, (Mask,), {}))


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
    module.download_url_to_file = refuse


def no_weights(module):
    """The weights of torchvision's models."""
    module.WeightsEnum.get_state_dict = lambda self, *args, **kwargs: AnyWeights()


def refuse(url, *args, **kwargs):
    """For any other download."""
    raise OSError(f"stand-ins: nothing is downloaded, and nothing stands in for {url}")


def no_downloads(module):
    module.urlretrieve = refuse


def small_batches(module):
    """Batches no larger than the environment says, for scripts that leave no choice."""
    import functools

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


# torch_geometric -----------------------------------------------------------------------------


def graph_sets(module):
    """One random graph with parts to train on, or many small ones."""
    import torch

    def one(root=None, name=None, *args, transform=None, **kwargs):
        made = module.FakeDataset(1, 300, num_channels=32, num_classes=7)
        data = made._data
        part = torch.arange(data.num_nodes) % 3
        for number, name in enumerate(("train_mask", "val_mask", "test_mask")):
            made._data[name] = part == number
        made._data_list = None
        made.transform = transform or next((each for each in args if callable(each)), None)
        return made

    def many(root=None, name=None, *args, transform=None, **kwargs):
        made = module.FakeDataset(200, 20, num_channels=16, num_classes=4, task="graph")
        made.transform = transform
        return made

    for name in ("Planetoid", "Amazon", "Coauthor", "CitationFull", "WikipediaNetwork"):
        setattr(module, name, one)
    for name in ("TUDataset", "GNNBenchmarkDataset", "ZINC", "MoleculeNet"):
        setattr(module, name, many)


# torchaudio ----------------------------------------------------------------------------------


def sound_sets(module):
    """Sound of one second, with a label or a sentence."""
    import torch

    class Made(torch.utils.data.Dataset):
        def __init__(self, *args, **kwargs):
            pass

        def __len__(self):
            return PER_SET

        def __getitem__(self, number):
            if number >= PER_SET:
                raise IndexError(number)
            wave = torch.randn(1, 16000, generator=torch.Generator().manual_seed(number))
            return wave, 16000, self.label(number), number % 30, number

    def word(self, number):
        return WORDS[number % len(WORDS)]

    def sentence(self, number):
        return a_text(number, 6).upper()

    for name in ("SPEECHCOMMANDS", "YESNO"):
        setattr(module, name, type(name, (Made,), {"label": word, "__module__": __name__}))
    for name in ("LIBRISPEECH", "LJSPEECH", "VCTK_092"):
        setattr(module, name, type(name, (Made,), {"label": sentence, "__module__": __name__}))


def sound_files(module):
    """`torchaudio.load` without a decoder from elsewhere: 16 bits, in a WAV file."""
    import wave

    import numpy as np
    import torch

    def load(path, *args, **kwargs):
        with wave.open(os.fspath(path)) as file:
            raw = np.frombuffer(file.readframes(file.getnframes()), np.int16)
            channels, rate = file.getnchannels(), file.getframerate()
        return torch.from_numpy(raw.astype(np.float32) / 32768).view(-1, channels).T, rate

    module.load = load


# Hugging Face --------------------------------------------------------------------------------


COLUMNS = {  # a part of the name: what the samples have
    "mrpc": {"sentence1": a_text, "sentence2": a_text, "label": 2, "idx": int},
    "glue": {"sentence": a_text, "label": 2, "idx": int},
    "cifar": {"img": (32, 32), "label": 10},
    "mnist": {"image": (28, 28), "label": 10},
    "flowers": {"image": (96, 96), "text": a_text, "label": 10},
    "pokemon": {"image": (96, 96), "text": a_text},
    "butterflies": {"image": (96, 96)},
    "celeb": {"image": (96, 96), "label": 10},
    "beans": {"image": (96, 96), "labels": 3},
    "food": {"image": (96, 96), "label": 10},
    "alpaca": {"instruction": a_text, "input": a_text, "output": a_text, "text": a_text},
    "opus": {"translation": lambda number: {"en": a_text(number, 8), "it": a_text(number + 1, 8)}},
    "samsum": {"dialogue": a_text, "summary": lambda number: a_text(number, 8)},
    "tweet": {"Tweet text": a_text, "ID": int, "Label": 2},
    "twitter": {"Tweet text": a_text, "ID": int, "Label": 2},
    "": {"text": a_text, "label": 2},
}


def column_sets(module):
    """`datasets.load_dataset`, for names on the hub; files are read as ever."""
    plain = module.load_dataset

    def load_dataset(path, name=None, *args, split=None, streaming=False, **kwargs):
        if kwargs.get("data_files") or os.path.exists(path):
            return plain(path, name, *args, split=split, streaming=streaming, **kwargs)
        said = f"{path} {name}".lower()
        kind = next(columns for part, columns in COLUMNS.items() if part in said)
        parts = {each: made(kind, 400) for each in ("train", "validation", "test")}
        if streaming:
            parts = {each: part.to_iterable_dataset() for each, part in parts.items()}
        if split is None:
            return (module.IterableDatasetDict if streaming else module.DatasetDict)(parts)
        if isinstance(split, list):
            return [parts[each.partition("[")[0]] for each in split]
        return parts.get(str(split).partition("[")[0], parts["train"])

    def made(kind, count):
        columns = {}
        features = {}
        for column, how in kind.items():
            if isinstance(how, int):
                columns[column] = [number % how for number in range(count)]
                features[column] = module.ClassLabel(num_classes=how)
            elif isinstance(how, tuple):
                mode = "L" if how == (28, 28) else "RGB"
                columns[column] = [an_image(number, how, mode) for number in range(count)]
            else:
                columns[column] = [how(number) for number in range(count)]
        result = module.Dataset.from_dict(columns)
        for column, feature in features.items():
            result = result.cast_column(column, feature)
        return result

    module.load_dataset = load_dataset


def counting_metrics(module):
    """`evaluate.load`: whatever its name, the share of right predictions."""

    class Share:
        def __init__(self, *args, **kwargs):
            self.right = self.seen = 0

        def add_batch(self, predictions=(), references=(), **kwargs):
            for one, other in zip(predictions, references, strict=False):
                self.right += bool(one == other)
                self.seen += 1

        def compute(self, predictions=(), references=(), **kwargs):
            self.add_batch(predictions, references)
            result = {"accuracy": self.right / max(1, self.seen)}
            self.right = self.seen = 0
            return {**result, "f1": result["accuracy"]}

    module.load = Share


SMALL = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embed_dim"), 64),
    **dict.fromkeys(("num_hidden_layers", "num_layers", "n_layer", "n_layers"), 2),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "num_decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 4),
    **dict.fromkeys(("num_key_value_heads", "encoder_attention_heads"), 4),
    **dict.fromkeys(("decoder_attention_heads",), 4),
    **dict.fromkeys(("intermediate_size", "d_ff", "hidden_dim", "encoder_ffn_dim"), 128),
    **dict.fromkeys(("decoder_ffn_dim", "n_inner"), 128),
    **dict.fromkeys(("head_dim", "d_kv"), 16),
    "vocab_size": 1024,
    "embedding_size": 64,
}
FAMILIES = "distilbert deberta-v2 roberta electra albert bert gpt2 gpt_neo llama qwen2 t5 bart"
FAMILIES += " opt mistral phi gemma smollm vit clip wav2vec2 whisper segformer"
HUB = "revision code_revision token cache_dir force_download local_files_only subfolder"
HUB = frozenset(f"{HUB} trust_remote_code proxies _commit_hash _from_auto".split())


def family(name: str) -> str:
    """The kind of model, by its name."""
    said = name.lower().replace("flan-", "").replace("deberta-v3", "deberta-v2")
    found = next((each for each in FAMILIES.split() if each in said), "gpt2")
    return "llama" if found == "smollm" else found


def is_remote(name) -> bool:
    return isinstance(name, str) and not os.path.exists(name)


def small_configurations(module):
    """The configuration of a name on the hub: the family's, made small."""
    plain = module.AutoConfig.from_pretrained.__func__

    def from_pretrained(cls, name, *args, **kwargs):
        if not is_remote(name):
            return plain(cls, name, *args, **kwargs)
        from transformers.models.auto import modeling_auto

        config = module.CONFIG_MAPPING[family(name)]()
        known = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
        config.architectures = [known.get(config.model_type, "")]
        for field, value in SMALL.items():
            if isinstance(getattr(config, field, None), int):
                setattr(config, field, value)
        for field in ("pad_token_id", "bos_token_id", "eos_token_id"):
            setattr(config, field, min(getattr(config, field, None) or 0, 2))
        asked = {field: value for field, value in kwargs.items() if hasattr(config, field)}
        for field, value in asked.items():
            setattr(config, field, value)
        gone = {*asked, *HUB, "return_unused_kwargs"}
        left = {field: value for field, value in kwargs.items() if field not in gone}
        return (config, left) if kwargs.get("return_unused_kwargs") else config

    module.AutoConfig.from_pretrained = classmethod(from_pretrained)


def small_models(module):
    """A model of a name on the hub: small, with random weights."""
    plain = module.PreTrainedModel.from_pretrained.__func__

    def from_pretrained(cls, name, *args, config=None, **kwargs):
        if not is_remote(name):
            return plain(cls, name, *args, config=config, **kwargs)
        if config is None:
            from transformers import AutoConfig

            fits = ("num_labels", "id2label", "label2id")
            config = AutoConfig.from_pretrained(
                name, **{field: kwargs[field] for field in fits if field in kwargs}
            )
        kind = kwargs.get("dtype", kwargs.get("torch_dtype"))
        where = kwargs.get("device_map")
        where = "cuda" if where == "auto" else where.get("") if isinstance(where, dict) else where
        model = cls(config).eval()
        model = model if kind is None or isinstance(kind, str) else model.to(kind)
        return model if where is None else model.to(where)

    module.PreTrainedModel.from_pretrained = classmethod(from_pretrained)


def byte_tokenizers(module):
    """A tokenizer of a name on the hub: its tokens are bytes."""
    from_name = module.PreTrainedTokenizerBase.from_pretrained.__func__

    def from_pretrained(cls, name, *args, **kwargs):
        if not is_remote(name):
            return from_name(cls, name, *args, **kwargs)
        return byte_tokenizer()

    module.PreTrainedTokenizerBase.from_pretrained = classmethod(from_pretrained)


def byte_tokenizer():
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    special = ["<pad>", "<s>", "</s>", "<unk>", "<mask>"]
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    known = {token: number for number, token in enumerate(special + letters)}
    plain = tokenizers.Tokenizer(tokenizers.models.BPE(known, [], unk_token="<unk>"))
    plain.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = tokenizers.decoders.ByteLevel()
    names = ("pad_token", "bos_token", "eos_token", "unk_token", "mask_token")
    return PreTrainedTokenizerFast(
        tokenizer_object=plain,
        model_max_length=512,
        cls_token="<s>",
        sep_token="</s>",
        **dict(zip(names, special, strict=True)),
    )


def auto_tokenizers(module):
    plain = module.AutoTokenizer.from_pretrained.__func__

    def from_pretrained(cls, name, *args, **kwargs):
        return byte_tokenizer() if is_remote(name) else plain(cls, name, *args, **kwargs)

    module.AutoTokenizer.from_pretrained = classmethod(from_pretrained)


# imports -------------------------------------------------------------------------------------


AFTER = {
    "numpy": old_names,
    "torchvision.datasets": image_sets,
    "torchvision.models._api": no_weights,
    "torch.nn.modules.module": any_weights,
    "torch.hub": no_hub,
    "torch.utils.data.dataloader": small_batches,
    "urllib.request": no_downloads,
    "torchaudio": sound_files,
    "torchaudio.datasets": sound_sets,
    "torch_geometric.datasets": graph_sets,
    "datasets": column_sets,
    "evaluate": counting_metrics,
    "transformers.models.auto.configuration_auto": small_configurations,
    "transformers.models.auto.tokenization_auto": auto_tokenizers,
    "transformers.modeling_utils": small_models,
    "transformers.tokenization_utils_base": byte_tokenizers,
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
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            patch(module)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Patching())
