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
