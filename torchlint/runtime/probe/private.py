"""Every name that the probe touches and that torch or CPython may move without notice.

Each function tolerates the absence of its name. What would stop working then is listed next to the
tests, in `tests/runtime/probe/private_names.py`.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MISSING: Any = object()
COMPILER = "torch._dynamo"
"""What `torch.compile` imports first."""


def find(where: str) -> Any:
    """What is at `module` or `module:attribute.attribute`, or `MISSING`."""
    module, _, attributes = where.partition(":")
    try:
        return inside(import_module(module), attributes)
    except ImportError:
        return MISSING


def inside(value: Any, attributes: str) -> Any:
    """What is at `attribute.attribute` of a value, or `MISSING`; without any, the value."""
    for attribute in attributes.split(".") if attributes else ():
        value = getattr(value, attribute, MISSING)
    return value


# CPython ------------------------------------------------------------------------------------


def wrap_line_cache(wrap: Callable[[Callable[..., list[str]]], Callable[..., list[str]]]) -> None:
    """Replace the function that reads a file's lines for tracebacks by `wrap` of it."""
    import linecache

    module: Any = linecache
    update = getattr(module, "updatecache", None)
    if update is not None:
        module.updatecache = wrap(update)


def wrap_preparation(
    wrap: Callable[[Callable[[str], dict[str, Any]]], Callable[[str], dict[str, Any]]],
) -> None:
    """Replace what multiprocessing sends to a fresh interpreter, given a process's name."""
    from multiprocessing import spawn

    module: Any = spawn
    prepare = getattr(module, "get_preparation_data", None)
    if prepare is not None:
        module.get_preparation_data = wrap(prepare)


def around_warnings(make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[[], None]:
    """Replace what shows a warning that no filter has held back; undone by a call of the result."""
    import warnings

    module: Any = warnings
    plain = getattr(module, "_showwarnmsg", None)
    if plain is None:
        return lambda: None
    stand_in = module._showwarnmsg = make(plain)

    def undo() -> None:
        if module._showwarnmsg is stand_in:
            module._showwarnmsg = plain

    return undo


def name_semaphores(prefix: str) -> None:
    """Begin the names of multiprocessing's semaphores so, here and in this process's children."""
    from multiprocessing import process

    settings = getattr(process.current_process(), "_config", None)
    if settings is not None:
        settings["semprefix"] = prefix


def watch_shared_memory(made: Callable[[str], None]) -> None:
    """Hear of the name of every block of shared memory that multiprocessing makes."""
    module = find("_posixshmem")
    real = getattr(module, "shm_open", None)
    if real is None:
        return

    @functools.wraps(real)
    def shm_open(path: str, flags: int, *args: Any, **kwargs: Any) -> int:
        descriptor: int = real(path, flags, *args, **kwargs)
        if flags & os.O_EXCL:
            made(path)
        return descriptor

    module.shm_open = shm_open


def wait_for_threads() -> None:
    """Wait for the script's threads as the interpreter does when the main module has ended."""
    shutdown = getattr(threading, "_shutdown", None)
    if shutdown is not None:
        shutdown()
        return
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


# Steps and their parts -----------------------------------------------------------------------


def loader_iterator() -> Any:
    """The class whose `__next__` every iterator of a torch `DataLoader` runs; None if it moved."""
    iterator = find("torch.utils.data.dataloader:_BaseDataLoaderIter")
    return None if iterator is MISSING else iterator


def graph_task() -> Callable[[], int]:
    """A function that gives -1 outside of a backward pass, on each of its threads."""
    current: Callable[[], int] = find("torch._C:_current_graph_task_id")
    return (lambda: -1) if current is MISSING else current


def compiling() -> Callable[[], bool]:
    """A function that is a constant true for what dynamo traces, and true for what the compiler
    calls itself: up to torch 2.6 it differentiates a graph with `torch.autograd.grad`."""
    found = map(find, ("torch.compiler:is_compiling", "torch._utils:is_compiling"))
    traced: Callable[[], bool] = next((each for each in found if each is not MISSING), bool)
    state = find("torch._guards:_TLS")

    def compiling() -> bool:
        return traced() or getattr(state, "tracing_context", None) is not None

    # Or dynamo compiles it by itself where a compiled function calls a wrapper of ours.
    keep_from_compiler(compiling)
    return compiling


def script_like(stand_in: Callable[..., Any], function: Callable[..., Any]) -> None:
    """Let TorchScript compile a call of `stand_in` as it compiles one of `function`."""
    look_up = find("torch.jit._builtins:_find_builtin")
    register = find("torch.jit._builtins:_register_builtin")
    if look_up is MISSING or register is MISSING:
        return
    operator = look_up(function)
    if operator is not None:
        register(stand_in, operator)


_FRAMES = "torch._C:_dynamo.eval_frame."


def keep_from_compiler(function: Any) -> None:
    """Have dynamo run this function's own frames as they are. It may still be inlined into a
    graph, where `compiling` is a constant."""
    _skip(function, with_callees=False)


def out_of_graphs(function: Callable[..., None]) -> Callable[..., None]:
    """The same function; dynamo inlines it nowhere (a graph breaks there), and looks neither at
    its frames nor at any below them."""
    call: Any = function
    set_callback = find(_FRAMES + "set_eval_frame")
    if not _skip(function, with_callees=True) and set_callback is not MISSING:

        def call(*arguments: Any) -> None:
            before = set_callback(None)
            try:
                function(*arguments)
            finally:
                set_callback(before)

        _skip(call, with_callees=False)
    call._torchdynamo_disable = True
    return cast("Callable[..., None]", call)


def _skip(function: Any, *, with_callees: bool) -> bool:
    """Whether this torch can be given the callees too; 2.6 cannot."""
    action, strategy = find(_FRAMES + "_FrameAction"), find(_FRAMES + "_FrameExecStrategy")
    set_strategy, skip = find(_FRAMES + "set_code_exec_strategy"), find(_FRAMES + "skip_code")
    if MISSING not in (action, strategy, set_strategy):
        below = action.SKIP if with_callees else action.DEFAULT
        set_strategy(function.__code__, strategy(action.SKIP, below))
        return True
    if skip is not MISSING:
        skip(function.__code__)
    return False


@contextmanager
def out_of_compiler() -> Iterator[None]:
    """Here dynamo looks at no frame, even if the caller was called from a compiled one."""
    set_callback = find(_FRAMES + "set_eval_frame")
    if set_callback is MISSING:
        yield
        return
    before = set_callback(None)
    try:
        yield
    finally:
        set_callback(before)


def compiled_frames() -> int:
    """How many frames dynamo has compiled; 0 as long as nobody has imported it."""
    utils = sys.modules.get("torch._dynamo.utils")
    counters = getattr(utils, "counters", None)
    return int(counters["frames"]["ok"]) if counters else 0


def when_compiling(begun: Callable[..., object], ended: Callable[..., object]) -> None:
    """Call these at the start and the end of each compilation of `torch.compile`, once dynamo has
    been imported. torch before 2.4 does not tell; `torch._dynamo.reset` forgets them."""
    handler = find("torch._dynamo.callback:callback_handler")
    for name, call in (("register_start_callback", begun), ("register_end_callback", ended)):
        register = inside(handler, name)
        if register is not MISSING:
            register(call)


def when_worker_ends(call: Callable[[], object]) -> None:
    """Call this as the last act of a process that multiprocessing started: this one, or one that
    is forked from it later. `atexit` functions run in neither."""
    from multiprocessing import util

    def await_end(_: object = None) -> None:
        util.Finalize(None, call, exitpriority=-100)

    # A forked process forgets what its parent wanted.
    util.register_after_fork(await_end, await_end)
    await_end()


def version(tensor: Any) -> int | None:
    """How often a tensor was changed in place; None if that is not counted."""
    try:
        return int(tensor._version)
    except (AttributeError, RuntimeError):  # a tensor of inference mode
        return None


def base(tensor: Any) -> Any:
    """The tensor that this one is a view of; None if it is none."""
    return getattr(tensor, "_base", None)


def compiled_module() -> Any:
    """The class of what `torch.compile` makes of a module; None as long as nobody has imported
    the compiler."""
    return getattr(sys.modules.get("torch._dynamo.eval_frame"), "OptimizedModule", None)


# Several processes ---------------------------------------------------------------------------


DDP_MADE = "_ddp_init_helper"
"""A method that a `DistributedDataParallel` calls at the end of its constructor. Around the latter,
its warnings would name another line."""
BROADCAST = "_broadcast_coalesced"
"""The function of `torch.distributed` by which a `DistributedDataParallel` sends buffers."""


def time_each_exchange(module: Any, every: int = 1) -> bool:
    """Have a `DistributedDataParallel` time its exchange of gradients in every so many passes, not
    only in the first ten and each hundredth. Whether it can."""
    rate = getattr(module, "_set_ddp_runtime_logging_sample_rate", None)
    if rate is None or getattr(module, "logger", None) is None:
        return False
    rate(every)
    return True


def last_exchange(module: Any) -> tuple[int, float, float]:
    """What a `DistributedDataParallel` knows of itself since its last forward pass with gradients.

    Returns:
        The number of forward passes that had an exchange to follow, without this last one; of the
        last exchange, the seconds from the first message to the end of the last, and how many of
        them passed while the backward pass still computed. 0 seconds: they are not known.
    """
    known = module._get_ddp_logging_data()
    whole = known.get("backward_comm_time") or 0
    hidden = known.get("backward_compute_comm_overlap_time") or 0
    return int(known.get("iteration", -1)), whole / 1e9, min(hidden, whole) / 1e9


def unused_bytes(module: Any) -> int | None:
    """Of the parameters of a `DistributedDataParallel` that had no part in the last pass that it
    has timed; None if it does not look for them, or has timed none."""
    known = module._get_ddp_logging_data()
    size = known.get("unused_parameter_size")
    return int(size) if known.get("find_unused_parameters") and size is not None else None


# Numbers -------------------------------------------------------------------------------------

UNCOMPILED = "_orig_mod"
"""Under this name a compiled module keeps the one that it was made of."""


def uncompiled(module: Any) -> Any:
    """What `torch.compile` made the module of, or None."""
    return getattr(module, "_modules", {}).get(UNCOMPILED)


def is_replica(module: Any) -> bool:
    """Whether `DataParallel` has made the module for one call on one device."""
    return bool(getattr(module, "_is_replica", False))


def wrap_fetchers(
    indexed: Callable[[Callable[[Any], Any], Any, Any], Any],
    streamed: Callable[[Callable[[Any], Any], Any, Any], Any],
) -> bool:
    """Be between a loader and its datasets, in whatever process they are read.

    Args:
        indexed: gets the function that reads a batch, the fetcher and the indices asked for.
        streamed: the same for iterable datasets.

    Returns:
        Whether both are in place; else neither is.
    """
    fetch = find("torch.utils.data._utils.fetch:_MapDatasetFetcher")
    stream = find("torch.utils.data._utils.fetch:_IterableDatasetFetcher")
    plain = [vars(each).get("fetch") for each in (fetch, stream) if each is not MISSING]
    if len(plain) < 2 or None in plain:
        return False
    for owner, function, wrapper in ((fetch, plain[0], indexed), (stream, plain[1], streamed)):
        owner.fetch = _around(function, wrapper)
    return True


def fetchers_are_wrapped() -> bool:
    """Whether `wrap_fetchers` has been at work in this process."""
    fetch = find("torch.utils.data._utils.fetch:_MapDatasetFetcher.fetch")
    return hasattr(fetch, "__wrapped__")


def _around(function: Any, wrapper: Any) -> Any:
    @functools.wraps(function)
    def call(self: Any, argument: Any) -> Any:
        return wrapper(functools.partial(function, self), self, argument)

    return call


def wrap_next_index(wrapper: Callable[[Callable[[], Any], Any], Any]) -> None:
    """Replace what a loader's iterator asks its sampler for; gets the function and the iterator."""
    iterator = find("torch.utils.data.dataloader:_BaseDataLoaderIter")
    plain = None if iterator is MISSING else vars(iterator).get("_next_index")
    if plain is not None:
        iterator._next_index = functools.wraps(plain)(
            lambda self: wrapper(functools.partial(plain, self), self)
        )


def watch_autocast(entered: Callable[[Any], None]) -> None:
    """Hear of the dtype whenever a region of mixed precision is entered."""
    autocast = find("torch.amp:autocast")
    plain = None if autocast is MISSING else vars(autocast).get("__enter__")
    if plain is None:
        return

    @functools.wraps(plain)
    def enter(self: Any) -> Any:
        result = plain(self)
        dtype = getattr(self, "fast_dtype", None)
        if dtype is not None and getattr(self, "_enabled", True):
            entered(dtype)
        return result

    autocast.__enter__ = enter


def wrap_archives(to_read: Callable[[Any], Any], to_write: Callable[[Any], Any]) -> None:
    """Have torch's files read and written where the functions say, given a path or a stream."""
    import torch

    for name, place in (("PyTorchFileReader", to_read), ("PyTorchFileWriter", to_write)):
        real = getattr(torch._C, name, None)
        if real is not None:
            setattr(torch._C, name, _elsewhere(real, place))


def wrap_file_store(place: Callable[[Any], Any]) -> None:
    """Put the file that the ranks of `init_method="file://…"` meet in where this says."""
    for holder in map(find, ("torch._C._distributed_c10d", "torch.distributed")):
        real = getattr(holder, "FileStore", None)
        if real is not None:
            stand_in = _elsewhere(real, place)
            for name, module in tuple(sys.modules.items()):
                if name.startswith("torch.") and vars(module).get("FileStore") is real:
                    module.FileStore = stand_in  # type: ignore[attr-defined]
            return


def _elsewhere(real: Any, place: Callable[[Any], Any]) -> Any:
    def init(self: Any, file: Any, *args: Any, **kwargs: Any) -> None:
        real.__init__(self, place(file), *args, **kwargs)

    return type(real.__name__, (real,), {"__init__": init, "__module__": real.__module__})


# Operations ----------------------------------------------------------------------------------


def formulas() -> dict[Any, Callable[..., int]] | None:
    """torch's own formulas for the FLOPs of an operation, by its name without overload; None
    before torch 2.2, which has none of this form."""
    found = find("torch.utils.flop_counter:flop_registry")
    return None if found is MISSING else found


def dispatch_mode_class() -> Any:
    """The class of modes that see every operation; `object` if it has moved."""
    found = find("torch.utils._python_dispatch:TorchDispatchMode")
    return object if found is MISSING else found


def without_overload(operation: Any) -> Any:
    """`mm` for `mm.out`, as formulas have it."""
    return getattr(operation, "_overloadpacket", operation)


def dispatch_mode() -> Any:
    """The innermost dispatch mode that is open on this thread; None without one."""
    current = find("torch.utils._python_dispatch:_get_current_dispatch_mode")
    return None if current is MISSING else current()


def forward_number() -> Callable[[], int] | None:
    """A function that gives the number that this thread's next node of the graph will get; None if
    it has moved."""
    found = find("torch._C._autograd:_get_sequence_nr")
    return None if found is MISSING else cast("Callable[[], int]", found)


def backward_number() -> int | None:
    """The number of the node whose gradient this thread is computing; None outside of that."""
    current = find("torch._C:_current_autograd_node")
    node = None if current is MISSING else current()
    number = getattr(node, "_sequence_nr", None)
    return None if number is None else int(number())


# A played device -----------------------------------------------------------------------------


def address(storage: Any) -> int:
    """Of a storage, as long as there is a reference to it, a weak one too."""
    return int(storage._cdata)


def untyped(storage: Any) -> Any:
    """The untyped storage in one that may have a type."""
    return getattr(storage, "_untyped_storage", storage)


def parse_to(make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Any:
    """Replace what reads the arguments of `to` (device, type, whether to wait, layout) by `make` of
    it, and give that."""
    module = functions_in_c()
    module._parse_to = make(module._parse_to)
    return module._parse_to


def functions_in_c() -> Any:
    """The module of torch's functions for neural networks in C++."""
    return find("torch._C:_nn")


def fake_tensor() -> Any:
    """The class of tensors without content; `MISSING` if it moved."""
    return find("torch._subclasses.fake_tensor:FakeTensor")


def inside_transform(tensor: Any) -> Any:
    """The tensor in one that `torch.vmap` or `torch.func.grad` has wrapped; None for any other."""
    is_wrapped = find("torch._C:_functorch.is_functorch_wrapped_tensor")
    unwrap = find("torch._C:_functorch.get_unwrapped")
    if MISSING in (is_wrapped, unwrap) or not is_wrapped(tensor):
        return None
    return unwrap(tensor)


def inside_subclass(tensor: Any) -> Any:
    """The first of the tensors that one is made of, as a sharded or a jagged one is; None for one
    with content of its own, or in the making."""
    flatten = getattr(type(tensor), "__tensor_flatten__", None)
    if flatten is None:
        return None
    try:
        names, _ = flatten(tensor)
        return getattr(tensor, names[0])
    except (AttributeError, IndexError):
        return None


def wrap_subclasses(make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace what makes tensors that are made of others by `make` of it."""
    name = "_make_wrapper_subclass"
    owner: Any = find("torch:Tensor")
    plain = getattr(owner, name, None)
    if plain is not None:
        setattr(owner, name, staticmethod(make(plain)))


def wrap_jagged_attention(make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace what chooses a kernel for attention over jagged tensors by `make` of it."""
    module = find("torch.nested._internal.sdpa")
    plain = getattr(module, "_select_sdp_backend", None)
    if plain is not None:
        module._select_sdp_backend = make(plain)


def wrap_accelerator(make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace what says in C++ which accelerator there is by `make` of it."""
    module = find("torch._C")
    plain = getattr(module, "_get_accelerator", None)
    if plain is not None:
        module._get_accelerator = make(plain)


def without_modes() -> Any:
    """A context in which this thread is in no dispatch mode."""
    disable = find("torch.utils._python_dispatch:_disable_current_modes")
    return nullcontext() if disable is MISSING else disable()


def schema(operation: Any) -> Any:
    """Arguments and results of an operation; None if it has none, as one that takes functions."""
    return getattr(operation, "_schema", None)


def wrap_engine(make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace what runs backward passes by `make` of it, wherever it is looked up."""
    for where in ("torch.autograd", "torch.autograd.graph"):
        module = find(where)
        plain = getattr(module, "_engine_run_backward", None)
        if plain is not None:
            module._engine_run_backward = make(plain)


def device_context() -> tuple[Any, frozenset[Any]]:
    """The class behind `with torch.device(…)`, and the functions to which it adds the device; it
    has to be asked before they are replaced."""
    constructors = find("torch.utils._device:_device_constructors")
    known = frozenset() if constructors is MISSING else frozenset(constructors())
    return find("torch.utils._device:DeviceContext"), known


def has_function_modes() -> bool:
    """Whether this thread is in a mode that sees functions of torch."""
    length = find("torch._C:_len_torch_function_stack")
    return length is not MISSING and length() > 0


def wrap_printer(make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace what writes a tensor out by `make` of it."""
    module = find("torch._tensor_str")
    plain = getattr(module, "_str_intern", None)
    if plain is not None:
        module._str_intern = make(plain)


def wrap_grouping(make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace what sorts tensors by device and type by `make` of it, wherever it is looked up."""
    name = "_group_tensors_by_device_and_dtype"
    plain = find(f"torch._C:{name}")
    if plain is MISSING:
        return
    grouped = make(plain)
    for module in [find("torch._C"), *sys.modules.values()]:
        if getattr(module, "__dict__", {}).get(name) is plain:
            setattr(module, name, grouped)


def put_objects_on(make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace what says on which device ranks exchange objects by `make` of it."""
    module = find("torch.distributed.distributed_c10d")
    for name in ("_get_object_coll_device", "_get_pg_default_device"):
        plain = getattr(module, name, None)
        if plain is not None:
            setattr(module, name, make(plain))


def capture_no_graphs() -> None:
    """No CUDA stream is being captured."""
    native = find("torch._C")
    if hasattr(native, "_cuda_isCurrentStreamCapturing"):
        native._cuda_isCurrentStreamCapturing = lambda: False


def load_compiler() -> None:
    """Import dynamo now: it asks what CUDA there is while it is imported."""
    find("torch._dynamo")
