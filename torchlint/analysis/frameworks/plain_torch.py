"""Plain torch, and the conventions of hand-written training loops."""

from torchlint.analysis.frameworks.adapter import Framework, Setting

PLAIN_TORCH = Framework(
    step_words=(r"backward\(", r"(?:opt|scaler|solver)\w{0,80}\.step\(", "loss_scaler"),
    backward_methods=frozenset({"backward"}),
    accelerator_words=(
        r"\.cuda\(|'cuda|\"cuda|torch\.cuda\.(?:[A-Z]|set_device\()",
        r"\.to\((?:self\.|args\.|cfg\.|config\.)?(?:device|(?:gpu|(?:local_)?rank)\b)",
    ),
    packages=("torch.", "torchvision.", "timm."),
    module_classes=("Module",),
    loose_hooks=(
        (
            r"Hook(?:Base)?$",
            frozenset(
                "before_step after_step before_iter after_iter before_train_iter after_train_iter "
                "after_backward after_train_step".split()
            ),
        ),
        (
            r"Callback$",
            frozenset(
                "after_backward after_batch after_loss after_step after_train_iter on_batch_end "
                "on_batch_start on_iteration_end on_step_end on_train_batch_end "
                "on_train_batch_start on_train_step_end".split()
            ),
        ),
    ),
    evaluation_modes=frozenset({"eval", "test", "val", "valid", "validation"}),
    accelerator_calls=("torch.cuda.", "torch.accelerator."),
    accelerator_questions=frozenset(
        {
            "torch.cuda.is_available",
            "torch.cuda.manual_seed",
            "torch.cuda.manual_seed_all",
            "torch.cuda.device_count",
        }
    ),
    settings=(
        Setting("unused parameters", r"\.DistributedDataParallel$", ("find_unused_parameters",)),
    ),
)
