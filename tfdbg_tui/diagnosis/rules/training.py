"""Layers and training steps."""

from __future__ import annotations

from tfdbg_tui.diagnosis.op_traits import BATCH_NORMS
from tfdbg_tui.diagnosis.rules.conditions import (
    also,
    empty,
    identity,
    in_forward,
    named,
    outside,
    zero_denominator,
)
from tfdbg_tui.diagnosis.rules.examples import INF, NAN, example, given
from tfdbg_tui.diagnosis.rules.model import Case, Match, Rule, ops
from tfdbg_tui.diagnosis.values import total


def _negative_variance(case: Case) -> Match | None:
    variance = case.summary(4)
    negative = total(variance, "neg")
    if not negative or not total(case.out, "nan"):
        return None
    return Match("likely", f"{negative:,} negative variances in → {case.out.nan:,} NaN out")


RULES = (
    Rule(
        id="optimizer-root-of-negative",
        title="The optimizer took the root of a negative number",
        op_types=ops("Sqrt", "Rsqrt"),
        test=also(
            identity("neg", "nan"),
            in_forward,
            named("adam", "rmsprop", "adagrad", "adadelta", "nadam", "adamax", "optimizer"),
        ),
        why="The running mean of squares went below 0: a centred RMSprop subtracts two nearly "
        "equal numbers, or a slot variable was changed from outside.",
        fix="Raise epsilon, or do without centred=True.",
        example=example("Sqrt", given(-1e-9, 1), out=[NAN, 1], op_name="adam/Sqrt"),
    ),
    Rule(
        id="optimizer-root-of-zero",
        title="The optimizer divided by the root of zero",
        op_types=ops("Rsqrt"),
        test=also(
            identity("zero", "pos_inf", "neg_inf", definite=True),
            in_forward,
            named("adam", "rmsprop", "adagrad", "adadelta", "nadam", "adamax", "optimizer"),
        ),
        why="The running mean of squares is 0 and so is epsilon.",
        fix="Give the optimizer an epsilon above 0.",
        example=example("Rsqrt", given(0, 1), out=[INF, 1], op_name="adagrad/Rsqrt"),
    ),
    Rule(
        id="optimizer-division",
        title="The optimizer divided by zero",
        op_types=ops("RealDiv"),
        test=also(
            zero_denominator(),
            named("optimizer", "bias_correction", "truediv_adam"),
        ),
        why="A bias correction 1 - beta^t is 0 where beta is 1, or the step counter is 0.",
        fix="Keep beta below 1 and epsilon above 0.",
        example=example("RealDiv", given(1), given(0), out=[INF], op_name="optimizer/truediv"),
    ),
    Rule(
        id="batch-norm-negative-variance",
        title="Batch normalisation with a negative variance",
        op_types=BATCH_NORMS,
        test=_negative_variance,
        why="A moving variance below 0 was loaded or assigned.",
        fix="Check the checkpoint; reset the moving statistics.",
        example=example(
            "FusedBatchNormV3", given(1), given(1), given(0), given(0), given(-1), out=[NAN],
        ),
    ),
    Rule(
        id="batch-norm-root-of-negative",
        title="Batch normalisation with a negative variance",
        op_types=ops("Rsqrt"),
        test=also(identity("neg", "nan"), in_forward, named("batchnorm")),
        why="A moving variance below 0 was loaded or assigned.",
        fix="Check the checkpoint and what sets the weights; reset the moving statistics.",
        example=example("Rsqrt", given(-0.5, 1), out=[NAN, 1], op_name="bn/batchnorm/Rsqrt"),
    ),
    Rule(
        id="batch-norm-of-empty",
        title="Batch normalisation of an empty batch",
        op_types=BATCH_NORMS,
        test=empty("nan"),
        why="Mean and variance of no elements are 0 / 0.",
        fix="Do not feed empty batches (drop_remainder=True, or filter them out).",
        example=example("FusedBatchNormV3", given(), given(1), given(0), out=[NAN]),
    ),
    Rule(
        id="random-with-bad-parameter",
        title="Random numbers with an invalid parameter",
        op_types=ops(
            "RandomGamma", "StatelessRandomGammaV2", "RandomPoissonV2", "StatelessRandomPoisson",
            "ParameterizedTruncatedNormal", "StatelessParameterizedTruncatedNormal",
            "StatelessRandomBinomial", "RandomGammaGrad", "StatefulRandomBinomial",
        ),
        test=outside("not a valid parameter of the distribution", "nan", "pos_inf", "neg_inf"),
        why="A rate, shape or scale must be positive.",
        fix="Keep the parameter positive, by softplus for example.",
        example=example("RandomGamma", given(2), given(-1), out=[NAN, NAN]),
    ),
)  # fmt: skip
"""Rules about layers and optimizers."""
