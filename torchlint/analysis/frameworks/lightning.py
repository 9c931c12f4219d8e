"""Lightning: https://lightning.ai/docs/pytorch/stable/common/lightning_module.html"""

from torchlint.analysis.frameworks.adapter import Framework, Keeps, Runner, Setting

LIGHTNING = Framework(
    shown_by=("LightningModule",),
    owns=frozenset(
        {"cudnn.benchmark", "mixed precision", "optimizer step", "pinned memory", "sampler"}
    ),
    renamed=(("pytorch_lightning.", "lightning.pytorch."),),
    moved=tuple(
        (f"lightning.{name}", f"lightning.pytorch.{name}")
        for name in ("LightningModule", "LightningDataModule", "Trainer", "Callback")
    ),
    packages=("lightning.",),
    # Without `accelerator=`, a `Trainer` takes the GPU where there is one.
    runners=(
        Runner(
            packages=("lightning", "pytorch_lightning"),
            decides="Trainer|LightningCLI",
            belongs=r"Lightning(?:Data)?Module|Callback",
            keeps=(Keeps("accelerator", "cpu"), Keeps("gpus", 0)),
            trains="LightningCLI",
            starts=frozenset({"fit"}),
        ),
    ),
    step_methods=("training_step",),
    step_hooks=(
        ("", frozenset({"training_step"})),
        (
            r"LightningModule$",
            frozenset({"on_train_batch_start", "on_train_batch_end", "on_before_optimizer_step"}),
        ),
        (r"(?:^|\.)Callback$", frozenset({"on_train_batch_start", "on_train_batch_end"})),
    ),
    evaluation_hooks=frozenset(
        {"validation_step", "test_step", "predict_step", "on_validation_batch_end"}
    ),
    backward_methods=frozenset({"manual_backward"}),
    module_parameters=frozenset({"pl_module"}),
    host_parameters=frozenset(
        {"batch_idx", "batch_nb", "optimizer_idx", "dataloader_idx", "trainer"}
    ),
    settings=(
        Setting(
            "strategy",
            r"^lightning\.pytorch\.Trainer$",
            ("strategy", "accelerator", "distributed_backend"),
        ),
        Setting("unused parameters", r"^lightning\..*\.DDPStrategy$", ("find_unused_parameters",)),
        Setting("anomaly detection", r"^lightning\.pytorch\.Trainer$", ("detect_anomaly",)),
        Setting("profiler", r"^lightning\.pytorch\.Trainer$", ("profiler",)),
        Setting("determinism", r"^lightning\.pytorch\.Trainer$", ("deterministic",)),
    ),
)
