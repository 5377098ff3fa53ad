"""Functions given a number that they are not defined for."""

from __future__ import annotations

from tfdbg_tui.diagnosis.op_traits import SUMS
from tfdbg_tui.diagnosis.rules.conditions import (
    also,
    behind,
    downgraded,
    either,
    identity,
    in_forward,
    infinite_out,
    made_by,
    only,
    outside,
    overflow,
)
from tfdbg_tui.diagnosis.rules.edits import Edit
from tfdbg_tui.diagnosis.rules.model import Case, Rule, ops
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


def _is_probability(case: Case) -> bool:
    """Condition: the argument is at most 1, as far as can be told: it was not scaled."""
    return not made_by("Mul", "MatMul", "AddV2", "RealDiv")(case)


RULES = (
    Rule(
        "log-of-softmax",
        "Logarithm of a softmax that came out as 0",
        ops("Log"),
        also(_LOG_ZERO, behind("Softmax", depth=1), _is_probability),
        "The softmax of a logit far below the largest one is rounded to 0, and log(0) is -∞.",
        "Compute the loss from the logits: tf.nn.softmax_cross_entropy_with_logits, "
        "tf.nn.log_softmax, or Keras' from_logits=True. Or clip the probabilities before the log.",
        (Edit("log(softmax(X, AXES))", "tf.nn.log_softmax({X}{axes})"), _CLIP_LOG),
    ),
    Rule(
        "log-of-sigmoid",
        "Logarithm of a sigmoid that came out as 0 or 1",
        ops("Log"),
        also(_LOG_ZERO, behind("Sigmoid", depth=2), _is_probability),
        "A sigmoid is rounded to 0 or 1 where its argument is large: log(p) or log(1 - p) is -∞.",
        "Compute the loss from the logits: tf.nn.sigmoid_cross_entropy_with_logits, "
        "tf.math.log_sigmoid, or Keras' from_logits=True. Or clip before the log.",
        (
            Edit("log(sigmoid(X))", "tf.math.log_sigmoid({X})"),
            Edit("log(1 - sigmoid(X))", "tf.math.log_sigmoid(-{X})"),
            _CLIP_LOG,
        ),
    ),
    Rule(
        "x-log-x-at-zero",
        "x · log(x) at 0",
        ops("Log"),
        also(_LOG_ZERO, lambda case: "Mul" in case.used_with_input),
        "log(0) is -∞, and 0 · -∞ is NaN, although x · log(x) tends to 0.",
        "tf.math.xlogy(x, x) is 0 at 0. Or clip before the log.",
        (Edit("X * log(X)", "tf.math.xlogy({X}, {X})"), FLOOR_LOG),
    ),
    Rule(
        "log-of-determinant",
        "Logarithm of a determinant that came out as 0",
        ops("Log"),
        also(_LOG_ZERO, behind("MatrixDeterminant", depth=1)),
        "The determinant is the product of all eigenvalues: it is rounded to 0 even for a good "
        "matrix, if that is large.",
        "tf.linalg.slogdet, or tf.linalg.logdet of a positive definite matrix, adds up logarithms.",
        (Edit("log(det(X))", "tf.linalg.slogdet({X}).log_abs_determinant"),),
    ),
    Rule(
        "log-of-relu",
        "Logarithm of a rectified tensor",
        ops("Log"),
        also(_LOG_ZERO, made_by("Relu", "Relu6", "Maximum")),
        "A ReLU gives exact zeros, and log(0) is -∞.",
        "Add a small number or use softplus instead of the ReLU before the log.",
        (FLOOR_LOG,),
    ),
    Rule(
        "log-of-zero",
        "Logarithm of zero",
        ops("Log"),
        _LOG_ZERO,
        "log(0) is -∞; the next product with 0, or difference of infinities, is NaN.",
        "Clip the argument before the log, add a small number to it, or use a form of the formula "
        "that needs no log of a probability (the *_with_logits losses, log_softmax, xlogy). After "
        "a product of many probabilities, add up their logarithms instead.",
        (FLOOR_LOG,),
    ),
    Rule(
        "log-of-negative",
        "Logarithm of a negative number",
        ops("Log"),
        identity("neg", "nan"),
        "log is not defined below 0.",
        "Find out why the argument is negative; keep it positive by its construction (softplus, "
        "exp, square) or clip it to a small positive number.",
        (FLOOR_LOG,),
    ),
    Rule(
        "log1p-of-minus-one",
        "log1p of -1",
        ops("Log1p"),
        outside("exactly -1", "neg_inf", forced=True),
        "log1p(x) is log(1 + x): at -1 that is log(0) = -∞.",
        "Keep the argument above -1, by clipping for example.",
        (Edit("log1p(X)", "{F}(tf.maximum({X}, -1.0 + {ulps}))"),),
    ),
    Rule(
        "log1p-below-minus-one",
        "log1p of a number below -1",
        ops("Log1p"),
        outside("below -1", "nan"),
        "log1p(x) is log(1 + x), which is not defined below -1.",
        "Keep the argument above -1: predictions of a count or a price should pass through a "
        "ReLU or softplus first.",
        (Edit("log1p(X)", "{F}(tf.maximum({X}, -1.0 + {ulps}))"),),
    ),
    Rule(
        "variance-by-difference",
        "Square root of a variance that came out below 0",
        ops("Sqrt", "Rsqrt", "Log"),
        also(identity("neg", "nan"), made_by("Sub"), _mean_of_squares_less_square),
        "E[x²] - E[x]² subtracts two nearly equal numbers: rounding can leave less than 0.",
        "Use tf.math.reduce_variance or reduce_std, or clip the difference at 0.",
        (_FLOOR_SQRT,),
    ),
    Rule(
        "sqrt-of-negative",
        "Square root of a negative number",
        ops("Sqrt"),
        identity("neg", "nan"),
        "sqrt is not defined below 0; differences that should be 0 come out slightly negative.",
        "Clip the argument at 0, or compute it in a way that cannot give less than 0.",
        (_FLOOR_SQRT,),
    ),
    Rule(
        "rsqrt-of-step-zero",
        "1 / sqrt of a count that begins with 0",
        ops("Rsqrt"),
        also(identity("zero", "pos_inf", "neg_inf", definite=True), made_by("Cast")),
        "A step or a number of elements is counted in whole numbers, and was 0.",
        "Let the count begin with 1.",
        (Edit("rsqrt(X)", "{F}({X} + 1.0)"),),
    ),
    Rule(
        "rsqrt-of-zero",
        "1 / sqrt(0)",
        ops("Rsqrt"),
        identity("zero", "pos_inf", "neg_inf", definite=True),
        "The reciprocal square root of 0 is ∞: a norm or a variance was 0.",
        "Add a small epsilon inside the root.",
        (Edit("rsqrt(X)", "{F}({X} + {eps})"),),
    ),
    Rule(
        "rsqrt-of-negative",
        "1 / sqrt of a negative number",
        ops("Rsqrt"),
        identity("neg", "nan"),
        "The reciprocal square root is not defined below 0.",
        "Clip the argument to a small positive number.",
        (Edit("rsqrt(X)", "{F}(tf.maximum({X}, {eps}))"),),
    ),
    Rule(
        "pow-of-negative",
        "Fractional power of a negative number",
        ops("Pow"),
        identity("neg", "nan"),
        "A negative number to a power that is no integer is not defined.",
        "Take the power of the absolute value (and restore the sign), or keep the base positive.",
        (
            Edit("pow(X, Y)", "tf.sign({X}) * {F}(tf.abs({X}), {Y})"),
            Edit("X ** Y", "tf.sign({X}) * tf.abs({X}) ** {Y}"),
        ),
    ),
    Rule(
        "pow-of-zero",
        "Negative power of zero",
        ops("Pow"),
        also(ZERO_TO_NEGATIVE_POWER, in_forward),
        "0 to a negative power is 1 / 0.",
        "Add a small number to the base.",
        (
            Edit("pow(X, Y)", "{F}({X} + {eps}, {Y})"),
            Edit("X ** Y", "({X} + {eps}) ** {Y}"),
        ),
    ),
    *(
        Rule(
            f"{name}-outside-its-domain",
            f"{name} of a number beyond ±1",
            ops(op_type),
            outside("below -1 or above 1", "nan"),
            f"{name} is only defined from -1 to 1; rounding takes a cosine slightly beyond.",
            "Clip the argument to slightly less than ±1.",
            (CLIP_ARC,),
        )
        for name, op_type in (("acos", "Acos"), ("asin", "Asin"))
    ),
    Rule(
        "atanh-of-one",
        "atanh of ±1",
        ops("Atanh"),
        outside("exactly 1 or -1", "pos_inf", "neg_inf", forced=True),
        "atanh grows to ∞ at ±1, and a tanh is rounded to ±1 already at 9.",
        "Clip the argument to slightly less than ±1, or keep the value before the tanh.",
        (CLIP_ARC,),
    ),
    Rule(
        "atanh-outside-its-domain",
        "atanh of a number beyond ±1",
        ops("Atanh"),
        outside("below -1 or above 1", "nan"),
        "atanh is only defined between -1 and 1.",
        "Clip the argument to slightly less than ±1.",
        (CLIP_ARC,),
    ),
    Rule(
        "acosh-below-one",
        "acosh of a number below 1",
        ops("Acosh"),
        outside("below 1", "nan"),
        "acosh is only defined from 1 on; rounding takes its argument slightly below.",
        "Clip the argument at 1, and a little above for the gradient's sake.",
        (Edit("(acosh|arccosh)(X)", "{F}(tf.maximum({X}, 1.0 + {ulps}))"),),
    ),
    Rule(
        "lgamma-pole",
        "lgamma at a pole",
        ops("Lgamma"),
        outside("0 or a negative integer, or beyond 1e36", "pos_inf", "neg_inf"),
        "The gamma function is infinite at 0 and at negative integers.",
        "Keep the argument positive, by softplus for example, and add a small number.",
        (Edit("lgamma(X)", "{F}({X} + {eps})"),),
    ),
    Rule(
        "digamma-pole",
        "digamma at a pole",
        ops("Digamma"),
        outside("0 or a negative integer", "nan", "pos_inf", "neg_inf"),
        "digamma has poles at 0 and at negative integers.",
        "Keep the argument positive, by softplus for example, and add a small number.",
        (Edit("digamma(X)", "{F}({X} + {eps})"),),
    ),
    Rule(
        "erfinv-outside-its-domain",
        "Inverse error function at or beyond ±1",
        ops("Erfinv"),
        outside("at or beyond ±1", "nan", "pos_inf", "neg_inf"),
        "erfinv grows to ∞ at ±1 and is not defined beyond.",
        "Clip the argument to slightly less than ±1.",
        (CLIP_ARC,),
    ),
    Rule(
        "ndtri-outside-its-domain",
        "Normal quantile of a probability at or beyond 0 and 1",
        ops("Ndtri"),
        outside("not between 0 and 1", "nan", "pos_inf", "neg_inf"),
        "The quantile function is infinite at 0 and 1 and not defined beyond.",
        "Clip the probability to slightly more than 0 and less than 1.",
        (
            Edit("(ndtri|quantile)(X)", "{F}(tf.clip_by_value({X}, {eps}, 1.0 - {ulps}))"),
        ),
    ),
    Rule(
        "xlogy-of-negative",
        "xlogy with a log of 0 or less",
        ops("Xlogy", "Xlog1py"),
        downgraded(outside("not 0 while the other one was 0 or less", "nan", "neg_inf", "pos_inf")),
        "xlogy(x, y) is x · log(y): it is 0 where x is 0, but not defined for other x at y ≤ 0.",
        "Clip the second argument.",
        (Edit("xlogy(X, Y)", "{F}({X}, tf.maximum({Y}, {eps}))"),),
    ),
    Rule(
        "bessel-overflow",
        "Bessel function of a large number",
        ops("BesselI0", "BesselI1"),
        either(overflow(), infinite_out),
        "The modified Bessel functions grow like exp: they overflow for arguments beyond 91.",
        "Take the scaled function: log(bessel_i0(x)) is log(bessel_i0e(x)) + |x|.",
        (
            Edit("log(bessel_i0(X))", "tf.math.log(tf.math.bessel_i0e({X})) + tf.abs({X})"),
            Edit("log(bessel_i1(X))", "tf.math.log(tf.math.bessel_i1e({X})) + tf.abs({X})"),
        ),
    ),
    Rule(
        "special-function-outside-its-domain",
        "Special function outside of its domain",
        ops(
            "Igamma", "Igammac", "IgammaGradA", "Betainc", "Zeta", "Polygamma", "BesselK0",
            "BesselK1", "BesselY0", "BesselY1", "BesselK0e", "BesselK1e", "Tan",
            "Dawsn", "Expint", "Fresnel_cos", "Fresnel_sin", "Spence", "RandomGammaGrad",
        ),
        downgraded(outside("outside of its domain, or too large", "nan", "pos_inf", "neg_inf")),
        "The function is not defined, or infinite, at this argument.",
        "Keep the arguments inside the domain; see the function's documentation.",
    ),
)  # fmt: skip
"""Rules about functions that are not defined everywhere."""
