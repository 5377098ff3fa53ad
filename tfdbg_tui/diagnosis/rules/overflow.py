"""Results larger than the largest number of their type."""

from __future__ import annotations

from dataclasses import replace

from tfdbg_tui.diagnosis.rules.conditions import (
    also,
    behind,
    downgraded,
    either,
    in_backward,
    infinite_out,
    named,
    of_dtype,
    outside,
    overflow,
    used_by,
)
from tfdbg_tui.diagnosis.rules.edits import Edit
from tfdbg_tui.diagnosis.rules.model import Case, Match, Rule, ops
from tfdbg_tui.diagnosis.values import total

_MATMULS = ops(
    "MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "Conv1D", "Conv2D",
    "Conv3D", "DepthwiseConv2dNative", "Conv2DBackpropInput", "Conv2DBackpropFilter", "Conv",
    "_FusedMatMul", "_FusedConv2D", "SparseTensorDenseMatMul",
)  # fmt: skip
_SUMS = ops(
    "Sum", "Mean", "AddN", "AddV2", "Add", "Sub", "BiasAdd", "BiasAddGrad", "L2Loss", "Cumsum",
    "SegmentSum", "UnsortedSegmentSum", "SparseSegmentSum", "EuclideanNorm", "AvgPool",
    "AssignAddVariableOp", "SquaredDifference", "SparseSegmentMean", "SegmentMean",
    "AvgPoolGrad", "ResourceScatterAdd", "TensorScatterAdd", "AvgPool3D", "ScatterNd",
)  # fmt: skip
_PRODUCTS = ops("Mul", "Square", "Prod", "Cumprod", "Pow", "SegmentProd", "UnsortedSegmentProd")

_EXP_OVERFLOW = either(overflow(), infinite_out)
_SAFE_EXP = (
    Edit("log(exp(X) / reduce_sum(exp(X), AXES))", "tf.nn.log_softmax({X}{the_axis})"),
    Edit("exp(X) / reduce_sum(exp(X), AXES)", "tf.nn.softmax({X}{the_axis})"),
    Edit("log(reduce_sum(exp(X), AXES))", "tf.reduce_logsumexp({X}{axes})"),
    Edit("log(1 + exp(X))", "tf.nn.softplus({X})"),
    Edit("log1p(exp(X))", "tf.nn.softplus({X})"),
    Edit("(exp(X) - exp(-X)) / (exp(X) + exp(-X))", "tf.tanh({X})"),
    Edit("exp(X) / (1 + exp(X))", "tf.sigmoid({X})"),
    Edit("1 / (1 + exp(-X))", "tf.sigmoid({X})"),
    Edit("1 / (1 + exp(X))", "tf.sigmoid(-{X})"),
    Edit("X / (1 + exp(-X))", "tf.nn.silu({X})"),
)
"""The functions that do without large exponentials, for what is written by hand."""

_CLIP_EXP = Edit("(exp|expm1)(X)", "{F}(tf.minimum({X}, {exp_max}))")
_SHIFT_EXP = Edit("exp(X)", "{F}({X} - tf.reduce_max({X}, axis=-1, keepdims=True))")


_GROWN = 2  # computations that were finite before: what grew 10⁶ times a step overflows soon


def _diverged(case: Case) -> Match | None:
    match = overflow(nan=True)(case)
    if match is None or not case.training or case.healthy_before < _GROWN:
        return None
    grown = f"{match.evidence}; finite in the {case.healthy_before:,} computations before"
    return replace(match.doubted(), evidence=grown)


def _made_a_softmax(case: Case) -> bool:
    between = ("Mul", "RealDiv", "AddV2", "BiasAdd")
    return case.used_by("Softmax") or any(case.used_by(op, "Softmax") for op in between)


def _may_be_negative_power(case: Case) -> bool:
    zeros, negative = total(case.summary(0), "zero"), total(case.summary(1), "neg")
    return case.op_type == "Pow" and zeros != 0 and negative != 0


def _one_over_one_plus(case: Case) -> bool:
    return any(case.used_by("AddV2", division) for division in ("RealDiv", "Reciprocal"))


RULES = (
    Rule(
        "log-softmax-by-hand",
        "Logarithm of a softmax, written by hand",
        ops("Exp"),
        also(_EXP_OVERFLOW, lambda c: c.used_by("RealDiv", "Log")),
        "exp overflows for arguments above 88 (float32) or 11 (float16), and ∞ / ∞ is NaN; where "
        "it does not, small probabilities are rounded to 0, whose log is -∞.",
        "tf.nn.log_softmax, or tf.nn.sparse_softmax_cross_entropy_with_logits of the arguments.",
        _SAFE_EXP,
    ),
    Rule(
        "softmax-by-hand",
        "Softmax written by hand",
        ops("Exp"),
        also(_EXP_OVERFLOW, used_by("RealDiv")),
        "exp overflows for arguments above 88 (float32) or 11 (float16), and ∞ / ∞ is NaN.",
        "tf.nn.softmax subtracts the maximum first; by hand, over the axis of the sum.",
        (*_SAFE_EXP, _SHIFT_EXP),
    ),
    Rule(
        "softplus-by-hand",
        "Softplus written by hand",
        ops("Exp"),
        also(
            _EXP_OVERFLOW,
            lambda c: c.used_by("AddV2", "Log") or c.used_by("Log1p") or c.used_by("Add", "Log"),
        ),
        "log(1 + exp(x)) overflows in between, although its value is nearly x.",
        "tf.nn.softplus(x), or tf.nn.sigmoid_cross_entropy_with_logits for a loss.",
        _SAFE_EXP,
    ),
    Rule(
        "sigmoid-by-hand",
        "Sigmoid written by hand",
        ops("Exp"),
        also(_EXP_OVERFLOW, _one_over_one_plus),
        "exp overflows for arguments above 88 (float32) or 11 (float16). The value 1 / (1 + ∞) is "
        "still right, the gradient ∞ / ∞ is NaN.",
        "tf.sigmoid is safe, for its gradient as well.",
        _SAFE_EXP,
    ),
    Rule(
        "logsumexp-by-hand",
        "Log-sum-exp written by hand",
        ops("Exp"),
        also(_EXP_OVERFLOW, used_by("Sum", "Log")),
        "exp overflows before the log could make it small again.",
        "tf.reduce_logsumexp subtracts the maximum first.",
        _SAFE_EXP,
    ),
    Rule(
        "exp-in-a-sum",
        "Exponentials that overflow before they are compared with their sum",
        ops("Exp"),
        also(_EXP_OVERFLOW, used_by("Sum")),
        "exp overflows for arguments above 88 (float32) or 11 (float16), and so does their sum.",
        "tf.nn.log_softmax for the log of a share of the sum, tf.reduce_logsumexp for the log of "
        "the sum, tf.nn.softmax for the share: they subtract the maximum first.",
        _SAFE_EXP,
    ),
    Rule(
        "exp-overflow",
        "Exponential of a large number",
        ops("Exp", "Expm1"),
        _EXP_OVERFLOW,
        "exp overflows for arguments above 88.7 (float32), 11.1 (float16) or 709.8 (float64).",
        "Clip the argument, subtract the maximum first, or stay with logarithms.",
        (*_SAFE_EXP, _CLIP_EXP),
    ),
    Rule(
        "hyperbolic-overflow",
        "Hyperbolic function of a large number",
        ops("Sinh", "Cosh"),
        overflow(),
        "sinh and cosh grow like exp: they overflow for arguments beyond ±89 (float32).",
        "Clip the argument.",
        (Edit("(sinh|cosh)(X)", "{F}(tf.clip_by_value({X}, -{exp_max}, {exp_max}))"),),
    ),
    Rule(
        "cast-overflow",
        "Cast to a type that cannot hold the number",
        ops("Cast"),
        either(overflow(), infinite_out),
        "A finite number is larger than the largest of the type it is cast to.",
        "Keep this part in float32, use bfloat16 (which has float32's range), or scale the values "
        "down before the cast. A mask for float16 is -6e4, not -1e9.",
    ),
    Rule(
        "attention-overflow",
        "Attention scores overflowed in float16",
        _MATMULS,
        also(overflow(nan=True), of_dtype("float16"), _made_a_softmax),
        "The product of queries and keys adds up as many products as they have dimensions, and "
        "float16 ends at 65504. To divide it by the square root of that number comes too late.",
        "Divide the queries by the square root of the number of dimensions before the product, or "
        "compute the scores in float32.",
    ),
    Rule(
        "half-precision-overflow",
        "Overflow in float16",
        frozenset(),
        also(overflow(nan=True), of_dtype("float16")),
        "float16 ends at 65504: squares of 256 and sums of many numbers are beyond.",
        "Compute this part in float32 (dtype='float32' for the layer, tf.cast around the op), or "
        "use bfloat16.",
    ),
    Rule(
        "gradient-overflow",
        "The gradient overflowed",
        _MATMULS | _SUMS | _PRODUCTS,
        also(overflow(), in_backward),
        "Gradients grow from layer to layer, or the loss is huge: here they left the range.",
        "Clip gradients (clipnorm), lower the learning rate, scale the loss or the data.",
    ),
    Rule(
        "diverged-until-overflow",
        "Training diverged until numbers overflowed",
        _MATMULS | _SUMS | _PRODUCTS,
        _diverged,
        "The same tensor was finite in the steps before: values grew from step to step, as they do "
        "where a step is too long.",
        "Lower the learning rate, clip gradients (clipnorm), scale inputs and targets.",
    ),
    Rule(
        "norm-overflow",
        "Sum of squares overflowed",
        ops("Sum", "L2Loss", "EuclideanNorm", "Square"),
        also(overflow(), lambda c: c.op_type != "Sum" or behind("Square", "L2Loss", depth=1)(c)),
        "The square of a number above 1.8e19 is beyond float32: the norm or the squared error "
        "overflows although the values are finite.",
        "Clip or normalise the values before they are squared; lower the learning rate if they "
        "grow with training.",
    ),
    Rule(
        "matmul-overflow",
        "Matrix product overflowed",
        _MATMULS,
        overflow(),
        "The products add up to more than the largest number.",
        "Scale the factors down; check inputs and initial weights for huge values.",
    ),
    Rule(
        "matmul-overflow-to-nan",
        "Partial sums of a matrix product overflowed both ways",
        _MATMULS,
        overflow(nan=True),
        "Finite factors give NaN when partial sums reach +∞ and -∞, and these are added.",
        "Scale the factors down; check inputs and initial weights for huge values.",
    ),
    Rule(
        "product-overflow",
        "Product overflowed",
        _PRODUCTS,
        either(
            downgraded(overflow(), unless=lambda c: not _may_be_negative_power(c)),
            also(infinite_out, lambda c: c.op_type == "Pow" and c.inputs[0].finite),
        ),
        "A product, square or power is larger than the largest number.",
        "Work with logarithms, normalise in between, or scale the factors down.",
    ),
    Rule(
        "cumulative-product-to-nan",
        "Product of many numbers overflowed and met a zero",
        ops("Prod", "Cumprod", "SegmentProd"),
        overflow(nan=True),
        "The product reached ∞ on the way, and ∞ · 0 is NaN.",
        "Work with sums of logarithms.",
    ),
    Rule(
        "sum-overflow",
        "Sum overflowed",
        _SUMS,
        overflow(),
        "The sum of finite numbers is larger than the largest number.",
        "Scale the values down, or add up in a larger type.",
    ),
    Rule(
        "sum-overflow-to-nan",
        "Partial sums overflowed both ways",
        _SUMS,
        overflow(nan=True),
        "Finite numbers add up to NaN when partial sums reach +∞ and -∞.",
        "Scale the values down, or add up in a larger type.",
    ),
    Rule(
        "cross-entropy-of-huge-logits",
        "Cross entropy of huge logits",
        ops("SoftmaxCrossEntropyWithLogits"),
        overflow(nan=True),
        "The difference of two logits is larger than the largest number.",
        "Normalise what makes the logits; lower the learning rate if they grow with training.",
    ),
    Rule(
        "label-out-of-range",
        "Class label outside of the logits",
        ops("SparseSoftmaxCrossEntropyWithLogits"),
        outside("finite, so a label must be", "nan"),
        "The loss is NaN where a label is not between 0 and the number of classes less one.",
        "Check the labels: off by one, -1 for missing, more classes than the last layer has units.",
    ),
    Rule(
        "activation-overflow",
        "Activation of a huge number overflowed",
        ops("Elu", "Selu", "Softplus", "Gelu", "LogSoftmax", "Softmax", "LRN", "Expint"),
        overflow(nan=True),
        "The argument is so large that the function leaves the range.",
        "Normalise what goes in; lower the learning rate if it grows with training.",
    ),
    Rule(
        "gradient-of-activation-overflow",
        "Gradient of an activation overflowed",
        ops("TanhGrad", "SigmoidGrad", "SoftplusGrad", "EluGrad", "SeluGrad", "SoftsignGrad",
            "ReciprocalGrad", "InvGrad", "LRNGrad"),
        overflow(nan=True),
        "The gradient times the slope is larger than the largest number.",
        "Clip gradients (clipnorm), or keep the forward value away from where its slope explodes.",
    ),
    Rule(
        "optimizer-overflow",
        "The optimizer's step overflowed",
        frozenset(),
        also(overflow(), named("adam", "rmsprop", "adagrad", "sgd", "optimizer", "momentum")),
        "A gradient is so large that its square, or the step made of it, is beyond the range.",
        "Clip gradients (clipnorm), lower the learning rate.",
    ),
)  # fmt: skip
"""Rules about overflow."""
