"""Eager executions as bytes: the fast path, as it runs after every eager op."""

from __future__ import annotations

import itertools
import struct
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
_INPUT_IDS_TAG, _OUTPUT_IDS_TAG, _DEVICES_TAG = (codec.tag(n, codec.BYTES) for n in (4, 5, 9))
_EXECUTION_TAG = codec.tag(9, codec.BYTES)
_SMALL_VARINTS = tuple(codec.varint(n) for n in range(1 << 14))


def _varint(value: int) -> bytes:
    return _SMALL_VARINTS[value] if 0 <= value < 1 << 14 else codec.varint(value)


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


@dataclass(slots=True)
class _Outputs:
    """What a record says of the values of an execution's outputs."""

    mode: TensorDebugMode
    protos: bytes
    bad_slot: int | None = None
    counts: summaries.HealthCounts | None = None
    extension: bytes = b""


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
        self._heads: dict[tuple[str, int], bytes] = {}
        self._accelerated = tensorflow_hooks.has_accelerator()
        self._filtered = options.op_regex is not None or options.tensor_dtypes is not None
        self._host = recorder.host
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

    def record(
        self,
        op_type: str,
        inputs: Sequence[Any],
        outputs: Any,
        *,
        call: Call | None = None,
        error: BaseException | None = None,
        depth: int = 1,
    ) -> BadTensor | None:
        """Record an execution that has just ended; return its first bad output.

        Args:
            op_type: Type of an op, or name of a function.
            inputs: Eager tensors.
            outputs: An eager tensor, a list of them, or None.
            call: The function call that ends, unless it is an op.
            error: What it raised.
            depth: Frames between this call and the program.
        """
        if op_type in skipped_ops.EAGER:
            return None
        if outputs is None:
            outputs = ()
        elif not isinstance(outputs, (list, tuple)):
            outputs = (outputs,)
        location = self._locations.here(stacks.caller(depth))
        values = self._values(op_type, inputs, outputs)
        head = self._heads.get((op_type, len(outputs)))
        if head is None:
            head = self._head(op_type, len(outputs))
        try:
            thread = self._threads.number
        except AttributeError:
            thread = self._threads.number = next(self._thread_numbers)
        extension = values.extension
        if error is not None:
            extension += codec.bytes_field(1002, _message(error).encode("utf-8", "replace"))
        body = b"".join(
            (
                head,
                _packed(_INPUT_IDS_TAG, [t._id for t in inputs]),
                _packed(_OUTPUT_IDS_TAG, [t._id for t in outputs]),
                codec.varint_field(6, values.mode),
                values.protos,
                _sized(_CODE_LOCATION_TAG, location),
                _packed(_DEVICES_TAG, [self._device(t.device) for t in outputs]),
                _SERIAL_AND_THREAD.pack(
                    _SERIAL_TAG, call.serial if call else next(self._serials), _THREAD_TAG, thread
                ),
                extension,
            )
        )
        step = steps.current
        self._recorder.execution(
            _WALL_TIME.pack(9, time.time())
            + (b"\x10" + _varint(step) if step is not None else b"")
            + _sized(_EXECUTION_TAG, body)
        )
        if values.bad_slot is None:
            return None
        return BadTensor(op_type, values.bad_slot, values.counts, location)

    def _head(self, op_type: str, num_outputs: int) -> bytes:
        head = codec.bytes_field(1, op_type.encode()) + codec.varint_field(2, num_outputs)
        graph_id = self._graphs.graph_of_function(op_type)
        if graph_id is not None:
            head += codec.bytes_field(3, graph_id.encode())
        self._heads[op_type, num_outputs] = head
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

    def _values(self, op_type: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> _Outputs:
        mode = self._options.mode
        if mode is TensorDebugMode.NO_TENSOR:
            return _Outputs(mode, b"")
        if self._options.watches_health:
            return self._health(op_type, inputs, outputs)
        protos = b"".join(
            _sized(_TENSOR_PROTO_TAG, self._whole(t))
            if self._is_recorded(op_type, t.dtype)
            else _NO_PROTO
            for t in outputs
        )
        return _Outputs(mode, protos)

    def _is_recorded(self, op_type: str, dtype: Any) -> bool:
        if self._filtered and not self._options.keeps(op_type, dtype):
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

    def _health(self, op_type: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> _Outputs:
        mode = self._options.mode
        head = _VECTOR_HEADS[mode]
        protos = []
        result = _Outputs(mode, b"")
        for slot, tensor in enumerate(outputs):
            dtype = tensor.dtype
            if not (dtype.is_floating or dtype.is_complex) or (
                self._filtered and not self._options.keeps(op_type, dtype)
            ):
                protos.append(_NO_PROTO)
                continue
            vector, counts = self._vector(mode, tensor)
            if counts is not None and counts.bad and result.bad_slot is None:
                result.bad_slot, result.counts = slot, counts
            protos.append(_sized(_TENSOR_PROTO_TAG, head + vector))
        result.protos = b"".join(protos)
        if result.bad_slot is not None and self._options.adaptive:
            self._detail(inputs, outputs, result)
        return result

    def _vector(
        self, mode: TensorDebugMode, tensor: Any
    ) -> tuple[bytes, summaries.HealthCounts | None]:
        """Return the value vector of a tensor, and its counts if it may be bad."""
        number = tensor.dtype.as_datatype_enum
        if self._accelerated and "CPU" not in tensor.device and number in summaries.KERNEL_FLOATS:
            return self._device_vector(mode, tensor)
        array = _elements(tensor)
        if mode is TensorDebugMode.FULL_HEALTH:
            counts = summaries.health_counts(array)
            return summaries.full_vector(-1, number, array.ndim, counts), counts
        if summaries.all_finite(array):
            if mode is TensorDebugMode.CURT_HEALTH:
                return summaries.curt_vector(-1, bad=False), None
            return summaries.concise_vector(-1, summaries.HealthCounts(array.size)), None
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

    def _detail(self, inputs: Sequence[Any], outputs: Sequence[Any], result: _Outputs) -> None:
        """Say everything about the outputs of an op that made a bad tensor, and its inputs."""
        out, low, high = self._details(outputs)
        inner, in_low, in_high = self._details(inputs)
        result.mode = TensorDebugMode.FULL_HEALTH
        result.protos = b"".join(_sized(_TENSOR_PROTO_TAG, proto) for proto in out)
        extension = events.Execution(
            minima=low,
            maxima=high,
            input_tensor_protos=inner,
            input_minima=in_low,
            input_maxima=in_high,
        )
        result.extension = extension.encode()

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


def _message(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
