"""From a recorded TensorProto to a `TensorSummary`: by its value vector, or by its values."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdbg_tui.logdir.events import TensorSummary
from tfdbg_tui.logdir.values.tensors import shape_of, value_pieces
from tfdbg_tui.wire import bad_elements, dtypes
from tfdbg_tui.wire.events import TensorProto, value_vector_head
from tfdbg_tui.wire.modes import VALUE_VECTORS, TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

_FLOAT64 = 2


VECTOR_HEADS = {int(mode): value_vector_head(len(names)) for mode, names in VALUE_VECTORS.items()}
"""How the TensorProto begins that holds a value vector, for each mode that has one."""

_VECTORS = {int(mode): struct.Struct(f"<{len(names)}d") for mode, names in VALUE_VECTORS.items()}
_NAMES = {int(mode): names for mode, names in VALUE_VECTORS.items()}


def tensor_summary(
    mode: int,
    proto: bytes,
    minimum: float | None = None,
    maximum: float | None = None,
    told: Sequence[float] = (),
) -> TensorSummary | None:
    """Return what the serialized TensorProto of a record says, or None where it says nothing.

    Args:
        mode: Tensor debug mode of the record.
        proto: Serialized TensorProto.
        minimum: Smallest finite element, from an extension field.
        maximum: Largest finite element, from an extension field.
        told: What another tells of bad elements; see `wire.bad_elements`.

    Raises:
        codec.DecodeError: The bytes are malformed.
    """
    if not proto or mode == TensorDebugMode.NO_TENSOR:
        return None
    if mode == TensorDebugMode.FULL_TENSOR:
        return _summary_of_tensor(TensorProto.decode(proto))
    vector = _value_vector(mode, proto)
    return None if vector is None else _summary_of_vector(mode, vector, minimum, maximum, told)


def largest_of_whole(summary: TensorSummary | None) -> float:
    """Return the largest magnitude of a tensor that was recorded whole; NaN where it has none.

    As of what other modes measure, that is of floating-point tensors alone.
    """
    if summary is None or summary.dtype not in dtypes.MAX_FINITE or summary.largest is None:
        return math.nan
    return summary.largest


def _summary_of_vector(
    mode: int,
    vector: dict[str, int],
    minimum: float | None,
    maximum: float | None,
    told: Sequence[float],
) -> TensorSummary:
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
    shape = bad_elements.shape(told, vector["rank"]) if "rank" in vector else None
    return TensorSummary(
        mode,
        has_inf_or_nan=bool(vector["neg_inf"] or vector["pos_inf"] or vector["nan"]),
        dtype=dtypes.dtype_name(vector["dtype"]) if "dtype" in vector else None,
        shape=shape,
        minimum=minimum,
        maximum=maximum,
        bad_elements=() if shape is None else bad_elements.indices(told, shape),
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


def _summary_of_tensor(proto: TensorProto) -> TensorSummary:
    shape = shape_of(proto)
    size = math.prod(shape)
    common: dict[str, Any] = {
        "mode": int(TensorDebugMode.FULL_TENSOR),
        "dtype": dtypes.dtype_name(proto.dtype),
        "rank": len(shape),
        "size": size,
        "shape": shape,
    }
    pieces = value_pieces(proto)
    if pieces is None:
        return TensorSummary(**common)
    health = _Health()
    for piece in pieces:
        health.add(piece)
    places = bad_elements.numbers(shape, health.first_bad(size))
    return TensorSummary(
        **common, **health.fields(size), bad_elements=bad_elements.indices(places, shape)
    )


class _Health:
    """Counts and extremes of a tensor's values, piece by piece.

    A complex number counts as NaN where either part is, else as infinite where either part is;
    it has no sign.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._first_nan: list[int] = []
        self._first_infinite: list[int] = []
        self._complex = False
        self._counts = dict.fromkeys(("neg_inf", "pos_inf", "nan", "neg", "zero", "pos"), 0)
        self._minimum: float | None = None
        self._maximum: float | None = None

    def add(self, values: npt.NDArray[Any]) -> None:
        """Take in some of the values."""
        before = self._seen
        self._seen += len(values)
        count = self._counts
        if values.dtype.kind == "c":
            self._complex = True
            nan = np.isnan(values)
            self._note_bad(nan, np.isinf(values) & ~nan, before)
            count["nan"] += int(nan.sum())
            count["pos_inf"] += int((np.isinf(values) & ~nan).sum())
            count["zero"] += int((values == 0).sum())
            return
        if values.dtype.kind == "b":
            values = values.astype(np.int8)
        finite = np.isfinite(values)
        if not finite.all():
            self._note_bad(np.isnan(values), np.isinf(values), before)
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

    def _note_bad(
        self, nan: npt.NDArray[np.bool_], infinite: npt.NDArray[np.bool_], before: int
    ) -> None:
        for bad, first in ((nan, self._first_nan), (infinite, self._first_infinite)):
            missing = bad_elements.MAX_ELEMENTS - len(first)
            first += (np.flatnonzero(bad)[:missing] + before).tolist()

    def first_bad(self, size: int) -> Sequence[int]:
        """Return where the first NaN are, else infinite elements, as in `fields`."""
        first = self._first_nan or self._first_infinite
        everywhere = self._seen == 1 and first
        return range(min(size, bad_elements.MAX_ELEMENTS)) if everywhere else first

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
