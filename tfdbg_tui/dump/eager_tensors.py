"""What is recorded of the tensors of an eager op, as it runs after every one of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from tensorflow.python.framework import errors
from tensorflow.python.ops import gen_array_ops

from tfdbg_tui.dump import summaries, tensor_ops, tensorflow_internals, traces
from tfdbg_tui.wire import codec, events
from tfdbg_tui.wire.modes import VALUE_VECTORS, TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from tfdbg_tui.dump.options import Options

_TENSOR_PROTO_TAG = codec.tag(7, codec.BYTES)
_NO_PROTO = codec.bytes_field(7, b"")
_VECTOR_HEADS = {
    mode: traces.tensor_proto_head(len(columns)) for mode, columns in VALUE_VECTORS.items()
}


class EagerValues(NamedTuple):
    """What an Execution says of its outputs.

    Attributes:
        mode: Mode of the record.
        protos: The tensor protos, as serialized fields.
        details: The extension fields of a bad op, serialized.
        bad_slot: The first bad output.
        counts: Its counts; None where the mode does not count.
    """

    mode: TensorDebugMode
    protos: bytes = b""
    details: bytes = b""
    bad_slot: int | None = None
    counts: summaries.HealthCounts | None = None


class EagerTensors:
    """Looks at eager tensors.

    Args:
        options: The user's.
        muted: Makes a context without op callbacks, for eager ops of our own.
    """

    def __init__(self, options: Options, muted: Callable[[], AbstractContextManager[None]]) -> None:
        self._options = options
        self._muted = muted
        self._novelty = summaries.Novelty()
        self._mode = options.mode
        self._watches_health = options.watches_health
        self._filtered = options.op_regex is not None or options.tensor_dtypes is not None
        length = len(VALUE_VECTORS.get(options.mode, ()))
        head = traces.tensor_proto_head(length)
        size = codec.varint(len(head) + 8 * length)
        self._vector_field = _TENSOR_PROTO_TAG + size + head

    @cached_property
    def _accelerated(self) -> bool:
        """Whether tensors may be elsewhere; not asked before there is one, as it starts TensorFlow.

        After that, devices and threads can no longer be configured.
        """
        return tensorflow_internals.has_accelerator()

    def values(
        self, op_type: Any, inputs: Sequence[Any], outputs: Sequence[Any], location: bytes
    ) -> EagerValues:
        """Return what to record of the outputs of an op that was executed at a place."""
        if self._watches_health:
            return self._health(op_type, inputs, outputs, location)
        if self._mode is TensorDebugMode.NO_TENSOR:
            return EagerValues(self._mode)
        protos = b"".join(
            codec.bytes_field(7, self._whole(t))
            if self._is_recorded(op_type, t.dtype)
            else _NO_PROTO
            for t in outputs
        )
        return EagerValues(self._mode, protos)

    def _is_recorded(self, op_type: str, dtype: Any) -> bool:
        if self._filtered and not self._options.keeps(_text(op_type), dtype):
            return False
        if self._mode is TensorDebugMode.SHAPE:
            return bool(dtype.is_floating or dtype.is_integer or dtype.is_bool)
        return bool(dtype.is_numpy_compatible)

    def _whole(self, tensor: Any) -> bytes:
        number = tensor.dtype.as_datatype_enum
        if self._mode is TensorDebugMode.FULL_TENSOR:
            return traces.tensor_content_proto(number, self._elements(tensor))
        shape = tuple(tensor.shape)
        vector = summaries.shape_vector(-1, number, shape, int(tensor._num_elements()))
        return _VECTOR_HEADS[TensorDebugMode.SHAPE] + vector

    def _health(
        self, op_type: str, inputs: Sequence[Any], outputs: Sequence[Any], location: bytes
    ) -> EagerValues:
        mode = self._mode
        head = self._vector_field
        fields = []
        bad_slot: int | None = None
        bad_counts: summaries.HealthCounts | None = None
        for slot, tensor in enumerate(outputs):
            number = tensor._datatype_enum()
            if number not in summaries.WATCHED or (
                self._filtered and not self._options.keeps(_text(op_type), tensor.dtype)
            ):
                fields.append(_NO_PROTO)
                continue
            vector, counts = self._vector(mode, tensor, number)
            if counts is not None and counts.bad and bad_slot is None:
                bad_slot, bad_counts = slot, counts
            fields.append(head + vector)
        if bad_counts is None:
            return EagerValues(mode, b"".join(fields))
        kinds = bad_counts.kinds, *map(self._is_finite, inputs)
        if not self._novelty.is_new((location, op_type, bad_slot, kinds)):
            return EagerValues(mode, b"".join(fields), b"", bad_slot, bad_counts)
        details = self._details_of_inputs(inputs)
        if self._options.adaptive:
            mode = TensorDebugMode.FULL_HEALTH
            whole, details.minima, details.maxima = self._details(outputs)
            fields = [codec.bytes_field(7, proto) for proto in whole]
        return EagerValues(mode, b"".join(fields), details.encode(), bad_slot, bad_counts)

    def _vector(
        self, mode: TensorDebugMode, tensor: Any, number: int
    ) -> tuple[bytes, summaries.HealthCounts | None]:
        """Return the value vector of a tensor, and its counts if it may be bad."""
        if number not in summaries.UNKNOWN_TO_OPS and self._on_accelerator(tensor):
            return self._device_vector(mode, tensor)
        array = self._elements(tensor)
        if mode is TensorDebugMode.FULL_HEALTH:
            counts = summaries.health_counts(array)
            return summaries.full_vector(-1, number, tensor._rank(), counts), counts
        if summaries.all_finite(array):
            if mode is TensorDebugMode.CURT_HEALTH:
                return summaries.curt_vector(-1, bad=False), None
            return summaries.healthy_concise_vector(array.size), None
        counts = summaries.count_bad(array)
        if mode is TensorDebugMode.CURT_HEALTH:
            return summaries.curt_vector(-1, bad=counts.bad > 0), counts
        return summaries.concise_vector(-1, counts), counts

    def _on_accelerator(self, tensor: Any) -> bool:
        return self._accelerated and "CPU" not in tensor.device

    def _device_vector(
        self, mode: TensorDebugMode, tensor: Any
    ) -> tuple[bytes, summaries.HealthCounts | None]:
        """Return what `_vector` does, computed where the tensor is: on an accelerator."""
        with self._muted():
            vector = tensor_ops.summary(tensor, mode).numpy()
        counts = summaries.HealthCounts(size=-1)
        if mode is TensorDebugMode.CURT_HEALTH:
            counts.nan = int(vector[1])
        elif mode is TensorDebugMode.CONCISE_HEALTH:
            counts = summaries.HealthCounts(*map(int, vector[1:]))
        else:
            vector[2] = tensor.dtype.as_datatype_enum
            counts = summaries.HealthCounts(*map(int, vector[4:]))
        return vector.tobytes(), counts

    def _details_of_inputs(self, inputs: Sequence[Any]) -> events.Execution:
        """Return the extension fields that describe the inputs of an op that made a bad tensor.

        They tell the cause: some come out of no recorded op, such as arrays and variables.
        """
        protos, low, high = self._details(inputs)
        return events.Execution(input_tensor_protos=protos, input_minima=low, input_maxima=high)

    def _details(self, tensors: Sequence[Any]) -> tuple[list[bytes], list[float], list[float]]:
        protos, minima, maxima = [], [], []
        head = _VECTOR_HEADS[TensorDebugMode.FULL_HEALTH]
        for tensor in tensors:
            dtype = tensor.dtype
            counts = summaries.HealthCounts()
            proto = b""
            if dtype.is_floating or dtype.is_complex:
                array = self._elements(tensor)
                counts = summaries.health_counts(array, extremes=True)
                number = dtype.as_datatype_enum
                proto = head + summaries.full_vector(-1, number, tensor._rank(), counts)
            protos.append(proto)
            minima.append(counts.minimum)
            maxima.append(counts.maximum)
        return protos, minima, maxima

    def _is_finite(self, tensor: Any) -> bool:
        dtype = tensor.dtype
        watched = dtype.is_floating or dtype.is_complex
        return not watched or summaries.all_finite(self._elements(tensor))

    def _elements(self, tensor: Any) -> Any:
        """Return a tensor's elements; without a copy where they are in this process's memory."""
        try:
            elements = tensor._numpy()
        except errors.InvalidArgumentError:  # More dimensions than numpy can have.
            with self._muted():
                elements = gen_array_ops.reshape(tensor, [-1])._numpy()
        return np.array(elements, object) if isinstance(elements, bytes) else elements


def _text(op_type: Any) -> str:
    """Return an op type in str: TensorFlow's slower paths name ops in bytes."""
    return op_type.decode() if isinstance(op_type, bytes) else str(op_type)
