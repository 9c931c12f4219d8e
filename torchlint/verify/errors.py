"""The error that says why nothing can be verified."""

from __future__ import annotations


class VerifyError(Exception):
    """Nothing can be measured; the message is one sentence of fact and one of action.

    `code` is the exit code of the command.
    """

    def __init__(self, message: str, code: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
