"""Functions that are fine and have no finite slope."""

from __future__ import annotations

from tfdbg_tui.diagnosis.fixes import Edit
from tfdbg_tui.diagnosis.rules.conditions import (
    also,
    bad_out,
    behind,
    either,
    identity,
    in_backward,
    outside,
)
from tfdbg_tui.diagnosis.rules.domain import ZERO_TO_NEGATIVE_POWER
from tfdbg_tui.diagnosis.rules.model import Case, Match, Rule, ops

_SAFE_SQRT = (
    Edit(("sqrt",), "", "{function}({0} + 1e-12)"),
    Edit(("norm",), "", "tf.sqrt(tf.reduce_sum(tf.square({0})) + 1e-12)"),
    Edit(("reduce_std",), "", "tf.sqrt(tf.math.reduce_variance({0}) + 1e-12)"),
)

_AT_ZERO = identity("zero", "nan", "pos_inf", "neg_inf", overflows=True)


def _backward_function(case: Case) -> Match | None:
    if not case.function or "__backward_" not in case.op_type or case.open:
        return None
    return Match("observed", f"finite in → {bad_out(case)} out of the gradient function")


RULES = (
    Rule(
        "gradient-of-norm-at-zero",
        "Gradient of a norm or distance that is zero",
        ops("SqrtGrad"),
        also(_AT_ZERO, behind("Sum", "Square", "Mean", depth=2)),
        "The slope of sqrt at 0 is infinite: the gradient is dy / (2 · sqrt(x)) with sqrt(x) = 0. "
        "Equal points, a zero vector or a constant batch come here.",
        "Add a small epsilon under the root, or compare squared distances.",
        _SAFE_SQRT,
    ),
    Rule(
        "gradient-of-sqrt-at-zero",
        "Gradient of a square root at zero",
        ops("SqrtGrad"),
        _AT_ZERO,
        "The slope of sqrt at 0 is infinite: the gradient is dy / (2 · sqrt(x)) with sqrt(x) = 0.",
        "Add a small epsilon under the root.",
        _SAFE_SQRT,
    ),
    Rule(
        "gradient-of-rsqrt",
        "Gradient of a reciprocal square root",
        ops("RsqrtGrad"),
        outside("so large that its cube overflows", "nan", "pos_inf", "neg_inf"),
        "The gradient of 1 / sqrt(x) grows with the cube of the result.",
        "Add a larger epsilon under the root.",
        (Edit(("rsqrt",), "", "{function}({0} + 1e-6)"),),
    ),
    Rule(
        "gradient-of-power-at-zero",
        "Gradient of a power at zero",
        ops("Pow"),
        also(ZERO_TO_NEGATIVE_POWER, in_backward),
        "The slope of x^p for p < 1 is p · x^(p-1): infinite at 0.",
        "Add a small epsilon to the base, or keep it away from 0.",
        (
            Edit(("pow",), "", "{function}({0} + 1e-7, {1})"),
            Edit((), "**", "({0} + 1e-7) ** {1}"),
        ),
    ),
    Rule(
        "gradient-of-angle",
        "Gradient of acos or asin at ±1",
        ops("Rsqrt", "RealDiv"),
        also(
            either(
                identity("zero", "pos_inf"),
                identity("zero", "pos_inf", "neg_inf", slot=1, overflows=True),
            ),
            in_backward,
            behind("Sub", "Sqrt", depth=1),
        ),
        "The slope of acos and asin is 1 / sqrt(1 - x²): infinite at ±1.",
        "Clip the argument to slightly less than ±1, or use atan2.",
        (
            Edit(
                ("acos", "asin", "arccos", "arcsin"),
                "",
                "{function}(tf.clip_by_value({0}, -1.0 + 1e-6, 1.0 - 1e-6))",
            ),
        ),
    ),
    Rule(
        "gradient-function",
        "NaN or ∞ born in a backward pass",
        frozenset(),
        _backward_function,
        "The forward values are finite, the gradient is not: a function has no finite slope at its "
        "argument (sqrt or norm at 0, x / 0 behind a tf.where, acos at ±1), or the gradient "
        "overflowed. TensorFlow's writer records nothing inside a gradient function that Python "
        "calls.",
        "Put the tape inside a tf.function together with the model, or record with "
        "tfdbg_tui.enable_dump_debug_info, to see the op.",
    ),
)
"""Rules about gradients."""
