"""Functions that are fine and have no finite slope."""

from __future__ import annotations

from tfdbg_tui.diagnosis.rules.conditions import (
    also,
    bad_out,
    behind,
    downgraded,
    either,
    gradient_of,
    identity,
    in_backward,
    outside,
    zero_denominator,
)
from tfdbg_tui.diagnosis.rules.domain import CLIP_ARC, FLOOR_LOG, ZERO_TO_NEGATIVE_POWER
from tfdbg_tui.diagnosis.rules.edits import Edit
from tfdbg_tui.diagnosis.rules.model import Case, Match, Rule, ops

_SAFE_SQRT = (
    Edit("sqrt(X)", "{F}({X} + {eps2})"),
    Edit("norm(X, AXES)", "tf.sqrt(tf.reduce_sum(tf.square({X}){axes}) + {eps2})"),
    Edit("reduce_std(X, AXES)", "tf.sqrt(tf.math.reduce_variance({X}{axes}) + {eps2})"),
)

_AT_ZERO = identity("zero", "nan", "pos_inf", "neg_inf", overflows=True)
_RECIPROCAL_OF_ZERO = identity("zero", "pos_inf", "neg_inf", definite=True)


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
        downgraded(outside("so large that its cube overflows", "nan", "pos_inf", "neg_inf")),
        "The gradient of 1 / sqrt(x) grows with the cube of the result, times the gradient behind.",
        "Add a larger epsilon under the root.",
        (Edit("rsqrt(X)", "{F}({X} + {eps})"),),
    ),
    Rule(
        "gradient-of-power-at-zero",
        "Gradient of a power at zero",
        ops("Pow"),
        also(ZERO_TO_NEGATIVE_POWER, in_backward),
        "The slope of x^p for p < 1 is p · x^(p-1): infinite at 0.",
        "Add a small epsilon to the base, or keep it away from 0.",
        (
            Edit("pow(X, Y)", "{F}({X} + {eps}, {Y})"),
            Edit("X ** Y", "({X} + {eps}) ** {Y}"),
        ),
    ),
    Rule(
        "gradient-of-arc-at-one",
        "Gradient of acos or asin at ±1",
        ops("Reciprocal", "Inv"),
        also(_RECIPROCAL_OF_ZERO, gradient_of("Acos", "Asin")),
        "The slope of acos and asin is 1 / sqrt(1 - x²): infinite at ±1.",
        "Clip the argument to slightly less than ±1, or use atan2.",
        (CLIP_ARC,),
    ),
    Rule(
        "gradient-of-log-at-zero",
        "Gradient of a logarithm at zero",
        ops("Reciprocal", "Inv"),
        also(_RECIPROCAL_OF_ZERO, gradient_of("Log", "Log1p")),
        "The slope of log is 1 / x: infinite at 0, even if the value was hidden by a tf.where.",
        "Keep the argument of the log away from 0, before the log and not after it.",
        (FLOOR_LOG,),
    ),
    Rule(
        "gradient-of-angle-at-origin",
        "Gradient of the angle of the origin",
        ops("RealDiv", "Reciprocal"),
        also(
            either(zero_denominator(), outside("0", "nan", "pos_inf", "neg_inf")),
            gradient_of("Atan2", "Angle"),
        ),
        "The slope of an angle is divided by the distance from the origin, which has no angle.",
        "Give points at the origin another place before the angle is taken, which leaves its "
        "value 0.",
        (Edit("atan2(X, Y)", "{F}({X}, tf.where(({X} == 0.0) & ({Y} == 0.0), 1.0, {Y}))"),),
    ),
    Rule(
        "gradient-of-acosh-at-one",
        "Gradient of acosh at 1",
        ops("RealDiv"),
        also(zero_denominator(), gradient_of("Acosh")),
        "The slope of acosh is 1 / sqrt(x² - 1): infinite at 1.",
        "Clip the argument to slightly more than 1.",
        (Edit("(acosh|arccosh)(X)", "{F}(tf.maximum({X}, 1.0 + {ulps}))"),),
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
