"""What is recorded of the tensors of an eager op, as it runs after every one of them."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump.encode import extension_fields, packed_vectors, summaries, traces
from tfdbg_tui.dump.encode.executions import EagerValues
from tfdbg_tui.dump.encode.extension_fields import NO_EXTREMES, with_extremes
from tfdbg_tui.dump.encode.extremes import extremes_of, finite_extremes
from tfdbg_tui.dump.encode.summaries import HealthCounts
from tfdbg_tui.dump.encode.unread import UnreadOutputs, UnreadValues
from tfdbg_tui.dump.tensorflow import devices, executors, op_types
from tfdbg_tui.dump.tensorflow.eager_tensor import (
    datatype_enum,
    elements,
    num_elements,
    rank,
    tensor_id,
)
from tfdbg_tui.dump.tensorflow.scratch_outputs import FIRST_SCRATCH
from tfdbg_tui.wire import codec, events
from tfdbg_tui.wire.modes import VALUE_VECTORS, TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfdbg_tui.dump.options import Options

_TENSOR_PROTO_TAG = codec.varint(events.Execution.tag("tensor_protos"))
_NO_PROTO = events.Execution.field("tensor_protos", [b""])
_SHAPE_HEAD = traces.tensor_proto_head(len(VALUE_VECTORS[TensorDebugMode.SHAPE]))

_COMPARES = op_types.in_both(("Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual"))
"""Ops that compare numbers."""

_ASSIGNS = op_types.in_both(
    (
        *("AssignVariableOp", "ResourceScatterMax", "ResourceScatterMin", "ResourceScatterNdMax"),
        *("ResourceScatterNdMin", "ResourceScatterNdUpdate", "ResourceScatterUpdate"),
        "ResourceStridedSliceAssign",
    )
)
"""Ops that set a variable or a part of it.

TensorFlow reads variables without an op where an eager one takes them.
"""

_NOT_FOR_OUTPUTS = _COMPARES | _ASSIGNS | {op for op, first in FIRST_SCRATCH.items() if not first}
"""Ops of which it is not recorded whether their outputs are bad."""

_MAX_KEPT = 4096
"""Of so many sizes what is recorded of a tensor is kept that is healthy, or all NaN."""

_MAX_NOTED = 1 << 16
"""Of so many tensors it is kept whether they are bad: of the outputs and inputs of bad ops."""


class _KeptBySize(dict[int, EagerValues]):
    """What to record of tensors of which the size tells all.

    Args:
        make: Returns it.
    """

    def __init__(self, make: Callable[[int], EagerValues]) -> None:
        self._make = make

    def __missing__(self, size: int) -> EagerValues:
        found = self._make(size)
        if len(self) < _MAX_KEPT:
            self[size] = found
        return found


class EagerTensors:
    """Looks at eager tensors.

    Args:
        options: The user's.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._novelty = summaries.Novelty()
        self._unread = UnreadOutputs(options.mode)
        self._mode = options.mode
        self._watches_health = options.watches_health
        self._filtered = options.op_regex is not None or options.tensor_dtypes is not None
        self._is_full = options.mode is TensorDebugMode.FULL_HEALTH
        length = len(VALUE_VECTORS.get(options.mode, ()))
        head = traces.tensor_proto_head(length)
        size = codec.varint(len(head) + 8 * length)
        self._vector_field = _TENSOR_PROTO_TAG + size + head
        self._ignored = EagerValues(options.mode, _NO_PROTO)
        self._nothing = EagerValues(options.mode)
        self._healthy = _KeptBySize(lambda size: self._seen_counts(HealthCounts(size)))
        self._all_nan = _KeptBySize(lambda size: self._seen_counts(HealthCounts(size, nan=size)))
        self._are_bad: dict[int, bool] = {}

    @cached_property
    def _accelerated(self) -> bool:
        """Whether tensors may be elsewhere; not asked before there is one, as it starts TensorFlow.

        After that, devices and threads can no longer be configured.
        """
        return devices.has_accelerator()

    def values(
        self,
        op_type: Any,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        location: bytes,
        *,
        measured: bool,
    ) -> EagerValues | UnreadValues:
        """Return what to record of the outputs of an op that was executed at a place.

        Args:
            op_type: Type of the op.
            inputs: Eager tensors.
            outputs: Eager tensors.
            location: The serialized CodeLocation.
            measured: Whether to record the extremes of healthy outputs too.
        """
        if not self._watches_health:
            return EagerValues(self._mode, b"".join([self._plain(op_type, t) for t in outputs]))
        if op_type in _NOT_FOR_OUTPUTS:
            return self._of_other_than_outputs(op_type, inputs, location)
        if not outputs:
            return self._nothing
        look = None
        if len(outputs) == 1:
            look_at = self._measured if measured else self._look
            look = look_at(op_type, outputs[0])
            if look is not None and look.bad_slot is None:
                return look
        found = [look] if look is not None else [self._look(op_type, t) for t in outputs]
        looks = [look for look in found if look is not None]
        if len(looks) < len(found):
            unread = UnreadValues(
                *(self._unread, self._read, op_type, inputs, outputs, location, found),
                measured=measured,
            )
            self._unread.add(unread)
            return unread
        if op_type in FIRST_SCRATCH:
            looks = self._without_scratch(op_type, looks)
        recorded = self._of_looks(op_type, inputs, outputs, location, looks)
        if measured and not self._has_extremes(recorded):
            return with_extremes(recorded, outputs, map(_extremes, outputs, looks))
        return recorded

    def _of_other_than_outputs(
        self, op_type: Any, inputs: Sequence[Any], location: bytes
    ) -> EagerValues:
        """Return what to record of one of `_NOT_FOR_OUTPUTS`."""
        if op_type in _COMPARES:
            return self._compared(inputs)
        if op_type in _ASSIGNS:
            return self._assigned(op_type, inputs, location)
        return self._ignored

    def are_looked_at(self, outputs: Sequence[Any]) -> bool:
        """Return whether what is recorded of outputs takes more than to know their types."""
        if self._watches_health:
            return any(datatype_enum(tensor) in summaries.WATCHED for tensor in outputs)
        return self._mode is not TensorDebugMode.NO_TENSOR and bool(outputs)

    def left_out(self, outputs: Sequence[Any]) -> EagerValues:
        """Return what to record of outputs that nothing is to be recorded of."""
        is_told = self._mode is not TensorDebugMode.NO_TENSOR
        return EagerValues(self._mode, _NO_PROTO * len(outputs) * is_told)

    def whole(self, values: EagerValues | UnreadValues, outputs: Sequence[Any]) -> EagerValues:
        """Return what to record of outputs whose elements are wanted.

        Args:
            values: What the mode records of them.
            outputs: Eager tensors.
        """
        protos = [
            traces.tensor_content_proto(tensor.dtype.as_datatype_enum, elements(tensor))
            if tensor.dtype.is_numpy_compatible
            else b""
            for tensor in outputs
        ]
        field = events.Execution.field("tensor_protos", protos)
        return values.read()._replace(mode=TensorDebugMode.FULL_TENSOR, protos=field)

    def _plain(self, op_type: str, tensor: Any) -> bytes:
        """Return the tensor proto of a mode that does not look for bad elements, as a field."""
        if self._mode is TensorDebugMode.NO_TENSOR:
            return b""
        if not self._is_recorded(op_type, tensor.dtype):
            return _NO_PROTO
        return events.Execution.field("tensor_protos", [self._whole(tensor)])

    def _is_recorded(self, op_type: str, dtype: Any) -> bool:
        if self._filtered and not self._options.keeps(op_types.text(op_type), dtype):
            return False
        if self._mode is TensorDebugMode.SHAPE:
            return bool(dtype.is_floating or dtype.is_integer or dtype.is_bool)
        return bool(dtype.is_numpy_compatible)

    def _whole(self, tensor: Any) -> bytes:
        number = tensor.dtype.as_datatype_enum
        if self._mode is TensorDebugMode.FULL_TENSOR:
            return traces.tensor_content_proto(number, elements(tensor))
        shape = tuple(tensor.shape)
        vector = packed_vectors.shape_vector(-1, number, shape, int(num_elements(tensor)))
        return _SHAPE_HEAD + vector

    def _assigned(self, op_type: Any, inputs: Sequence[Any], location: bytes) -> EagerValues:
        """Return what to record of an op that sets a variable: what is bad of the value."""
        nothing, value = self._nothing, inputs[-1]
        number = datatype_enum(value)
        if executors.is_async() or number not in summaries.WATCHED:
            return nothing
        if self._filtered and not self._options.keeps(op_types.text(op_type), value.dtype):
            return nothing
        if self._accelerated and self._on_accelerator(value, number):
            return nothing
        is_told = self._is_bad(value) and self._novelty.is_new((location, op_type, None, ()))
        return (
            nothing._replace(details=extension_fields.of_inputs(inputs).encode())
            if is_told
            else nothing
        )

    def _compared(self, inputs: Sequence[Any]) -> EagerValues:
        """Return what to record of an op that compares: the bounds that Python gave it."""
        if executors.is_async():
            return self._ignored
        one, other = map(self._number, inputs)
        if math.isnan(one) and math.isnan(other):
            return self._ignored
        return EagerValues(self._mode, _NO_PROTO, extension_fields.compared(one, other))

    def _number(self, tensor: Any) -> float:
        """Return the one element of a tensor; NaN where it has more, or is not at hand."""
        number = datatype_enum(tensor)
        if number not in summaries.WATCHED:
            return math.nan
        if self._accelerated and self._on_accelerator(tensor, number):
            return math.nan
        array = elements(tensor)
        return float(array.item()) if array.size == 1 and array.dtype.kind != "c" else math.nan

    def _measured(self, op_type: str, tensor: Any) -> EagerValues | None:
        """Return what to record of a tensor that its extremes show to be healthy, in half the time.

        None where it may be bad, or there is more to record.
        """
        is_asked = self._filtered and not self._options.keeps(op_types.text(op_type), tensor.dtype)
        if is_asked or self._is_full or self._accelerated:
            return None
        number = datatype_enum(tensor)
        if number not in summaries.WATCHED:
            return self._ignored
        array = elements(tensor)
        found = finite_extremes(array)
        if found is None:
            return None
        look = self._healthy[array.size]
        details = extension_fields.extremes_of_one(*found, number)
        return EagerValues(look.mode, look.protos, details)

    def _look(self, op_type: str, tensor: Any) -> EagerValues | None:
        """Return what to record of one tensor.

        Returns:
            None where only an accelerator can tell, in whose memory it is.
        """
        number = datatype_enum(tensor)
        if number not in summaries.WATCHED:
            return self._ignored
        if self._filtered and not self._options.keeps(op_types.text(op_type), tensor.dtype):
            return self._ignored
        if self._accelerated and self._on_accelerator(tensor, number):
            return None
        array = elements(tensor)
        if self._is_full:
            counts = summaries.health_counts(array)
            return self._seen(packed_vectors.full_vector(-1, number, rank(tensor), counts), counts)
        if summaries.all_finite(array):
            return self._healthy[array.size]
        if summaries.all_nan(array):
            return self._all_nan[array.size]
        return self._seen_counts(summaries.count_bad(array))

    def _seen_counts(self, counts: HealthCounts) -> EagerValues:
        if self._mode is TensorDebugMode.CURT_HEALTH:
            return self._seen(packed_vectors.curt_vector(-1, bad=counts.bad > 0), counts)
        return self._seen(packed_vectors.concise_vector(-1, counts), counts)

    def _seen(self, vector: bytes, counts: HealthCounts) -> EagerValues:
        field = self._vector_field + vector
        if counts.bad:
            return EagerValues(self._mode, field, bad_slot=0, counts=counts)
        return EagerValues(self._mode, field)

    def _on_accelerator(self, tensor: Any, number: int) -> bool:
        return "CPU" not in tensor.device and number not in summaries.UNKNOWN_TO_OPS

    def _read(
        self,
        values: UnreadValues,
        counts: Sequence[HealthCounts] | None,
        ends: Sequence[Any],
    ) -> EagerValues:
        """Return what is recorded of outputs that were left in an accelerator's memory.

        Args:
            values: What is known of the execution.
            counts: The counts of those outputs; None where all are healthy.
            ends: The extremes of those of which they are wanted.
        """
        looks, outputs = values.looks, values.outputs
        found = iter(self._look_at_all_counts(counts, values.tensors))
        known = [next(found) if look is None else look for look in looks]
        if values.op_type in FIRST_SCRATCH:
            known = self._without_scratch(values.op_type, known)
        recorded = self._of_looks(values.op_type, values.inputs, outputs, values.location, known)
        if not values.measured or self._has_extremes(recorded):
            return recorded
        there = map(_pair, ends)
        pairs = [
            _extremes(tensor, look) if look is not None or tensor.dtype.is_complex else next(there)
            for tensor, look in zip(outputs, looks, strict=True)
        ]
        of_numbers = [
            NO_EXTREMES if look.protos == _NO_PROTO else pair
            for pair, look in zip(pairs, known, strict=True)
        ]
        return with_extremes(recorded, outputs, of_numbers)

    def _look_at_all_counts(
        self, counts: Sequence[HealthCounts] | None, tensors: Sequence[Any]
    ) -> Sequence[EagerValues]:
        """Return what `_look` does, from counts; None says that all tensors are healthy."""
        if counts is not None:
            looks = [self._look_at_counts(c, t) for c, t in zip(counts, tensors, strict=True)]
        else:
            looks = [self._healthy[num_elements(tensor)] for tensor in tensors]
        self._note_bad(tensors, looks)  # As inputs of bad ops they need not be copied.
        return looks

    def _without_scratch(self, op_type: Any, looks: Sequence[EagerValues]) -> list[EagerValues]:
        """Return what was seen of outputs, without those that may hold no numbers.

        Where those before them are bad, they may be so for the same reason.
        """
        first = FIRST_SCRATCH[op_type]
        if any(look.bad_slot is not None for look in looks[:first]):
            return list(looks)
        return [*looks[:first], *[self._ignored] * len(looks[first:])]

    def _look_at_counts(self, counts: HealthCounts, tensor: Any) -> EagerValues:
        """Return what `_look` does, from what an accelerator has counted."""
        if not self._is_full:
            return self._seen_counts(counts) if counts.bad else self._healthy[counts.size]
        number = datatype_enum(tensor)
        return self._seen(packed_vectors.full_vector(-1, number, rank(tensor), counts), counts)

    def _of_looks(
        self,
        op_type: str,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        location: bytes,
        looks: Sequence[EagerValues],
    ) -> EagerValues:
        """Return what to record of outputs, each of which was looked at."""
        seen = looks[0] if len(looks) == 1 else self._together(looks)
        counts = seen.counts
        if counts is None:
            return seen
        self._note_bad(outputs, looks)
        are_bad = tuple(map(self._are_bad.get, map(tensor_id, inputs)))
        if None in are_bad:
            are_bad = tuple(map(self._is_bad, inputs))
        kinds = counts.kinds, *are_bad
        if not self._novelty.is_new((location, op_type, seen.bad_slot, kinds)):
            return seen
        mode, protos = self._mode, seen.protos
        details = extension_fields.of_inputs(inputs)
        if self._options.adaptive:
            mode = TensorDebugMode.FULL_HEALTH
            whole = extension_fields.add_outputs(details, outputs)
            protos = events.Execution.field("tensor_protos", whole)
        return EagerValues(mode, protos, details.encode(), seen.bad_slot, counts)

    def _has_extremes(self, recorded: EagerValues) -> bool:
        """Return whether what `_of_looks` has returned tells the extremes of the outputs."""
        return self._options.adaptive and bool(recorded.details)

    def _together(self, looks: Sequence[EagerValues]) -> EagerValues:
        """Return what to record of several outputs, or of none."""
        protos = b"".join([look.protos for look in looks])
        for slot, look in enumerate(looks):
            if look.counts is not None:
                return EagerValues(self._mode, protos, bad_slot=slot, counts=look.counts)
        return EagerValues(self._mode, protos)

    def _note_bad(self, outputs: Sequence[Any], looks: Sequence[EagerValues]) -> None:
        for tensor, look in zip(outputs, looks, strict=True):
            self._note(tensor_id(tensor), look.counts is not None)

    def _note(self, number: int, is_bad: bool) -> None:
        if len(self._are_bad) >= _MAX_NOTED:
            self._are_bad.clear()
        self._are_bad[number] = is_bad

    def _is_bad(self, tensor: Any) -> bool:
        """Whether an input is bad; most were outputs of a bad op before."""
        found = self._are_bad.get(tensor_id(tensor))
        if found is None:
            dtype = tensor.dtype
            watched = dtype.is_floating or dtype.is_complex
            found = watched and not summaries.all_finite(elements(tensor))
            self._note(tensor_id(tensor), found)
        return found


def _extremes(tensor: Any, look: EagerValues | None) -> tuple[float, float]:
    """Return the extremes of a tensor that was looked at here, or that has none."""
    if look is None or look.protos == _NO_PROTO:
        return NO_EXTREMES
    return extremes_of(elements(tensor))


def _pair(vector: Any) -> tuple[float, float]:
    """Return the extremes of a tensor from what an accelerator has found."""
    low, high = vector.tolist()
    return (low, high) if low <= high else NO_EXTREMES
