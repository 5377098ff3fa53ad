"""NaN made of ∞ that the program had written down, and reductions of nothing."""

from __future__ import annotations

from tfdbg_tui.diagnosis.rules.conditions import (
    also,
    amount,
    bad_out,
    downgraded,
    empty,
    known,
    none,
)
from tfdbg_tui.diagnosis.rules.edits import Edit
from tfdbg_tui.diagnosis.rules.model import Case, Match, Rule, ops
from tfdbg_tui.diagnosis.values import total


def _softmax_of_nothing(case: Case) -> Match | None:
    given = case.summary(0)
    masked = total(given, "neg_inf")
    if not case.out.nan or not masked or total(given, "nan", "pos_inf"):
        return None
    sentence = f"{amount(masked, 'neg_inf')} in → {amount(case.out.nan, 'nan')} out"
    # Without NaN and +∞ in, only a row of nothing but -∞ has a maximum that is not finite.
    return Match(known(case, "proved"), sentence)


def _zero_times_infinity(case: Case) -> Match | None:
    if not case.out.nan or len(case.inputs) < 2 or _nan_in(case):
        return None
    for one, other in ((0, 1), (1, 0)):
        infinite = total(case.summary(one), "neg_inf", "pos_inf")
        zeros = total(case.summary(other), "zero")
        if infinite and zeros:
            sentence = f"{infinite:,} ∞ and {amount(zeros, 'zero')} in → {bad_out(case)} out"
            return Match(known(case, "proved"), sentence)
    return None


def _infinities_meet(case: Case) -> Match | None:
    if not case.out.nan or _nan_in(case):
        return None
    infinite = sum(total(given.summary, "neg_inf", "pos_inf") or 0 for given in case.inputs)
    if not infinite:
        return None
    return Match(known(case, "proved"), f"{infinite:,} ∞ in → {bad_out(case)} out")


def _infinite_on_both_sides(case: Case) -> bool:
    sides = [total(given.summary, "neg_inf", "pos_inf") for given in case.inputs]
    return len(sides) > 1 and all(sides)


def _infinite_both_ways(case: Case) -> bool:
    kinds = (total(case.summary(0), "neg_inf"), total(case.summary(0), "pos_inf"))
    return len(case.inputs) > 0 and all(kinds)


def _no_zero_over_zero(case: Case) -> bool:
    return none("zero", slot=0)(case) or none("zero", slot=1)(case)


def _nan_in(case: Case) -> bool:
    return any(
        given.summary is None or given.summary.nan != 0
        for given in case.inputs
        if (given.summary is not None)
    )


RULES = (
    Rule(
        "softmax-of-nothing",
        "Softmax of a row that is masked completely",
        ops("Softmax", "LogSoftmax"),
        _softmax_of_nothing,
        "Where every element of a row is -∞, the softmax subtracts -∞ from -∞: that is NaN.",
        "Keep at least one element of each row unmasked, or mask with a large negative number "
        "(-1e9 in float32, -1e4 in float16) instead of -∞.",
    ),
    Rule(
        "zero-times-infinity",
        "Zero times ∞",
        ops("Mul", "MatMul", "BatchMatMulV2", "Einsum"),
        # In a sum of products opposite infinities may meet as well.
        downgraded(_zero_times_infinity, unless=lambda case: case.op_type == "Mul"),
        "0 · ∞ is NaN: multiplying does not switch an infinite value off.",
        "Select instead of multiplying: tf.where(mask, -∞, 0.0); or use a large finite number.",
    ),
    Rule(
        "infinity-minus-infinity",
        "∞ minus ∞",
        ops("Sub", "AddV2", "Add", "SquaredDifference"),
        downgraded(_infinities_meet, unless=_infinite_on_both_sides),
        "The difference of two infinities is NaN.",
        "Use large finite numbers instead of ∞, or leave the infinite elements out first.",
    ),
    Rule(
        "sum-of-infinities",
        "Sum of opposite infinities",
        ops("AddN", "Sum", "Mean", "Cumsum"),
        downgraded(_infinities_meet, unless=_infinite_both_ways),
        "The sum of +∞ and -∞ is NaN.",
        "Use large finite numbers instead of ∞, or leave the infinite elements out first.",
    ),
    Rule(
        "infinity-over-infinity",
        "∞ divided by ∞",
        ops("RealDiv", "Div"),
        downgraded(
            also(_infinities_meet, _infinite_on_both_sides), unless=_no_zero_over_zero
        ),
        "The quotient of two infinities is NaN.",
        "Work with logarithms, or subtract the maximum first.",
    ),
    Rule(
        "function-of-infinity",
        "A function of ∞ that has no value",
        ops("Sin", "Cos", "Tan", "Log", "Sqrt", "Log1p", "Pow", "FloorMod"),
        downgraded(_infinities_meet, unless=lambda case: case.op_type in ("Sin", "Cos", "Tan")),
        "The function has no limit at this ∞.",
        "Leave the infinite elements out first.",
    ),
    Rule(
        "mean-of-empty",
        "Mean of an empty tensor",
        ops("Mean"),
        empty("nan"),
        "The mean of no elements is 0 / 0.",
        "Test for the empty case, or divide a sum by a count with tf.math.divide_no_nan.",
        (
            Edit(
                "reduce_mean(X)",
                "tf.math.divide_no_nan(tf.reduce_sum({X}), tf.cast(tf.size({X}), {X}.dtype))",
            ),
        ),
    ),
    Rule(
        "maximum-of-empty",
        "Maximum or minimum of an empty tensor",
        ops("Max", "Min"),
        empty("neg_inf", "pos_inf"),
        "The maximum of no elements is -∞, the minimum +∞.",
        "Test for the empty case.",
    ),
    Rule(
        "batch-norm-of-empty",
        "Batch normalisation of an empty batch",
        ops("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"),
        empty("nan"),
        "Mean and variance of no elements are 0 / 0.",
        "Do not feed empty batches (drop_remainder=True, or filter them out).",
    ),
)  # fmt: skip
"""Rules about ∞ that was there before, and about empty tensors."""
