"""The table of op types: what each does to NaN and ∞, one line an op.

These are facts of the ops' definitions.  `op_traits` derives sets of op types from them.
"""

from __future__ import annotations

from enum import Flag, auto


class Trait(Flag):
    """Something that ops of a type do."""

    ADDS = auto()
    """Adds or subtracts."""
    ASKS = auto()
    """Asks whether values are finite."""
    BOUNDS = auto()
    """Sets a bound to ∞, or to a large number."""
    CHECKS = auto()
    """Raises an error where a value is not finite."""
    COMPARES = auto()
    """Compares numbers."""
    COMPLEX_INPUT = auto()
    """Takes or gives complex numbers, of which TensorFlow's writer records nothing."""
    COUNTS_ANSWERS = auto()
    """Makes one answer for Python of what was asked of many elements."""
    DIVIDES = auto()
    """Divides."""
    EXPONENTIAL = auto()
    """Its ∞ is as good as any large number: 1 / (1 + exp(1000)) is 0."""
    FLOAT = auto()
    """Hardly ever makes anything but floating-point tensors."""
    GROWS = auto()
    """Makes ∞ of large numbers."""
    LEAVES_OUT = auto()
    """A program leaves NaN out by it on purpose."""
    LIMIT = auto()
    """Is asked for its limit at ∞: the angle of a vertical line is 90 degrees."""
    MOVES = auto()
    """Never makes NaN or ∞ of finite numbers: a bad output means a bad input."""
    NO_FLOAT = auto()
    """Its result does not depend on the values."""
    ONE_TYPE = auto()
    """Its inputs that hold values are of the result's type."""
    OUT_OF_LOG = auto()
    """Takes a logarithm of 0 back to 0."""
    REDUCES = auto()
    """Adds up."""
    SCALES = auto()
    """Multiplies or divides."""
    SELECTS = auto()
    """Takes ∞ like any other number: converts it, or takes the best of a segment."""
    SHOWS = auto()
    """Tells the user of the values: what the user makes of that leaves no record."""
    SOURCE = auto()
    """Brings values in from outside: it computes nothing that could go wrong."""
    UNRECORDED = auto()
    """May carry values although no dump records its outputs."""
    WRITES = auto()
    """Writes a number of the program's choice into a tensor, ∞ into masked places say."""


T = Trait  # short, as it is on every line of the table

TRAITS: dict[str, Trait] = {
    "Abs": T.MOVES | T.ONE_TYPE,
    "Acos": T.ONE_TYPE,
    "Acosh": T.ONE_TYPE,
    "Add": T.ADDS | T.ONE_TYPE,
    "AddN": T.GROWS | T.ONE_TYPE,
    "AddV2": T.ADDS | T.GROWS | T.ONE_TYPE,
    "All": T.COUNTS_ANSWERS,
    "Angle": T.COMPLEX_INPUT,
    "Any": T.COUNTS_ANSWERS,
    "ApproximateEqual": T.COMPARES,
    "AsString": T.SHOWS,
    "Asin": T.ONE_TYPE,
    "Assert": T.SHOWS,
    "Atan": T.LIMIT | T.MOVES,
    "Atanh": T.ONE_TYPE,
    "BatchMatMulV2": T.GROWS | T.ONE_TYPE,
    "BatchToSpaceND": T.MOVES,
    "BiasAdd": T.FLOAT | T.GROWS,
    "BiasAddGrad": T.FLOAT | T.GROWS,
    "Bitcast": T.MOVES,
    "BroadcastArgs": T.NO_FLOAT,
    "BroadcastGradientArgs": T.NO_FLOAT,
    "BroadcastTo": T.MOVES | T.ONE_TYPE,
    "Case": T.UNRECORDED,
    "Cast": T.COUNTS_ANSWERS | T.SELECTS,
    "Ceil": T.MOVES,
    "CheckNumerics": T.CHECKS | T.MOVES,
    "CheckNumericsV2": T.CHECKS | T.MOVES,
    "ClipByValue": T.BOUNDS | T.MOVES,
    "CollectiveAllToAllV2": T.MOVES,
    "CollectiveAllToAllV3": T.MOVES,
    "CollectiveBcastRecv": T.MOVES,
    "CollectiveBcastRecvV2": T.MOVES,
    "CollectiveBcastSend": T.MOVES,
    "CollectiveBcastSendV2": T.MOVES,
    "CollectiveGather": T.MOVES,
    "CollectiveGatherV2": T.MOVES,
    "CollectiveReduce": T.MOVES,
    "CollectiveReduceScatterV2": T.MOVES,
    "CollectiveReduceV2": T.MOVES,
    "CollectiveReduceV3": T.MOVES,
    "ComplexAbs": T.COMPLEX_INPUT,
    "Concat": T.MOVES,
    "ConcatV2": T.MOVES,
    "Conj": T.COMPLEX_INPUT | T.MOVES,
    "Const": T.SOURCE,
    "Conv2D": T.FLOAT | T.GROWS,
    "Conv2DBackpropFilter": T.GROWS,
    "Conv2DBackpropInput": T.GROWS,
    "Cos": T.ONE_TYPE,
    "Cosh": T.EXPONENTIAL | T.GROWS | T.ONE_TYPE,
    "Cumprod": T.GROWS | T.ONE_TYPE,
    "Cumsum": T.GROWS | T.ONE_TYPE | T.REDUCES,
    "DatasetToSingleElement": T.SOURCE,
    "DecodeCSV": T.SOURCE,
    "DecodeRaw": T.SOURCE,
    "DepthToSpace": T.MOVES,
    "Diag": T.MOVES,
    "DiagPart": T.MOVES,
    "Digamma": T.ONE_TYPE,
    "Div": T.ONE_TYPE,
    "DivNoNan": T.LEAVES_OUT | T.ONE_TYPE,
    "DynamicPartition": T.LEAVES_OUT | T.MOVES,
    "DynamicStitch": T.MOVES,
    "EagerPyFunc": T.SOURCE | T.UNRECORDED,
    "Einsum": T.GROWS | T.ONE_TYPE,
    "Elu": T.FLOAT,
    "EmptyTensorList": T.UNRECORDED,
    "EnsureShape": T.MOVES,
    "Enter": T.UNRECORDED,
    "Equal": T.COMPARES,
    "Erf": T.MOVES,
    "Erfinv": T.ONE_TYPE,
    "EuclideanNorm": T.ONE_TYPE,
    "Exit": T.UNRECORDED,
    "Exp": T.EXPONENTIAL | T.FLOAT | T.GROWS | T.OUT_OF_LOG,
    "ExpandDims": T.MOVES | T.ONE_TYPE,
    "Expm1": T.EXPONENTIAL | T.FLOAT | T.GROWS | T.OUT_OF_LOG,
    "ExtractImagePatches": T.MOVES,
    "FFT": T.COMPLEX_INPUT,
    "FFT2D": T.COMPLEX_INPUT,
    "FFT3D": T.COMPLEX_INPUT,
    "Fill": T.MOVES | T.WRITES,
    "Floor": T.MOVES,
    "FloorMod": T.ONE_TYPE,
    "FusedBatchNormV3": T.FLOAT,
    "GatherNd": T.LEAVES_OUT | T.MOVES,
    "GatherV2": T.LEAVES_OUT | T.MOVES,
    "Greater": T.COMPARES,
    "GreaterEqual": T.COMPARES,
    "HistogramSummary": T.SHOWS,
    "IFFT": T.COMPLEX_INPUT,
    "IFFT2D": T.COMPLEX_INPUT,
    "IFFT3D": T.COMPLEX_INPUT,
    "IRFFT": T.COMPLEX_INPUT,
    "IRFFT2D": T.COMPLEX_INPUT,
    "IRFFT3D": T.COMPLEX_INPUT,
    "Identity": T.MOVES | T.UNRECORDED,
    "IdentityN": T.MOVES | T.UNRECORDED,
    "If": T.UNRECORDED,
    "Imag": T.COMPLEX_INPUT | T.MOVES,
    "IsFinite": T.ASKS,
    "IsInf": T.ASKS,
    "IsNan": T.ASKS,
    "IteratorGetNext": T.MOVES | T.SOURCE | T.UNRECORDED,
    "IteratorGetNextAsOptional": T.SOURCE,
    "IteratorGetNextSync": T.SOURCE,
    "L2Loss": T.GROWS | T.ONE_TYPE,
    "LeakyRelu": T.MOVES,
    "LeakyReluGrad": T.MOVES,
    "Less": T.COMPARES,
    "LessEqual": T.COMPARES,
    "Lgamma": T.ONE_TYPE,
    "Log": T.FLOAT,
    "Log1p": T.FLOAT,
    "LogSoftmax": T.FLOAT,
    "LogicalAnd": T.COUNTS_ANSWERS,
    "LogicalNot": T.COUNTS_ANSWERS,
    "LogicalOr": T.COUNTS_ANSWERS,
    "LookupTableFindV2": T.SOURCE,
    "MapUnstage": T.SOURCE,
    "MatMul": T.GROWS | T.ONE_TYPE,
    "MatrixBandPart": T.MOVES,
    "MatrixDiag": T.MOVES,
    "MatrixDiagPartV3": T.MOVES,
    "MatrixDiagV3": T.MOVES,
    "MatrixSetDiagV3": T.MOVES,
    "Max": T.BOUNDS | T.COUNTS_ANSWERS | T.ONE_TYPE,
    "MaxPool": T.MOVES,
    "Maximum": T.BOUNDS | T.MOVES | T.ONE_TYPE,
    "Mean": T.COUNTS_ANSWERS | T.GROWS | T.ONE_TYPE,
    "Merge": T.UNRECORDED,
    "Min": T.BOUNDS | T.COUNTS_ANSWERS | T.ONE_TYPE,
    "Minimum": T.BOUNDS | T.MOVES | T.ONE_TYPE,
    "MirrorPad": T.MOVES,
    "Mul": T.GROWS | T.ONE_TYPE | T.SCALES,
    "MulNoNan": T.LEAVES_OUT,
    "MultiDeviceIteratorGetNextFromShard": T.SOURCE,
    "Neg": T.MOVES | T.ONE_TYPE,
    "NextIteration": T.UNRECORDED,
    "NotEqual": T.COMPARES,
    "OneHot": T.MOVES | T.WRITES,
    "OnesLike": T.NO_FLOAT,
    "OptionalGetValue": T.MOVES | T.SOURCE | T.UNRECORDED,
    "Pack": T.MOVES,
    "Pad": T.MOVES,
    "PadV2": T.MOVES | T.WRITES,
    "ParallelConcat": T.MOVES,
    "ParallelDynamicStitch": T.MOVES,
    "ParseExampleV2": T.SOURCE,
    "ParseTensor": T.SOURCE,
    "PartitionedCall": T.UNRECORDED,
    "Placeholder": T.MOVES | T.SOURCE | T.UNRECORDED,
    "PlaceholderWithDefault": T.SOURCE | T.UNRECORDED,
    "Pow": T.GROWS | T.ONE_TYPE,
    "PreventGradient": T.MOVES,
    "PrintV2": T.SHOWS,
    "Prod": T.GROWS | T.ONE_TYPE,
    "PyFunc": T.SOURCE | T.UNRECORDED,
    "PyFuncStateless": T.SOURCE,
    "QueueDequeueManyV2": T.SOURCE,
    "QueueDequeueUpToV2": T.SOURCE,
    "QueueDequeueV2": T.SOURCE,
    "RaggedGather": T.MOVES,
    "RaggedTensorToTensor": T.MOVES,
    "RandomShuffle": T.MOVES,
    "Rank": T.NO_FLOAT,
    "ReadFile": T.SOURCE,
    "ReadVariableOp": T.MOVES | T.SOURCE | T.UNRECORDED,
    "Real": T.COMPLEX_INPUT | T.MOVES,
    "RealDiv": T.DIVIDES | T.FLOAT | T.SCALES,
    "Reciprocal": T.DIVIDES | T.ONE_TYPE,
    "RefIdentity": T.UNRECORDED,
    "Relu": T.FLOAT | T.MOVES,
    "Relu6": T.FLOAT | T.MOVES,
    "Relu6Grad": T.MOVES,
    "ReluGrad": T.FLOAT | T.MOVES,
    "Reshape": T.MOVES | T.ONE_TYPE,
    "ResourceGather": T.LEAVES_OUT | T.MOVES,
    "ResourceGatherNd": T.MOVES,
    "Restore": T.SOURCE,
    "RestoreV2": T.SOURCE,
    "ReverseSequence": T.MOVES,
    "ReverseV2": T.MOVES,
    "Rint": T.MOVES,
    "Roll": T.MOVES,
    "Round": T.MOVES,
    "Rsqrt": T.FLOAT,
    "ScalarSummary": T.SHOWS,
    "ScatterNd": T.MOVES,
    "SegmentMax": T.SELECTS,
    "SegmentMin": T.SELECTS,
    "SegmentSum": T.REDUCES,
    "Select": T.LEAVES_OUT | T.MOVES | T.ONE_TYPE | T.WRITES,
    "SelectV2": T.LEAVES_OUT | T.MOVES | T.ONE_TYPE | T.WRITES,
    "Shape": T.NO_FLOAT,
    "ShapeN": T.NO_FLOAT,
    "Sigmoid": T.FLOAT | T.MOVES | T.OUT_OF_LOG,
    "SigmoidGrad": T.FLOAT,
    "Sign": T.MOVES,
    "Sin": T.ONE_TYPE,
    "Sinh": T.EXPONENTIAL | T.GROWS | T.ONE_TYPE,
    "Size": T.NO_FLOAT,
    "Slice": T.LEAVES_OUT | T.MOVES,
    "Snapshot": T.MOVES,
    "Softmax": T.FLOAT | T.OUT_OF_LOG,
    "Softplus": T.FLOAT,
    "Softsign": T.MOVES,
    "SpaceToBatchND": T.MOVES,
    "SpaceToDepth": T.MOVES,
    "SparseReorder": T.MOVES,
    "SparseReshape": T.MOVES,
    "SparseToDense": T.MOVES,
    "Split": T.LEAVES_OUT | T.MOVES,
    "SplitV": T.LEAVES_OUT | T.MOVES,
    "Sqrt": T.FLOAT,
    "SqrtGrad": T.FLOAT,
    "Square": T.GROWS | T.ONE_TYPE,
    "SquaredDifference": T.GROWS | T.ONE_TYPE,
    "Squeeze": T.MOVES | T.ONE_TYPE,
    "StatefulPartitionedCall": T.UNRECORDED,
    "StatelessCase": T.UNRECORDED,
    "StatelessIf": T.UNRECORDED,
    "StatelessWhile": T.UNRECORDED,
    "StopGradient": T.MOVES,
    "StridedSlice": T.LEAVES_OUT | T.MOVES | T.ONE_TYPE,
    "StridedSliceGrad": T.MOVES,
    "StringFormat": T.SHOWS,
    "StringToNumber": T.SOURCE,
    "Sub": T.ADDS | T.GROWS | T.ONE_TYPE,
    "Sum": T.COUNTS_ANSWERS | T.GROWS | T.ONE_TYPE | T.REDUCES,
    "Switch": T.UNRECORDED,
    "SymbolicGradient": T.UNRECORDED,
    "Tan": T.ONE_TYPE,
    "Tanh": T.FLOAT | T.MOVES,
    "TanhGrad": T.FLOAT,
    "TensorArrayConcatV3": T.MOVES,
    "TensorArrayGatherV3": T.MOVES,
    "TensorArrayReadV3": T.MOVES,
    "TensorListConcatV2": T.MOVES,
    "TensorListGather": T.MOVES,
    "TensorListGetItem": T.MOVES,
    "TensorListPopBack": T.MOVES,
    "TensorListSetItem": T.MOVES,
    "TensorListStack": T.MOVES,
    "TensorScatterMax": T.MOVES,
    "TensorScatterMin": T.MOVES,
    "TensorScatterUpdate": T.LEAVES_OUT | T.MOVES | T.WRITES,
    "TensorStridedSliceUpdate": T.MOVES,
    "TensorSummaryV2": T.SHOWS,
    "Tile": T.MOVES | T.ONE_TYPE,
    "TopKV2": T.MOVES,
    "Transpose": T.MOVES | T.ONE_TYPE,
    "Unpack": T.LEAVES_OUT | T.MOVES,
    "UnsortedSegmentMax": T.SELECTS,
    "UnsortedSegmentMin": T.SELECTS,
    "UnsortedSegmentSum": T.REDUCES,
    "Unstage": T.SOURCE,
    "VarHandleOp": T.SOURCE | T.UNRECORDED,
    "Where": T.LEAVES_OUT | T.MOVES,
    "While": T.UNRECORDED,
    "WriteHistogramSummary": T.SHOWS,
    "WriteScalarSummary": T.SHOWS,
    "WriteSummary": T.SHOWS,
    "Xdivy": T.LEAVES_OUT,
    "XlaLaunch": T.UNRECORDED,
    "Xlog1py": T.LEAVES_OUT,
    "Xlogy": T.LEAVES_OUT | T.ONE_TYPE,
    "ZerosLike": T.MOVES | T.NO_FLOAT,
}
"""What is known of op types; those that are not listed have none of the traits."""
