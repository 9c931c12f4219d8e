"""What torch and its neighbours offer under which names: tables, no logic beyond look-up.

Names were read from torch 2.13, numpy 2.4 and the documentation of the frameworks.
"""

from __future__ import annotations

from functools import cache

from torchlint.analysis.frameworks.frameworks import ANY

_MOVED = {
    "torch.nn.parallel.DataParallel": "torch.nn.DataParallel",
    "torch.nn.parallel.data_parallel.DataParallel": "torch.nn.DataParallel",
    "torch.nn.parallel.data_parallel.data_parallel": "torch.nn.parallel.data_parallel",
    "torch.nn.parallel.distributed.DistributedDataParallel": (
        "torch.nn.parallel.DistributedDataParallel"
    ),
    "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel": (
        "torch.distributed.fsdp.FullyShardedDataParallel"
    ),
    "torch.distributed._composable.fsdp.fully_shard": "torch.distributed.fsdp.fully_shard",
    "torch.autograd.variable.Variable": "torch.autograd.Variable",
    "torch.autograd.grad_mode.no_grad": "torch.no_grad",
    "torch.autograd.no_grad": "torch.no_grad",
    "torch.autograd.inference_mode": "torch.inference_mode",
    **dict(ANY.moved),
}
_PACKAGES = (
    ("torch.nn.modules.", "torch.nn."),
    ("torch.utils.data.dataloader.", "torch.utils.data."),
    ("torch.utils.data.dataset.", "torch.utils.data."),
    ("torch.optim.", "torch.optim."),
    *ANY.renamed,
)


def canonical(name: str) -> str:
    """One spelling for things that torch exports under several: `torch.nn.modules.conv.Conv2d`
    and `torch.nn.Conv2d` are the same."""
    if name in _MOVED:
        return _MOVED[name]
    for prefix, public in _PACKAGES:
        if name.startswith(prefix):
            rest = name[len(prefix) :]
            head, dot, tail = rest.partition(".")
            if dot and head.islower() and tail[:1].isupper() and "." not in tail:
                rest = tail
            name = public + rest
            break
    return _MOVED.get(name, name)


CONVOLUTIONS = frozenset(
    f"torch.nn.{lazy}Conv{transpose}{rank}d"
    for lazy in ("", "Lazy")
    for transpose in ("", "Transpose")
    for rank in (1, 2, 3)
)
LINEAR = frozenset({"torch.nn.Linear", "torch.nn.LazyLinear"})
BATCH_NORMS = frozenset(
    {f"torch.nn.{lazy}BatchNorm{rank}d" for lazy in ("", "Lazy") for rank in (1, 2, 3)}
    | {"torch.nn.SyncBatchNorm"}
)
INSTANCE_NORMS = frozenset(
    f"torch.nn.{lazy}InstanceNorm{rank}d" for lazy in ("", "Lazy") for rank in (1, 2, 3)
)
LOSSES = frozenset(
    f"torch.nn.{name}Loss"
    for name in (
        "L1 NLL PoissonNLL GaussianNLL KLDiv MSE BCE BCEWithLogits HingeEmbedding MultiLabelMargin "
        "SmoothL1 Huber SoftMargin CrossEntropy MultiLabelSoftMargin CosineEmbedding MarginRanking "
        "MultiMargin TripletMargin TripletMarginWithDistance CTC"
    ).split()
)

_NN = (
    "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d "
    "AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d Bilinear DataParallel Dropout Dropout1d "
    "Dropout2d Dropout3d ELU Embedding EmbeddingBag Flatten GELU GLU GRU GRUCell GroupNorm "
    "Hardsigmoid Hardswish Identity LSTM LSTMCell LayerNorm LeakyReLU LogSoftmax MaxPool1d "
    "MaxPool2d MaxPool3d MaxUnpool2d Mish Module ModuleDict ModuleList MultiheadAttention PReLU "
    "Parameter ParameterDict ParameterList PixelShuffle RMSNorm RNN RNNCell RReLU ReLU ReLU6 "
    "ReflectionPad2d ReplicationPad2d SELU Sequential SiLU Sigmoid Softmax Softplus Tanh "
    "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder "
    "TransformerEncoderLayer Unflatten Unfold Upsample ZeroPad2d functional init parallel utils"
)
OPTIMIZERS = frozenset(
    f"torch.optim.{name}"
    for name in (
        "Adadelta Adafactor Adagrad Adam AdamW Adamax ASGD LBFGS Muon NAdam RAdam RMSprop Rprop "
        "SGD SparseAdam Optimizer"
    ).split()
)
DATASETS = frozenset(
    f"torch.utils.data.{name}"
    for name in (
        "Dataset IterableDataset TensorDataset ConcatDataset ChainDataset StackDataset Subset"
    ).split()
)
_DATA = (
    "DataLoader Sampler BatchSampler RandomSampler SequentialSampler SubsetRandomSampler "
    "WeightedRandomSampler default_collate random_split get_worker_info"
)
TYPED_TENSORS = tuple(
    f"{kind}Tensor"
    for kind in ("", "Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Byte", "Bool")
)


@cache
def star_exports(module: str) -> frozenset[str]:
    """The names that `from module import *` binds, for the torch modules people import this way."""
    if module == "torch.nn":
        exports = {*_NN.split()}
        groups = CONVOLUTIONS | LINEAR | BATCH_NORMS | INSTANCE_NORMS | LOSSES
    elif module == "torch.optim":
        exports, groups = {"lr_scheduler"}, OPTIMIZERS
    elif module == "torch.utils.data":
        exports, groups = {*_DATA.split()}, DATASETS
    elif module == "torch":
        exports = {"nn", "optim", "cuda", "device", "tensor", "from_numpy", "as_tensor", "zeros"}
        exports |= {"ones", "cat", "stack", "no_grad", *TYPED_TENSORS}
        groups = frozenset()
    elif module == "torch.nn.parallel":
        exports, groups = {"DataParallel", "DistributedDataParallel", "data_parallel"}, frozenset()
    else:
        return frozenset()
    return frozenset(exports) | {name.rpartition(".")[2] for name in groups}


CONSTRUCTORS = frozenset(
    f"torch.{name}"
    for name in (
        "tensor as_tensor from_numpy zeros ones empty full eye arange linspace logspace range rand "
        "randn randint randperm normal empty_strided tril_indices triu_indices hann_window"
    ).split()
) | frozenset(f"torch.{name}" for name in TYPED_TENSORS)
"""Make a tensor on the CPU unless `device=` says otherwise."""

CUDA_CONSTRUCTORS = frozenset(f"torch.cuda.{name}" for name in TYPED_TENSORS)

NOT_TENSORS = frozenset(
    f"torch.{name}"
    for name in (
        "device dtype load save Size Generator finfo iinfo is_tensor is_floating_point typename "
        "get_default_dtype get_num_threads numel manual_seed initial_seed seed compile "
        "set_grad_enabled no_grad enable_grad inference_mode autocast get_rng_state "
        "get_autocast_dtype is_grad_enabled set_default_dtype set_default_device set_num_threads "
        "allclose equal is_nonzero"
    ).split()
)
NOT_TENSOR_PACKAGES = tuple(
    f"torch.{name}."
    for name in (
        "backends cuda distributed distributions hub jit multiprocessing nn.init nn.parallel "
        "nn.utils onnx optim profiler utils version mps xpu accelerator amp autograd.profiler "
        "distributed quantization ao fx _C random overrides testing export"
    ).split()
)

CPU_TYPES = frozenset(f"torch.{name}" for name in TYPED_TENSORS)
"""What `x.type(torch.FloatTensor)` is given: `torch.cuda.FloatTensor` and a dtype do not count."""

TENSOR_METHODS = frozenset(
    """
    argmax argmin backward bfloat16 chunk clamp clamp_ contiguous cuda detach detach_ div_ double
    eq expand expand_as flatten float gather ge gt half index_select int le log_softmax
    logsumexp long lt masked_fill masked_fill_ masked_select mm ne new_ones new_tensor
    new_zeros permute requires_grad_ sigmoid size softmax softmax topk type_as unsqueeze
    unsqueeze_ view view_as bmm matmul narrow scatter scatter_ unfold numel add_ mul_ sub_ zero_
    fill_ copy_ norm logsumexp relu
    """.split()
) - {"int", "flatten", "argmax", "argmin", "float", "norm", "size", "chunk"}
"""Methods that tensors have and NumPy arrays, lists and Python numbers do not."""

NEITHER_TENSOR_NOR_MOVE = frozenset(
    """
    size dim numel stride element_size is_contiguous data_ptr get_device is_cuda nelement ndimension
    storage untyped_storage is_floating_point type dtype requires_grad backward register_hook
    """.split()
)
"""Tensor methods that answer on the host without waiting for the device."""
