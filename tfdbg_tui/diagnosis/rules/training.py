"""Layers and training steps."""

from __future__ import annotations

from tfdbg_tui.diagnosis.rules.conditions import (
    also,
    finite_in,
    identity,
    in_forward,
    named,
    outside,
    zero_denominator,
)
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
        "optimizer-root-of-negative",
        "The optimizer took the root of a negative number",
        ops("Sqrt", "Rsqrt"),
        also(
            identity("neg", "nan"),
            in_forward,
            named("adam", "rmsprop", "adagrad", "adadelta", "nadam", "adamax", "optimizer"),
        ),
        "The running mean of squares went below 0: a centred RMSprop subtracts two nearly equal "
        "numbers, or a slot variable was changed from outside.",
        "Raise epsilon, or do without centred=True.",
    ),
    Rule(
        "optimizer-root-of-zero",
        "The optimizer divided by the root of zero",
        ops("Rsqrt"),
        also(
            identity("zero", "pos_inf", "neg_inf", definite=True),
            in_forward,
            named("adam", "rmsprop", "adagrad", "adadelta", "nadam", "adamax", "optimizer"),
        ),
        "The running mean of squares is 0 and so is epsilon.",
        "Give the optimizer an epsilon above 0.",
    ),
    Rule(
        "optimizer-division",
        "The optimizer divided by zero",
        ops("RealDiv"),
        also(
            zero_denominator(),
            named("optimizer", "bias_correction", "truediv_adam"),
        ),
        "A bias correction 1 - beta^t is 0 where beta is 1, or the step counter is 0.",
        "Keep beta below 1 and epsilon above 0.",
    ),
    Rule(
        "batch-norm-negative-variance",
        "Batch normalisation with a negative variance",
        ops("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"),
        _negative_variance,
        "A moving variance below 0 was loaded or assigned.",
        "Check the checkpoint; reset the moving statistics.",
    ),
    Rule(
        "batch-norm",
        "Batch normalisation of finite numbers",
        ops("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "FusedBatchNormGradV3"),
        finite_in(),
        "The variance is 0 and epsilon too small, or the values are so large that their squares "
        "overflow.",
        "Raise epsilon; normalise the inputs.",
    ),
    Rule(
        "random-with-bad-parameter",
        "Random numbers with an invalid parameter",
        ops("RandomGamma", "StatelessRandomGammaV2", "RandomPoissonV2", "StatelessRandomPoisson",
            "ParameterizedTruncatedNormal", "StatelessParameterizedTruncatedNormal",
            "StatelessRandomBinomial", "RandomGammaGrad", "StatefulRandomBinomial"),
        outside("not a valid parameter of the distribution", "nan", "pos_inf", "neg_inf"),
        "A rate, shape or scale must be positive.",
        "Keep the parameter positive, by softplus for example.",
    ),
)  # fmt: skip
"""Rules about layers and optimizers."""
