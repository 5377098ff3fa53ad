"""Tensors that were recorded whole (FULL_TENSOR): from a TensorProto to the values in it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.files.file_slice import FileSlice
from tfdbg_tui.wire import codec, dtypes
from tfdbg_tui.wire.events import TensorProto
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Iterator

_PIECE = 1 << 20  # bytes of a tensor that are looked at together
_LARGEST_LIST = 1 << 24  # bytes of values one by one; writers use it for single elements
_LARGEST_REPEATED = 1 << 28  # elements that one value may stand for


def recorded_tensor(mode: int, proto: bytes) -> npt.NDArray[Any] | None:
    """Return the tensor of a record; None where it holds none, or of a type numpy does not have.

    bfloat16 comes as float32, to which it converts exactly.

    Args:
        mode: Tensor debug mode of the record.
        proto: Serialized TensorProto.

    Raises:
        codec.DecodeError: Values and shape do not agree.
    """
    if mode != TensorDebugMode.FULL_TENSOR or not proto:
        return None
    message = TensorProto.decode(proto)
    pieces = value_pieces(message)
    if pieces is None:
        return None
    shape = shape_of(message)
    flat = np.concatenate([np.zeros(0, _native(message.dtype)), *pieces])
    if len(flat) == 1 and 1 < math.prod(shape) <= _LARGEST_REPEATED:
        return np.broadcast_to(flat, shape)  # TensorFlow drops repeated trailing values
    return flat.reshape(shape)


def tensor_content_size(head: bytes) -> tuple[int, int]:
    """Return how many bytes of content a tensor has by its type and shape, and its type's number.

    Args:
        head: Serialized TensorProto without the content.

    Returns:
        -1 as the size where the type does not tell.

    Raises:
        codec.DecodeError: The bytes are malformed.
    """
    proto = TensorProto.decode(head)
    size = math.prod(shape_of(proto))
    if proto.dtype == dtypes.BFLOAT16:
        return 2 * size, proto.dtype
    name = dtypes.NUMPY_NAMES.get(proto.dtype)
    return (np.dtype(name).itemsize * size if name else -1), proto.dtype


def shape_of(proto: TensorProto) -> tuple[int, ...]:
    """Return the shape of a tensor.

    Raises:
        codec.DecodeError: A dimension is negative.
    """
    shape = proto.tensor_shape.sizes() if proto.tensor_shape else ()
    if any(size < 0 for size in shape):
        raise codec.DecodeError("tensor with a negative dimension")
    return shape


def _native(dtype: int) -> np.dtype[Any]:
    return np.dtype("<f4" if dtype == dtypes.BFLOAT16 else dtypes.NUMPY_NAMES[dtype])


def value_pieces(proto: TensorProto) -> Iterator[npt.NDArray[Any]] | None:
    """Return a tensor's values, flat, in pieces; None for types numpy does not have.

    Raises:
        codec.DecodeError: Values and shape do not agree.
    """
    if proto.dtype != dtypes.BFLOAT16 and proto.dtype not in dtypes.NUMPY_NAMES:
        return None
    size = math.prod(shape_of(proto))
    if not len(proto.tensor_content):
        values = _listed_values(proto)
        if len(values) not in (1, size) or (not size and len(values)):
            raise codec.DecodeError(f"tensor of {size:,} elements holds {len(values):,}")
        return iter([values])
    stored = np.dtype("<u2") if proto.dtype == dtypes.BFLOAT16 else _native(proto.dtype)
    count, rest = divmod(len(proto.tensor_content), stored.itemsize)
    if rest or count not in (1, size) or (not size and count):
        raise codec.DecodeError(
            f"tensor of {size:,} elements holds {len(proto.tensor_content):,} bytes"
        )
    return _pieces_of_content(proto, stored)


def _pieces_of_content(proto: TensorProto, stored: np.dtype[Any]) -> Iterator[npt.NDArray[Any]]:
    content = proto.tensor_content
    parts = content.pieces(_PIECE) if isinstance(content, FileSlice) else (content,)
    for part in parts:
        for at in range(0, len(part), _PIECE):
            values = np.frombuffer(part[at : at + _PIECE], stored)
            yield _widened(values) if proto.dtype == dtypes.BFLOAT16 else values


def _widened(bits: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    return (bits.astype("<u4") << 16).view("<f4")


def _listed_values(proto: TensorProto) -> npt.NDArray[Any]:
    """Return the values of a tensor that lists them one by one instead of as raw content."""
    if max(len(proto.float_val), len(proto.scomplex_val)) > _LARGEST_LIST:
        raise codec.DecodeError("too many values listed one by one")
    if proto.dtype == dtypes.BFLOAT16:
        return _widened(_half_bits(proto))
    dtype = _native(proto.dtype)
    if dtype == np.float16:
        return _half_bits(proto).view("<f2")
    if dtype in (np.float32, np.complex64):
        packed = proto.float_val if dtype == np.float32 else proto.scomplex_val
        if len(packed) % dtype.itemsize:
            raise codec.DecodeError("values cut off")
        return np.frombuffer(packed, dtype)
    if dtype in (np.float64, np.complex128):
        values = proto.double_val if dtype == np.float64 else proto.dcomplex_val
        if dtype == np.complex128 and len(values) % 2:
            raise codec.DecodeError("values cut off")
        return np.array(values, "<f8").view(dtype)
    lists = (proto.int_val, proto.int64_val, proto.bool_val, proto.uint32_val, proto.uint64_val)
    integers = next((values for values in lists if values), [])
    return np.array(integers, np.int64).astype(dtype)


def _half_bits(proto: TensorProto) -> npt.NDArray[np.uint16]:
    return np.array(proto.half_val, np.int64).astype("<u2")
