"""From a recorded TensorProto to a `TensorSummary`, or to the tensor itself (FULL_TENSOR)."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.events import TensorSummary
from tfdbg_tui.logdir.fileslice import FileSlice
from tfdbg_tui.wire import codec, dtypes
from tfdbg_tui.wire.events import TensorProto
from tfdbg_tui.wire.modes import VALUE_VECTORS, TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Iterator

_FLOAT64 = 2

CONTENT_TAG = 0x22
"""Tag of TensorProto's field 4, tensor_content."""

_PIECE = 1 << 20  # bytes of a tensor that are looked at together
_LARGEST_LIST = 1 << 24  # bytes of values one by one; writers use it for single elements


def _vector_head(size: int) -> bytes:
    """Return the TensorProto of a value vector up to its content: float64, shape, length."""
    return bytes((0x08, 2, 0x12, 4, 0x12, 2, 0x08, size, CONTENT_TAG, 8 * size))


VECTOR_HEADS = {int(mode): _vector_head(len(names)) for mode, names in VALUE_VECTORS.items()}
"""How the TensorProto begins that holds a value vector, for each mode that has one."""

_VECTORS = {int(mode): struct.Struct(f"<{len(names)}d") for mode, names in VALUE_VECTORS.items()}
_NAMES = {int(mode): names for mode, names in VALUE_VECTORS.items()}


def tensor_summary(
    mode: int, proto: bytes, minimum: float | None = None, maximum: float | None = None
) -> TensorSummary | None:
    """Return what the serialized TensorProto of a record says, or None where it says nothing.

    Args:
        mode: Tensor debug mode of the record.
        proto: Serialized TensorProto.
        minimum: Smallest finite element, from an extension field.
        maximum: Largest finite element, from an extension field.

    Raises:
        codec.DecodeError: The bytes are malformed.
    """
    if not proto or mode == TensorDebugMode.NO_TENSOR:
        return None
    if mode == TensorDebugMode.FULL_TENSOR:
        return _summary_of_tensor(TensorProto.decode(proto))
    vector = _value_vector(mode, proto)
    if vector is None:
        return None
    if mode == TensorDebugMode.CURT_HEALTH:
        return TensorSummary(mode, has_inf_or_nan=bool(vector["has_inf_or_nan"]))
    if mode == TensorDebugMode.SHAPE:
        return TensorSummary(
            mode,
            dtype=dtypes.dtype_name(vector["dtype"]),
            rank=vector["rank"],
            size=vector["size"],
            shape=_shape(vector),
        )
    counts: dict[str, Any] = {
        name: count
        for name, count in vector.items()
        if name not in ("tensor_id", "device_id", "dtype")
    }
    return TensorSummary(
        mode,
        has_inf_or_nan=bool(vector["neg_inf"] or vector["pos_inf"] or vector["nan"]),
        dtype=dtypes.dtype_name(vector["dtype"]) if "dtype" in vector else None,
        minimum=minimum,
        maximum=maximum,
        **counts,
    )


def _value_vector(mode: int, proto: bytes) -> dict[str, int] | None:
    layout = _VECTORS.get(mode)
    if layout is None:
        return None
    head = VECTOR_HEADS[mode]
    if len(proto) == len(head) + layout.size and proto[: len(head)] == head:
        values = layout.unpack_from(proto, len(head))  # as every writer lays it out
    else:
        message = TensorProto.decode(proto)
        if message.dtype != _FLOAT64 or len(message.tensor_content) != layout.size:
            return None
        values = layout.unpack(message.tensor_content)
    if not all(map(math.isfinite, values)):
        return None
    return dict(zip(_NAMES[mode], map(int, values), strict=True))


def _shape(vector: dict[str, int]) -> tuple[int | None, ...]:
    rank = max(0, vector["rank"])
    dims = tuple(vector[f"dim{i}"] for i in range(6))
    if rank <= 6:
        return dims[:rank]
    return (None,) * min(rank - 6, 250) + dims


def recorded_tensor(mode: int, proto: bytes) -> npt.NDArray[Any] | None:
    """Return the tensor of a record; None where it holds none, or of a type numpy does not have.

    Raises:
        codec.DecodeError: Values and shape do not agree.
    """
    if mode != TensorDebugMode.FULL_TENSOR or not proto:
        return None
    return tensor_value(TensorProto.decode(proto))


def tensor_value(proto: TensorProto) -> npt.NDArray[Any] | None:
    """Return the tensor in a FULL_TENSOR record; None for types numpy does not have.

    bfloat16 comes as float32, to which it converts exactly.

    Raises:
        codec.DecodeError: Values and shape do not agree.
    """
    pieces = _pieces(proto)
    if pieces is None:
        return None
    shape = _shape_of(proto)
    flat = np.concatenate([np.zeros(0, _native(proto.dtype)), *pieces])
    if len(flat) == 1 and 1 < math.prod(shape) <= 1 << 28:
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
    size = math.prod(_shape_of(proto))
    if proto.dtype == dtypes.BFLOAT16:
        return 2 * size, proto.dtype
    name = dtypes.NUMPY_NAMES.get(proto.dtype)
    return (np.dtype(name).itemsize * size if name else -1), proto.dtype


def _shape_of(proto: TensorProto) -> tuple[int, ...]:
    shape = proto.tensor_shape.sizes() if proto.tensor_shape else ()
    if any(size < 0 for size in shape):
        raise codec.DecodeError("tensor with a negative dimension")
    return shape


def _native(dtype: int) -> np.dtype[Any]:
    return np.dtype("<f4" if dtype == dtypes.BFLOAT16 else dtypes.NUMPY_NAMES[dtype])


def _pieces(proto: TensorProto) -> Iterator[npt.NDArray[Any]] | None:
    """Return a tensor's values, flat, in pieces; None for types numpy does not have.

    Raises:
        codec.DecodeError: Values and shape do not agree.
    """
    if proto.dtype != dtypes.BFLOAT16 and proto.dtype not in dtypes.NUMPY_NAMES:
        return None
    size = math.prod(_shape_of(proto))
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


def _summary_of_tensor(proto: TensorProto) -> TensorSummary:
    shape = _shape_of(proto)
    size = math.prod(shape)
    common: dict[str, Any] = {
        "mode": int(TensorDebugMode.FULL_TENSOR),
        "dtype": dtypes.dtype_name(proto.dtype),
        "rank": len(shape),
        "size": size,
        "shape": shape,
    }
    pieces = _pieces(proto)
    if pieces is None:
        return TensorSummary(**common)
    health = _Health()
    for piece in pieces:
        health.add(piece)
    return TensorSummary(**common, **health.fields(size))


class _Health:
    """Counts and extremes of a tensor's values, piece by piece.

    A complex number counts as NaN where either part is, else as infinite where either part is;
    it has no sign.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._complex = False
        self._counts = dict.fromkeys(("neg_inf", "pos_inf", "nan", "neg", "zero", "pos"), 0)
        self._minimum: float | None = None
        self._maximum: float | None = None

    def add(self, values: npt.NDArray[Any]) -> None:
        """Take in some of the values."""
        self._seen += len(values)
        count = self._counts
        if values.dtype.kind == "c":
            self._complex = True
            nan = np.isnan(values)
            count["nan"] += int(nan.sum())
            count["pos_inf"] += int((np.isinf(values) & ~nan).sum())
            count["zero"] += int((values == 0).sum())
            return
        if values.dtype.kind == "b":
            values = values.astype(np.int8)
        finite = np.isfinite(values)
        if not finite.all():
            count["nan"] += int(np.isnan(values).sum())
            count["pos_inf"] += int(np.isposinf(values).sum())
            count["neg_inf"] += int(np.isneginf(values).sum())
            values = values[finite]
        count["neg"] += int((values < 0).sum())
        count["zero"] += int((values == 0).sum())
        count["pos"] += int((values > 0).sum())
        if values.size:
            low, high = float(values.min()), float(values.max())
            self._minimum = low if self._minimum is None else min(self._minimum, low)
            self._maximum = high if self._maximum is None else max(self._maximum, high)

    def fields(self, size: int) -> dict[str, Any]:
        """Return the fields of a `TensorSummary` for a tensor of `size` elements.

        One value may stand for all of them: TensorFlow drops repeated trailing values.
        """
        times = size if self._seen == 1 else 1
        counts: dict[str, int | None] = {name: n * times for name, n in self._counts.items()}
        bad = any(counts[name] for name in ("neg_inf", "pos_inf", "nan"))
        if self._complex:
            counts["neg"] = counts["pos"] = None
        return {
            **counts,
            "has_inf_or_nan": bad,
            "minimum": self._minimum,
            "maximum": self._maximum,
        }
