"""What the dump writer raises in the program, when asked to."""

from __future__ import annotations


class BadTensorError(ArithmeticError):
    """Raised, with ``on_bad="raise"``, by the op or function call that made a bad tensor."""
