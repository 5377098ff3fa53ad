"""Eager executions as bytes: the fast path, as it runs after every eager op."""

from __future__ import annotations

import itertools
import struct
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tensorflow.python.ops import gen_debug_ops

from tfdbg_tui.dump import skipped_ops, stacks, steps, summaries, tensorflow_hooks, traces
from tfdbg_tui.wire import codec, events, filesets
from tfdbg_tui.wire.modes import VALUE_VECTORS, TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from tfdbg_tui.dump.graphs import GraphDefinitions
    from tfdbg_tui.dump.options import Options
    from tfdbg_tui.dump.recorder import Recorder

_WALL_TIME = struct.Struct("<Bd")
_SERIAL_AND_THREAD = struct.Struct("<2sQ2sI")
_SERIAL_TAG = codec.tag(1000, codec.FIXED64)
_THREAD_TAG = codec.tag(1001, codec.FIXED32)
_TENSOR_PROTO_TAG = codec.tag(7, codec.BYTES)
_NO_PROTO = codec.bytes_field(7, b"")
_CODE_LOCATION_TAG = codec.tag(8, codec.BYTES)
_NUM_OUTPUTS_TAG = codec.tag(2, codec.VARINT)
_MODE_FIELDS = {mode: codec.varint_field(6, mode) for mode in TensorDebugMode}
_INPUT_IDS_TAG, _OUTPUT_IDS_TAG, _DEVICES_TAG = (codec.tag(n, codec.BYTES) for n in (4, 5, 9))
_EXECUTION_TAG = codec.tag(9, codec.BYTES)
_SMALL_VARINTS = tuple(codec.varint(n) for n in range(1 << 14))


_CONTINUED = tuple(bytes((n & 0x7F | 0x80, n >> 7 | 0x80)) for n in range(1 << 14))
_SKIP = b""


def _varint(value: int) -> bytes:
    if value < 1 << 14:
        return _SMALL_VARINTS[value]
    if value < 1 << 28:
        return _CONTINUED[value & 0x3FFF] + _SMALL_VARINTS[value >> 14]
    return codec.varint(value)


def _sized(tag: bytes, data: bytes) -> bytes:
    return tag + _varint(len(data)) + data


def _packed(tag: bytes, values: Sequence[int]) -> bytes:
    return _sized(tag, b"".join([_varint(value) for value in values])) if values else b""


_VECTOR_HEADS = {
    mode: traces.tensor_proto_head(len(columns)) for mode, columns in VALUE_VECTORS.items()
}


@dataclass(slots=True)
class BadTensor:
    """The first bad output of an execution.  `counts` is None where the mode does not count."""

    op_name: str
    slot: int
    counts: summaries.HealthCounts | None
    location: bytes


_Values = tuple[TensorDebugMode, bytes, bytes, int | None, "summaries.HealthCounts | None"]
"""Mode, tensor protos, extension fields, and slot and counts of the first bad output."""


@dataclass(slots=True)
class Call:
    """A function call in progress."""

    name: str
    serial: int
    graphs: frozenset[str] = field(default_factory=frozenset)


class EagerExecutions:
    """Records eager ops and calls of functions.

    Args:
        options: The user's.
        recorder: Takes the records.
        graphs: Knows which graph is behind a function.
        locations: Interns stack traces.
        muted: Makes a context without op callbacks, for eager ops of our own.
    """

    def __init__(
        self,
        options: Options,
        recorder: Recorder,
        graphs: GraphDefinitions,
        locations: stacks.CodeLocations,
        muted: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._options = options
        self._recorder = recorder
        self._graphs = graphs
        self._locations = locations
        self._muted = muted
        self._serials = itertools.count(1)
        self._devices: dict[str, int] = {}
        self._threads = threading.local()
        self._thread_numbers = itertools.count()
        self._heads: dict[Any, bytes] = {}
        self._location_fields: dict[bytes, bytes] = {}
        length = len(VALUE_VECTORS.get(options.mode, ()))
        vector_head = traces.tensor_proto_head(length)
        self._vector_field = (
            _TENSOR_PROTO_TAG + _varint(len(vector_head) + 8 * length) + vector_head
        )
        self._accelerated = tensorflow_hooks.has_accelerator()
        self._filtered = options.op_regex is not None or options.tensor_dtypes is not None
        self.calls: dict[int, Call] = {}

    # ---- Function calls ------------------------------------------------------------------------

    def begin_call(self, name: str) -> Call:
        """Note that a function starts, so that traces can name the execution that causes them."""
        graph_id = self._graphs.graph_of_function(name)
        graphs = self._graphs.reachable(graph_id) if graph_id else frozenset()
        call = Call(name, next(self._serials), graphs)
        self.calls[call.serial] = call
        return call

    def cause_of(self, graph_id: str) -> int:
        """Return the serial of the call that runs a graph now; 0 where that is not one call."""
        serials = [call.serial for call in tuple(self.calls.values()) if graph_id in call.graphs]
        return serials[0] if len(serials) == 1 else 0

    # ---- Records -------------------------------------------------------------------------------

    def op(self, op_type: Any, inputs: Sequence[Any], outputs: Any) -> BadTensor | None:
        """Record an eager op that has just returned; return its first bad output.

        Args:
            op_type: Type of the op, in str or bytes; names of functions are left to `end_call`.
            inputs: Eager tensors.
            outputs: An eager tensor, a list of them, or None.
        """
        head = self._heads.get(op_type)
        if head is None:
            head = self._head(op_type)
        if head is _SKIP:
            return None
        return self._record(op_type, head, inputs, outputs, next(self._serials), b"", 3)

    def end_call(
        self, call: Call, inputs: Sequence[Any], outputs: Any, error: BaseException | None = None
    ) -> BadTensor | None:
        """Record a function call that has just ended; return its first bad output."""
        head = codec.bytes_field(1, call.name.encode())
        graph_id = self._graphs.graph_of_function(call.name)
        if graph_id is not None:
            head += codec.bytes_field(3, graph_id.encode())
        extension = b""
        if error is not None:
            text = f"{type(error).__name__}: {error}"
            extension = codec.bytes_field(1002, text.encode("utf-8", "replace"))
        return self._record(call.name, head, inputs, outputs, call.serial, extension, 5)

    def _record(
        self,
        op_type: str,
        head: bytes,
        inputs: Sequence[Any],
        outputs: Any,
        serial: int,
        extension: bytes,
        depth: int,
    ) -> BadTensor | None:
        if not isinstance(outputs, (list, tuple)):
            outputs = (outputs,) if outputs is not None else ()
        location = self._locations.here(sys._getframe(depth))
        location_field = self._location_fields.get(location)
        if location_field is None:
            location_field = _sized(_CODE_LOCATION_TAG, location)
            self._location_fields[location] = location_field
        mode, protos, details, bad_slot, counts = self._values(op_type, inputs, outputs)
        try:
            thread = self._threads.number
        except AttributeError:
            thread = self._threads.number = next(self._thread_numbers)
        body = b"".join(
            (
                head,
                _NUM_OUTPUTS_TAG,
                _varint(len(outputs)),
                _packed(_INPUT_IDS_TAG, [t._id for t in inputs]),
                _packed(_OUTPUT_IDS_TAG, [t._id for t in outputs]),
                _MODE_FIELDS[mode],
                protos,
                location_field,
                _packed(_DEVICES_TAG, [self._device(t.device) for t in outputs]),
                _SERIAL_AND_THREAD.pack(_SERIAL_TAG, serial, _THREAD_TAG, thread),
                details,
                extension,
            )
        )
        step = steps.current
        self._recorder.execution(
            _WALL_TIME.pack(9, time.time())
            + (b"\x10" + _varint(step) if step is not None else b"")
            + _EXECUTION_TAG
            + _varint(len(body))
            + body
        )
        return None if bad_slot is None else BadTensor(op_type, bad_slot, counts, location)

    def _head(self, op_type: Any) -> bytes:
        name = op_type.decode() if isinstance(op_type, bytes) else op_type
        if name in skipped_ops.EAGER or tensorflow_hooks.is_function_name(op_type):
            head = _SKIP
        else:
            head = codec.bytes_field(1, name.encode())
        self._heads[op_type] = head
        return head

    def _device(self, name: str) -> int:
        number = self._devices.get(name)
        if number is None:
            with self._recorder.definitions_lock:
                number = self._devices.setdefault(name, len(self._devices) + 1)
                payload = events.DebuggedDevice(name, number).encode()
                self._recorder.define(filesets.GRAPHS, events.DebugEvent(debugged_device=payload))
        return number

    # ---- Values --------------------------------------------------------------------------------

    def _values(self, op_type: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> _Values:
        mode = self._options.mode
        if mode is TensorDebugMode.NO_TENSOR:
            return mode, b"", b"", None, None
        if self._options.watches_health:
            return self._health(op_type, inputs, outputs)
        protos = b"".join(
            _sized(_TENSOR_PROTO_TAG, self._whole(t))
            if self._is_recorded(op_type, t.dtype)
            else _NO_PROTO
            for t in outputs
        )
        return mode, protos, b"", None, None

    def _is_recorded(self, op_type: str, dtype: Any) -> bool:
        if self._filtered and not self._options.keeps(_text(op_type), dtype):
            return False
        if self._options.mode is TensorDebugMode.SHAPE:
            return bool(dtype.is_floating or dtype.is_integer or dtype.is_bool)
        return bool(dtype.is_numpy_compatible)

    def _whole(self, tensor: Any) -> bytes:
        number = tensor.dtype.as_datatype_enum
        if self._options.mode is TensorDebugMode.FULL_TENSOR:
            return traces.tensor_content_proto(number, _elements(tensor))
        shape = tuple(tensor.shape)
        vector = summaries.shape_vector(-1, number, shape, int(tensor._num_elements()))
        return _VECTOR_HEADS[TensorDebugMode.SHAPE] + vector

    def _health(self, op_type: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> _Values:
        mode = self._options.mode
        head = self._vector_field
        protos = []
        bad_slot: int | None = None
        bad_counts: summaries.HealthCounts | None = None
        for slot, tensor in enumerate(outputs):
            number = tensor._datatype_enum()
            if number not in summaries.WATCHED or (
                self._filtered and not self._options.keeps(_text(op_type), tensor.dtype)
            ):
                protos.append(_NO_PROTO)
                continue
            vector, counts = self._vector(mode, tensor, number)
            if counts is not None and counts.bad and bad_slot is None:
                bad_slot, bad_counts = slot, counts
            protos.append(head + vector)
        if bad_slot is not None and self._options.adaptive:
            return self._detailed(inputs, outputs, bad_slot, bad_counts)
        return mode, b"".join(protos), b"", bad_slot, bad_counts

    def _vector(
        self, mode: TensorDebugMode, tensor: Any, number: int
    ) -> tuple[bytes, summaries.HealthCounts | None]:
        """Return the value vector of a tensor, and its counts if it may be bad."""
        if self._accelerated and "CPU" not in tensor.device and number in summaries.KERNEL_FLOATS:
            return self._device_vector(mode, tensor)
        array = _elements(tensor)
        if mode is TensorDebugMode.FULL_HEALTH:
            counts = summaries.health_counts(array)
            return summaries.full_vector(-1, number, array.ndim, counts), counts
        if summaries.all_finite(array):
            if mode is TensorDebugMode.CURT_HEALTH:
                return summaries.curt_vector(-1, bad=False), None
            return summaries.healthy_concise_vector(array.size), None
        counts = summaries.health_counts(array)
        if mode is TensorDebugMode.CURT_HEALTH:
            return summaries.curt_vector(-1, bad=counts.bad > 0), counts
        return summaries.concise_vector(-1, counts), counts

    def _device_vector(
        self, mode: TensorDebugMode, tensor: Any
    ) -> tuple[bytes, summaries.HealthCounts | None]:
        """Return what `_vector` does, computed where the tensor is: on an accelerator."""
        import tensorflow as tf

        with self._muted():
            # There is no bfloat16 kernel of the summary op for GPUs.
            plain = tf.cast(tensor, tf.float32) if tensor.dtype == tf.bfloat16 else tensor
            summary = gen_debug_ops.debug_numeric_summary_v2(
                plain, tensor_debug_mode=int(mode), output_dtype=tf.float64
            )
            vector = summary.numpy()
        counts = summaries.HealthCounts(size=-1)
        if mode is TensorDebugMode.CURT_HEALTH:
            counts.nan = int(vector[1])
        elif mode is TensorDebugMode.CONCISE_HEALTH:
            counts = summaries.HealthCounts(*map(int, vector[1:]))
        else:
            vector[2] = tensor.dtype.as_datatype_enum
            counts = summaries.HealthCounts(*map(int, vector[4:]))
        return vector.tobytes(), counts

    def _detailed(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        bad_slot: int,
        counts: summaries.HealthCounts | None,
    ) -> _Values:
        """Say everything about the outputs of an op that made a bad tensor, and its inputs."""
        out, low, high = self._details(outputs)
        inner, in_low, in_high = self._details(inputs)
        protos = b"".join(_sized(_TENSOR_PROTO_TAG, proto) for proto in out)
        extension = events.Execution(
            minima=low,
            maxima=high,
            input_tensor_protos=inner,
            input_minima=in_low,
            input_maxima=in_high,
        )
        return TensorDebugMode.FULL_HEALTH, protos, extension.encode(), bad_slot, counts

    def _details(self, tensors: Sequence[Any]) -> tuple[list[bytes], list[float], list[float]]:
        protos, minima, maxima = [], [], []
        head = _VECTOR_HEADS[TensorDebugMode.FULL_HEALTH]
        for tensor in tensors:
            dtype = tensor.dtype
            counts = summaries.HealthCounts()
            proto = b""
            if dtype.is_floating or dtype.is_complex:
                array = _elements(tensor)
                counts = summaries.health_counts(array, extremes=True)
                number = dtype.as_datatype_enum
                proto = head + summaries.full_vector(-1, number, array.ndim, counts)
            protos.append(proto)
            minima.append(counts.minimum)
            maxima.append(counts.maximum)
        return protos, minima, maxima


def _elements(tensor: Any) -> Any:
    """Return a tensor's elements; without a copy where they are in this process's memory."""
    return tensor._numpy()


def _text(op_type: Any) -> str:
    """Return an op type in str: TensorFlow's slower paths name ops in bytes."""
    return op_type.decode() if isinstance(op_type, bytes) else str(op_type)
