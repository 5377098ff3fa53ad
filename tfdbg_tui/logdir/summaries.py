"""From a recorded TensorProto to a `TensorSummary`, or to the tensor itself (FULL_TENSOR)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.events import TensorSummary
from tfdbg_tui.wire import codec, dtypes
from tfdbg_tui.wire.events import TensorProto
from tfdbg_tui.wire.modes import VALUE_VECTORS, TensorDebugMode

_FLOAT64 = 2


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
    vector = _value_vector(mode, TensorProto.decode(proto))
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


def _value_vector(mode: int, proto: TensorProto) -> dict[str, int] | None:
    try:
        names = VALUE_VECTORS[TensorDebugMode(mode)]
    except (KeyError, ValueError):
        return None
    content = proto.tensor_content
    if proto.dtype != _FLOAT64 or len(content) != 8 * len(names):
        return None
    values = np.frombuffer(content, "<f8")
    if not np.isfinite(values).all():
        return None
    return dict(zip(names, values.astype(np.int64).tolist(), strict=True))


def _shape(vector: dict[str, int]) -> tuple[int | None, ...]:
    rank = max(0, vector["rank"])
    dims = tuple(vector[f"dim{i}"] for i in range(6))
    if rank <= 6:
        return dims[:rank]
    return (None,) * min(rank - 6, 250) + dims


def tensor_value(proto: TensorProto) -> npt.NDArray[Any] | None:
    """Return the tensor in a FULL_TENSOR record; None for types numpy does not have.

    bfloat16 comes as float32, to which it converts exactly.
    """
    shape = proto.tensor_shape.sizes() if proto.tensor_shape else ()
    if any(size < 0 for size in shape):
        raise codec.DecodeError("tensor with a negative dimension")
    flat = _flat_values(proto)
    if flat is None:
        return None
    size = math.prod(shape)
    if len(flat) == 1 and size > 1 and size <= 1 << 28:
        flat = np.broadcast_to(flat, (size,))  # TensorFlow drops repeated trailing values
    if len(flat) != size:
        raise codec.DecodeError(f"tensor of shape {shape} holds {len(flat)} values")
    return flat.reshape(shape)


def _flat_values(proto: TensorProto) -> npt.NDArray[Any] | None:
    name = dtypes.NUMPY_NAMES.get(proto.dtype)
    content = proto.tensor_content
    if proto.dtype == dtypes.BFLOAT16:
        bits = np.frombuffer(content, "<u2") if content else np.array(proto.half_val, "<u2")
        return (bits.astype("<u4") << 16).view("<f4")
    if name is None:
        return None
    dtype = np.dtype(name)
    if content:
        if len(content) % dtype.itemsize:
            raise codec.DecodeError("tensor content is not a whole number of elements")
        return np.frombuffer(content, dtype)
    if name == "<f2":
        return np.array(proto.half_val, "<u2").view("<f2")
    if name in ("<f4", "<c8"):
        return np.frombuffer(proto.float_val if name == "<f4" else proto.scomplex_val, name)
    if name in ("<f8", "<c16"):
        values = proto.double_val if name == "<f8" else proto.dcomplex_val
        return np.array(values, "<f8").view(name)
    lists = (proto.int_val, proto.int64_val, proto.bool_val, proto.uint32_val, proto.uint64_val)
    integers = next((values for values in lists if values), [])
    return np.array(integers, np.int64).astype(dtype)


def _summary_of_tensor(proto: TensorProto) -> TensorSummary:
    shape = proto.tensor_shape.sizes() if proto.tensor_shape else ()
    common: dict[str, Any] = {
        "mode": int(TensorDebugMode.FULL_TENSOR),
        "dtype": dtypes.dtype_name(proto.dtype),
        "rank": len(shape),
        "size": math.prod(shape),
        "shape": shape,
    }
    value = tensor_value(proto)
    if value is None:
        return TensorSummary(**common)
    return TensorSummary(**common, **health(value))


def health(value: npt.NDArray[Any]) -> dict[str, Any]:
    """Return the counts and extremes of a tensor's values, as fields of `TensorSummary`.

    A complex number counts as NaN or infinite where either part is; its sign counts stay unknown.
    """
    if value.dtype.kind == "c":
        nan = np.isnan(value)
        inf = np.isinf(value) & ~nan
        return {
            "has_inf_or_nan": bool(nan.any() or inf.any()),
            "nan": int(nan.sum()),
            "pos_inf": int(inf.sum()),
            "neg_inf": 0,
            "zero": int((value == 0).sum()),
        }
    finite = np.isfinite(value)
    some_finite = bool(finite.any())
    signed = value.astype(np.int8) if value.dtype.kind == "b" else value
    counts = {
        "neg_inf": int(np.isneginf(value).sum()) if value.dtype.kind == "f" else 0,
        "pos_inf": int(np.isposinf(value).sum()) if value.dtype.kind == "f" else 0,
        "nan": int(np.isnan(value).sum()) if value.dtype.kind == "f" else 0,
        "neg": int((finite & (signed < 0)).sum()),
        "zero": int((signed == 0).sum()),
        "pos": int((finite & (signed > 0)).sum()),
    }
    return {
        **counts,
        "has_inf_or_nan": not bool(finite.all()),
        "minimum": float(signed[finite].min()) if some_finite else None,
        "maximum": float(signed[finite].max()) if some_finite else None,
    }
