"""What the dump writer raises in the program, when asked to, and how it words other errors."""

from __future__ import annotations


class BadTensorError(ArithmeticError):
    """Raised, with ``on_bad="raise"``, by the op or function call that made a bad tensor."""


def reason_of(error: BaseException) -> str:
    """Return an error in one line."""
    line = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {line}" if line else type(error).__name__
