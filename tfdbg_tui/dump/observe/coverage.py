"""Which tensors need no look of their own: what is in them is known, or shows in another tensor.

A constant never changes, nor does what is filled with one, and a mere rearrangement has the
elements of what it was made from.

``y = x + 1`` is finite only where ``x`` is, so whoever finds no NaN or infinity in ``y`` has looked
at ``x`` too.  An op belongs in these tables if *every* NaN and infinity in *every* element of the
input makes some element of its first output NaN or infinite, whatever the other inputs hold.  So
``Relu`` does not (-∞ becomes 0), nor the denominator of a division (∞ becomes 0), nor a slice.  The
tests try each entry with the op itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdbg_tui.dump.encode import summaries
from tfdbg_tui.dump.tensorflow import graph_ops

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tfdbg_tui.dump.encode.group_plan import GroupPlan
    from tfdbg_tui.dump.observe.observed import Observed

_REARRANGED_INPUT = {
    "Assign": 1,
    "EnsureShape": 0,
    "ExpandDims": 0,
    "PreventGradient": 0,
    "Reshape": 0,
    "Snapshot": 0,
    "Squeeze": 0,
    "StopGradient": 0,
    "Transpose": 0,
}
"""Ops whose output has the elements of one of their inputs, and which."""

_FILLS = {"ZerosLike": 0, "OnesLike": 1}
"""Ops whose output is one number all over, and which; so is that of Fill."""

_FLOATS = frozenset((tf.float16, tf.bfloat16, tf.float32, tf.float64))

_ALL_INPUTS = frozenset(("AddN", "ConcatV2", "Pack", "SigmoidGrad", "TanhGrad"))
"""Ops whose output holds all of every input, or a sum or product with every element of it."""

_FIRST_INPUT = frozenset(
    (
        *("Abs", "Neg", "Square", "Sqrt", "Log", "Log1p", "LogSoftmax", "Cast"),
        *("Sin", "Cos", "Tan", "Sinh", "Cosh", "Ceil", "Floor", "Rint", "Round"),
        *("Sum", "Mean", "Cumsum", "L2Loss", "BiasAdd", "BiasAddGrad", "Pad", "PadV2"),
    )
)
"""The same of the first input: an output without elements means that it has none either."""

_BROADCASTING = {
    **dict.fromkeys(("Add", "AddV2", "Sub", "Mul", "SquaredDifference"), (0, 1)),
    "RealDiv": (0,),
    "BiasAdd": (1,),
}
"""Inputs that combine with elements of another, where the output has any elements at all."""

_CONTRACTIONS = frozenset(("MatMul", "BatchMatMul", "BatchMatMulV2", "Einsum", "Conv2D"))
"""Sums of products: ∞ · 0 is NaN, and nothing takes NaN out of a sum."""

_NAN_OF_FIRST = frozenset(
    (
        *("Abs", "Neg", "Square", "Sqrt", "Rsqrt", "Log", "Log1p", "Exp", "Expm1", "Cast"),
        *("Sin", "Cos", "Tan", "Sinh", "Cosh", "Tanh", "Sigmoid", "Softmax", "LogSoftmax"),
        *("Erf", "Erfc", "Sum", "Mean", "L2Loss", "BiasAddGrad"),
        *("Slice", "StridedSlice", "Tile", "BroadcastTo"),
    )
)
"""Ops whose outputs are NaN all over where the first input is, if they have elements."""

_NAN_OF_ANY = frozenset(
    (
        *("Add", "AddV2", "Sub", "Mul", "RealDiv", "SquaredDifference", "AddN", "BiasAdd"),
        *("SigmoidGrad", "TanhGrad", "MatMul", "BatchMatMul", "BatchMatMulV2"),
    )
)
"""The same where any input is."""

_CONVOLUTIONS = frozenset(("Conv2D", "Conv3D", "DepthwiseConv2dNative"))
"""The same, unless the filter is somewhere over nothing but padding."""

_NAN_OF_ALL = frozenset(("ConcatV2", "Pack"))
"""The same where all inputs are."""

_LEAVING_ZEROS = frozenset(("Pad", "PadV2", "ScatterNd", "StridedSliceGrad"))
"""Ops that put an input among zeros."""


def note_known(items: Sequence[Observed], plan: GroupPlan) -> dict[str, int]:
    """Note in a plan which of its rows are constants, and which have the elements of others.

    Returns:
        The row with the elements of each tensor, by the tensor's name.
    """
    rows: dict[str, int] = {}
    for number, item in enumerate(items):
        source = _source(item, rows)
        rows[item.row.tensor_name] = number if source is None else source
        if source is not None:
            plan.aliases.append((number, source))
            continue
        counts = _known_counts(item, detailed=plan.adaptive or plan.measured)
        if counts is not None:
            plan.constants[number] = counts
    return rows


def _source(item: Observed, rows: dict[str, int]) -> int | None:
    """Return the row that has the same elements as a tensor, or None."""
    slot = item.row.slot if item.op_type == "IdentityN" else _REARRANGED_INPUT.get(item.op_type)
    if slot is None or item.row.rank is None:
        return None
    return row_of(item.inputs[slot], rows)


def row_of(tensor: Any, rows: Mapping[str, int]) -> int | None:
    """Return the row with the elements of a tensor, or None.

    Args:
        tensor: The tensor, maybe one that is not recorded since it only names another.
        rows: The rows by the names of their tensors.
    """
    while tensor.name not in rows and tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return rows.get(tensor.name)


def _known_counts(item: Observed, *, detailed: bool) -> summaries.HealthCounts | None:
    """Return the counts of a tensor that is the same in every execution of its graph."""
    if item.row.size == 0:
        return summaries.HealthCounts()
    if item.op_type == "Const":
        return summaries.health_counts(graph_ops.constant(item.tensor), detailed=detailed)
    return _counts_of_fill(item, detailed=detailed)


def _counts_of_fill(item: Observed, *, detailed: bool) -> summaries.HealthCounts | None:
    """Return the counts of a tensor of known size whose elements are all one finite number."""
    shape = item.row.shape
    value = _FILLS.get(item.op_type)
    if item.op_type == "Fill" and item.inputs[1].graph.building_function:  # sessions can feed it
        value = graph_ops.constant(item.inputs[1])
    if shape is None or value is None:
        return None
    one = np.array([value], item.tensor.dtype.base_dtype.as_numpy_dtype)
    return summaries.counts_of_equal(one, shape, detailed=detailed) if np.isfinite(one) else None


def makers_of_nan(op: Any) -> tuple[Sequence[Any], bool]:
    """Return what makes the outputs of an op NaN all over, if they have elements.

    Returns:
        Tensors, and whether all of them have to be NaN all over, or else one.
    """
    if op.outputs[0].dtype.base_dtype not in _FLOATS:
        return [], False
    inputs = op.inputs[:1]
    if op.type == "Split":
        inputs = op.inputs[1:]
    elif op.type in _NAN_OF_ANY | _NAN_OF_ALL or _is_over_image(op):
        inputs = op.inputs
    elif op.type not in _NAN_OF_FIRST:
        inputs = []
    floats = [tensor for tensor in inputs if tensor.dtype.base_dtype in _FLOATS]
    return floats, op.type in _NAN_OF_ALL


def _is_over_image(op: Any) -> bool:
    """Return whether an op is a convolution whose filter is nowhere over padding alone."""
    if op.type not in _CONVOLUTIONS or op.get_attr("padding") == b"EXPLICIT":
        return False
    return set(op.get_attr("dilations")) == {1}


def leaves_zeros(op_type: str) -> bool:
    """Return whether the output of an op has zeros where none of its inputs is."""
    return op_type in _LEAVING_ZEROS


def covered_inputs(op: Any) -> Iterable[int]:
    """Return the inputs of an op that are finite wherever its first output is."""
    if not op.inputs or not op.outputs or op.outputs[0].dtype.base_dtype not in _FLOATS:
        return ()
    return [
        slot
        for slot in _slots(op)
        if op.inputs[slot].dtype.base_dtype in _FLOATS and _all_elements_count(op, slot)
    ]


def _slots(op: Any) -> Iterable[int]:
    if op.type in _ALL_INPUTS or op.type in _CONTRACTIONS:
        return range(len(op.inputs))
    first = (0,) if op.type in _FIRST_INPUT else ()
    return (*first, *_BROADCASTING.get(op.type, ()))


def _all_elements_count(op: Any, slot: int) -> bool:
    """Return whether the output depends on each element of an input, whatever the shapes."""
    if op.type == "MatMul":
        # [m, k] · [k, n]: an element of the first is in n sums, one of the second in m.
        axis = slot if op.get_attr("transpose_a" if slot else "transpose_b") else 1 - slot
        return bool(_dimension(op.inputs[1 - slot], axis))
    if op.type not in _CONTRACTIONS:
        return slot not in _BROADCASTING.get(op.type, ()) or _has_elements(op.outputs[0])
    if not all(map(_has_elements, (*op.inputs, op.outputs[0]))):
        return False
    if op.type == "Einsum":
        return _has_no_diagonal(op.get_attr("equation").decode())
    # A stride skips elements of the image, and padding takes taps of the filter out of it.
    return op.type != "Conv2D" or (slot == 0 and _slides_by_one(op))


def _dimension(tensor: Any, axis: int) -> int | None:
    shape = tensor.shape
    return shape.as_list()[axis] if shape.rank is not None else None


def _has_elements(tensor: Any) -> bool:
    return bool(tensor.shape.is_fully_defined() and tensor.shape.num_elements())


def _has_no_diagonal(equation: str) -> bool:
    """Return whether no input term names a dimension twice, or leaves one out."""
    terms = equation.split("->")[0].split(",")
    return "." not in equation and all(len(set(term)) == len(term) for term in terms)


def _slides_by_one(op: Any) -> bool:
    ones = {*op.get_attr("strides"), *op.get_attr("dilations")} == {1}
    return ones and op.get_attr("padding") in (b"SAME", b"VALID")
