"""Tiny logdirs written by hand: a graph of a few ops, a few computations of them.

Values are NumPy arrays, recorded as FULL_HEALTH value vectors the way a dump writer would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfdbg_tui.logdir import Run, TensorSummary, open_run
from tfdbg_tui.wire import codec, events, tfrecord
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from pathlib import Path

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
_SOURCES = (
    "/home/program.py",
    "/lib/site-packages/tensorflow/python/func_graph.py",
    "/lib/site-packages/keras/src/adam.py",
    "/lib/site-packages/keras/src/metrics/reduction_metrics.py",
    "/lib/site-packages/keras/src/optimizers/schedules/learning_rate_schedule.py",
    "/lib/site-packages/keras/src/optimizers/adam.py",
    "/lib/site-packages/tensorflow/python/ops/custom_gradient.py",
)
_LIBRARY_FILES = {"update_state": 3, "__call__": 4, "update_step": 5, "_eager_mode_decorator": 6}
"""By function; 2 for others."""
_DTYPES = {"float16": 19, "float32": 1, "float64": 2, "int32": 3}


def health(value: np.ndarray) -> dict[str, Any]:
    """Returns how many elements are of each kind."""
    finite = np.isfinite(value)
    return {
        "neg_inf": int(np.isneginf(value).sum()),
        "pos_inf": int(np.isposinf(value).sum()),
        "nan": int(np.isnan(value).sum()),
        "neg": int((finite & (value < 0)).sum()),
        "zero": int((value == 0).sum()),
        "pos": int((finite & (value > 0)).sum()),
    }


def summary(value: np.ndarray, mode: int = TensorDebugMode.FULL_HEALTH) -> TensorSummary:
    """Returns what a dump in FULL_HEALTH says about a value."""
    return TensorSummary(
        mode,
        has_inf_or_nan=not np.isfinite(value).all(),
        dtype=str(value.dtype),
        rank=value.ndim,
        size=value.size,
        **health(value),
    )


class Program:
    """Records what a program would have done; `open` reads it back.

    Args:
        directory: The logdir.
        **metadata: More that the metadata tells; see `wire.events.DebugMetadata`.

    Attributes:
        lines: The text of the program; it is not on record where there is none.
    """

    def __init__(self, directory: Path, **metadata: Any) -> None:
        self.lines: list[str] = []
        self._directory = directory
        self._time = 1.7e9
        self._files = {
            suffix: bytearray()
            for suffix in (
                "metadata",
                "source_files",
                "stack_frames",
                "graphs",
                "execution",
                "graph_execution_traces",
            )
        }
        # With sizes, so that functions whose calls are not made up are none that were lost.
        begin = events.DebugMetadata(
            "2.21.0", "debug.Event:1", "tiny", file_sizes=[0] * 5, **metadata
        )
        self._add("metadata", debug_metadata=begin.encode())
        self._files["source_files"] = bytearray()
        device = events.DebuggedDevice(DEVICE, 0)
        self._add("graphs", debugged_device=device.encode())

    def graph(self, graph_id: str, name: str, outer: str = "") -> None:
        record = events.DebuggedGraph(graph_id, name, outer)
        self._add("graphs", debugged_graph=record.encode())

    def layer(self, number: int, outer: int, name: str, class_name: str, dtype: str = "") -> None:
        """Records a layer; `dtype` is its dtype policy, and what it computes in."""
        record = events.Layer(number, outer, name, class_name, dtype, dtype)
        self._add("graphs", layer=record.encode())

    def variable(
        self,
        handle: int,
        layer: int = 0,
        *,
        trainable: bool = True,
        name: str = "",
        slot_of: int = 0,
    ) -> None:
        """Records a variable by the eager tensor id of its handle; see `logdir.Variable`."""
        name = name or f"variable {handle}"
        optimizer = "adam" if slot_of else ""
        record = events.Variable(handle, name, layer, int(trainable), optimizer, slot_of)
        self._add("graphs", variable=record.encode())

    def gradients(
        self,
        asked: list[int],
        *,
        unconnected: tuple[int, ...] = (),
        left_out: tuple[int, ...] = (),
        of: tuple[str, str] = ("", ""),
        of_eager: int = 0,
        line: int = 0,
        in_library: str = "",
    ) -> None:
        """Records what a tape is asked for; see `events.GradientRequest`."""
        answer = list(unconnected), list(left_out)
        place = self._location(line, in_library=in_library)
        record = events.GradientRequest(place, asked, *answer, *of, of_eager)
        self._add("graphs", gradient_request=record.encode())

    def function(
        self,
        graph_id: str,
        name: str,
        *arguments: str,
        captured: tuple[int, ...] = (),
        outputs: tuple[str, ...] = (),
        forward: str = "",
    ) -> None:
        """Records a graph as a function, as our own writer does: perhaps the gradient of another.

        The last arguments are eager tensors that it has captured.
        """
        record = events.GraphSignature(
            graph_id,
            name,
            [f"{name}:0" for name in arguments],
            [f"{name}:0" for name in outputs],
            captured_tensor_ids=list(captured),
            forward_graph_id=forward,
        )
        self._add("graphs", graph_signature=record.encode())

    def fit_batch(self, step: int, epoch: int, batch: int, together: int = 1) -> None:
        """Records which batch of `fit` a step is, or how many; see `events.FitBatch`."""
        record = events.FitBatch(step, epoch, batch, together)
        self._add("graphs", fit_batch=record.encode())

    def op(
        self,
        graph_id: str,
        op_type: str,
        name: str,
        *inputs: str,
        outputs: int = 1,
        calls: tuple[str, ...] = (),
        line: int = 0,
        expression: str = "",
        in_library: str = "",
        layer: int = 0,
        dtype: str = "",
    ) -> None:
        """Records an op; `line` is that of the program which made it, where that is recorded.

        `expression` is the text in that line which did.
        With `in_library` it was made by what that line calls of Keras: the name of the function, or
        of several that call each other, as ``fit/train_step``.
        """
        record = events.GraphOpCreation(
            op_type=op_type,
            op_name=name,
            graph_id=graph_id,
            input_names=list(inputs),
            num_outputs=outputs,
            output_tensor_ids=list(range(outputs)),
            called_graph_ids=list(calls),
            code_location=self._location(
                line, traced=True, expression=expression, in_library=in_library
            ),
            layer=layer,
            output_dtypes=[_DTYPES[dtype]] * outputs if dtype else [],
        )
        self._add("graphs", graph_op_creation=record.encode())

    def trace(
        self,
        graph_id: str,
        name: str,
        value: np.ndarray,
        slot: int = 0,
        mode: int = TensorDebugMode.FULL_HEALTH,
        serial: int | None = None,
        extremes: bool = False,
        iteration: int | None = None,
        step: int | None = None,
        device: str = DEVICE,
    ) -> None:
        record = events.GraphExecutionTrace(
            tfdbg_context_id=graph_id,
            op_name=name,
            output_slot=slot,
            tensor_debug_mode=mode,
            tensor_proto=_proto(value, mode),
            device_name=device,
            execution_serial=serial,
            iteration=iteration,
            minimum_bits=_bits(value[np.isfinite(value)].min()) if extremes else None,
            maximum_bits=_bits(value[np.isfinite(value)].max()) if extremes else None,
        )
        self._add("graph_execution_traces", graph_execution_trace=record.encode(), step=step)

    def execution(
        self,
        op_type: str,
        inputs: list[int],
        outputs: dict[int, np.ndarray],
        graph_id: str = "",
        given: tuple[np.ndarray | None, ...] = (),
        serial: int | None = None,
        mode: int = TensorDebugMode.FULL_HEALTH,
        thread: int | None = None,
        line: int = 0,
        layer: int = 0,
        extremes: bool = False,
        in_library: str = "",
        built_at: int = 0,
        error: str = "",
        step: int | None = None,
    ) -> None:
        """Records an execution; `given` are the values of its inputs, where they are recorded.

        Of a layer in a functional model, `built_at` is the line that put it there.
        """
        record = events.Execution(
            op_type=op_type,
            num_outputs=len(outputs),
            graph_id=graph_id,
            input_tensor_ids=inputs,
            output_tensor_ids=list(outputs),
            tensor_debug_mode=mode,
            tensor_protos=[_proto(value, mode) for value in outputs.values()],
            output_tensor_device_ids=[0] * len(outputs),
            input_tensor_protos=[b"" if value is None else _proto(value) for value in given],
            serial=serial,
            thread=thread,
            error=error,
            code_location=self._location(line, in_library=in_library, built_at=built_at),
            layer=layer or None,
            minima=[float(value.min()) for value in outputs.values()] if extremes else [],
            maxima=[float(value.max()) for value in outputs.values()] if extremes else [],
        )
        self._add("execution", execution=record.encode(), step=step)

    def _location(
        self,
        line: int,
        *,
        traced: bool = False,
        expression: str = "",
        in_library: str = "",
        built_at: int = 0,
    ) -> bytes:
        if not line:
            return b""
        if not self._files["source_files"]:
            for path in _SOURCES:
                source = events.SourceFile(path, "host", self.lines if path == _SOURCES[0] else [])
                self._add("source_files", source_file=source.encode())
        traces = events.FileLineCol(file_index=1, line=1, func="func_graph_from_py_func")
        place = events.FileLineCol(file_index=0, line=line, func="f")
        frame = events.StackFrameWithId(f"line {line} {expression}", place)
        if expression:
            before, text, _ = self.lines[line - 1].partition(expression)
            place.col, frame.end_line = len(before.encode()) + 1, line
            frame.end_col = len((before + text).encode())
        frames = [frame]
        if traced:
            frames.insert(0, events.StackFrameWithId("traces", traces))
        if built_at:
            built = events.FileLineCol(file_index=0, line=built_at, func=f"f{events.BUILDS}layer)")
            frames.append(events.StackFrameWithId(f"built at {built_at}", built))
        for function in in_library.split("/") if in_library else ():
            file_index = _LIBRARY_FILES.get(function, 2)
            keras = events.FileLineCol(file_index=file_index, line=1, func=function)
            frames.append(events.StackFrameWithId(f"in {function}", keras))
        for frame in frames:
            self._add("stack_frames", stack_frame_with_id=frame.encode())
        return events.CodeLocation("host", [frame.id for frame in frames]).encode()

    def omission(self, kind: str, what: str, reason: str) -> None:
        """Records what is not on record; see `wire.omissions`."""
        record = events.Omission(kind, what, reason)
        self._add("metadata", omission=record.encode())

    def open(self) -> Run:
        self._directory.mkdir(parents=True, exist_ok=True)
        for suffix, data in self._files.items():
            (self._directory / f"tfdbg_events.1700000000.host.{suffix}").write_bytes(data)
        return open_run(self._directory)

    def _add(self, suffix: str, **message: Any) -> None:
        self._time += 0.001
        event = events.DebugEvent(wall_time=self._time, **message)
        self._files[suffix] += tfrecord.frame(event.encode())


def _proto(value: np.ndarray, mode: int = TensorDebugMode.FULL_HEALTH) -> bytes:
    if mode == TensorDebugMode.FULL_TENSOR:
        return _tensor_proto(_DTYPES[str(value.dtype)], value)
    counts = health(value)
    if mode == TensorDebugMode.CURT_HEALTH:
        values = [0, int(not np.isfinite(value).all())]
    elif mode == TensorDebugMode.CONCISE_HEALTH:
        values = [0, value.size, counts["neg_inf"], counts["pos_inf"], counts["nan"]]
    else:
        names = ("neg_inf", "pos_inf", "nan", "neg", "zero", "pos")
        head = [0, 0, _DTYPES[str(value.dtype)], value.ndim, value.size]
        values = head + [counts[name] for name in names]
    return _tensor_proto(_DTYPES["float64"], np.asarray(values, "<f8"))


def _tensor_proto(dtype: int, value: np.ndarray) -> bytes:
    lengths = [codec.bytes_field(2, codec.varint_field(1, length)) for length in value.shape]
    shape = codec.bytes_field(2, b"".join(lengths))
    return codec.varint_field(1, dtype) + shape + codec.bytes_field(4, value.tobytes())


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def _bits(value: float) -> int:
    return int.from_bytes(codec.double_bytes(value), "little")


def asked_behind_an_overflow(directory: Path, steps: int = 40) -> Program:
    """Record steps, each skipped: a cast overflows, and what is asked about is a sum of it."""
    made = Program(directory)
    made.graph("root", "")
    made.graph("f", "f", "root")
    made.op("f", "Mul", "gradient_tape/Mul", "x:0", "scale:0")
    made.op("f", "Cast", "gradient_tape/Cast", "gradient_tape/Mul:0")
    made.op("f", "AddN", "AddN", "gradient_tape/Cast:0", "gradient_tape/Cast:0")
    made.op("f", "IsFinite", "IsFinite", "AddN:0")
    for _ in range(steps):
        made.trace("f", "gradient_tape/Mul", np.full(64, 1e6, np.float32))
        made.trace("f", "gradient_tape/Cast", np.full(64, np.inf, np.float16))
        made.trace("f", "AddN", np.full(64, np.inf, np.float16))
    return made


def dense_layer(directory: Path, kernel: int, *, trainable: bool = True) -> Program:
    """Record a function "f" in which the layer "hidden" multiplies "x" with a variable.

    Args:
        directory: Where to.
        kernel: The variable's number.
        trainable: Whether it may be trained.
    """
    made = Program(directory)
    made.layer(1, 0, "hidden", "Dense")
    made.variable(kernel, layer=1, trainable=trainable)
    made.graph("f", "f")
    made.function("f", "f", "x", "v", captured=(kernel,))
    made.op("f", "Placeholder", "x")
    made.op("f", "Placeholder", "v")
    made.op("f", "ReadVariableOp", "read", "v:0")
    made.op("f", "MatMul", "MatMul", "x:0", "read:0", layer=1, line=3)
    return made
