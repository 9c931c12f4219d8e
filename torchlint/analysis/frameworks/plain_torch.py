"""Plain torch, and the conventions of hand-written training loops."""

from torchlint.analysis.frameworks.adapter import Framework, Runner, Setting

PLAIN_TORCH = Framework(
    step_words=(r"backward\(", r"(?:opt|scaler|solver)\w{0,80}\.step\(", "loss_scaler"),
    backward_methods=frozenset({"backward"}),
    accelerator_words=(
        r"\.cuda\(|'cuda|\"cuda|torch\.cuda\.(?:[A-Z]|set_device\()",
        r"\.to\((?:self\.|args\.|cfg\.|config\.)?device",
    ),
    packages=("torch.", "torchvision.", "timm."),
    module_classes=("Module",),
    runners=(
        # Not the questions whether there is an accelerator.
        Runner(
            r"^torch\.(?:cuda|accelerator)\."
            r"(?!(?:is_available|device_count|manual_seed|manual_seed_all)$)"
        ),
    ),
    settings=(
        Setting("unused parameters", r"\.DistributedDataParallel$", ("find_unused_parameters",)),
    ),
)
