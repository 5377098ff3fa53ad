"""Which products a group does not keep, so that TensorFlow fuses them with the sum after them.

TensorFlow makes one op of a matrix product, or a convolution, and the addition of a bias, but only
where nothing else takes the product.  A product needs no look of its own, as the sum covers it (see
`coverage`).  Where something is bad the sum tells most of it, and for the rest Python computes it
again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from tfdbg_tui.dump.observe.observed import Observed
    from tfdbg_tui.dump.observe.places import Place

_PRODUCTS = frozenset(("Conv2D", "Conv3D", "DepthwiseConv2dNative", "MatMul"))
_SUMS = frozenset(("Add", "AddV2"))
_FUSED_TYPES = frozenset((tf.float32, tf.bfloat16))


def added_bias(item: Observed, place: Place) -> Any:
    """Return the bias with whose addition TensorFlow fuses an op, if nobody else takes its output.

    Args:
        item: The output.
        place: Where the ops that record are made.

    Returns:
        The bias; None where TensorFlow fuses nothing, or what the op takes may change.
    """
    tensor = item.tensor
    if item.op_type not in _PRODUCTS or tensor.dtype not in _FUSED_TYPES:
        return None
    added = place.only_user(tensor)
    if added is None:
        return None
    if added.type == "BiasAdd":
        return added.inputs[1]
    # A sum may be larger than the product, unless the sizes of both are known.
    is_bias_added = added.type in _SUMS and added.outputs[0].shape == tensor.shape
    if not is_bias_added or item.row.size is None:
        return None
    return next((other for other in added.inputs if other.shape.rank == 1), None)
