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
from tfdbg_tui.diagnosis.rules.examples import INF, NAN, example, given
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
        id="gradient-of-norm-at-zero",
        title="Gradient of a norm or distance that is zero",
        op_types=ops("SqrtGrad"),
        test=also(_AT_ZERO, behind("Sum", "Square", "Mean", depth=2)),
        why="The slope of sqrt at 0 is infinite: the gradient is dy / (2 · sqrt(x)) with sqrt(x) "
        "= 0. Equal points, a zero vector or a constant batch come here.",
        fix="Add a small epsilon under the root, or compare squared distances.",
        example=example(
            "SqrtGrad",
            given(0, 2, by="Sqrt", of=("Sum",)),
            given(1, 1),
            out=[INF, 0.25],
        ),
        edits=_SAFE_SQRT,
    ),
    Rule(
        id="gradient-of-sqrt-at-zero",
        title="Gradient of a square root at zero",
        op_types=ops("SqrtGrad"),
        test=_AT_ZERO,
        why="The slope of sqrt at 0 is infinite: the gradient is dy / (2 · sqrt(x)) with sqrt(x) "
        "= 0.",
        fix="Add a small epsilon under the root.",
        example=example("SqrtGrad", given(0, 2, by="Sqrt"), given(1, 1), out=[INF, 0.25]),
        edits=_SAFE_SQRT,
    ),
    Rule(
        id="gradient-of-rsqrt",
        title="Gradient of a reciprocal square root",
        op_types=ops("RsqrtGrad"),
        test=downgraded(outside("so large that its cube overflows", "nan", "pos_inf", "neg_inf")),
        why="The gradient of 1 / sqrt(x) grows with the cube of the result, times the gradient "
        "behind.",
        fix="Add a larger epsilon under the root.",
        example=example("RsqrtGrad", given(1e20, 1), given(1, 1), out=[-INF, -0.5]),
        edits=(Edit("rsqrt(X)", "{F}({X} + {eps})"),),
    ),
    Rule(
        id="gradient-of-power-at-zero",
        title="Gradient of a power at zero",
        op_types=ops("Pow"),
        test=also(ZERO_TO_NEGATIVE_POWER, in_backward),
        why="The slope of x^p is p · x^(p-1): infinite at 0 where p < 1, and so is the slope of "
        "that where p < 2.",
        fix="Add a small epsilon to the base, or keep it away from 0.",
        example=example("Pow", given(0, 4), given(-0.5, -0.5), out=[INF, 0.5], backward=True),
        edits=(
            Edit("pow(X, Y)", "{F}({X} + {eps}, {Y})"),
            Edit("X ** Y", "({X} + {eps}) ** {Y}"),
        ),
    ),
    Rule(
        id="gradient-of-arc-at-one",
        title="Gradient of acos or asin at ±1",
        op_types=ops("Reciprocal", "Inv"),
        test=also(_RECIPROCAL_OF_ZERO, gradient_of("Acos", "Asin")),
        why="The slope of acos and asin is 1 / sqrt(1 - x²): infinite at ±1.",
        fix="Clip the argument to slightly less than ±1, or use atan2.",
        example=example("Reciprocal", given(0, 1), out=[INF, 1], backward=True, gradient_of="Acos"),
        edits=(CLIP_ARC,),
    ),
    Rule(
        id="gradient-of-log-at-zero",
        title="Gradient of a logarithm at zero",
        op_types=ops("Reciprocal", "Inv"),
        test=also(_RECIPROCAL_OF_ZERO, gradient_of("Log", "Log1p")),
        why="The slope of log is 1 / x: infinite at 0, even if the value was hidden by a tf.where.",
        fix="Keep the argument of the log away from 0, before the log and not after it.",
        example=example(
            "Reciprocal",
            given(0, 2),
            out=[INF, 0.5],
            backward=True,
            gradient_of="Log",
        ),
        edits=(FLOOR_LOG,),
    ),
    Rule(
        id="gradient-of-angle-at-origin",
        title="Gradient of the angle of the origin",
        op_types=ops("RealDiv", "Reciprocal"),
        test=also(
            either(
                zero_denominator(),
                # A tiny distance gives ∞ as well.
                downgraded(outside("0", "nan", "pos_inf", "neg_inf")),
            ),
            gradient_of("Atan2", "Angle"),
        ),
        why="The slope of an angle is divided by the distance from the origin, which has no angle.",
        fix="Give points at the origin another place before the angle is taken, which leaves its "
        "value 0.",
        example=example(
            "RealDiv",
            given(0, 1),
            given(0, 5),
            out=[NAN, 0.2],
            backward=True,
            gradient_of="Atan2",
        ),
        edits=(Edit("atan2(X, Y)", "{F}({X}, tf.where(({X} == 0.0) & ({Y} == 0.0), 1.0, {Y}))"),),
    ),
    Rule(
        id="gradient-of-acosh-at-one",
        title="Gradient of acosh at 1",
        op_types=ops("RealDiv"),
        test=also(zero_denominator(), gradient_of("Acosh")),
        why="The slope of acosh is 1 / sqrt(x² - 1): infinite at 1.",
        fix="Clip the argument to slightly more than 1.",
        example=example(
            "RealDiv",
            given(1, 1),
            given(0, 2),
            out=[INF, 0.5],
            backward=True,
            gradient_of="Acosh",
        ),
        edits=(Edit("(acosh|arccosh)(X)", "{F}(tf.maximum({X}, 1.0 + {ulps}))"),),
    ),
    Rule(
        id="gradient-function",
        title="NaN or ∞ made in a backward pass",
        op_types=frozenset(),
        test=_backward_function,
        why="The forward values are finite, the gradient is not: a function has no finite slope "
        "at its argument (sqrt or norm at 0, x / 0 behind a tf.where, acos at ±1), or the gradient "
        "overflowed. TensorFlow's writer records nothing inside a gradient function that Python "
        "calls.",
        fix="Put the tape inside a tf.function together with the model, or record with "
        "tfdbg_tui.enable_dump_debug_info, to see the op.",
        example=example("__backward_loss_12", given(1), out=[NAN], function=True),
    ),
)
"""Rules about gradients."""
