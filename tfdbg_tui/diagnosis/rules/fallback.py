"""What can be said where no other rule fits."""

from __future__ import annotations

from tfdbg_tui.diagnosis.op_traits import BATCH_NORMS
from tfdbg_tui.diagnosis.rules.conditions import bad_out, bad_values, finite_in
from tfdbg_tui.diagnosis.rules.examples import INF, NAN, example, given
from tfdbg_tui.diagnosis.rules.model import Case, Match, Rule, ops


def _function(case: Case) -> Match | None:
    if not case.function:
        return None
    return Match("observed", f"{bad_out(case)} in the function's result; nothing inside recorded")


def _of_infinity(case: Case) -> Match | None:
    given = [one.summary for one in case.inputs if one.summary and one.summary.has_inf_or_nan]
    if not case.out.nan or not given or any(summary.nan != 0 for summary in given):
        return None
    return Match("likely", f"{', '.join(map(bad_values, given))} in → {bad_out(case)} out")


def _anything(case: Case) -> Match | None:
    return Match("observed", f"{bad_out(case)} out; nothing is known of its inputs")


RULES = (
    Rule(
        id="born-inside-function",
        title="NaN or ∞ made inside a function that left no record",
        op_types=frozenset(),
        test=_function,
        why="The function's ops left no record: op_regex or tensor_dtypes left them out, a "
        "circular "
        "buffer has dropped them, or the function is compiled, or a gradient that TensorFlow's "
        "writer does not look into.",
        fix="Record again with tfdbg-tui run, without filters, and with jit_compile=False.",
        example=example("__inference_loss_7", given(1), out=[NAN], function=True),
    ),
    Rule(
        id="born-of-infinity",
        title="∞ in, NaN out",
        op_types=frozenset(),
        test=_of_infinity,
        why="The program wrote down an ∞, and this op has no value for it.",
        fix="Use a large finite number in its place, or leave out the element before this op.",
        example=example("Softmax", given(INF, 1, by="Const"), out=[NAN, 0]),
    ),
    Rule(
        id="batch-norm",
        title="Batch normalisation of finite numbers",
        op_types=BATCH_NORMS | ops("FusedBatchNormGradV3"),
        test=finite_in(),
        why="The variance is 0 and epsilon too small, or the values are so large that their "
        "squares overflow.",
        fix="Raise epsilon; normalise the inputs.",
        example=example("FusedBatchNormV3", given(1), given(1), given(0), out=[NAN]),
    ),
    Rule(
        id="born-of-finite",
        title="Finite in, NaN or ∞ out",
        op_types=frozenset(),
        test=finite_in(),
        why="All inputs are finite and the result is not: this op made it.",
        fix="Look at the values of its inputs: record with FULL_TENSOR and op_regex for this op.",
        example=example("Atan2", given(1), given(1), out=[NAN]),
    ),
    Rule(
        id="first-seen-here",
        title="First seen here",
        op_types=frozenset(),
        test=_anything,
        why="Nothing before this tensor is known to be bad.",
        fix="Record more: without filters, with circular_buffer_size=-1.",
        example=example("RandomStandardNormal", out=[NAN]),
    ),
)
"""Rules of last resort."""
