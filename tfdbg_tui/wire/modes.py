"""Tensor debug modes and the value vectors they put into a record.

Source of the numbers and layouts: tensorflow/core/protobuf/debug_event.proto and
tensorflow/core/kernels/debug_ops.h (``DebugNumericSummaryV2``).  All vectors are 1-D float64.
"""

from __future__ import annotations

import enum


class TensorDebugMode(enum.IntEnum):
    """How much of each tensor a dump records; the numbers are TensorFlow's."""

    UNSPECIFIED = 0
    NO_TENSOR = 1
    CURT_HEALTH = 2
    CONCISE_HEALTH = 3
    FULL_HEALTH = 4
    SHAPE = 5
    FULL_NUMERICS = 6
    FULL_TENSOR = 7
    REDUCE_INF_NAN_THREE_SLOTS = 8


DUMPABLE_MODES = (
    TensorDebugMode.NO_TENSOR,
    TensorDebugMode.CURT_HEALTH,
    TensorDebugMode.CONCISE_HEALTH,
    TensorDebugMode.FULL_HEALTH,
    TensorDebugMode.SHAPE,
    TensorDebugMode.FULL_TENSOR,
)
"""The modes `tf.debugging.experimental.enable_dump_debug_info` accepts."""

VALUE_VECTORS: dict[TensorDebugMode, tuple[str, ...]] = {
    TensorDebugMode.CURT_HEALTH: ("tensor_id", "has_inf_or_nan"),
    TensorDebugMode.CONCISE_HEALTH: ("tensor_id", "size", "neg_inf", "pos_inf", "nan"),
    TensorDebugMode.FULL_HEALTH: (
        "tensor_id",
        "device_id",
        "dtype",
        "rank",
        "size",
        "neg_inf",
        "pos_inf",
        "nan",
        "neg",
        "zero",
        "pos",
    ),
    # Ranks below 6 are padded with zeros on the right; above 6 the last six dimensions are kept.
    TensorDebugMode.SHAPE: (
        "tensor_id",
        "dtype",
        "rank",
        "size",
        *(f"dim{i}" for i in range(6)),
    ),
}
"""Column names of the value vector of each mode that writes one."""

BAD_COLUMNS: dict[TensorDebugMode, slice] = {
    TensorDebugMode.CURT_HEALTH: slice(1, 2),
    TensorDebugMode.CONCISE_HEALTH: slice(2, 5),
    TensorDebugMode.FULL_HEALTH: slice(5, 8),
}
"""The columns of a value vector of which any non-zero one means NaN or infinity."""


def mode_name(mode: int) -> str:
    """Return TensorFlow's name of a mode, or ``mode 42`` for a number it does not define."""
    try:
        return TensorDebugMode(mode).name
    except ValueError:
        return f"mode {mode}"
