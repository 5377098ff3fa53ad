"""Sets of op types by what they do to NaN and ∞, derived from `op_table`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.op_table import TRAITS, Trait
from tfdbg_tui.wire.events import SESSION_RUN

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
    **dict.fromkeys(("Assign", "Fill", "TensorListFromTensor"), (1,)),
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
    **dict.fromkeys(
        (
            "CollectiveAllToAllV2", "CollectiveAllToAllV3", "CollectiveBcastSend",
            "CollectiveBcastSendV2", "CollectiveGather", "CollectiveGatherV2", "CollectiveReduce",
            "CollectiveReduceScatterV2", "CollectiveReduceV2", "CollectiveReduceV3",
        ),
        (0,),
    ),
    **dict.fromkeys(("CollectiveBcastRecv", "CollectiveBcastRecvV2"), ()),
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


def having(trait: Trait) -> frozenset[str]:
    """Return the op types that have one of the traits in `trait`."""
    return frozenset(op_type for op_type, traits in TRAITS.items() if traits & trait)


ADDS = having(Trait.ADDS)
ASKS = having(Trait.ASKS)
BOUNDS = having(Trait.BOUNDS)
COMPARISONS = having(Trait.COMPARES)
COMBINES_ANSWERS = frozenset({"LogicalAnd", "LogicalNot", "LogicalOr"})
"""Ops that make one answer of several, element by element."""

COMPLEX = having(Trait.COMPLEX)
CONVERTS = having(Trait.CONVERTS)
COUNTS_ANSWERS = having(Trait.COUNTS_ANSWERS)
DATASET_ELEMENTS = frozenset(
    {
        "DatasetToSingleElement",
        "IteratorGetNext",
        "IteratorGetNextAsOptional",
        "IteratorGetNextSync",
        "MultiDeviceIteratorGetNextFromShard",
        "OptionalGetValue",
    }
)
"""Ops that give an element of a dataset, which does not depend on what else their call computes."""

ARGUMENTS = DATASET_ELEMENTS | {"Placeholder"}
"""Ops that give what a function takes: its arguments, or elements of a dataset."""

BATCH_NORMS = frozenset({"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
"""All their outputs but the first are statistics of the batch."""

DIVISIONS = having(Trait.DIVIDES)
ELEMENTWISE = having(Trait.ELEMENTWISE)
FLOAT_OPS = having(Trait.FLOAT)
GROWS = having(Trait.GROWS)
LIMITS = having(Trait.LIMIT)
MOVES = having(Trait.MOVES)
ORDERS = having(Trait.ORDERS)
PYTHON_FUNCTIONS = frozenset({"EagerPyFunc", "PyFunc", "PyFuncStateless"})
"""Ops that call Python, which may run ops as it does outside of graphs."""

SCALES = having(Trait.SCALES)
SELECTS_ELEMENTS = frozenset({"Select", "SelectV2"})
SHOWS = having(Trait.SHOWS)
SOURCES = having(Trait.SOURCE)
UNRECORDED = having(Trait.UNRECORDED)
WRITES = having(Trait.WRITES)

EXPONENTIALS = having(Trait.EXPONENTIAL)
"""Ops whose ∞ is as good as any large number.

That of log(0) or 1 / 0 is not, and numbers that multiply and add up to it are out of hand.
"""

CHECKS = having(Trait.CHECKS)
LEAVES_OUT = having(Trait.LEAVES_OUT)
"""Ops that leave NaN out; a finite result of others may hide a bug."""

ONE_TYPE = having(Trait.ONE_TYPE | Trait.FLOAT)
"""Ops whose inputs that hold values are of the result's type: recorded like it, unless filtered."""

NON_FLOAT_RESULT = having(Trait.NO_FLOAT | Trait.ASKS)
"""Ops whose result does not depend on the values, or asks whether they are finite."""

SUMS = having(Trait.REDUCES)
"""Ops that add up, or take the mean of what they add up.

The logarithm of a product is a sum, and the product 0 where that is -∞; a geometric mean as well.
"""

SUMS_PRODUCTS = having(Trait.SUMS_PRODUCTS)

JOINS = frozenset({"Concat", "ConcatV2", "Pack"})
"""Ops that put tensors together: each element of an input is one of the result."""

ARRANGES = JOINS | {
    "BroadcastTo", "Cast", "ExpandDims", "Fill", "GatherNd", "GatherV2", "Identity", "IdentityN",
    "Pad", "PadV2", "RaggedTensorToTensor", "Reshape", "ReverseV2", "ScatterNd", "Slice",
    "SparseToDense", "Split", "SplitV", "Squeeze", "StridedSlice", "TensorScatterUpdate", "Tile",
    "Transpose", "Unpack",
}  # fmt: skip
"""Ops that compute nothing: each element of their result is one of an input."""

KEEPS_INFINITY = ADDS | {"Mul"} | JOINS
"""Ops of several inputs whose result is bad where one of these is, whatever the others are."""

COMPARES_AND_ADDS = having(Trait.MOVES | Trait.BOUNDS | Trait.ADDS | Trait.SELECTS)
"""Ops of algorithms in which ∞ is a number like any other: shortest paths, best scores so far."""

ROUNDS_ONCE = having(Trait.ROUNDS_ONCE)
"""Ops whose ∞ is right about the size of the number; that of partial sums need not be."""

SATURATES = having(Trait.SATURATES)
"""Ops whose finite result of ∞ is that of any large number; of log(0) it is that of 0."""

SMALL_TYPES = frozenset({"float16", "float8_e4m3fn", "float8_e5m2"})
"""Their range is so small that an overflow, even one that ends in a finite number, is not meant."""


_LISTS = ("TensorList", "TensorArray")


def is_list_op(op_type: str | None) -> bool:
    """Whether an op makes, changes or reads a list of tensors: what a loop takes and gives."""
    return (op_type or "").startswith(_LISTS)


def only_makes_floats(op_type: str) -> bool:
    """Whether all that ops of a type do is to make floating-point tensors.

    One that ran is on record then, in a dump that leaves nothing out.
    """
    return op_type in ONE_TYPE | MOVES or bool(_GRADIENT.search(op_type))


def unrecorded(op_type: str) -> bool:
    """Whether ops of a type may carry values although no dump records their outputs.

    Any other op without a record, in a dump that leaves nothing out, has no floating-point output.
    """
    return op_type in UNRECORDED or op_type.startswith((*_LISTS, "__", SESSION_RUN))


def value_inputs(op_type: str | None, number: int) -> Sequence[int]:
    """Return which of an op's `number` inputs hold values that go into its result."""
    slots = VALUE_INPUTS.get(op_type or "")
    if slots is None:
        return range(number)
    return tuple(slot for slot in slots if slot < number)


RANDOM = frozenset(
    {
        *("RandomStandardNormal", "RandomUniform", "TruncatedNormal"),
        *("StatelessRandomNormalV2", "StatelessRandomUniformV2", "StatelessTruncatedNormalV2"),
    }
)
"""Ops that give random numbers without being given other numbers."""

OF_WEIGHTS = frozenset({"MatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "Conv1D", "Conv2D"})
"""Ops of layers that take what the layer is given first, and then a variable."""
