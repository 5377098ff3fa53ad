"""What the dump writer raises in the program, when asked to, and how it words other errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfdbg_tui.dump.encode.summaries import HealthCounts


class BadTensorError(ArithmeticError):
    """Raised, with ``on_bad="raise"``, by the op or function call that made a bad tensor."""


_HEADING = "Graph execution error:"
"""So TensorFlow begins a message; then come the op's stack, and what was wrong."""


def reason_of(error: BaseException) -> str:
    """Return an error in one line."""
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    line = next(iter(lines), "")
    if line == _HEADING:
        told = [line for line in lines if not line.startswith((" ", "\t", "Detected at", "<stack"))]
        line = told[-1]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


def bad_tensor_message(op_name: str, slot: int, counts: HealthCounts | None, line: str) -> str:
    """Return what the program is told of its first bad tensor.

    Args:
        op_name: The op that made it, or its type.
        slot: Which output it is.
        counts: What it holds, where that was counted.
        line: The user's line, as ``file:number``; "" where it is not known.
    """
    found = "NaN or ∞"
    if counts is not None:
        parts = ((counts.nan, "NaN"), (counts.neg_inf, "-∞"), (counts.pos_inf, "+∞"))
        found = ", ".join(f"{count} {name}" for count, name in parts if count)
        found += f" of {counts.size}"
    return f"{op_name} (output {slot}) has {found}" + (f", created at {line}" if line else "")
