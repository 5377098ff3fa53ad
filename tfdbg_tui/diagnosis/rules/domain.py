"""Functions given a number that they are not defined for."""

from __future__ import annotations

import math

from tfdbg_tui.diagnosis.op_traits import SUMS
from tfdbg_tui.diagnosis.rules.conditions import (
    also,
    behind,
    downgraded,
    either,
    finite_in,
    identity,
    in_forward,
    in_optimizer,
    infinite_out,
    made_by,
    only,
    outside,
    overflow,
)
from tfdbg_tui.diagnosis.rules.edits import Edit
from tfdbg_tui.diagnosis.rules.examples import INF, NAN, example, given
from tfdbg_tui.diagnosis.rules.model import KEEP_POSITIVE, LEAVE_OUT, Case, Match, Rule, ops
from tfdbg_tui.diagnosis.values import total

_CLIP_LOG = Edit("log(X)", "{F}(tf.clip_by_value({X}, {eps}, 1.0))")
FLOOR_LOG = Edit("log(X)", "{F}(tf.maximum({X}, {eps}))")
_FLOOR_SQRT = Edit("sqrt(X)", "{F}(tf.maximum({X}, {eps2}))")
CLIP_ARC = Edit(
    "(acos|asin|arccos|arcsin|atanh|arctanh|erfinv)(X)",
    "{F}(tf.clip_by_value({X}, -1.0 + {ulps}, 1.0 - {ulps}))",
)

_LOG_ZERO = identity("zero", "neg_inf", definite=True)


def _may_be_negative_power(case: Case) -> bool:
    if case.summary(1) is not None:
        return bool(total(case.summary(1), "neg"))
    return total(case.summary(0), "zero") == total(case.out, "pos_inf", "neg_inf")


# A large base overflows as well, and 0 to another power is finite.
ZERO_TO_NEGATIVE_POWER = downgraded(
    also(identity("zero", "pos_inf", "neg_inf", overflows=True), _may_be_negative_power),
    unless=only("neg", slot=1),
)


def _mean_of_squares_less_square(case: Case) -> bool:
    """Condition: the argument is a difference like E[x²] - E[x]²."""
    difference = case.inputs[0].made_from
    if len(difference) < 2:
        return False
    means = difference[0].op_type in SUMS | {"RealDiv"}
    return means and difference[1].op_type in ("Square", "Mul", "Pow")


_NO_PROBABILITIES = ops(
    "Mul",
    "MatMul",
    "AddV2",
    "RealDiv",
    "Select",
    "SelectV2",
    "Pad",
    "PadV2",
    "ScatterNd",
    "Relu",
)
"""Ops whose result is no probability where an input is one, or is 0 for another reason."""


def _is_probability(case: Case) -> bool:
    """Condition: the argument is a probability, or what it lacks to 1, as far as can be told."""
    given = case.inputs[0]
    if given.op_type == "Sub":  # the difference of two probabilities is 0 where they are equal
        return {source.op_type for source in given.made_from} != {"Sigmoid"}
    return given.op_type not in _NO_PROBABILITIES


_SMALLEST_INTEGERS = -(2.0**31), -(2.0**63)
_NEXT_TO = 0.99


def _wrapped_around(case: Case) -> bool:
    """Condition: the argument is an integer that was cast, and its least number about the least.

    Integers leave no record.  Nor do constants, which have not overflowed.
    """
    given, least = case.input(0), _least(case)
    return (
        given is not None
        and given.op_type == "Cast"
        and any(one.op_type not in (None, "Const") for one in given.made_from)
        and all(one.summary is None for one in given.made_from)
        and any(end <= least <= _NEXT_TO * end for end in _SMALLEST_INTEGERS)
    )


def _least(case: Case) -> float:
    """Return the least number of the argument; NaN where it is not on record."""
    summary = case.summary(0)
    return math.nan if summary is None or summary.minimum is None else summary.minimum


def _integer_overflow(case: Case) -> Match | None:
    match = also(identity("neg", "nan"), _wrapped_around)(case)
    if match is None:
        return None
    return Match("likely", f"{match.evidence}; the least is {_least(case):.10g}, out of a Cast")


RULES = (
    Rule(
        id="integer-overflow",
        title="An integer overflowed before it was cast",
        op_types=ops("Sqrt", "Rsqrt", "Log", "Log1p", "Pow"),
        test=_integer_overflow,
        why="A product or sum of integers beyond the largest of their type goes on from the "
        "smallest, -2147483648 (int32) or -9.2e18 (int64): the argument is next to it.",
        fix="Cast to a floating-point type, or to int64, before the product or the sum. Where the "
        "smallest integer stands for what is missing, leave it out.",
        example=example("Sqrt", given(-2147479015, 4, by="Cast", of=("Mul",)), out=[NAN, 2]),
    ),
    Rule(
        id="log-of-softmax",
        title="Logarithm of a softmax that came out as 0",
        op_types=ops("Log"),
        test=also(
            _LOG_ZERO,
            behind("Softmax", depth=1),
            _is_probability,
            lambda case: not made_by("Sub")(case),  # 1 less a softmax that came out as 1
        ),
        why="The softmax of a logit far below the largest one is rounded to 0, and log(0) is -∞.",
        fix="Compute the loss from the logits: tf.nn.softmax_cross_entropy_with_logits, "
        "tf.nn.log_softmax, or Keras' from_logits=True. Or clip the probabilities before the log.",
        example=example("Log", given(0, 1, by="Softmax"), out=[-INF, 0]),
        edits=(Edit("log(softmax(X, AXES))", "tf.nn.log_softmax({X}{axes})"), _CLIP_LOG),
    ),
    Rule(
        id="log-of-sigmoid",
        title="Logarithm of a sigmoid that came out as 0 or 1",
        op_types=ops("Log"),
        test=also(_LOG_ZERO, behind("Sigmoid", depth=2), _is_probability),
        why="A sigmoid is rounded to 0 or 1 where its argument is large: log(p) or log(1 - p) is "
        "-∞.",
        fix="Compute the loss from the logits: tf.nn.sigmoid_cross_entropy_with_logits, "
        "tf.math.log_sigmoid, or Keras' from_logits=True. Or clip before the log.",
        example=example("Log", given(0, 0.3, by="Sub", of=("Const", "Sigmoid")), out=[-INF, -1.2]),
        edits=(
            Edit("log(sigmoid(X))", "tf.math.log_sigmoid({X})"),
            Edit("log(1 - sigmoid(X))", "tf.math.log_sigmoid(-{X})"),
            _CLIP_LOG,
        ),
    ),
    Rule(
        id="x-log-x-at-zero",
        title="x · log(x) at 0",
        op_types=ops("Log"),
        test=also(_LOG_ZERO, lambda case: "Mul" in case.used_with_input),
        why="log(0) is -∞, and 0 · -∞ is NaN, although x · log(x) tends to 0.",
        fix="tf.math.xlogy(x, x) is 0 at 0. Or clip before the log.",
        example=example("Log", given(0, 0.5), out=[-INF, -0.69], used_with_input=ops("Mul")),
        edits=(Edit("X * log(X)", "tf.math.xlogy({X}, {X})"), FLOOR_LOG),
    ),
    Rule(
        id="log-of-determinant",
        title="Logarithm of a determinant that came out as 0",
        op_types=ops("Log"),
        test=also(_LOG_ZERO, behind("MatrixDeterminant", depth=1)),
        why="The determinant is the product of all eigenvalues: that of a large matrix is rounded "
        "to 0, be it good or not. That of a singular one, of which a column is constant or follows "
        "from others, is 0.",
        fix="tf.linalg.slogdet, or tf.linalg.logdet of a positive definite matrix, adds up "
        "logarithms. Where the matrix may be singular, add a small number to its diagonal as well.",
        example=example("Log", given(0, by="MatrixDeterminant"), out=[-INF]),
        edits=(Edit("log(det(X))", "tf.linalg.slogdet({X}).log_abs_determinant"),),
    ),
    Rule(
        id="log-of-relu",
        title="Logarithm of a rectified tensor",
        op_types=ops("Log"),
        test=also(_LOG_ZERO, made_by("Relu", "Relu6", "Maximum")),
        why="A ReLU gives exact zeros, and log(0) is -∞.",
        fix="Add a small number or use softplus instead of the ReLU before the log.",
        example=example("Log", given(0, 2, by="Relu"), out=[-INF, 0.69]),
        edits=(FLOOR_LOG,),
    ),
    Rule(
        id="log-of-negative",
        title="Logarithm of a negative number",
        op_types=ops("Log"),
        test=identity("neg", "nan"),
        why="log is not defined below 0.",
        fix="Find out why the argument is negative; keep it positive by its construction "
        "(softplus, exp, square) or clip it to a small positive number.",
        fix_in_library=KEEP_POSITIVE,
        example=example("Log", given(-1, 2), out=[NAN, 0.69]),
        edits=(FLOOR_LOG,),
    ),
    Rule(
        id="log-of-zero",
        title="Logarithm of zero",
        op_types=ops("Log"),
        test=_LOG_ZERO,
        why="log(0) is -∞; the next product with 0, or difference of infinities, is NaN.",
        fix="Clip the argument before the log, add a small number to it, or use a form of the "
        "formula "
        "that needs no log of a probability (the *_with_logits losses, log_softmax, xlogy). After "
        "a product of many probabilities, add up their logarithms instead.",
        fix_in_library=LEAVE_OUT,
        example=example("Log", given(0, 0.5), out=[-INF, -0.69]),
        edits=(FLOOR_LOG,),
    ),
    Rule(
        id="log1p-of-minus-one",
        title="log1p of -1",
        op_types=ops("Log1p"),
        test=outside("exactly -1", "neg_inf", forced=True),
        why="log1p(x) is log(1 + x): at -1 that is log(0) = -∞.",
        fix="Keep the argument above -1, by clipping for example.",
        fix_in_library=LEAVE_OUT,
        example=example("Log1p", given(-1, 1), out=[-INF, 0.69]),
        edits=(Edit("log1p(X)", "{F}(tf.maximum({X}, -1.0 + {ulps}))"),),
    ),
    Rule(
        id="log1p-below-minus-one",
        title="log1p of a number below -1",
        op_types=ops("Log1p"),
        test=outside("below -1", "nan"),
        why="log1p(x) is log(1 + x), which is not defined below -1.",
        fix="Keep the argument above -1: predictions of a count or a price should pass through a "
        "ReLU or softplus first.",
        fix_in_library=LEAVE_OUT,
        example=example("Log1p", given(-2, 1), out=[NAN, 0.69]),
        edits=(Edit("log1p(X)", "{F}(tf.maximum({X}, -1.0 + {ulps}))"),),
    ),
    Rule(
        id="variance-by-difference",
        title="Square root of a variance that came out below 0",
        op_types=ops("Sqrt", "Rsqrt", "Log"),
        test=also(identity("neg", "nan"), made_by("Sub"), _mean_of_squares_less_square),
        why="E[x²] - E[x]² subtracts two nearly equal numbers: rounding can leave less than 0.",
        fix="Use tf.math.reduce_variance or reduce_std, or clip the difference at 0.",
        example=example(
            "Sqrt", given(-1e-9, 0.25, by="Sub", of=("Mean", "Square")), out=[NAN, 0.5],
        ),
        edits=(_FLOOR_SQRT,),
    ),
    Rule(
        id="sqrt-of-negative",
        title="Square root of a negative number",
        op_types=ops("Sqrt"),
        test=identity("neg", "nan"),
        why="sqrt is not defined below 0; differences that should be 0 come out slightly negative.",
        fix="Clip the argument at 0, or compute it in a way that cannot give less than 0.",
        fix_in_library=KEEP_POSITIVE,
        example=example("Sqrt", given(-1, 4), out=[NAN, 2]),
        edits=(_FLOOR_SQRT,),
    ),
    Rule(
        id="rsqrt-of-negative",
        title="1 / sqrt of a negative number",
        op_types=ops("Rsqrt"),
        test=identity("neg", "nan"),
        why="The reciprocal square root is not defined below 0.",
        fix="Clip the argument to a small positive number.",
        example=example("Rsqrt", given(-1, 4), out=[NAN, 0.5]),
        edits=(Edit("rsqrt(X)", "{F}(tf.maximum({X}, {eps}))"),),
    ),
    Rule(
        id="rsqrt-of-step-zero",
        title="1 / sqrt of a count that begins with 0",
        op_types=ops("Rsqrt"),
        test=also(identity("zero", "pos_inf", "neg_inf", definite=True), made_by("Cast")),
        why="A step or a number of elements is counted in whole numbers, and was 0.",
        fix="Let the count begin with 1.",
        example=example("Rsqrt", given(0, by="Cast"), out=[INF]),
        edits=(Edit("rsqrt(X)", "{F}({X} + 1.0)"),),
    ),
    Rule(
        id="rsqrt-of-zero",
        title="1 / sqrt(0)",
        op_types=ops("Rsqrt"),
        test=identity("zero", "pos_inf", "neg_inf", definite=True),
        why="The reciprocal square root of 0 is ∞: a norm or a variance was 0.",
        fix="Add a small epsilon inside the root.",
        example=example("Rsqrt", given(0, 4), out=[INF, 0.5]),
        edits=(Edit("rsqrt(X)", "{F}({X} + {eps})"),),
    ),
    Rule(
        id="schedule-beyond-its-end",
        title="The learning rate's schedule went beyond its end",
        op_types=ops("Pow"),
        test=also(identity("neg", "nan"), in_forward, in_optimizer),
        why="1 - step / steps is below 0 once there are more steps than it was made for, and a "
        "negative number to a power that is no integer is not defined.",
        fix="Keep the base at 0 or above (PolynomialDecay does), or give it the number of steps.",
        example=example("Pow", given(-0.1), given(0.9), out=[NAN], optimizer=True),
        edits=(
            Edit("pow(X, Y)", "{F}(tf.maximum({X}, 0.0), {Y})"),
            Edit("X ** Y", "tf.maximum({X}, 0.0) ** {Y}"),
        ),
    ),
    Rule(
        id="pow-of-negative",
        title="Fractional power of a negative number",
        op_types=ops("Pow"),
        test=identity("neg", "nan"),
        why="A negative number to a power that is no integer is not defined.",
        fix="Look for why the base is below 0, as a probability or a weight never is, and clip it "
        "there. Where negative numbers are meant, take the power of the absolute value, and "
        "restore the sign.",
        example=example("Pow", given(-4, 4), given(0.5, 0.5), out=[NAN, 2]),
        edits=(
            Edit("X ** (1 / 3)", "tf.sign({X}) * tf.abs({X}) ** (1 / 3)"),
            Edit("pow(X, 1 / 3)", "tf.sign({X}) * {F}(tf.abs({X}), 1 / 3)"),
            Edit("pow(X, Y)", "{F}(tf.maximum({X}, {eps}), {Y})"),
            Edit("X ** Y", "tf.maximum({X}, {eps}) ** {Y}"),
        ),
    ),
    Rule(
        id="pow-of-zero",
        title="Negative power of zero",
        op_types=ops("Pow"),
        test=also(ZERO_TO_NEGATIVE_POWER, in_forward),
        why="0 to a negative power is 1 / 0.",
        fix="Add a small number to the base.",
        example=example("Pow", given(0, 4), given(-0.5, -0.5), out=[INF, 0.5]),
        edits=(
            Edit("pow(X, Y)", "{F}({X} + {eps}, {Y})"),
            Edit("X ** Y", "({X} + {eps}) ** {Y}"),
        ),
    ),
    *(
        Rule(
            id=f"{name}-outside-its-domain",
            title=f"{name} of a number beyond ±1",
            op_types=ops(op_type),
            test=outside("below -1 or above 1", "nan"),
            why=f"{name} is only defined from -1 to 1; rounding takes a cosine slightly beyond.",
            fix="Clip the argument to slightly less than ±1.",
            example=example(op_type, given(2, 0), out=[NAN, 0]),
            edits=(CLIP_ARC,),
        )
        for name, op_type in (("acos", "Acos"), ("asin", "Asin"))
    ),
    Rule(
        id="atanh-of-one",
        title="atanh of ±1",
        op_types=ops("Atanh"),
        test=outside("exactly 1 or -1", "pos_inf", "neg_inf", forced=True),
        why="atanh grows to ∞ at ±1, and a tanh is rounded to ±1 already at 9.",
        fix="Clip the argument to slightly less than ±1, or keep the value before the tanh.",
        example=example("Atanh", given(1, 0), out=[INF, 0]),
        edits=(CLIP_ARC,),
    ),
    Rule(
        id="atanh-outside-its-domain",
        title="atanh of a number beyond ±1",
        op_types=ops("Atanh"),
        test=outside("below -1 or above 1", "nan"),
        why="atanh is only defined between -1 and 1.",
        fix="Clip the argument to slightly less than ±1.",
        example=example("Atanh", given(2, 0), out=[NAN, 0]),
        edits=(CLIP_ARC,),
    ),
    Rule(
        id="acosh-below-one",
        title="acosh of a number below 1",
        op_types=ops("Acosh"),
        test=outside("below 1", "nan"),
        why="acosh is only defined from 1 on; rounding takes its argument slightly below.",
        fix="Clip the argument at 1, and a little above for the gradient's sake.",
        example=example("Acosh", given(0.5, 1), out=[NAN, 0]),
        edits=(Edit("(acosh|arccosh)(X)", "{F}(tf.maximum({X}, 1.0 + {ulps}))"),),
    ),
    Rule(
        id="lgamma-pole",
        title="lgamma at a pole",
        op_types=ops("Lgamma"),
        test=outside("0 or a negative integer, or beyond 1e36", "pos_inf", "neg_inf"),
        why="The gamma function is infinite at 0 and at negative integers.",
        fix="Keep the argument positive, by softplus for example, and add a small number.",
        example=example("Lgamma", given(0, 2), out=[INF, 0]),
        edits=(Edit("lgamma(X)", "{F}({X} + {eps})"),),
    ),
    Rule(
        id="digamma-pole",
        title="digamma at a pole",
        op_types=ops("Digamma"),
        test=outside("0 or a negative integer", "nan", "pos_inf", "neg_inf"),
        why="digamma has poles at 0 and at negative integers.",
        fix="Keep the argument positive, by softplus for example, and add a small number.",
        example=example("Digamma", given(-1, 1), out=[NAN, -0.58]),
        edits=(Edit("digamma(X)", "{F}({X} + {eps})"),),
    ),
    Rule(
        id="erfinv-outside-its-domain",
        title="Inverse error function at or beyond ±1",
        op_types=ops("Erfinv"),
        test=outside("at or beyond ±1", "nan", "pos_inf", "neg_inf"),
        why="erfinv grows to ∞ at ±1 and is not defined beyond.",
        fix="Clip the argument to slightly less than ±1.",
        example=example("Erfinv", given(1, 0), out=[INF, 0]),
        edits=(CLIP_ARC,),
    ),
    Rule(
        id="ndtri-outside-its-domain",
        title="Normal quantile of a probability at or beyond 0 and 1",
        op_types=ops("Ndtri"),
        test=outside("not between 0 and 1", "nan", "pos_inf", "neg_inf"),
        why="The quantile function is infinite at 0 and 1 and not defined beyond.",
        fix="Clip the probability to slightly more than 0 and less than 1.",
        example=example("Ndtri", given(1.5, 0.5), out=[NAN, 0]),
        edits=(
            Edit("(ndtri|quantile)(X)", "{F}(tf.clip_by_value({X}, {eps}, 1.0 - {ulps}))"),
        ),
    ),
    Rule(
        id="xlogy-of-negative",
        title="xlogy with a log of 0 or less",
        op_types=ops("Xlogy", "Xlog1py"),
        test=downgraded(
            outside("not 0 while the other one was 0 or less", "nan", "neg_inf", "pos_inf"),
        ),
        why="xlogy(x, y) is x · log(y): it is 0 where x is 0, but not defined for other x at y ≤ "
        "0.",
        fix="Clip the second argument.",
        fix_in_library=LEAVE_OUT,
        example=example("Xlogy", given(1, 0), given(0, 0), out=[-INF, 0]),
        edits=(Edit("xlogy(X, Y)", "{F}({X}, tf.maximum({Y}, {eps}))"),),
    ),
    Rule(
        id="ctc-label-too-long",
        title="CTC loss of a label that is longer than its time steps",
        op_types=ops("CTCLoss", "CTCLossV2"),
        test=also(finite_in(), lambda case: not case.out.nan),
        why="A label takes a time step for each of its symbols, and one more between two that are "
        "equal. Where it has fewer no path leads to it: its probability is 0, and the loss ∞.",
        fix="Compare label_length and repeated symbols with logit_length; leave such examples out, "
        "or let the network keep more time steps (fewer or narrower strides).",
        example=example("CTCLoss", given(1, 2), out=[INF]),
    ),
    Rule(
        id="bessel-overflow",
        title="Bessel function of a large number",
        op_types=ops("BesselI0", "BesselI1"),
        test=either(overflow(), infinite_out),
        why="The modified Bessel functions grow like exp: they overflow for arguments beyond 91.",
        fix="Take the scaled function: log(bessel_i0(x)) is log(bessel_i0e(x)) + |x|.",
        example=example("BesselI0", given(1000, 0), out=[INF, 1]),
        edits=(
            Edit("log(bessel_i0(X))", "tf.math.log(tf.math.bessel_i0e({X})) + tf.abs({X})"),
            Edit("log(bessel_i1(X))", "tf.math.log(tf.math.bessel_i1e({X})) + tf.abs({X})"),
        ),
    ),
    Rule(
        id="special-function-outside-its-domain",
        title="Special function outside of its domain",
        op_types=ops(
            "Igamma", "Igammac", "IgammaGradA", "Betainc", "Zeta", "Polygamma", "BesselK0",
            "BesselK1", "BesselY0", "BesselY1", "BesselK0e", "BesselK1e", "Tan",
            "Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence", "RandomGammaGrad",
        ),
        test=downgraded(
            outside("outside of its domain, or too large", "nan", "pos_inf", "neg_inf"),
        ),
        why="The function is not defined, or infinite, at this argument.",
        fix="Keep the arguments inside the domain; see the function's documentation.",
        example=example("Igamma", given(-1, 1), given(1, 1), out=[NAN, 0.63]),
    ),
)  # fmt: skip
"""Rules about functions that are not defined everywhere."""
