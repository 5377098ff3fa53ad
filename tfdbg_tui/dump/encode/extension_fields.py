"""The extension fields of an execution that tell more of its inputs and outputs than their counts.

They are the extremes of outputs that were measured; everything about the inputs and outputs of an
op that made something bad; and what an op has compared.
"""

from __future__ import annotations

import functools
import math
import struct
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump.encode import packed_vectors, summaries, traces
from tfdbg_tui.dump.encode.summaries import HealthCounts
from tfdbg_tui.dump.tensorflow.eager_tensor import datatype_enum, elements, rank
from tfdbg_tui.wire import events
from tfdbg_tui.wire.modes import VALUE_VECTORS, TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfdbg_tui.dump.encode.executions import EagerValues

NO_EXTREMES = math.nan, math.nan
"""Stand for the extremes of a tensor that has none."""

_MINIMUM_HEAD, _MAXIMUM_HEAD = (
    events.Execution.field(name, [0.0])[:-8] for name in ("minima", "maxima")
)
_EXTREMES_OF_ONE = struct.Struct(f"<{len(_MINIMUM_HEAD)}sd{len(_MAXIMUM_HEAD)}sd")
_COMPARED_HEAD = events.Execution.field("compared", [0.0, 0.0])[:-16]
_COMPARED = struct.Struct(f"<{len(_COMPARED_HEAD)}s2d")
_FULL_HEAD = traces.tensor_proto_head(len(VALUE_VECTORS[TensorDebugMode.FULL_HEALTH]))
_MAX_KEPT = 4096


def compared(one: float, other: float) -> bytes:
    """Return the field with the numbers that an op has compared."""
    return _COMPARED.pack(_COMPARED_HEAD, one, other)


def extremes_of_one(low: float, high: float, dtype: int) -> bytes:
    """Return the fields with the extremes of a single output.

    Args:
        low: Its smallest element.
        high: Its largest element.
        dtype: Its DataType number.
    """
    return _EXTREMES_OF_ONE.pack(_MINIMUM_HEAD, low, _MAXIMUM_HEAD, high) + _type_field((dtype,))


def with_extremes(
    recorded: EagerValues, outputs: Sequence[Any], pairs: Iterable[tuple[float, float]]
) -> EagerValues:
    """Return what to record of outputs with their extremes; as it was where none has any.

    Args:
        recorded: What to record of them.
        outputs: Eager tensors.
        pairs: The smallest and largest element of each.
    """
    found = list(pairs)
    if all(math.isnan(low) for low, _ in found):
        return recorded
    minima, maxima = zip(*found, strict=True)
    field = events.Execution(minima=list(minima), maxima=list(maxima)).encode()
    types = (
        0 if math.isnan(low) else datatype_enum(tensor)
        for tensor, low in zip(outputs, minima, strict=True)
    )
    return recorded._replace(details=recorded.details + field + _type_field(tuple(types)))


@functools.lru_cache(_MAX_KEPT)
def _type_field(types: tuple[int, ...]) -> bytes:
    """Return the field with the types of outputs, of which there are few combinations."""
    return events.Execution.field("measured_types", list(types))


def of_inputs(inputs: Sequence[Any]) -> events.Execution:
    """Return the fields that describe the inputs of an op that made a bad tensor.

    They tell the cause: some come out of no recorded op, such as arrays and variables.
    """
    protos, counted = _details(inputs)
    low, high, places = _extensions(counted)
    return events.Execution(
        input_tensor_protos=protos,
        input_minima=low,
        input_maxima=high,
        input_bad_elements=places,
    )


def add_outputs(fields: events.Execution, outputs: Sequence[Any]) -> list[bytes]:
    """Describe the outputs of such an op as well; return their tensor protos."""
    protos, counted = _details(outputs)
    fields.minima, fields.maxima, fields.bad_elements = _extensions(counted)
    return protos


def _details(tensors: Sequence[Any]) -> tuple[list[bytes], list[HealthCounts]]:
    protos, counted = [], []
    for tensor in tensors:
        dtype = tensor.dtype
        counts = HealthCounts()
        proto = b""
        if dtype.is_floating or dtype.is_complex:
            counts = summaries.health_counts(elements(tensor), detailed=True)
            number = dtype.as_datatype_enum
            proto = _FULL_HEAD + packed_vectors.full_vector(-1, number, rank(tensor), counts)
        protos.append(proto)
        counted.append(counts)
    return protos, counted


def _extensions(
    counted: Sequence[HealthCounts],
) -> tuple[list[float], list[float], list[float]]:
    """Return the extremes of some tensors, and what is told of their bad elements."""
    minima = [counts.minimum for counts in counted]
    maxima = [counts.maximum for counts in counted]
    return minima, maxima, [number for counts in counted for number in counts.places]
