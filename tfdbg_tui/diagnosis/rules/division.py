"""Divisions by zero."""

from __future__ import annotations

from tfdbg_tui.diagnosis.rules.conditions import (
    also,
    behind,
    finite_in,
    gradient_of,
    identity,
    in_backward,
    in_forward,
    made_by,
    named,
    none,
    outside,
    overflow,
    unrecorded_denominator,
    used_by,
    zero_denominator,
)
from tfdbg_tui.diagnosis.rules.domain import CLIP_ARC, FLOOR_LOG
from tfdbg_tui.diagnosis.rules.edits import Edit
from tfdbg_tui.diagnosis.rules.model import Rule, ops

_NO_NAN = (
    Edit("X / Y", "tf.math.divide_no_nan({X}, {Y})"),
    Edit("(divide|truediv|div)(X, Y)", "tf.math.divide_no_nan({X}, {Y})"),
)
_EPSILON = (
    Edit("X / Y", "{X} / ({Y} + {eps})"),
    Edit("(divide|truediv|div)(X, Y)", "{F}({X}, {Y} + {eps})"),
)
_UNIT_LENGTH = (
    Edit("X / norm(X, AXES)", "tf.math.l2_normalize({X}{axis})"),
    Edit("X / sqrt(reduce_sum(square(X), AXES))", "tf.math.l2_normalize({X}{axis})"),
    Edit("X / sqrt(reduce_sum(X ** 2, AXES))", "tf.math.l2_normalize({X}{axis})"),
)
_DIVIDE = ops("RealDiv", "Div", "TruncateDiv")

RULES = (
    Rule(
        "optimizer-divides-by-zero",
        "The optimizer divided by zero",
        _DIVIDE,
        also(
            zero_denominator(),
            in_forward,
            named("adam", "rmsprop", "adagrad", "adadelta", "nadam", "adamax", "ftrl", "lion"),
        ),
        "The optimizer divides by a running size of the gradient plus epsilon; both were 0.",
        "Give the optimizer an epsilon that its number type can hold (1e-7 for float32, 1e-4 for "
        "float16).",
    ),
    Rule(
        "normalised-by-zero-spread",
        "Divided by a square root of zero",
        _DIVIDE,
        also(zero_denominator(), in_forward, made_by("Sqrt", slot=1)),
        "A standard deviation is 0 where all values are equal, a norm where all are 0; else what "
        "the root was taken of has come down to 0.",
        "Add a small epsilon to the divisor, under the root for the gradient's sake; or use "
        "tf.math.l2_normalize or a normalisation layer. Keep a schedule above 0.",
        (*_UNIT_LENGTH, *_EPSILON),
    ),
    Rule(
        "scaled-by-zero-range",
        "Scaled by a range of zero",
        _DIVIDE,
        also(zero_denominator(), in_forward, made_by("Sub", slot=1), behind("Max", "Min", slot=1)),
        "max - min is 0 where all values are equal.",
        "Add a small epsilon to the range, or use tf.math.divide_no_nan.",
        _EPSILON,
    ),
    Rule(
        "log-of-zero-ratio",
        "Divided by zero before a logarithm",
        _DIVIDE,
        also(zero_denominator(), in_forward, used_by("Log")),
        "A number divided by 0 is ±∞ or NaN, and so is the logarithm of that. Here "
        "tf.math.divide_no_nan would not help: the logarithm of its 0 is -∞.",
        "Add a small number to both, or subtract logarithms of what is kept above 0.",
        (Edit("X / Y", "({X} + {eps}) / ({Y} + {eps})"),),
    ),
    Rule(
        "mean-of-nothing",
        "Divided by a count or a sum that is zero",
        _DIVIDE,
        also(zero_denominator(), in_forward, made_by("Sum", slot=1)),
        "The divisor is a sum: a mask without ones, weights or counts that are all 0, or features "
        "that are.",
        "tf.math.divide_no_nan gives 0 there; or keep the sum away from 0.",
        _NO_NAN,
    ),
    Rule(
        "divided-by-rectified",
        "Divided by a rectified tensor",
        _DIVIDE,
        also(zero_denominator(), in_forward, made_by("Relu", "Relu6", "Maximum", slot=1)),
        "The divisor has exact zeros where the ReLU was off.",
        "Add a small epsilon to the divisor.",
        _EPSILON,
    ),
    Rule(
        "gradient-of-division-by-zero",
        "Gradient of a division by zero",
        _DIVIDE,
        also(zero_denominator(), in_backward, gradient_of("RealDiv", "Div", "Xdivy")),
        "The gradient of a / b divides by b again: where b is 0 it is ∞ or NaN, even if the value "
        "was hidden by a tf.where.",
        "Replace the zeros before the division, not after it: "
        "tf.where(b == 0, 0.0, a / tf.where(b == 0, 1.0, b)), or tf.math.divide_no_nan.",
    ),
    Rule(
        "division-by-zero-in-gradient",
        "Division by zero in a gradient",
        _DIVIDE,
        also(zero_denominator(), in_backward),
        "A gradient divides by a number that is 0: that of a division by the divisor again, that "
        "of other functions, and those written by hand, by what their formulas say.",
        "Keep the divisor away from 0, before the function and not after it.",
        _NO_NAN,
    ),
    Rule(
        "zero-over-zero",
        "Zero divided by zero",
        _DIVIDE,
        zero_denominator(numerator_zero=True),
        "0 / 0 is NaN.",
        "tf.math.divide_no_nan gives 0 there; or add a small epsilon to the divisor.",
        _NO_NAN,
    ),
    Rule(
        "division-by-zero",
        "Division by zero",
        _DIVIDE,
        zero_denominator(),
        "A number divided by 0 is ±∞ (and 0 / 0 is NaN).",
        "tf.math.divide_no_nan gives 0 there; or add a small epsilon to the divisor.",
        _NO_NAN,
    ),
    Rule(
        "division-overflow",
        "Division by a very small number",
        _DIVIDE,
        also(overflow(), none("zero", slot=1)),
        "The quotient is larger than the largest number of its type.",
        "Keep the divisor away from 0: add an epsilon or clip it.",
        _EPSILON,
    ),
    Rule(
        "reciprocal-of-zero-in-gradient",
        "Gradient that divides by zero",
        ops("Reciprocal", "Inv"),
        also(identity("zero", "pos_inf", "neg_inf", definite=True), in_backward),
        "The slope of a function is infinite at its argument: that of log at 0, or of acos at ±1.",
        "Clip the argument of the forward function away from that point.",
        (FLOOR_LOG, CLIP_ARC),
    ),
    Rule(
        "reciprocal-of-zero",
        "1 / 0",
        ops("Reciprocal", "Inv"),
        identity("zero", "pos_inf", "neg_inf", definite=True),
        "The reciprocal of 0 is ∞.",
        "tf.math.reciprocal_no_nan gives 0 there; or add a small epsilon.",
        (Edit("reciprocal(X)", "tf.math.reciprocal_no_nan({X})"),),
    ),
    Rule(
        "remainder-of-zero",
        "Remainder of a division by zero",
        ops("FloorMod", "Mod", "TruncateMod", "FloorDiv"),
        zero_denominator(),
        "The remainder, or the whole part, of a division by 0 is not defined.",
        "Guard the divisor.",
    ),
    Rule(
        "xdivy-by-zero",
        "xdivy by zero",
        ops("Xdivy"),
        outside("not 0 while the divisor was 0", "nan", "pos_inf", "neg_inf"),
        "xdivy(x, y) is 0 where x is 0, but x / 0 elsewhere.",
        "Guard the divisor.",
    ),
    Rule(
        "divide-no-nan-overflow",
        "divide_no_nan by a very small number",
        ops("DivNoNan"),
        overflow(),
        "divide_no_nan only catches a divisor of exactly 0: tiny ones still overflow.",
        "Add an epsilon to the divisor.",
    ),
    Rule(
        "division-by-unrecorded-zero",
        "Division by a number that was, most likely, zero",
        _DIVIDE,
        unrecorded_denominator,
        "A finite number is only ∞ after a division where the divisor is 0 or tiny. The divisor "
        "comes from Python.",
        "Keep the divisor away from 0, or use tf.math.divide_no_nan.",
        _EPSILON,
    ),
    Rule(
        "division-of-finite",
        "Division of finite numbers",
        _DIVIDE,
        finite_in(),
        "A quotient of finite numbers is only bad where the divisor is 0 or very small.",
        "tf.math.divide_no_nan gives 0 there; or add a small epsilon to the divisor.",
        _NO_NAN,
    ),
)
"""Rules about division."""
