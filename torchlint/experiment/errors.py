"""The error that says why nothing can be measured."""

from __future__ import annotations


class ExperimentError(Exception):
    """Nothing can be measured; the message is one sentence of fact and one of action.

    `code` is the exit code of the command.
    """

    def __init__(self, message: str, code: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


def too_short(steps: int) -> ExperimentError:
    """The script ended after so few steps that nothing can be measured."""
    noun = "step" if steps == 1 else "steps"
    return ExperimentError(
        f"The script ended after {steps} {noun}, too few to measure; let it train longer.", code=6
    )


def no_steps_from(first: int) -> ExperimentError:
    """The script ends before the first step whose numbers were to be compared."""
    return ExperimentError(f"The script takes no step {first}; give a smaller --numbers-from.")
