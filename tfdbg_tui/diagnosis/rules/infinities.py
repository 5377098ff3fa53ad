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
    of_dtype,
)
from tfdbg_tui.diagnosis.rules.edits import Edit
from tfdbg_tui.diagnosis.rules.examples import INF, NAN, example, given
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


def _infinity_is_written_down(case: Case) -> bool:
    """Condition: an input with ∞ was computed by no op, nor is it a variable."""
    return any(
        total(given.summary, "neg_inf", "pos_inf") and given.op_type in (None, "Const")
        for given in case.inputs
    )


def _infinities_meet(case: Case) -> Match | None:
    if not case.out.nan or _nan_in(case):
        return None
    infinite = sum(total(given.summary, "neg_inf", "pos_inf") or 0 for given in case.inputs)
    if not infinite:
        return None
    return Match(known(case, "proved"), f"{infinite:,} ∞ in → {bad_out(case)} out")


def _empty_sum(case: Case) -> Match | None:
    if not case.finite or total(case.out, "nan", "pos_inf") != 0:
        return None
    return Match(known(case, "proved"), f"finite in → {bad_out(case)} out")


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
        id="softmax-of-nothing",
        title="Softmax of a row that is masked completely",
        op_types=ops("Softmax", "LogSoftmax"),
        test=_softmax_of_nothing,
        why="Where every element of a row is -∞, the softmax subtracts -∞ from -∞: that is NaN.",
        fix="Keep at least one element of each row unmasked, or mask with a large negative number "
        "(-1e9 in float32, -1e4 in float16) instead of -∞.",
        example=example("Softmax", given(-INF, -INF, by="AddV2"), out=[NAN, NAN]),
    ),
    Rule(
        id="zero-times-number-beyond-float16",
        title="Zero times a number beyond float16's range",
        op_types=ops("Mul"),
        test=also(_zero_times_infinity, of_dtype("float16"), _infinity_is_written_down),
        why="float16 ends at ±65504: a number beyond, such as -1e9, is ∞ in it, and 0 · ∞ is NaN.",
        fix="A mask for float16 is -6e4, not -1e9 nor -∞; or select instead of multiplying: "
        "tf.where(mask, -6e4, 0.0).",
        example=example(
            "Mul", given(0, by="Sub"), given(-INF, by="Const"), out=[NAN], dtype="float16"
        ),
        edits=(Edit("X * -1e9", "{X} * -6e4"), Edit("X * -1e10", "{X} * -6e4")),
    ),
    Rule(
        id="zero-times-infinity",
        title="Zero times ∞",
        op_types=ops("Mul", "MatMul", "BatchMatMulV2", "Einsum"),
        # In a sum of products opposite infinities may meet as well.
        test=downgraded(_zero_times_infinity, unless=lambda case: case.op_type == "Mul"),
        why="0 · ∞ is NaN: multiplying does not switch an infinite value off.",
        fix="Select instead of multiplying: tf.where(mask, -∞, 0.0); or use a large finite number.",
        example=example("Mul", given(0, by="Relu"), given(INF, by="Exp"), out=[NAN]),
    ),
    Rule(
        id="infinity-minus-infinity",
        title="∞ minus ∞",
        op_types=ops("Sub", "AddV2", "Add", "SquaredDifference"),
        test=downgraded(_infinities_meet, unless=_infinite_on_both_sides),
        why="The difference of two infinities is NaN.",
        fix="Use large finite numbers instead of ∞, or leave the infinite elements out first.",
        example=example("Sub", given(INF, by="Exp"), given(INF, by="Exp"), out=[NAN]),
    ),
    Rule(
        id="sum-of-infinities",
        title="Sum of opposite infinities",
        op_types=ops("AddN", "Sum", "Mean", "Cumsum"),
        test=downgraded(_infinities_meet, unless=_infinite_both_ways),
        why="The sum of +∞ and -∞ is NaN.",
        fix="Use large finite numbers instead of ∞, or leave the infinite elements out first.",
        example=example("Sum", given(INF, -INF, by="Mul"), out=[NAN]),
    ),
    Rule(
        id="infinity-over-infinity",
        title="∞ divided by ∞",
        op_types=ops("RealDiv", "Div"),
        test=downgraded(
            also(_infinities_meet, _infinite_on_both_sides), unless=_no_zero_over_zero
        ),
        why="The quotient of two infinities is NaN.",
        fix="Work with logarithms, or subtract the maximum first.",
        example=example("RealDiv", given(INF, by="Exp"), given(INF, by="Sum"), out=[NAN]),
    ),
    Rule(
        id="function-of-infinity",
        title="A function of ∞ that has no value",
        op_types=ops("Sin", "Cos", "Tan", "Log", "Sqrt", "Log1p", "Pow", "FloorMod"),
        test=downgraded(
            _infinities_meet, unless=lambda case: case.op_type in ("Sin", "Cos", "Tan"),
        ),
        why="The function has no limit at this ∞.",
        fix="Leave the infinite elements out first.",
        example=example("Sin", given(INF, by="Exp"), out=[NAN]),
    ),
    Rule(
        id="no-value-at-infinity",
        title="A function of ∞ that TensorFlow has no value for",
        op_types=ops("Erf", "Softsign"),
        test=_infinities_meet,
        why="The limit there is ±1, but TensorFlow gives NaN: softsign divides ∞ by ∞, and "
        "erf of float64 does not treat ∞ as a case of its own (2.21 on a CPU; 2.16 gives ±1).",
        fix="Clip the argument: tf.clip_by_value(x, -1e4, 1e4).",
        example=example("Softsign", given(INF, 1, by="Sub"), out=[NAN, 0.5]),
    ),
    Rule(
        id="mean-of-empty",
        title="Mean of an empty tensor",
        op_types=ops("Mean"),
        test=empty("nan"),
        why="The mean of no elements is 0 / 0.",
        fix="Test for the empty case, or divide a sum by a count with tf.math.divide_no_nan.",
        example=example("Mean", given(), out=[NAN]),
        edits=(
            Edit(
                "reduce_mean(X)",
                "tf.math.divide_no_nan(tf.reduce_sum({X}), tf.cast(tf.size({X}), {X}.dtype))",
            ),
        ),
    ),
    Rule(
        id="maximum-of-empty",
        title="Maximum or minimum of an empty tensor",
        op_types=ops("Max", "Min"),
        test=empty("neg_inf", "pos_inf"),
        why="The maximum of no elements is -∞, the minimum +∞.",
        fix="Test for the empty case.",
        example=example("Max", given(), out=[-INF]),
    ),
    Rule(
        id="log-of-empty-sum",
        title="Logarithm of an empty sum",
        op_types=ops("CumulativeLogsumexp"),
        test=_empty_sum,
        why="With exclusive=True nothing comes before the first element, and log(0) is -∞.",
        fix="Leave the first element out, unless its exponential is taken.",
        example=example("CumulativeLogsumexp", given(1, 2), out=[-INF, 1]),
    ),
)  # fmt: skip
"""Rules about ∞ that was there before, and about empty tensors."""
