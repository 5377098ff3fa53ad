"""The ops that look at one tensor."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdbg_tui.dump.tensorflow import devices, graph_ops
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.dump.tensorflow.op_maker import OpMaker

_WIDER = {
    24: tf.float32,  # float8_e5m2
    25: tf.float32,  # float8_e4m3fn
    29: tf.int8,  # int4
    30: tf.uint8,  # uint4
}


@contextlib.contextmanager
def beside(tensor: Any) -> Iterator[None]:
    """Place ops where a tensor is; where that is not known while tracing, TensorFlow decides."""
    with tf.device(None), tf.device(tensor.device or None):
        yield


def widened(ops: OpMaker, tensor: Any) -> Any:
    """Return a tensor with the elements of another, of a type that ops have kernels for.

    For float8 and int4 there is little more than Cast on accelerators, and no Switch anywhere.
    """
    wide = _WIDER.get(tensor.dtype.base_dtype.as_datatype_enum)
    return tensor if wide is None else ops.on(tensor.device).tensor("Cast", tensor, DstT=wide)


def shape(ops: OpMaker, tensor: Any) -> Any:
    """Return the dimensions of a tensor of any type in host memory, without reading its elements.

    Where an accelerator is, TensorFlow keeps int32 tensors in host memory too.
    """
    tensor = widened(ops, tensor)
    return ops.on(tensor.device).tensor("Shape", tensor, out_type=tf.int64)


def dereferenced(tensor: Any) -> Any:
    """Return a tensor, or that which a reference refers to."""
    if not graph_ops.is_reference(tensor):
        return tensor
    with beside(tensor):
        return tf.identity(tensor)


def curt_summary(ops: OpMaker, tensor: Any) -> Any:
    """Return ``[0, has NaN or infinity]`` of a floating or complex tensor that was `widened`."""
    dtype = tensor.dtype.base_dtype
    ops = ops.on(tensor.device)
    if dtype.is_complex:
        tensor = ops.tensor("Bitcast", tensor, type=dtype.real_dtype)
    elif dtype == tf.bfloat16 and devices.has_accelerator():
        # There is no bfloat16 kernel of the summary op for GPUs.
        tensor = ops.tensor("Cast", tensor, DstT=tf.float32)
    return ops.tensor(
        "DebugNumericSummaryV2",
        tensor,
        tensor_id=0,
        tensor_debug_mode=int(TensorDebugMode.CURT_HEALTH),
        output_dtype=tf.float64,
    )


def ends_of_finite(ops: OpMaker, tensor: Any) -> tuple[Any, Any]:
    """Return the smallest and the largest element of a tensor whose elements are finite.

    They are float32 or float64 numbers: +∞ and -∞ where there is none, NaN where the elements have
    no order.

    Args:
        ops: Makes the ops.
        tensor: A floating or complex tensor that was `widened`.
    """
    dtype = tensor.dtype.base_dtype
    if dtype.is_complex:
        nothing = ops.constant(np.nan, tf.float64)
        return nothing, nothing
    if dtype not in (tf.float32, tf.float64):
        tensor = ops.tensor("Cast", tensor, DstT=tf.float32)
    flat = ops.tensor("Reshape", tensor, ops.constant([-1], tf.int32))
    low, high = (ops.tensor(op, flat, ops.constant([0], tf.int32)) for op in ("Min", "Max"))
    return low, high


def for_sign(ops: OpMaker, tensor: Any) -> Any:
    """Return a float32 or float64 tensor with the signs of one that was `widened`."""
    dtype = tensor.dtype.base_dtype
    if dtype in (tf.float32, tf.float64):
        return tensor
    ops = ops.on(tensor.device)
    if dtype.is_complex:
        return ops.tensor("ComplexAbs", tensor, Tout=dtype.real_dtype)
    return ops.tensor("Cast", tensor, DstT=tf.float32)


def as_real(tensor: Any) -> Any:
    """Return a float32 or float64 tensor with the counts of any floating or complex one.

    For what counts as what in a complex number, see `summaries.HealthCounts`.
    """
    dtype = tensor.dtype.base_dtype
    if not dtype.is_complex:
        return tensor if dtype in (tf.float32, tf.float64) else tf.cast(tensor, tf.float32)
    real, imaginary = tf.math.real(tensor), tf.math.imag(tensor)
    magnitude = tf.maximum(tf.abs(real), tf.abs(imaginary))
    counted = tf.where(tf.math.is_inf(real), real, magnitude)
    counted = tf.where(tf.math.is_inf(imaginary) & (counted != np.inf), imaginary, counted)
    counted = tf.where(tf.math.is_nan(real), real, counted)
    return tf.where(tf.math.is_nan(imaginary), imaginary, counted)
