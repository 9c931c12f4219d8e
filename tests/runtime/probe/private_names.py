"""The private names of torch and CPython that the probe touches, and what depends on each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Name:
    """A private name, or one that is public and documented nowhere.

    Args:
        where: spellings over the versions, newest first, as `module:attribute.attribute`.
        what: what stops working where none of them exists.
        optional: absent from some supported builds without harm.
        word: the name itself, where it is an attribute that only instances have; the source of
            what is at `where` mentions it.
    """

    where: tuple[str, ...]
    what: str
    optional: bool = False
    word: str = ""


NAMES: tuple[Name, ...] = (
    # dynamo, since torch 2.4
    *(
        Name(
            (f"torch._dynamo.callback:callback_handler.{name}",),
            "a script that compiles for minutes is taken for one that hangs",
            optional=True,
        )
        for name in ("register_start_callback", "register_end_callback")
    ),
    # CPython
    Name(("linecache:updatecache",), "tracebacks and inspect.getsource show the file on disk"),
    Name(
        ("multiprocessing.spawn:get_preparation_data",),
        "spawned and forkserver workers run the file on disk",
    ),
    Name(
        ("multiprocessing.process:BaseProcess.__init__",),
        "semaphores of killed workers stay without overlayfs",
        word="_config",
    ),
    Name(("_posixshmem:shm_open",), "shared memory of killed workers stays without overlayfs"),
    Name(("threading:_shutdown",), "a pool of threads that is left open is not told to end"),
    # torch
    Name(
        ("torch.utils.data.dataloader:_BaseDataLoaderIter.__next__",),
        "waits for data are not seen, nor the steps of a script that only loads",
    ),
    *(
        Name(
            ("torch.utils.data.dataloader:_BaseDataLoaderIter",),
            "profile says less of a loader, and its batches are not replayed",
            word=word,
        )
        for word in (
            *("_dataset", "_num_workers", "_pin_memory", "_persistent_workers", "_collate_fn"),
            *("_index_sampler", "_num_yielded", "_next_index", "_next_data", "_drop_last"),
        )
    ),
    *(
        Name(
            ("torch.utils.data.dataloader:_MultiProcessingDataLoaderIter",),
            "an epoch of replayed batches may be some batches too short or long",
            word=word,
        )
        for word in ("_prefetch_factor", "_send_idx", "_rcvd_idx")
    ),
    *(
        Name((where,), "reads by `unique` are not seen")
        for where in ("torch:_unique2", "torch:_VF.unique_dim", "torch:_VF.unique_consecutive")
    ),
    Name(
        (
            "torch._dynamo.utils:get_compilation_metrics",
            "torch._dynamo.utils:compilation_time_metrics",
        ),
        "what recompilation costs is not known",
    ),
    Name(("warnings:_showwarnmsg",), "what torch warns of is not heard"),
    Name(("torch:Tensor._base",), "a module that gets one slice after the other is not seen"),
    Name(("torch:Tensor._version",), "a batch that the script has changed is replayed as it is"),
    *(
        Name(
            (f"torch.nn.parallel:DistributedDataParallel.{name}",),
            "the exchange of gradients between ranks is not timed",
        )
        for name in ("_get_ddp_logging_data", "_set_ddp_runtime_logging_sample_rate")
    ),
    *(
        Name((f"torch.distributed:{name}",), "what a line sends between ranks is not seen")
        for name in ("ProcessGroup.allreduce", "ProcessGroup._allgather_base", "Work.wait")
    ),
    Name(
        ("torch.nn.parallel:DistributedDataParallel._ddp_init_helper",),
        "that DDP looks for unused parameters for nothing is not seen",
    ),
    Name(("torch.distributed:_broadcast_coalesced",), "buffers that DDP sends are not seen"),
    Name(
        ("torch._C:_current_graph_task_id",),
        "reentrant checkpointing on a GPU looks like more steps in a script without an optimizer",
    ),
    Name(
        ("torch.compiler:is_compiling", "torch._utils:is_compiling"),
        "wrapped calls may break the graphs of torch.compile",
        optional=True,
    ),
    Name(
        ("torch._guards:_TLS",),
        "the compiler's own gradients count as those of a script without an optimizer",
    ),
    Name(
        ("torch.jit._builtins:_find_builtin",),
        "a scripted function that calls torch.autograd.grad cannot be compiled",
    ),
    Name(
        ("torch.jit._builtins:_register_builtin",),
        "a scripted function that calls torch.autograd.grad cannot be compiled",
    ),
    Name(
        (
            "torch._C:_dynamo.eval_frame.set_code_exec_strategy",
            "torch._C:_dynamo.eval_frame.skip_code",
        ),
        "dynamo compiles the hooks along with an optimizer's step",
    ),
    Name(
        ("torch._C:_dynamo.eval_frame.set_eval_frame",),
        "dynamo looks at what a hook calls inside a compiled step",
    ),
    Name(
        ("torch._dynamo.utils:counters",),
        "compilation is not noticed in the warm-up",
    ),
    Name(
        ("multiprocessing.util:Finalize",),
        "a worker that ends early does not report its steps",
    ),
    Name(
        ("multiprocessing.util:register_after_fork",),
        "a worker that ends early does not report its steps",
    ),
    Name(
        ("torch.utils.data._utils.fetch:_MapDatasetFetcher.fetch",),
        "random numbers of samples hang on the process that loads them",
    ),
    Name(
        ("torch.utils.data._utils.fetch:_IterableDatasetFetcher.fetch",),
        "random numbers of samples hang on the process that loads them",
    ),
    Name(
        ("torch.utils.data.dataloader:_BaseDataLoaderIter._next_index",),
        "random numbers of samples and of samplers hang on the process that loads them",
    ),
    Name(
        ("torch.amp:autocast.__enter__",),
        "the weights of a program in mixed precision are perturbed too little",
    ),
    Name(
        ("torch._dynamo.eval_frame",),
        "dynamo compiles the hooks along with an optimizer's step",
        word="_torchdynamo_disable",
    ),
    Name(
        ("torch._dynamo.eval_frame:OptimizedModule",),
        "a module and what torch.compile made of it count as two",
        word="_orig_mod",
    ),
    Name(
        ("torch.nn:Module",),
        "a module and what torch.compile made of it count as two",
        word="_modules",
    ),
    Name(
        ("torch.nn:Module",),
        "the copies that DataParallel makes count as models of their own",
        word="_is_replica",
    ),
    Name(
        ("torch.amp:autocast",),
        "a region of mixed precision that is switched off counts as one",
        word="_enabled",
    ),
    Name(
        ("torch._C._distributed_c10d:FileStore", "torch.distributed:FileStore"),
        "ranks meet in the real file of init_method='file://...'",
        optional=True,
    ),
    Name(("torch.utils.flop_counter:flop_registry",), "FLOPs are not measured"),
    Name(
        ("torch.utils._python_dispatch:_get_current_dispatch_mode",),
        "a script that closes a dispatch mode of its own may close ours",
    ),
    Name(
        ("torch._C._autograd:_get_sequence_nr",),
        "FLOPs of a backward pass belong to no module",
    ),
    Name(
        ("torch.utils.checkpoint:_checkpoint_without_reentrant_generator",),
        "the ceiling of recomputation is what the modules take the second time",
    ),
    Name(
        ("torch.utils.checkpoint:CheckpointFunction",),
        "the same for reentrant checkpoints",
    ),
    Name(("torch._C:_current_autograd_node",), "FLOPs of a backward pass belong to no module"),
    Name(
        ("torch.autograd.graph:Node",),
        "FLOPs of a backward pass belong to no module",
        optional=True,  # there, but spelled in Python since torch 2.3 only
        word="_sequence_nr",
    ),
    Name(("torch.utils._python_dispatch:TorchDispatchMode",), "kernels and FLOPs are not measured"),
    Name(
        ("torch._ops:OpOverload",),
        "FLOPs are not measured",
        word="_overloadpacket",
    ),
    Name(("torch._C:PyTorchFileReader",), "torch.load does not find what was saved elsewhere"),
    Name(("torch._C:PyTorchFileWriter",), "torch.save writes to the project without overlayfs"),
    # a played device
    Name(
        ("torch.multiprocessing.reductions:StorageWeakRef",),
        "nothing can be rehearsed: a tensor's place is kept by its storage",
        word="_weak_ref",
    ),
    Name(("torch.storage:TypedStorage",), "the same", word="_cdata"),
    Name(
        ("torch.storage:TypedStorage",),
        "checkpoints come back to the host in a rehearsal",
        word="_untyped_storage",
    ),
    Name(("torch._C:_nn._parse_to",), "nothing can be rehearsed: `Tensor.to` is not understood"),
    Name(
        ("torch._ops:OpOverload",),
        "in a rehearsal views count as operations, and dropout draws from the host's numbers",
        word="_schema",
    ),
    Name(
        ("torch.autograd:_engine_run_backward", "torch.autograd.graph:_engine_run_backward"),
        "in a rehearsal what a backward pass makes may lie on the host",
        optional=True,  # since torch 2.2
    ),
    Name(
        ("torch.utils._device:_device_constructors",),
        "in a rehearsal torch.set_default_device does nothing",
    ),
    Name(("torch.utils._device:DeviceContext",), "the same for `with torch.device(...)`"),
    Name(
        ("torch._C:_len_torch_function_stack",),
        "in a rehearsal torch.tensor does not follow a default device",
    ),
    Name(
        ("torch._subclasses.fake_tensor:FakeTensor",),
        "parameters that are sharded cannot be rehearsed",
    ),
    Name(
        ("torch._C:_functorch.get_unwrapped",),
        "in a rehearsal torch.vmap loses the device",
    ),
    Name(("torch._C:_functorch.is_functorch_wrapped_tensor",), "the same"),
    Name(
        ("torch:Tensor._make_wrapper_subclass",),
        "a rehearsal aborts where a jagged tensor lies on the device",
    ),
    Name(
        (
            "torch.distributed.tensor:DTensor.__tensor_flatten__",
            "torch.distributed._tensor:DTensor.__tensor_flatten__",
        ),
        "parameters that are sharded lie on the host in a rehearsal",
    ),
    Name(
        ("torch.nested._internal.sdpa:_select_sdp_backend",),
        "a rehearsal counts attention over jagged tensors as a CPU does it",
        optional=True,  # since torch 2.2
    ),
    Name(
        ("torch._C:_get_accelerator",),
        "fully_shard keeps parameters on the host in a rehearsal",
        optional=True,  # since torch 2.3
    ),
    Name(
        ("torch.utils._python_dispatch:_disable_current_modes",),
        "torch.jit.trace cannot be rehearsed",
    ),
    Name(
        (
            "torch.distributed.distributed_c10d:_get_object_coll_device",
            "torch.distributed.distributed_c10d:_get_pg_default_device",
        ),
        "in a rehearsal objects that ranks exchange are not on the device meanwhile",
    ),
    Name(("torch._tensor_str:_str_intern",), "printing a tensor is no wait in a rehearsal"),
    Name(
        ("torch._C:_group_tensors_by_device_and_dtype",),
        "in a rehearsal optimizers seem to move tensors to the host",
    ),
    Name(
        ("torch._C:_cuda_isCurrentStreamCapturing",),
        "a rehearsal fails where torch was built for CUDA",
        optional=True,
    ),
    Name(("torch._dynamo",), "the first optimizer of a rehearsal asks what CUDA there is"),
)
