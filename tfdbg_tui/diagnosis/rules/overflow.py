"""Results larger than the largest number of their type."""

from __future__ import annotations

import math
from dataclasses import replace

from tfdbg_tui.diagnosis.dataflow.variables import READS
from tfdbg_tui.diagnosis.op_traits import BATCH_NORMS
from tfdbg_tui.diagnosis.rules.conditions import (
    also,
    bad_out,
    behind,
    downgraded,
    either,
    in_backward,
    in_optimizer,
    infinite_out,
    known,
    named,
    of_dtype,
    overflow,
)
from tfdbg_tui.diagnosis.rules.examples import INF, NAN, example, given
from tfdbg_tui.diagnosis.rules.model import (
    BOUND_IT,
    NO_LOWER_BOUND,
    OVER_TIME,
    Case,
    Fall,
    Growth,
    Input,
    Match,
    Outlier,
    Rule,
    Start,
    Steady,
    User,
    ops,
)
from tfdbg_tui.diagnosis.values import total
from tfdbg_tui.wire.dtypes import MAX_FINITE

MATMULS = ops(
    "MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "Conv2D",
    "Conv3D", "DepthwiseConv2dNative", "Conv2DBackpropInput", "Conv2DBackpropFilter", "Conv",
    "_FusedMatMul", "_FusedConv2D", "SparseTensorDenseMatMul",
)  # fmt: skip
_TO_SOFTMAX = ops(
    "Mul", "RealDiv", "AddV2", "BiasAdd", "Cast", "Transpose", "Reshape", "SelectV2", "Identity",
)  # fmt: skip
"""What is done to scores of attention, or logits: scaled, masked, put in another order."""
_SUMS = ops(
    "Sum", "Mean", "AddN", "AddV2", "Add", "Sub", "BiasAdd", "BiasAddGrad", "L2Loss", "Cumsum",
    "SegmentSum", "UnsortedSegmentSum", "SparseSegmentSum", "EuclideanNorm", "AvgPool",
    "AssignAddVariableOp", "SquaredDifference", "SparseSegmentMean", "SegmentMean",
    "AvgPoolGrad", "ResourceScatterAdd", "TensorScatterAdd", "AvgPool3D", "ScatterNd",
)  # fmt: skip
_PRODUCTS = ops("Mul", "Square", "Prod", "Cumprod", "Pow", "SegmentProd", "UnsortedSegmentProd")
_ACTIVATIONS = ops("Elu", "Selu", "Softplus", "LogSoftmax", "Softmax")
_TRANSFORMS = ops(
    "FFT", "FFT2D", "FFT3D", "FFTND", "IFFT", "IFFT2D", "IFFT3D", "IFFTND",
    "RFFT", "RFFT2D", "RFFT3D", "RFFTND", "IRFFT", "IRFFT2D", "IRFFT3D", "IRFFTND",
)  # fmt: skip
_GRADIENTS = ops(
    "TanhGrad", "SigmoidGrad", "SoftplusGrad", "EluGrad", "SeluGrad", "SoftsignGrad",
    "ReciprocalGrad", "InvGrad", "LRNGrad",
)  # fmt: skip
_STEPS = ops("ResourceApplyGradientDescent", "ApplyGradientDescent")

_RESHAPED = frozenset(("Cast", "Identity", "Reshape", "Transpose"))
"""Ops whose results are still the weights of a layer, where their inputs are."""

_LOSS_SCALE = 256  # fewer are weights of losses
_DIVERGED = 100.0  # times what they were at first, of weights
_GROWN = 2  # computations that were finite before, where it is not told that a step lies between


def _label_outside(case: Case) -> Match | None:
    """Test for: NaN of finite logits, which comes of their label."""
    logits, labels = case.summary(0), case.summary(1)
    if not case.out.nan or case.slot or (logits is not None and logits.has_inf_or_nan):
        return None
    sentence = f"{bad_out(case)} out: the label was outside of the logits there"
    if labels is not None and labels.minimum is not None and labels.maximum is not None:
        sentence += f" (labels run from {labels.minimum:.6g} to {labels.maximum:.6g})"
    if case.inputs and case.inputs[0].finite:
        return Match(known(case, "proved"), f"{sentence}, as the logits are finite")
    return Match("likely", f"{sentence}, if the logits were finite: they were not recorded")


def _scaled(case: Case) -> Match | None:
    """Test for: an overflow in a gradient of a loss that is multiplied by a large number."""
    match = overflow(nan=True)(case)
    if match is None or not case.backward or case.loss_scale < _LOSS_SCALE:
        return None
    return Match("likely", f"{match.evidence}; the loss is multiplied by {case.loss_scale:,.6g}")


def _diverged(case: Case) -> Match | None:
    return None if _jumped(case) else doubted_by_training(case, overflow(nan=True)(case))


def _fell_without_end(case: Case) -> Match | None:
    match = (_grew_in_training(case) or _diverged(case)) if case.fall is not None else None
    return replace(match, evidence=f"{match.evidence}; {case.fall}") if match else None


def _overflowed_at_once(case: Case) -> Match | None:
    return doubted_by_training(case, overflow(nan=True)(case)) if _jumped(case) else None


def _batch_overflowed(case: Case) -> Match | None:
    match = overflow()(case)
    return match.doubted() if match else None


def _jumped(case: Case) -> bool:
    """Whether it had not grown up to the step before, and was far from the largest number."""
    if case.steady is None or case.growth is not None:
        return False
    return case.steady.largest < math.sqrt(MAX_FINITE.get(case.out.dtype or "", 0.0))


def doubted_by_training(case: Case, match: Match | None) -> Match | None:
    """Return a match where a training had changed its variables before, as what may have led to it.

    Args:
        case: The case.
        match: A match of it.
    """
    updated = case.in_earlier_step or case.healthy_before >= _GROWN
    if match is None or not case.training or not updated:
        return None
    before = case.healthy_before
    times = "computation" if before == 1 else f"{before:,} computations"
    grown = f"{match.evidence}; finite in the {times} before"
    return replace(match.doubted(), evidence=grown)


def _made_of_outlier(case: Case) -> Match | None:
    match = overflow(nan=True)(case) if case.outlier is not None else None
    return replace(match.doubted(), evidence=f"{match.evidence}; {case.outlier}") if match else None


def _huge_at_first(case: Case) -> Match | None:
    if case.start is None or case.growth is not None:
        return None
    match = doubted_by_training(case, overflow(nan=True)(case))
    return replace(match, evidence=f"{match.evidence}; {case.start}") if match else None


def _grew_on_the_way_back(case: Case) -> Match | None:
    match = overflow()(case) if _is_square(case) and case.growth is None else None
    if match is None or case.gradient_growth is None:
        return None
    return Match(
        "likely", f"{match.evidence}; of the gradient that it takes {case.gradient_growth}"
    )


def _grew_in_training(case: Case) -> Match | None:
    return _by_growth(case, case.growth) if case.gradients else None


def weights_grew(case: Case) -> bool:
    """Condition: steps before have made weights many times as large: the training diverges."""
    return case.weights is not None and case.weights.most >= _DIVERGED


def _grew_without_gradients(case: Case) -> Match | None:
    return None if case.gradients else _by_growth(case, case.growth)


def _grew_in_loop(case: Case) -> Match | None:
    growth = case.loop_growth
    limit = MAX_FINITE.get(case.out.dtype or "", math.inf)
    if growth is not None and growth.expected > limit:
        growth = replace(growth, last=growth.expected)  # nothing came all at once
    match = _by_growth(case, growth)
    return replace(match, evidence=f"{match.evidence}; {case.loop_growth}") if match else None


def _by_growth(case: Case, growth: Growth | None) -> Match | None:
    match = overflow(nan=True)(case)
    limit = MAX_FINITE.get(case.out.dtype or "")
    if match is None or growth is None or limit is None:
        return None
    if growth.last < math.sqrt(limit):  # Most of the way came after it, all at once.
        return None
    return match.doubted()


def _made_a_softmax(case: Case) -> bool:
    return case.leads_to("Softmax", _TO_SOFTMAX)


def _takes_weights(case: Case) -> bool:
    """Condition: a factor is the value of a variable, as in layers, or a constant."""
    return any(_is_weight(given) for given in case.inputs)


def _is_weight(given: Input) -> bool:
    if given.op_type in _RESHAPED:
        return any(_is_weight(one) for one in given.made_from[:1])
    return given.op_type in READS or given.op_type == "Const"


def _divides_nothing(case: Case) -> bool:
    """Condition: of finite numbers the op makes ∞ only where the result is too large."""
    if case.op_type == "Pow":
        return 0 in (total(case.summary(0), "zero"), total(case.summary(1), "neg"))
    return case.op_type in MATMULS | _SUMS | _PRODUCTS | _ACTIVATIONS | _GRADIENTS | _STEPS


def _is_square(case: Case) -> bool:
    """Condition: the op computes a power, or multiplies a tensor by itself."""
    return case.op_type != "Mul" or (len(case.inputs) > 1 and case.inputs[0] == case.inputs[1])


def _has_single_factor(case: Case) -> bool:
    """Condition: the op multiplies another tensor by one number."""
    sizes = [given.summary.size for given in case.inputs if given.summary is not None]
    return 1 in sizes and not _is_square(case)


def _is_power_of_finite(case: Case) -> bool:
    """Condition: a power of finite numbers, whatever the exponents are."""
    return case.op_type == "Pow" and any(given.finite for given in case.inputs[:1])


LOSS_SCALE = Rule(
    id="loss-scale-overflow",
    title="Gradients overflow float16 as the loss is multiplied by a large number",
    op_types=MATMULS
    | _SUMS
    | _PRODUCTS
    | ops("Cast", "FusedBatchNormGradV3", "DepthwiseConv2dNativeBackpropInput")
    | ops("DepthwiseConv2dNativeBackpropFilter"),
    test=also(_scaled, of_dtype("float16")),
    why="A loss scale keeps small gradients from being 0 in float16, and makes all of them so many "
    "times as large: those that were large already are beyond 65504.",
    fix="Multiply by a smaller number, divide the gradients by the same one before they are "
    "applied (steps are so many times too long else), and leave out steps whose gradients are "
    "not finite: keras.mixed_precision.LossScaleOptimizer does all of it.",
    example=example(
        "Mul", given(3e4, 1), given(4, 1), out=[INF, 1], dtype="float16", backward=True,
        loss_scale=32768,
    ),
)  # fmt: skip
"""Asked before the rules of layers, as what they compute is not to blame."""

LOSS_WITHOUT_BOUND = Rule(
    id="loss-without-lower-bound",
    title="The loss fell without end until numbers overflowed",
    op_types=MATMULS | _SUMS | _PRODUCTS | BATCH_NORMS | _STEPS,
    test=_fell_without_end,
    why=NO_LOWER_BOUND,
    fix=BOUND_IT,
    example=example(
        "Square",
        given(1e30, 1),
        out=[INF, 1],
        training=True,
        healthy_before=10,
        fall=Fall(0, -0.9, 12, -9.7),
    ),
)
"""At the line of the loss, whatever has overflowed."""

GREW_ON_THE_WAY_BACK = Rule(
    id="gradient-grew-over-iterations",
    title="The gradient exploded on its way back through a loop, as through time steps",
    op_types=ops("Square", "Mul", "Pow"),
    test=_grew_on_the_way_back,
    why="A recurrent layer multiplies by the same weights in each time step, and so does its "
    "gradient: over many of them, and with an activation that has no bound (relu), it grows "
    "beyond all bounds. The optimizer squares it, and what it keeps is ∞ from then on.",
    fix="Use tanh instead of relu, orthogonal recurrent weights, shorter sequences, or a GRU or "
    "LSTM with its own activations; scale inputs and targets; clip gradients (clipnorm).",
    example=example(
        "Square", given(1e30, 1), out=[INF, 1], optimizer=True,
        gradient_growth=Growth(0, 12, 64, 2e16, unit="iteration"),
    ),
)  # fmt: skip
"""At the line of the layer, whatever has overflowed."""

RULES = (
    Rule(
        id="cast-overflow",
        title="Cast to a type that cannot hold the number",
        op_types=ops("Cast"),
        test=either(overflow(), infinite_out),
        why="A finite number is larger than the largest of the type it is cast to.",
        fix="Keep this part in float32, use bfloat16 (which has float32's range), or scale the "
        "values down before the cast. A mask for float16 is -6e4, not -1e9.",
        example=example("Cast", given(1e6, 1), out=[INF, 1], dtype="float16"),
    ),
    Rule(
        id="attention-overflow",
        title="Attention scores overflowed in float16",
        op_types=MATMULS,
        test=also(
            overflow(nan=True), of_dtype("float16"), _made_a_softmax,
            lambda c: not _takes_weights(c),
        ),
        why="The product of queries and keys adds up as many products as they have dimensions, and "
        "float16 ends at 65504. To divide it by the square root of that number comes too late.",
        fix="Divide the queries by the square root of the number of dimensions before the "
        "product, or compute the scores in float32 or bfloat16. Of a layer of Keras: normalise or "
        "scale what it takes, or give it dtype='float32'.",
        example=example(
            "BatchMatMulV2", given(300, 1), given(300, 1),
            out=[INF, 1], dtype="float16", users=(User("Softmax"),),
        ),
    ),
    Rule(
        id="batch-far-from-others",
        title="A batch of data that is far from all others made numbers overflow",
        op_types=frozenset(),
        test=_made_of_outlier,
        why="The weights are what they were, and the data of this step are far larger than those "
        "of the steps before: a missing value written as a huge number, a wrong unit, a sensor "
        "that failed.",
        fix="Look at the data of this step, and leave out or replace such values before they come "
        "in. Clip gradients (clipnorm), so that one batch cannot ruin the weights.",
        example=example(
            "Square", given(1e30, 1), out=[INF, 1],
            training=True, healthy_before=8, outlier=Outlier("x:0", 1e30, 3.5),
        ),
    ),
    GREW_ON_THE_WAY_BACK,
    Rule(
        id="huge-from-the-first-step",
        title="Numbers were huge before anything was trained, and overflowed soon after",
        op_types=MATMULS | _SUMS | _PRODUCTS | BATCH_NORMS | _STEPS,
        test=_huge_at_first,
        why="The first step computed with the weights that the model begins with: these or the "
        "data are too large, or something is multiplied by itself again and again, as by the "
        "recurrent weights of an unbounded cell (relu). A step by such gradients can only make it "
        "worse.",
        fix="Scale inputs and targets; begin with smaller weights (orthogonal ones in a recurrent "
        "layer, and tanh there); clip gradients (clipnorm), lower the learning rate.",
        example=example(
            "MatMul", given(1e30, 1), given(1e30, 1),
            out=[INF, 1], training=True, in_earlier_step=True, start=Start("loss:0", 2e30, 0),
        ),
    ),
    LOSS_WITHOUT_BOUND,
    Rule(
        id="grew-until-overflow",
        title="Training diverged: numbers grew from step to step until they overflowed",
        op_types=MATMULS | _SUMS | _PRODUCTS | BATCH_NORMS,
        test=_grew_in_training,
        why="Each step made the same tensor larger by about the same factor, as steps do that are "
        "too long: what went before is on record.",
        fix="Lower the learning rate, or raise it more slowly; clip gradients (clipnorm); scale "
        "inputs and targets.",
        fix_in_recurrent=OVER_TIME,
        example=example(
            "MatMul", given(1e30, 1), given(1e30, 1), out=[INF, 1],
            gradients=True, growth=Growth(0, 12, 5, 9e29),
        ),
    ),
    Rule(
        id="squared-gradient-overflow",
        title="The square of a gradient overflowed in the optimizer",
        op_types=ops("Square", "Mul", "Pow"),
        test=downgraded(
            also(overflow(), in_optimizer, _is_square), unless=_divides_nothing
        ),
        why="Adam and its like keep a mean of the squares of gradients: that of a gradient above "
        "1.8e19 is beyond float32, that of one above 255 beyond float16. What they keep is ∞ from "
        "then on, and the variable stays as it is, or becomes NaN.",
        fix="Clip gradients (clipnorm), scale the loss or what it is of. Keep variables in float32 "
        "(a policy of mixed_float16 does), not in float16.",
        fix_in_recurrent=OVER_TIME,
        example=example("Square", given(1e30, 1), out=[INF, 1], optimizer=True),
    ),
    Rule(
        id="half-precision-overflow",
        title="Overflow in float16",
        op_types=frozenset(),
        test=downgraded(also(overflow(nan=True), of_dtype("float16")), unless=_divides_nothing),
        why="float16 ends at 65504: squares of 256 and sums of many numbers are beyond.",
        fix="Compute this part in float32 (dtype='float32' for the layer, tf.cast around the op), "
        "or use bfloat16.",
        example=example("Mul", given(300, 1), given(300, 1), out=[INF, 1], dtype="float16"),
    ),
    Rule(
        id="gradient-overflow",
        title="The gradient overflowed",
        op_types=MATMULS | _SUMS | _PRODUCTS,
        test=downgraded(
            also(overflow(), in_backward, lambda case: not weights_grew(case)),
            unless=_divides_nothing,
        ),
        why="Gradients grow from layer to layer, or the loss is huge: here they left the range.",
        fix="Clip gradients (clipnorm), lower the learning rate, scale the loss or the data.",
        fix_in_recurrent=OVER_TIME,
        example=example("Mul", given(1e30, 1), given(1e30, 1), out=[INF, 1], backward=True),
    ),
    Rule(
        id="diverged-until-overflow",
        title="Training diverged until numbers overflowed",
        op_types=MATMULS | _SUMS | _PRODUCTS | BATCH_NORMS | _STEPS,
        test=_diverged,
        why="The same tensor was finite in the steps before, and has become too large since, as "
        "numbers do where a step is too long, or a batch far from all others.",
        fix="Lower the learning rate, clip gradients (clipnorm), scale inputs and targets.",
        fix_in_recurrent=OVER_TIME,
        example=example(
            "Mul", given(1e30, 1), given(1e30, 1), out=[INF, 1], training=True,
            healthy_before=10,
        ),
    ),
    Rule(
        id="grew-over-iterations",
        title="Numbers grew from iteration to iteration of a loop until they overflowed",
        op_types=MATMULS | _SUMS | _PRODUCTS,
        test=_grew_in_loop,
        why="Each iteration (in a recurrent layer each time step) made the same tensor larger, by "
        "about the same factor or one that grows: what is applied again and again has a gain above "
        "1, by its initial values or by a training step that was too long.",
        fix="In a recurrent layer: smaller initial recurrent weights (orthogonal), tanh instead of "
        "relu, a lower learning rate, clipped gradients. Elsewhere a smaller step, or normalise "
        "what goes from iteration to iteration.",
        example=example(
            "MatMul", given(1e30, 1), given(1e30, 1),
            out=[INF, 1], loop_growth=Growth(1, 12, 5, 9e29, unit="iteration"),
        ),
    ),
    Rule(
        id="grew-over-computations",
        title="Numbers grew from one computation to the next until they overflowed",
        op_types=MATMULS | _SUMS | _PRODUCTS,
        test=_grew_without_gradients,
        why="Each computation made the same tensor larger: what is applied again and again has a "
        "gain above 1. No gradients are on record: it is the program's own steps, of time or of a "
        "rule of learning, that are too long, or nothing keeps the numbers small.",
        fix="Take smaller steps, normalise what goes from one computation to the next, work with "
        "logarithms, or in float64.",
        example=example(
            "Mul", given(1e30, 1), given(1e30, 1), out=[INF, 1], growth=Growth(0, 12, 5, 9e29),
        ),
    ),
    Rule(
        id="step-overflow",
        title="The step of the optimizer overflowed: a gradient times the learning rate",
        op_types=ops("Mul"),
        test=also(overflow(), in_optimizer, _has_single_factor),
        why="A product with one number is larger than what that multiplies only where the number "
        "is above 1. A learning rate is far below, so that steps are smaller than gradients.",
        fix="Lower the learning rate, or correct its schedule.",
        example=example("Mul", given(400, 1), given(1e38), out=[INF, 1e38], optimizer=True),
    ),
    Rule(
        id="overflowed-at-once",
        title="Numbers overflowed in one step, without having grown before",
        op_types=MATMULS | _SUMS | _PRODUCTS | BATCH_NORMS | _STEPS,
        test=_overflowed_at_once,
        why="The same tensor was no larger in the step before than ever: this batch, or the one "
        "before it, is far from all others, or the step between them was far too long.",
        fix="Look at these two batches: outliers, wrong units, missing values written as huge "
        "numbers. Clip gradients (clipnorm), so that one batch cannot do that.",
        example=example(
            "Mul", given(1e30, 1), given(1e30, 1),
            out=[INF, 1], training=True,
            healthy_before=8, steady=Steady(0, 7, 2.5),
        ),
    ),
    Rule(
        id="batch-norm-overflow",
        title="The variance of a batch overflowed",
        op_types=BATCH_NORMS,
        test=_batch_overflowed,
        why="What comes in is so large that its squares are beyond the largest number, as those of "
        "numbers above 1.8e19 are in float32.",
        fix="Normalise the inputs. Where it is the training that has made the numbers so large, "
        "lower the learning rate, clip gradients (clipnorm).",
        example=example("FusedBatchNormV3", given(1e30, -1e30), given(1), given(0), out=[INF]),
    ),
    Rule(
        id="norm-overflow",
        title="Sum of squares overflowed",
        op_types=ops("Sum", "L2Loss", "EuclideanNorm", "Square"),
        test=also(
            overflow(), lambda c: c.op_type != "Sum" or behind("Square", "L2Loss", depth=1)(c),
        ),
        why="The square of a number above 1.8e19 is beyond float32: the norm or the squared error "
        "overflows although the values are finite.",
        fix="Clip or normalise the values before they are squared; lower the learning rate if they "
        "grow with training.",
        example=example("Sum", given(2e38, 2e38, by="Square"), out=[INF]),
    ),
    Rule(
        id="matmul-overflow",
        title="Matrix product overflowed",
        op_types=MATMULS,
        test=overflow(),
        why="The products add up to more than the largest number.",
        fix="Scale the factors down; check inputs and initial weights for huge values.",
        example=example("MatMul", given(1e30, 1e30), given(1e30, 1e30), out=[INF]),
    ),
    Rule(
        id="matmul-overflow-to-nan",
        title="Partial sums of a matrix product overflowed both ways",
        op_types=MATMULS,
        test=overflow(nan=True),
        why="Finite factors give NaN when partial sums reach +∞ and -∞, and these are added.",
        fix="Scale the factors down; check inputs and initial weights for huge values.",
        example=example("MatMul", given(1e30, -1e30), given(1e30, 1e30), out=[NAN]),
    ),
    Rule(
        id="product-overflow",
        title="Product overflowed",
        op_types=_PRODUCTS,
        test=either(
            downgraded(overflow(), unless=_divides_nothing),
            also(infinite_out, _is_power_of_finite),
        ),
        why="A product, square or power is larger than the largest number.",
        fix="Work with logarithms, normalise in between, or scale the factors down.",
        example=example("Mul", given(1e30, 1), given(1e30, 1), out=[INF, 1]),
    ),
    Rule(
        id="cumulative-product-to-nan",
        title="Product of many numbers overflowed and met a zero",
        op_types=ops("Prod", "Cumprod", "SegmentProd"),
        test=overflow(nan=True),
        why="The product reached ∞ on the way, and ∞ · 0 is NaN.",
        fix="Work with sums of logarithms.",
        example=example("Cumprod", given(1e30, 1e30, 0), out=[1e30, INF, NAN]),
    ),
    Rule(
        id="sum-overflow",
        title="Sum overflowed",
        op_types=_SUMS,
        test=overflow(),
        why="The sum of finite numbers is larger than the largest number.",
        fix="Scale the values down, or add up in a larger type.",
        example=example("Sum", given(3e38, 3e38), out=[INF]),
    ),
    Rule(
        id="sum-overflow-to-nan",
        title="Partial sums overflowed both ways",
        op_types=_SUMS,
        test=overflow(nan=True),
        why="Finite numbers add up to NaN when partial sums reach +∞ and -∞.",
        fix="Scale the values down, or add up in a larger type.",
        example=example("Sum", given(3e38, 3e38, -3e38, -3e38), out=[NAN]),
    ),
    Rule(
        id="cross-entropy-of-huge-logits",
        title="Cross entropy of huge logits",
        op_types=ops("SoftmaxCrossEntropyWithLogits"),
        test=overflow(nan=True),
        why="The difference of two logits is larger than the largest number.",
        fix="Normalise what makes the logits; lower the learning rate if they grow with training.",
        example=example(
            "SoftmaxCrossEntropyWithLogits", given(3e38, -3e38), given(0, 1), out=[INF],
        ),
    ),
    Rule(
        id="label-out-of-range",
        title="Class label outside of the logits",
        op_types=ops("SparseSoftmaxCrossEntropyWithLogits"),
        test=_label_outside,
        why="The loss is NaN where a label is not between 0 and the number of classes less one.",
        fix="Check the labels: off by one, -1 for missing, more classes than the last layer has "
        "units.",
        example=example("SparseSoftmaxCrossEntropyWithLogits", given(0.1, 2), given(7), out=[NAN]),
    ),
    Rule(
        id="activation-overflow",
        title="Activation of a huge number overflowed",
        op_types=_ACTIVATIONS | ops("Expint"),
        test=overflow(nan=True),
        why="The argument is so large that the function leaves the range.",
        fix="Normalise what goes in; lower the learning rate if it grows with training.",
        example=example("Selu", given(3.3e38, 1), out=[INF, 1.05]),
    ),
    Rule(
        id="complex-overflow",
        title="Magnitude or Fourier transform of huge numbers overflowed",
        op_types=_TRANSFORMS | ops("ComplexAbs"),
        test=overflow(nan=True),
        why="A magnitude is the root of a sum of squares, a Fourier transform a sum of all "
        "numbers: of finite ones they are ∞, or NaN where ∞ meets ∞, only beyond the largest.",
        fix="Scale the numbers down before, and the result up again.",
        example=example("RFFT", given(3e38, 3e38), out=[INF, 0], dtype="complex64"),
    ),
    Rule(
        id="gradient-of-activation-overflow",
        title="Gradient of an activation overflowed",
        op_types=_GRADIENTS,
        test=overflow(nan=True),
        why="The gradient times the slope is larger than the largest number.",
        fix="Clip gradients (clipnorm), or keep the forward value away from where its slope "
        "explodes.",
        example=example("SeluGrad", given(3e38, 1), given(2, 1), out=[INF, 1]),
    ),
    Rule(
        id="optimizer-overflow",
        title="The optimizer's step overflowed",
        op_types=frozenset(),
        test=downgraded(
            also(overflow(), named("adam", "rmsprop", "adagrad", "sgd", "optimizer", "momentum")),
            unless=_divides_nothing,
        ),
        why="A gradient is so large that its square, or the step made of it, is beyond the range.",
        fix="Clip gradients (clipnorm), lower the learning rate.",
        example=example(
            "ResourceApplyGradientDescent", given(3e38), given(2), out=[INF], op_name="sgd/update",
        ),
    ),
)  # fmt: skip
"""Rules about overflow."""

DIVERGED = frozenset({"loss-without-lower-bound", "grew-until-overflow", "diverged-until-overflow"})
"""Rules of trainings that have made their weights larger and larger."""
