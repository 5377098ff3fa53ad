"""What op types do to NaN and ∞: facts of their definitions that several rooms need."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_GRADIENT = re.compile(r"(Grad|Backprop(Input|Filter))(V\d)?$")
"""Ops that TensorFlow makes for gradients, as of convolutions and pools."""

VALUE_INPUTS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        (
            "All", "Any", "ArgMax", "ArgMin", "BroadcastTo", "Cumprod", "Cumsum",
            "DepthToSpace", "ExpandDims", "GatherNd", "GatherV2", "Max", "Mean", "Min", "MirrorPad",
            "Pad", "Prod", "ResizeBilinear", "ResizeNearestNeighbor", "Reshape", "ResourceGather",
            "Roll", "ReverseV2", "ReverseSequence", "SegmentMax", "SegmentMean", "SegmentMin",
            "SegmentProd", "SegmentSum", "Slice", "SparseSegmentMean", "SparseSegmentSum",
            "SpaceToDepth", "Squeeze", "StridedSlice", "Sum", "Tile", "TopKV2", "Transpose",
            "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd",
            "UnsortedSegmentSum", "EuclideanNorm",
        ),
        (0,),
    ),
    **dict.fromkeys(("Split", "Fill", "TensorListFromTensor"), (1,)),
    "Split": (1,),
    "SplitV": (0,),
    "OneHot": (2, 3),
    "Select": (1, 2),
    "SelectV2": (1, 2),
    "PadV2": (0, 2),
    "StridedSliceGrad": (4,),
    "TensorStridedSliceUpdate": (0, 4),
    "TensorScatterUpdate": (0, 2),
    "TensorScatterAdd": (0, 2),
    "ScatterNd": (1,),
    "Conv2DBackpropInput": (1, 2),
    "Conv2DBackpropFilter": (0, 2),
    "SparseSoftmaxCrossEntropyWithLogits": (0,),
    "RandomUniform": (),
    "RandomStandardNormal": (),
    "TruncatedNormal": (),
    "StatelessRandomUniformV2": (),
    "StatelessRandomNormalV2": (),
    "ZerosLike": (),
    "OnesLike": (),
    "Shape": (),
    "ParameterizedTruncatedNormal": (1, 2, 3, 4),
}  # fmt: skip
"""Which inputs of an op hold values that go into its result; all of them where it is not listed.

The others are axes, shapes, indices and conditions.
"""

UNRECORDED = frozenset(
    {
        "Placeholder", "PlaceholderWithDefault", "If", "StatelessIf", "Case", "StatelessCase",
        "While", "StatelessWhile", "PartitionedCall", "StatefulPartitionedCall", "Identity",
        "IdentityN", "VarHandleOp", "Switch", "Merge", "Enter", "Exit", "NextIteration",
        "RefIdentity", "ReadVariableOp", "IteratorGetNext", "OptionalGetValue", "EagerPyFunc",
        "PyFunc", "EmptyTensorList", "XlaLaunch", "SymbolicGradient",
    }
)  # fmt: skip
"""Ops that may carry values although no dump records their outputs; see `unrecorded`."""

COMPLEX_INPUT = frozenset(
    {
        "IFFT", "IFFT2D", "IFFT3D", "IRFFT", "IRFFT2D", "IRFFT3D", "FFT", "FFT2D", "FFT3D",
        "ComplexAbs", "Real", "Imag", "Angle", "Conj",
    }
)  # fmt: skip
"""Ops of complex numbers, of which TensorFlow's writer records nothing."""

FLOAT_OPS = frozenset(
    {
        "Log", "Log1p", "Exp", "Expm1", "Sqrt", "Rsqrt", "Softmax", "LogSoftmax", "Sigmoid",
        "Tanh", "RealDiv", "Softplus", "Elu", "Relu", "Relu6", "BiasAdd", "Conv2D",
        "SqrtGrad", "TanhGrad", "SigmoidGrad", "ReluGrad", "BiasAddGrad", "FusedBatchNormV3",
    }
)  # fmt: skip
"""Ops that hardly ever make anything but floating-point tensors."""

ONE_TYPE = FLOAT_OPS | frozenset(
    {
        "Mul", "AddV2", "Add", "Sub", "Div", "Pow", "Maximum", "Minimum", "MatMul",
        "BatchMatMulV2", "AddN", "Square", "SquaredDifference", "Neg", "Abs", "Reciprocal",
        "Acos", "Asin", "Atanh", "Acosh", "Sinh", "Cosh", "Sin", "Cos", "Tan", "Erfinv", "Lgamma",
        "Digamma", "Xlogy", "DivNoNan", "FloorMod", "Einsum", "L2Loss", "Sum", "Mean", "Prod",
        "Max", "Min", "Cumsum", "Cumprod", "Reshape", "Transpose", "Tile", "ExpandDims",
        "Squeeze", "BroadcastTo", "SelectV2", "Select", "StridedSlice", "EuclideanNorm",
    }
)  # fmt: skip
"""Ops whose inputs that hold values are of the result's type: recorded like it, unless filtered."""

SOURCES = frozenset(
    {
        "Const", "IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional",
        "OptionalGetValue", "MultiDeviceIteratorGetNextFromShard", "Placeholder",
        "PlaceholderWithDefault", "VarHandleOp", "ReadVariableOp", "PyFunc", "EagerPyFunc",
        "PyFuncStateless", "DecodeRaw", "DecodeCSV", "ParseExampleV2", "ReadFile", "RestoreV2",
        "Restore", "StringToNumber", "LookupTableFindV2", "ParseTensor", "DatasetToSingleElement",
        "QueueDequeueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2", "Unstage", "MapUnstage",
    }
)  # fmt: skip
"""Ops that bring values in from outside: they compute nothing that could go wrong."""

MOVES = frozenset(
    {
        "BroadcastTo", "Concat", "ConcatV2", "DepthToSpace", "DynamicPartition",
        "DynamicStitch", "ExpandDims", "ExtractImagePatches", "GatherNd", "GatherV2", "Identity",
        "IdentityN", "MatrixDiagV3", "MatrixDiagPartV3", "MirrorPad", "Neg", "Pack", "Pad",
        "PadV2", "ParallelConcat", "Placeholder", "PreventGradient", "ReadVariableOp",
        "RandomShuffle", "Reshape", "ResourceGather", "ReverseV2", "ReverseSequence", "Roll",
        "Select", "SelectV2", "Slice", "Snapshot", "SpaceToDepth", "Split", "SplitV", "Squeeze",
        "StopGradient", "StridedSlice", "TensorListGetItem", "TensorListStack",
        "TensorListPopBack", "TensorListConcatV2", "TensorScatterUpdate", "Tile", "TopKV2",
        "Transpose", "Unpack", "Where", "Abs", "Sign", "Bitcast", "Relu", "Relu6", "LeakyRelu",
        "MaxPool", "Maximum", "Minimum", "Tanh", "Sigmoid", "ScatterNd",
        "StridedSliceGrad", "CollectiveReduceV2", "MatrixBandPart", "OptionalGetValue", "Fill",
        "ReluGrad", "Relu6Grad", "LeakyReluGrad", "ClipByValue", "CheckNumerics", "Softsign",
        "Erf", "Atan", "OneHot", "Conj", "Real", "Imag", "ZerosLike",
        "Sort", "BatchToSpaceND", "SpaceToBatchND", "IteratorGetNext", "MatrixSetDiagV3",
        "MatrixDiag", "Diag", "DiagPart", "EnsureShape", "Floor", "Ceil", "Round", "Rint",
        "ParallelDynamicStitch", "RaggedTensorToTensor", "RaggedGather", "SparseToDense",
        "ResourceGatherNd", "TensorScatterMax", "TensorScatterMin", "TensorStridedSliceUpdate",
        "TensorListSetItem", "TensorListGather", "SparseReorder", "SparseReshape",
    }
)  # fmt: skip
"""Ops that never make NaN or ∞ of finite numbers: a bad output means a bad input."""

ASKS = frozenset({"IsNan", "IsInf", "IsFinite"})
"""Ops by which a program asks whether values are finite."""

COUNTS_ANSWERS = frozenset(
    {"All", "Any", "LogicalNot", "LogicalAnd", "LogicalOr", "Cast", "Sum", "Mean", "Max", "Min"}
)
"""Ops that make one answer for Python of what was asked of many elements."""

SMALL_TYPES = frozenset({"float16", "float8_e4m3fn", "float8_e5m2"})
"""Their range is so small that an overflow, even one that ends in a finite number, is no intent."""

WRITES = frozenset({"Fill", "Select", "SelectV2", "PadV2", "OneHot", "TensorScatterUpdate"})
"""Ops by which a program writes a number of its choice into a tensor, ∞ into masked places say."""

NON_FLOAT_RESULT = ASKS | frozenset(
    {
        "Shape", "ShapeN", "Size", "Rank",
        "BroadcastGradientArgs", "BroadcastArgs", "ZerosLike", "OnesLike",
    }
)  # fmt: skip
"""Ops whose result does not depend on the values, or asks whether they are finite."""

COMPARISONS = frozenset(
    {"Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "ApproximateEqual"}
)

LEAVES_OUT = frozenset(
    {
        "Select", "SelectV2", "DivNoNan", "MulNoNan", "Xdivy", "Xlogy", "Xlog1py", "GatherV2",
        "GatherNd", "StridedSlice", "Slice", "DynamicPartition", "TensorScatterUpdate",
        "ResourceGather", "Where", "Split", "SplitV", "Unpack",
    }
)  # fmt: skip
"""Ops by which a program leaves NaN out on purpose; a finite result of others may hide a bug."""


BOUNDS = frozenset({"Minimum", "Maximum", "ClipByValue", "Min", "Max"})
"""Ops by which a program sets a bound to ∞, or to a large number."""

ADDS = frozenset({"AddV2", "Add", "Sub"})

REDUCES = frozenset({"Sum", "Cumsum", "SegmentSum", "UnsortedSegmentSum"})
"""Ops that add up: the logarithm of a product is a sum, and the product 0 where that is -∞.

A mean is none: a geometric mean that is 0 because of one number is rarely meant.
"""

DIVISIONS = frozenset({"RealDiv", "Reciprocal"})

SUMS = REDUCES | {"Mean"}

SCALES = frozenset({"Mul", "RealDiv"})

LIMITS = frozenset({"Atan"})
"""Ops that are asked for their limit at ∞: the angle of a vertical line is 90 degrees."""

COMPARES_AND_ADDS = (
    MOVES
    | BOUNDS
    | ADDS
    | frozenset({"Cast", "SegmentMax", "SegmentMin", "UnsortedSegmentMax", "UnsortedSegmentMin"})
)
"""Ops of algorithms in which ∞ is a number like any other: shortest paths, best scores so far."""

OUT_OF_LOGARITHMS = frozenset({"Exp", "Softmax", "Sigmoid", "Expm1"}) | BOUNDS
"""Ops that take a logarithm of 0 back to 0, or set a bound to it."""

EXPONENTIALS = frozenset({"Exp", "Expm1", "Cosh", "Sinh"})
"""Ops whose ∞ is as good as any large number: 1 / (1 + exp(1000)) is 0.

That of log(0) or 1 / 0 is not, and numbers that multiply and add up to it are out of hand.
"""

GROWS = frozenset(
    {
        "Exp", "Expm1", "Cosh", "Sinh", "Square", "Mul", "MatMul", "BatchMatMulV2", "AddV2",
        "Sum", "Mean", "Sub", "Pow", "Cumprod", "Prod", "Cumsum", "AddN", "L2Loss", "BiasAdd",
        "BiasAddGrad", "SquaredDifference", "Conv2D", "Conv2DBackpropInput",
        "Conv2DBackpropFilter", "Einsum",
    }
)  # fmt: skip
"""Ops that make ∞ of large numbers."""


def is_list_op(op_type: str | None) -> bool:
    """Whether an op makes, changes or reads a list of tensors: what a loop takes and gives."""
    return (op_type or "").startswith("TensorList")


def only_makes_floats(op_type: str) -> bool:
    """Whether all that ops of a type do is to make floating-point tensors.

    One that ran is on record then, in a dump that leaves nothing out.
    """
    return op_type in ONE_TYPE | MOVES or bool(_GRADIENT.search(op_type))


def unrecorded(op_type: str) -> bool:
    """Whether ops of a type may carry values although no dump records their outputs.

    Any other op without a record, in a dump that leaves nothing out, has no floating-point output.
    """
    return op_type in UNRECORDED or op_type.startswith(("TensorList", "__"))


def value_inputs(op_type: str | None, number: int) -> Sequence[int]:
    """Return which of an op's `number` inputs hold values that go into its result."""
    slots = VALUE_INPUTS.get(op_type or "")
    if slots is None:
        return range(number)
    return tuple(slot for slot in slots if slot < number)
