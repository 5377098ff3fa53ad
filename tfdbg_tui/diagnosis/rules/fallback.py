"""What can be said where no other rule fits."""

from __future__ import annotations

from tfdbg_tui.diagnosis.rules.conditions import bad_out, finite_in
from tfdbg_tui.diagnosis.rules.model import Case, Match, Rule


def _function(case: Case) -> Match | None:
    if not case.function:
        return None
    return Match("observed", f"{bad_out(case)} in the function's result; nothing inside recorded")


def _anything(case: Case) -> Match | None:
    return Match("observed", f"{bad_out(case)} out; nothing is known of its inputs")


RULES = (
    Rule(
        "born-inside-function",
        "NaN or ∞ born inside a function that left no record",
        frozenset(),
        _function,
        "The function's ops left no record: op_regex or tensor_dtypes left them out, a circular "
        "buffer has dropped them, or the function is compiled, or a gradient that TensorFlow's "
        "writer does not look into.",
        "Record again with tfdbg-tui run, without filters, and with jit_compile=False.",
    ),
    Rule(
        "born-of-finite",
        "Finite in, NaN or ∞ out",
        frozenset(),
        finite_in(),
        "All inputs are finite and the result is not: this op made it.",
        "Look at the values of its inputs: record with FULL_TENSOR and op_regex for this op.",
    ),
    Rule(
        "first-seen-here",
        "First seen here",
        frozenset(),
        _anything,
        "Nothing before this tensor is known to be bad.",
        "Record more: without filters, with circular_buffer_size=-1.",
    ),
)
"""Rules of last resort."""
