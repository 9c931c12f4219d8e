"""What training frameworks call on every step, and what they take care of themselves."""

from __future__ import annotations

_LIGHTNING_STEPS = frozenset(
    {"on_train_batch_start", "on_train_batch_end", "on_before_optimizer_step"}
)
_TRAINER_STEPS = frozenset({"compute_loss"})
_CALLBACK_STEPS = frozenset({"on_step_end", "on_train_batch_end", "on_train_batch_start"})
_EVALUATION_HOOKS = frozenset(
    {
        "validation_step",
        "test_step",
        "predict_step",
        "prediction_step",
        "on_validation_batch_end",
        "evaluation_loop",
    }
)


def is_step_hook(function: str, bases: list[str]) -> bool:
    """Whether a framework calls this method of a class with these bases on each training step.

    A method called `training_step`, whatever its class inherits; Lightning's per-batch hooks;
    `compute_loss` of a Hugging Face `Trainer`; per-step callbacks of either.
    """
    if function == "training_step":
        return True
    for base in bases:
        last = base.rpartition(".")[2]
        if last.endswith("LightningModule") and function in _LIGHTNING_STEPS:
            return True
        if last.endswith("Trainer") and "." in base and function in _TRAINER_STEPS:
            return True
        if last in ("TrainerCallback", "Callback") and function in _CALLBACK_STEPS:
            return True
    return False


def is_evaluation_hook(function: str) -> bool:
    return function in _EVALUATION_HOOKS


def unwraps(method: str) -> bool:
    """Whether a method hands its arguments back, ready for the device: Accelerate's `prepare`,
    Fabric's `setup` and `setup_dataloaders`."""
    return method in ("prepare", "setup", "setup_dataloaders", "prepare_data_loader")


ITERATION_EVENTS = frozenset(
    {"ITERATION_COMPLETED", "ITERATION_STARTED", "FORWARD", "BACKWARD", "GET_BATCH_COMPLETED"}
)
"""ignite's `Events` that fire on each step, when no `every=` is given."""

ENGINE_HOOKS = frozenset({"on_sample", "on_forward", "on_backward"})
"""Keys of `engine.hooks` of a torchnet engine that fire on each batch."""

ENGINE_STATE_TENSORS = frozenset({"loss", "output"})
"""What such an engine keeps in the `state` that it passes: device tensors under these keys."""
