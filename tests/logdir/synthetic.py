"""Logdirs made by hand, for what no program is known to record."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from tfdbg_tui.logdir import Run, RunReader, list_runs
from tfdbg_tui.wire import bad_elements, codec, events, tfrecord
from tfdbg_tui.wire.modes import VALUE_VECTORS, TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PREFIX = "tfdbg_events.1700000000.host"
RUN_ID = "0123abcd"
GRAPHS = ("0" * 36, "f0e1d2c3-0000-4000-8000-0123456789ab")
DEVICES = ("/job:localhost/replica:0/task:0/device:CPU:0", "/device:GPU:1", "")


def write_logdir(
    directory: Path,
    *,
    prefix: str = PREFIX,
    traces: bytes = b"",
    executions: bytes = b"",
    graphs: bytes = b"",
    frames: bytes = b"",
    sources: bytes = b"",
    run_id: str = RUN_ID,
) -> Path:
    """Writes one file set; each argument is the content of a file."""
    directory.mkdir(exist_ok=True)
    metadata = events.DebugMetadata("2.21.0", "debug.Event:1", run_id)
    content = {
        "metadata": record(debug_metadata=metadata.encode()),
        "source_files": sources,
        "stack_frames": frames,
        "graphs": graphs,
        "execution": executions,
        "graph_execution_traces": traces,
    }
    for suffix, data in content.items():
        (directory / f"{prefix}.{suffix}").write_bytes(data)
    return directory


def record(wall_time: float = 1.7e9, step: int | None = None, **message: Any) -> bytes:
    """Returns a framed event."""
    return tfrecord.frame(events.DebugEvent(wall_time=wall_time, step=step, **message).encode())


def trace_record(trace: events.GraphExecutionTrace, **event: Any) -> bytes:
    return record(graph_execution_trace=trace.encode(), **event)


def execution_record(execution: events.Execution, **event: Any) -> bytes:
    return record(execution=execution.encode(), **event)


def vector_proto(values: Any) -> bytes:
    """Returns a value vector as writers serialize it."""
    content = np.asarray(values, "<f8").tobytes()
    shape = codec.bytes_field(2, codec.varint_field(1, len(values)))
    head = codec.varint_field(1, 2) + codec.bytes_field(2, shape)
    return head + codec.bytes_field(4, content)


_MODE = TensorDebugMode.FULL_HEALTH
_HEALTH = vector_proto([-1.0, -1.0, 1.0, 1.0, 3.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0])
_BITS = 0x4000000000000000  # 2.0 as a double
_PLACES = list(bad_elements.numbers((3,), (1,)))
# With a value in every field.
EXECUTION = events.Execution(
    "Log", 1, GRAPHS[0], [1], [2], _MODE, [_HEALTH],
    events.CodeLocation("host", ["frame"]).encode(), [1], 1, 1, "failed", [1.0], [2.0],
    [_HEALTH], [1.0], [2.0], 1, _PLACES, _PLACES, [1.0, 2.0], [GRAPHS[0]], [2],
)  # fmt: skip
TRACE = events.GraphExecutionTrace(
    GRAPHS[0], "op", 1, _MODE, _HEALTH, "/device:CPU:0", 1, 2, _BITS, _BITS, _PLACES
)


def content(run: Run) -> dict[str, Any]:
    """Returns all that the index of a run holds, in a form to be compared."""
    executions, traces = run.executions, run.graph_executions
    return {
        "executions": [
            (executions.kind(i), run._stacks.values[executions.stack_ids[i]])
            for i in range(len(executions))
        ],
        "execution steps": executions.step_marks[:].tolist(),
        "execution times": executions.wall_times(np.arange(len(executions))).tolist(),
        "execution alerts": list(
            zip(executions.alert_rows[:].tolist(), executions.alert_slots[:].tolist(), strict=True)
        ),
        "traces": [traces.site(i) for i in range(len(traces))],
        "trace times": traces.wall_times(np.arange(len(traces))).tolist(),
        "trace alerts": traces.alert_rows[:].tolist(),
        "alerts by place": [
            {
                (executions.distinct_kinds[at.kind], run._stacks.values[at.stack], at.slot): tally
                for at, tally in executions.bad_places()
            },
            {traces.site_by_id(site): tally for site, tally in traces.alert_sites()},
        ],
        "magnitudes": [
            (found.rows.tolist(), found.executions.tolist(), found.largest.tolist())
            for found in (executions.magnitudes(), traces.magnitudes())
        ],
        "graphs": {graph_id: list(graph.ops) for graph_id, graph in run.graphs.items()},
        "devices": set(run.devices),
        "sources": run.source_paths,
        "problems": sorted(problem.message for problem in run.problems),
    }


def read(logdir: Path, **options: Any) -> Run:
    (files,) = list_runs(logdir)
    return RunReader(files, **options).read_all()


# ---- Random events ---------------------------------------------------------------------------

counts = st.sampled_from([0.0, 1.0, 3.0, 0.5, -0.0, -1.0, float("nan"), float("inf"), 1e300])
floats = st.sampled_from([0.0, 1.5, -2.0, float("nan"), float("inf"), float("-inf")])


@st.composite
def value_vectors(draw: st.DrawFn, mode: TensorDebugMode, tensor_id: float) -> bytes:
    size = len(VALUE_VECTORS[mode])
    values = [tensor_id] + [0.0] * (size - 1)
    for place in draw(st.lists(st.integers(1, size - 1), max_size=3)):
        values[place] = draw(counts)
    return vector_proto(values)


@st.composite
def whole_tensors(draw: st.DrawFn) -> bytes:
    """Returns a TensorProto as TensorFlow's `make_tensor_proto` lays it out, or nearly so."""
    dtype = draw(st.sampled_from([1, 2, 3, 7, 8, 9, 10, 14, 18, 19, 77]))
    shape = draw(st.lists(st.integers(0, 3), max_size=2))
    dims = b"".join(codec.bytes_field(2, codec.varint_field(1, size)) for size in shape)
    size = int(np.prod(shape)) + draw(st.sampled_from([0, 0, 0, 0, 1]))
    values = draw(st.lists(floats, min_size=size, max_size=size))
    head = codec.varint_field(1, dtype) + codec.bytes_field(2, dims)
    numpy_type = {1: "<f4", 2: "<f8", 3: "<i4", 8: "<c8", 9: "<i8", 10: "?", 18: "<c16", 19: "<f2"}
    with np.errstate(invalid="ignore"):
        array = np.array(values, "<f8").astype(numpy_type.get(dtype, "<f4"))
    if dtype == 14:  # bfloat16: the upper half of a float32
        array = (np.array(values, "<f4").view("<u4") >> 16).astype("<u2")
    lists = {1: 5, 2: 6, 8: 9, 18: 12}
    if draw(st.booleans()) and dtype in lists:
        return head + codec.bytes_field(lists[dtype], array.tobytes())
    if size == 1 and dtype in (14, 19):
        return head + codec.packed_varints_field(13, array.view("<u2").tolist())
    if size == 1 and dtype in (3, 9, 10):
        number = draw(st.sampled_from([0, 1, 200, 70000, -1]))
        return head + codec.packed_varints_field({3: 7, 9: 10, 10: 11}[dtype], [number])
    if not size and draw(st.booleans()):
        return head
    return head + codec.bytes_field(4, array.tobytes())


@st.composite
def protos(draw: st.DrawFn, mode: int, tensor_id: float) -> bytes:
    if mode == TensorDebugMode.FULL_TENSOR:
        return draw(whole_tensors())
    if mode in VALUE_VECTORS:
        if draw(st.integers(0, 9)) == 0:
            return draw(st.sampled_from([b"", b"\x08", vector_proto([1.0]), b"\x08\x01"]))
        return draw(value_vectors(TensorDebugMode(mode), tensor_id))
    return draw(st.sampled_from([b"", vector_proto([1.0, 2.0])]))


@st.composite
def trace_records(draw: st.DrawFn) -> bytes:
    """Returns a trace of one of a few tensors, in any mode and with any extension fields."""
    mode = draw(st.sampled_from([1, 2, 3, 4, 4, 4, 5, 7, 8]))
    op, slot = draw(st.sampled_from([("Log", 0), ("while/body/Mul_1", 1), ("x", 0), ("Log", 130)]))
    graph = draw(st.sampled_from(GRAPHS))
    tensor_id = draw(st.sampled_from([5.0, 6.0, 7.0, -1.0, 1e9, float("nan"), 2.5]))
    if tensor_id in (5.0, 6.0, 7.0):  # A valid one is never that of tensors of two graphs.
        tensor_id += 10.0 * GRAPHS.index(graph)
    optional = st.none() | st.integers(0, 2**32 - 1)
    trace = events.GraphExecutionTrace(
        tfdbg_context_id=graph,
        op_name=op,
        output_slot=slot,
        tensor_debug_mode=mode,
        tensor_proto=draw(protos(mode, tensor_id)),
        device_name=draw(st.sampled_from(DEVICES)),
        execution_serial=draw(optional),
        iteration=draw(optional),
        minimum_bits=draw(optional),
        maximum_bits=draw(optional),
        bad_elements=draw(st.sampled_from([[], _PLACES, [1.0]])),
    )
    step = draw(st.none() | st.sampled_from([0, 1, 127, 128, 20000, 1 << 40]))
    return trace_record(trace, step=step)


@st.composite
def execution_records(draw: st.DrawFn) -> bytes:
    """Returns an execution of one of a few ops, from one of a few places."""
    mode = draw(st.sampled_from([1, 2, 3, 4, 4, 4, 5, 7, 8]))
    outputs = draw(st.integers(0, 3))
    location = events.CodeLocation("host", [f"{n:036}" for n in range(draw(st.integers(0, 9)))])
    ids = st.lists(st.sampled_from([1, 127, 128, 1 << 20, 1 << 50, -1]), max_size=3)
    execution = events.Execution(
        op_type=draw(st.sampled_from(["Log", "TopKV2", "__inference_f_12", "x" * 200])),
        num_outputs=outputs + draw(st.sampled_from([0, 0, 0, 1])),
        graph_id=draw(st.sampled_from(["", *GRAPHS])),
        input_tensor_ids=draw(ids),
        output_tensor_ids=draw(ids),
        tensor_debug_mode=mode,
        tensor_protos=[draw(protos(mode, -1.0)) for _ in range(outputs)],
        code_location=location.encode(),
        output_tensor_device_ids=[0] * outputs,
        serial=draw(st.none() | st.integers(0, 1 << 40)),
        thread=draw(st.none() | st.integers(0, 9)),
        error=draw(st.sampled_from(["", "", "failed"])),
        minima=draw(st.sampled_from([[], [1.0, float("nan")]])),
        maxima=draw(st.sampled_from([[], [2.0]])),
        measured_types=draw(st.sampled_from([[], [1], [0, 2]])),
        called_graph_ids=draw(st.sampled_from([[], list(GRAPHS)])),
        compared=draw(st.sampled_from([[], [1.0, float("nan")]])),
        input_tensor_protos=[draw(protos(4, -1.0)) for _ in range(draw(st.integers(0, 2)))],
        input_minima=draw(st.sampled_from([[], [1.0, float("nan")]])),
        input_maxima=draw(st.sampled_from([[], [2.0]])),
        bad_elements=draw(st.sampled_from([[], _PLACES, [1.0]])),
    )
    step = draw(st.none() | st.sampled_from([0, 300, 1 << 40]))
    return execution_record(execution, step=step)


def repeated(draw: Callable[..., Any], records: st.SearchStrategy[bytes]) -> list[bytes]:
    """Returns records in which some occur many times, as they do in a program's loop."""
    some = draw(st.lists(records, min_size=1, max_size=8))
    order = draw(st.lists(st.integers(0, len(some) - 1), min_size=9, max_size=40))
    return list(itertools.chain(some, (some[i] for i in order)))
