"""What Hugging Face's hub would give: data sets, small models with random weights, tokenizers."""

from __future__ import annotations

import os

from stand_in_sets import an_image

WORDS = (
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "and",
    "saw",
    "one",
    "of",
    "many",
    "birds",
    "in",
    "that",
    "old",
    "tree",
    "by",
    "noon",
)


def a_text(number, words=40):
    """The same words for the same number."""
    return " ".join(WORDS[(number * 7 + i * (i + 3)) % len(WORDS)] for i in range(words))


def short(number):
    return a_text(number, 8)


def in_two_languages(number):
    return {"en": short(number), "it": short(number + 1)}


ROWS = 400  # samples in each part of a data set
COLUMNS = {  # a part of the name: its columns, by classes (a number), size (of images) or function
    "mrpc": {"sentence1": a_text, "sentence2": a_text, "label": 2, "idx": int},
    "glue": {"sentence": a_text, "label": 2, "idx": int},
    "cifar": {"img": (32, 32), "label": 10},
    "mnist": {"image": (28, 28), "label": 10},
    "flowers": {"image": (96, 96), "text": a_text, "label": 10},
    "alpaca": {"instruction": a_text, "input": a_text, "output": a_text, "text": a_text},
    "opus": {"translation": in_two_languages},
    "": {"text": a_text, "label": 2},
}


def tables(module):
    """`datasets.load_dataset`, for names on the hub; files are read as ever."""
    plain = module.load_dataset

    def load_dataset(path, name=None, *args, split=None, streaming=False, **kwargs):
        if kwargs.get("data_files") or os.path.exists(path):
            return plain(path, name, *args, split=split, streaming=streaming, **kwargs)
        said = f"{path} {name}".lower()
        columns = next(columns for part, columns in COLUMNS.items() if part in said)
        parts = {each: made(columns) for each in ("train", "validation", "test")}
        if streaming:
            parts = {each: part.to_iterable_dataset() for each, part in parts.items()}
        if split is None:
            return (module.IterableDatasetDict if streaming else module.DatasetDict)(parts)
        asked = split if isinstance(split, list) else [str(split)]
        found = [parts.get(each.partition("[")[0], parts["train"]) for each in asked]
        return found if isinstance(split, list) else found[0]

    def made(columns):
        values, classes = {}, {}
        for column, how in columns.items():
            if isinstance(how, int):
                values[column] = [number % how for number in range(ROWS)]
                classes[column] = module.ClassLabel(num_classes=how)
            elif isinstance(how, tuple):
                mode = "L" if how == (28, 28) else "RGB"
                values[column] = [an_image(number, how, mode) for number in range(ROWS)]
            else:
                values[column] = [how(number) for number in range(ROWS)]
        result = module.Dataset.from_dict(values)
        for column, feature in classes.items():
            result = result.cast_column(column, feature)
        return result

    module.load_dataset = load_dataset


def metrics(module):
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
            share, self.right, self.seen = self.right / max(1, self.seen), 0, 0
            return {"accuracy": share, "f1": share}

    module.load = Share


SMALL = {  # fields of configurations, as they are called by the families of models
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "embedding_size"), 64),
    **dict.fromkeys(("num_hidden_layers", "num_layers", "n_layer", "n_layers"), 2),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "num_decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 4),
    **dict.fromkeys(("num_key_value_heads", "encoder_attention_heads"), 4),
    **dict.fromkeys(("decoder_attention_heads",), 4),
    **dict.fromkeys(("intermediate_size", "d_ff", "hidden_dim", "n_inner"), 128),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 128),
    **dict.fromkeys(("head_dim", "d_kv"), 16),
    "vocab_size": 1024,
}
FAMILIES = (  # in the order in which they are looked for in a name
    "distilbert deberta-v2 roberta electra albert bert gpt2 gpt_neo llama qwen2 t5 bart opt "
    "mistral phi gemma smollm vit clip wav2vec2 whisper segformer"
)
HUB = frozenset(  # arguments that only say how to download
    [
        "revision",
        "code_revision",
        "token",
        "cache_dir",
        "force_download",
        "local_files_only",
        "subfolder",
        "trust_remote_code",
        "proxies",
        "return_unused_kwargs",
        "_commit_hash",
        "_from_auto",
    ]
)


def family(name):
    """The kind of model, by its name."""
    said = name.lower().replace("deberta-v3", "deberta-v2")
    found = next((each for each in FAMILIES.split() if each in said), "gpt2")
    return "llama" if found == "smollm" else found


def is_remote(name):
    return isinstance(name, str) and not os.path.exists(name)


def configurations(module):
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
        left = {each: kwargs[each] for each in kwargs if each not in asked and each not in HUB}
        return (config, left) if kwargs.get("return_unused_kwargs") else config

    module.AutoConfig.from_pretrained = classmethod(from_pretrained)


def models(module):
    """A model of a name on the hub: small, with random weights."""
    plain = module.PreTrainedModel.from_pretrained.__func__

    def from_pretrained(cls, name, *args, config=None, **kwargs):
        if not is_remote(name):
            return plain(cls, name, *args, config=config, **kwargs)
        if config is None:
            from transformers import AutoConfig

            fits = {each: kwargs[each] for each in kwargs if each.endswith(("labels", "label"))}
            config = AutoConfig.from_pretrained(name, **fits)
        model = cls(config).eval()
        kind, where = kwargs.get("dtype", kwargs.get("torch_dtype")), kwargs.get("device_map")
        where = where.get("") if isinstance(where, dict) else where
        model = model if kind is None or isinstance(kind, str) else model.to(kind)
        return model if where is None else model.to("cuda" if where == "auto" else where)

    module.PreTrainedModel.from_pretrained = classmethod(from_pretrained)


def tokenizers(module):
    """A tokenizer of a name on the hub: its tokens are bytes."""
    _from_bytes(module.PreTrainedTokenizerBase)


def auto_tokenizers(module):
    _from_bytes(module.AutoTokenizer)


def _from_bytes(owner):
    plain = owner.from_pretrained.__func__

    def from_pretrained(cls, name, *args, **kwargs):
        return byte_tokenizer() if is_remote(name) else plain(cls, name, *args, **kwargs)

    owner.from_pretrained = classmethod(from_pretrained)


def byte_tokenizer():
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    names = ["pad", "bos", "eos", "unk", "mask"]
    special = ["<pad>", "<s>", "</s>", "<unk>", "<mask>"]
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    known = {token: number for number, token in enumerate((*special, *letters))}
    plain = tokenizers.Tokenizer(tokenizers.models.BPE(known, [], unk_token="<unk>"))
    plain.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = tokenizers.decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=plain,
        model_max_length=512,
        cls_token="<s>",
        sep_token="</s>",
        **{f"{name}_token": token for name, token in zip(names, special, strict=True)},
    )


def byte_encodings(module):
    """`tiktoken.get_encoding`, by whatever name: tokens are bytes, and one ends a text."""
    letters = {bytes([each]): each for each in range(256)}
    ends = {"<|endoftext|>": 50256}
    made = module.Encoding("bytes", pat_str=".", mergeable_ranks=letters, special_tokens=ends)
    module.get_encoding = module.encoding_for_model = lambda name: made
