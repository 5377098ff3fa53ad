"""Divisions by zero."""

from __future__ import annotations

from tfdbg_tui.diagnosis.rules.conditions import (
    also,
    behind,
    downgraded,
    finite_in,
    gradient_of,
    identity,
    in_backward,
    in_forward,
    made_by,
    named,
    none,
    of_dtype,
    only,
    outside,
    overflow,
    unrecorded_denominator,
    used_by,
    zero_denominator,
)
from tfdbg_tui.diagnosis.rules.domain import CLIP_ARC, FLOOR_LOG
from tfdbg_tui.diagnosis.rules.edits import Edit
from tfdbg_tui.diagnosis.rules.examples import INF, NAN, example, given, unrecorded
from tfdbg_tui.diagnosis.rules.model import LEAVE_OUT, Rule, User, ops

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
        id="optimizer-divides-by-zero",
        title="The optimizer divided by zero",
        op_types=_DIVIDE,
        test=also(
            zero_denominator(),
            in_forward,
            named("adam", "rmsprop", "adagrad", "adadelta", "nadam", "adamax", "ftrl", "lion"),
        ),
        why="The optimizer divides by a running size of the gradient plus epsilon; both were 0.",
        fix="Give the optimizer an epsilon that its number type can hold (1e-7 for float32, 1e-4 "
        "for float16).",
        example=example(
            "RealDiv",
            given(0, 1),
            given(0, 2),
            out=[NAN, 0.5],
            op_name="adam/truediv",
        ),
    ),
    Rule(
        id="normalised-by-zero-spread",
        title="Divided by a square root of zero",
        op_types=_DIVIDE,
        test=also(zero_denominator(), in_forward, made_by("Sqrt", slot=1)),
        why="A standard deviation is 0 where all values are equal, a norm where all are 0; else "
        "what the root was taken of has come down to 0.",
        fix="Add a small epsilon to the divisor, under the root for the gradient's sake (in "
        "float16 one below 6e-8 is 0); or use tf.math.l2_normalize or a normalisation layer. Keep "
        "a schedule above 0.",
        example=example("RealDiv", given(0, 2), given(0, 1, by="Sqrt"), out=[NAN, 2]),
        edits=(*_UNIT_LENGTH, *_EPSILON),
    ),
    Rule(
        id="scaled-by-zero-range",
        title="Scaled by a range of zero",
        op_types=_DIVIDE,
        test=also(
            zero_denominator(),
            in_forward,
            made_by("Sub", slot=1),
            behind("Max", slot=1),
            behind("Min", slot=1),
        ),
        why="max - min is 0 where all values are equal.",
        fix="Add a small epsilon to the range, or use tf.math.divide_no_nan.",
        example=example(
            "RealDiv",
            given(0, 0),
            given(0, by="Sub", of=("Max", "Min")),
            out=[NAN, NAN],
        ),
        edits=_EPSILON,
    ),
    Rule(
        id="log-of-zero-ratio",
        title="Divided by zero before a logarithm",
        op_types=_DIVIDE,
        test=also(zero_denominator(), in_forward, used_by("Log")),
        why="A number divided by 0 is ±∞ or NaN, and so is the logarithm of that. Here "
        "tf.math.divide_no_nan would not help: the logarithm of its 0 is -∞.",
        fix="Add a small number to both, or subtract logarithms of what is kept above 0.",
        example=example("RealDiv", given(0, 1), given(0, 2), out=[NAN, 0.5], users=(User("Log"),)),
        edits=(Edit("X / Y", "({X} + {eps}) / ({Y} + {eps})"),),
    ),
    Rule(
        id="sum-of-exponentials-is-zero",
        title="Divided by a sum of exponentials that is zero",
        op_types=_DIVIDE,
        test=also(
            zero_denominator(),
            in_forward,
            made_by("Sum", slot=1),
            behind("Exp", slot=1),
        ),
        why="exp(x) is rounded to 0 for x below -104 in float32, below -17 in float16: all were so "
        "small, or a mask without ones has left out what was not.",
        fix="Subtract the largest argument before the exponentials, which changes no ratio of "
        "them, as tf.nn.softmax does. Where a mask leaves out all, tf.math.divide_no_nan gives 0.",
        fix_in_library=LEAVE_OUT,
        example=example("RealDiv", given(0), given(0, by="Sum", of=("Exp",)), out=[NAN]),
        edits=_NO_NAN,
    ),
    Rule(
        id="rectified-normalised",
        title="Outputs of a ReLU divided by their sum, which is zero",
        op_types=_DIVIDE,
        test=also(
            zero_denominator(),
            in_forward,
            made_by("Relu", "Relu6"),
            made_by("Sum", slot=1),
            behind("Relu", "Relu6", slot=1),
        ),
        why="The ReLU is off for all that is summed up. A categorical cross entropy divides what "
        "it is given by its sum, as it wants shares of a whole: what a softmax gives.",
        fix="End the model with a softmax, or with no activation and from_logits=True in the loss; "
        "else add a small epsilon to the sum.",
        fix_in_library="End the model with a softmax, or with no activation and from_logits=True "
        "in the loss.",
        example=example(
            "RealDiv", given(0, 0, by="Relu"), given(0, by="Sum", of=("Relu",)), out=[NAN, NAN]
        ),
        edits=_EPSILON,
    ),
    Rule(
        id="mean-of-nothing",
        title="Divided by a count or a sum that is zero",
        op_types=_DIVIDE,
        test=also(zero_denominator(), in_forward, made_by("Sum", slot=1)),
        why="The divisor is a sum: a mask without ones, weights or counts that are all 0, or "
        "features that are.",
        fix="tf.math.divide_no_nan gives 0 there; or keep the sum away from 0.",
        fix_in_library=LEAVE_OUT,
        example=example("RealDiv", given(0, 0), given(0, by="Sum"), out=[NAN, NAN]),
        edits=_NO_NAN,
    ),
    Rule(
        id="divided-by-rectified",
        title="Divided by a rectified tensor",
        op_types=_DIVIDE,
        test=also(zero_denominator(), in_forward, made_by("Relu", "Relu6", "Maximum", slot=1)),
        why="The divisor has exact zeros where the ReLU was off.",
        fix="Add a small epsilon to the divisor.",
        example=example("RealDiv", given(1, 1), given(0, 2, by="Relu"), out=[INF, 0.5]),
        edits=_EPSILON,
    ),
    Rule(
        id="response-normalised-by-zero",
        title="Local response normalisation divided by zero",
        op_types=ops("LRN"),
        test=finite_in(),
        why="It divides by a power of bias + alpha * the sum of squares of neighbouring channels: "
        "0 where these are all 0 and the bias is, too; NaN where bias or alpha is negative.",
        fix="Keep the bias above 0 (its default is 1).",
        example=example("LRN", given(0, 0), out=[NAN, NAN]),
    ),
    Rule(
        id="gradient-of-division-by-zero",
        title="Gradient of a division by zero",
        op_types=_DIVIDE,
        test=also(zero_denominator(), in_backward, gradient_of("RealDiv", "Div", "Xdivy")),
        why="The gradient of a / b divides by b again: where b is 0 it is ∞ or NaN, even if the "
        "value was hidden by a tf.where.",
        fix="Replace the zeros before the division, not after it: "
        "tf.where(b == 0, 0.0, a / tf.where(b == 0, 1.0, b)), or tf.math.divide_no_nan.",
        example=example(
            "RealDiv",
            given(1, 1),
            given(0, 2),
            out=[INF, 0.5],
            backward=True,
            gradient_of="RealDiv",
        ),
    ),
    Rule(
        id="division-by-zero-in-gradient",
        title="Division by zero in a gradient",
        op_types=_DIVIDE,
        test=also(zero_denominator(), in_backward),
        why="A gradient divides by a number that is 0: that of a division by the divisor again, "
        "that of other functions, and those written by hand, by what their formulas say.",
        fix="Keep the divisor away from 0, before the function and not after it.",
        example=example("RealDiv", given(1, 1), given(0, 2), out=[INF, 0.5], backward=True),
        edits=_NO_NAN,
    ),
    Rule(
        id="complex-division-by-zero",
        title="Division of a complex number by zero",
        op_types=_DIVIDE,
        test=also(zero_denominator(), of_dtype("complex64", "complex128")),
        why="A complex number divided by 0 is NaN, whatever it is: its parts are quotients by the "
        "square of the divisor's magnitude, and products with 0.",
        fix="tf.math.divide_no_nan gives 0 there; or add a small epsilon to the divisor.",
        fix_in_library=LEAVE_OUT,
        example=example("RealDiv", given(1, 1), given(0, 2), out=[NAN, 0.5], dtype="complex64"),
        edits=_NO_NAN,
    ),
    Rule(
        id="zero-over-zero",
        title="Zero divided by zero",
        op_types=_DIVIDE,
        test=zero_denominator(numerator_zero=True),
        why="0 / 0 is NaN.",
        fix="tf.math.divide_no_nan gives 0 there; or add a small epsilon to the divisor.",
        fix_in_library=LEAVE_OUT,
        example=example("RealDiv", given(0, 1), given(0, 2), out=[NAN, 0.5]),
        edits=_NO_NAN,
    ),
    Rule(
        id="division-by-zero",
        title="Division by zero",
        op_types=_DIVIDE,
        test=zero_denominator(),
        why="A number divided by 0 is ±∞ (and 0 / 0 is NaN).",
        fix="tf.math.divide_no_nan gives 0 there; or add a small epsilon to the divisor.",
        fix_in_library=LEAVE_OUT,
        example=example("RealDiv", given(1, 1), given(0, 2), out=[INF, 0.5]),
        edits=_NO_NAN,
    ),
    Rule(
        id="division-overflow",
        title="Division by a very small number",
        op_types=_DIVIDE | ops("Xdivy"),
        test=also(overflow(), none("zero", slot=1)),
        why="The quotient is larger than the largest number of its type.",
        fix="Keep the divisor away from 0: add an epsilon or clip it.",
        example=example("RealDiv", given(1e30, 1), given(1e-30, 2), out=[INF, 0.5]),
        edits=_EPSILON,
    ),
    Rule(
        id="reciprocal-of-zero-in-gradient",
        title="Gradient that divides by zero",
        op_types=ops("Reciprocal", "Inv"),
        test=also(identity("zero", "pos_inf", "neg_inf", definite=True), in_backward),
        why="The slope of a function is infinite at its argument: that of log at 0, or of acos at "
        "±1.",
        fix="Clip the argument of the forward function away from that point.",
        example=example("Reciprocal", given(0, 2), out=[INF, 0.5], backward=True),
        edits=(FLOOR_LOG, CLIP_ARC),
    ),
    Rule(
        id="reciprocal-of-zero",
        title="1 / 0",
        op_types=ops("Reciprocal", "Inv"),
        test=identity("zero", "pos_inf", "neg_inf", definite=True),
        why="The reciprocal of 0 is ∞.",
        fix="tf.math.reciprocal_no_nan gives 0 there; or add a small epsilon.",
        example=example("Reciprocal", given(0, 2), out=[INF, 0.5]),
        edits=(Edit("reciprocal(X)", "tf.math.reciprocal_no_nan({X})"),),
    ),
    Rule(
        id="remainder-of-zero",
        title="Remainder of a division by zero",
        op_types=ops("FloorMod", "Mod", "TruncateMod", "FloorDiv"),
        test=zero_denominator(),
        why="The remainder, or the whole part, of a division by 0 is not defined.",
        fix="Guard the divisor.",
        example=example("FloorMod", given(3, 3), given(0, 2), out=[NAN, 1]),
    ),
    Rule(
        id="xdivy-by-zero",
        title="xdivy by zero",
        op_types=ops("Xdivy"),
        # A tiny divisor gives ∞ as well.
        test=downgraded(
            outside("not 0 while the divisor was 0", "nan", "pos_inf", "neg_inf"),
            unless=only("zero", slot=1),
        ),
        why="xdivy(x, y) is 0 where x is 0, but x / 0 elsewhere.",
        fix="Guard the divisor.",
        example=example("Xdivy", given(1, 0), given(0, 0), out=[INF, 0]),
    ),
    Rule(
        id="divide-no-nan-overflow",
        title="divide_no_nan by a very small number",
        op_types=ops("DivNoNan"),
        test=overflow(),
        why="divide_no_nan only catches a divisor of exactly 0: tiny ones still overflow.",
        fix="Add an epsilon to the divisor.",
        example=example("DivNoNan", given(1e30, 1), given(1e-30, 0), out=[INF, 0]),
    ),
    Rule(
        id="division-by-unrecorded-zero",
        title="Division by a number that was, most likely, zero",
        op_types=_DIVIDE,
        test=unrecorded_denominator,
        why="A finite number is only ∞ after a division where the divisor is 0 or tiny. The "
        "divisor comes from Python.",
        fix="Keep the divisor away from 0, or use tf.math.divide_no_nan.",
        example=example("RealDiv", given(1, 2), unrecorded(), out=[INF, 1]),
        edits=_EPSILON,
    ),
    Rule(
        id="division-of-finite",
        title="Division of finite numbers",
        op_types=_DIVIDE,
        test=finite_in(),
        why="A quotient of finite numbers is only bad where the divisor is 0 or very small.",
        fix="tf.math.divide_no_nan gives 0 there; or add a small epsilon to the divisor.",
        example=example("RealDiv", given(1, 2), given(3, 4), out=[NAN, 0.5]),
        edits=_NO_NAN,
    ),
)
"""Rules about division."""
