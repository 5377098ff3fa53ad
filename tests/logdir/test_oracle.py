"""Everything read from a logdir equals what TensorFlow's own reader and monitor say of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.conftest import RECORDED
from tests.logdir.synthetic import read
from tfdbg_tui.logdir import Run

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs
    from tests.preloaded import Preloaded
    from tfdbg_tui.logdir import TensorSummary

pytestmark = pytest.mark.tensorflow

RECORD = Path(__file__).parents[1] / "data" / "record.py"
WHOLE = ("full_tensor", "nested_calls")
FRESH = ("mirrored", "full_tensor")  # recorded anew, with the TensorFlow that is installed
VECTOR_FIELDS = {
    2: ("has_inf_or_nan",),
    3: ("size", "neg_inf", "pos_inf", "nan"),
    4: (None, None, "rank", "size", "neg_inf", "pos_inf", "nan", "neg", "zero", "pos"),
    5: (None, "rank", "size"),
}


# Our run, TensorFlow's reader, and its monitor of alerts where there is one.
Both = tuple[Run, Any, Any]

Alert = tuple[int | None, int | None, int]  # execution, graph execution, output slot


@pytest.fixture(scope="module", params=[*RECORDED, *(f"fresh {name}" for name in FRESH)])
def both(
    request: pytest.FixtureRequest,
    logdirs: RecordedLogdirs,
    tmp_path_factory: pytest.TempPathFactory,
    preloaded: Preloaded,
) -> Both:
    from tensorflow.python.debug.lib import debug_events_monitors, debug_events_reader

    fresh, _, name = request.param.rpartition(" ")
    logdir = logdirs[name] if not fresh else tmp_path_factory.mktemp("fresh") / name
    if fresh:
        recorded = preloaded.run(RECORD, "--run", name, logdir)
        assert recorded.returncode == 0, recorded.stderr
    reader = debug_events_reader.DebugDataReader(str(logdir))
    # The monitor and the reader wait for each other for ever on whole tensors.
    monitor = None if name in WHOLE else debug_events_monitors.InfNanMonitor(reader)
    reader.update()
    return read(logdir), reader, monitor


def assert_summary(summary: TensorSummary, mode: int, vector: Any) -> None:
    """Compares a summary with a value vector as TensorFlow's reader returns it."""
    if mode == 7:
        assert summary.shape == np.shape(vector)
        if summary.nan is not None:
            values = np.asarray(vector)
            if "bfloat16" in str(values.dtype):
                values = values.astype(np.float32)
            assert summary.nan == np.isnan(values).sum()
            infinite = np.isinf(values) & ~np.isnan(values)  # a complex number can be both
            assert summary.pos_inf + summary.neg_inf == infinite.sum()
            assert summary.bad == (not np.isfinite(values).all())
        return
    if vector is None or not len(vector):
        assert summary is None
        return
    fields = VECTOR_FIELDS[mode]
    recorded = dict(zip(fields, np.asarray(vector)[1:], strict=False))
    recorded.pop(None, None)
    assert recorded == {field: getattr(summary, field) for field in recorded}
    if mode == 5:
        known = [size for size in summary.shape if size is not None]
        assert known == list(vector[4:])[: len(known)]


def test_executions(both: Both) -> None:
    run, reader, _ = both
    digests = reader.executions(digest=True)
    assert len(run.executions) == len(digests)
    for ours, digest in zip(run.executions, digests, strict=True):
        theirs = reader.read_execution(digest)
        assert ours.wall_time == theirs.wall_time
        assert ours.op_type == theirs.op_type == run.executions.kind(ours.index).op_type
        assert ours.num_outputs == theirs.num_outputs
        assert ours.graph_id == (theirs.graph_id or None)
        assert list(ours.input_tensor_ids) == list(theirs.input_tensor_ids or ())
        assert run.executions.input_tensor_ids(ours.index) == ours.input_tensor_ids
        assert list(ours.output_tensor_ids) == list(theirs.output_tensor_ids or ())
        assert ours.mode == theirs.tensor_debug_mode
        assert list(ours.output_devices) == [
            reader.device_name_map()[number] for number in theirs.output_tensor_device_ids or ()
        ]
        host, frames = reader.read_execution_stack_trace(theirs)
        stack = run.stack(ours.stack_id)
        assert [(f.path, f.line, f.function) for f in stack] == [tuple(f)[:3] for f in frames]
        assert ours.host == host
        values = theirs.debug_tensor_values or []
        if theirs.tensor_debug_mode == 7:
            values = reader.execution_to_tensor_values(theirs)
        if len(values) == ours.num_outputs:
            for summary, value in zip(ours.outputs, values, strict=True):
                assert_summary(summary, ours.mode, value)


def test_graph_executions(both: Both) -> None:
    run, reader, _ = both
    digests = reader.graph_execution_traces(digest=True)
    assert len(run.graph_executions) == len(digests)
    for ours, digest in zip(run.graph_executions, digests, strict=True):
        theirs = reader.read_graph_execution_trace(digest)
        site = run.graph_executions.site(ours.index)
        assert ours.wall_time == theirs.wall_time
        assert ours.graph_id == theirs.graph_ids[-1] == site.graph_id
        assert [g.graph_id for g in run.graph_path(ours.graph_id)] == list(theirs.graph_ids)
        assert ours.op_name == theirs.op_name == site.op_name
        assert ours.op_type == theirs.op_type
        assert ours.output_slot == theirs.output_slot == site.output_slot
        assert ours.device == theirs.device_name == site.device
        assert ours.mode == theirs.tensor_debug_mode
        value = theirs.debug_tensor_value
        if theirs.tensor_debug_mode == 7:
            value = reader.graph_execution_trace_to_tensor_value(theirs)
        assert_summary(ours.summary, ours.mode, value)


def test_alerts(both: Both) -> None:
    run, reader, monitor = both
    ours = [
        (index, None, slot)
        for index, slot in zip(
            run.executions.alert_rows[:], run.executions.alert_slots[:], strict=True
        )
        if run.executions[int(index)].slots_known
    ]
    ours += [
        (None, index, run.graph_executions[int(index)].output_slot)
        for index in run.graph_executions.alert_rows[:]
    ]
    if monitor is None:
        theirs = whole_tensor_alerts(reader)
    else:
        theirs = [
            (alert.execution_index, alert.graph_execution_trace_index, alert.output_slot)
            for alert in monitor.alerts()
            if alert.execution_index is None or run.executions[alert.execution_index].slots_known
        ]
    assert set(ours) == set(theirs)
    assert len(ours) == len(theirs)


def whole_tensor_alerts(reader: Any) -> list[Alert]:
    alerts: list[Alert] = []
    for index, digest in enumerate(reader.executions(digest=True)):
        values = reader.execution_to_tensor_values(reader.read_execution(digest))
        alerts += [(index, None, slot) for slot, value in enumerate(values) if is_bad(value)]
    for index, digest in enumerate(reader.graph_execution_traces(digest=True)):
        trace = reader.read_graph_execution_trace(digest)
        if is_bad(reader.graph_execution_trace_to_tensor_value(trace)):
            alerts.append((None, index, trace.output_slot))
    return alerts


def is_bad(value: Any) -> bool:
    array = np.asarray(value)
    if array.dtype.kind not in "fcV" and "bfloat16" not in str(array.dtype):
        return False
    return not np.isfinite(array.astype(np.complex128)).all()


def test_graphs(both: Both) -> None:
    run, reader, _ = both
    outermost = reader.outermost_graphs()
    assert {g.graph_id for g in outermost} == {
        graph_id for graph_id, graph in run.graphs.items() if graph.outer_id is None
    }
    for graph_id, graph in run.graphs.items():
        theirs = reader.graph_by_id(graph_id)
        assert (graph.name, graph.outer_id) == (theirs.name or "", theirs.outer_graph_id or None)
        assert sorted(graph.inner_ids) == sorted(theirs.inner_graph_ids)
        for name, op in graph.ops.items():
            digest = theirs.get_op_creation_digest(name)
            assert op.op_type == digest.op_type
            assert [str(ref) for ref in op.inputs] == list(digest.input_names or ())
            assert op.output_tensor_ids == tuple(digest.output_tensor_ids or ())
            _, frames = reader.read_graph_op_creation_stack_trace(digest)
            stack = run.stack(op.stack_id)
            assert [(f.path, f.line, f.function) for f in stack] == [tuple(f)[:3] for f in frames]
            consumers = [(c.slot, c.op_name, c.input_slot) for c in graph.consumers(name)]
            assert sorted(consumers) == sorted(theirs.get_op_consumers(name))


def test_sources(both: Both) -> None:
    run, reader, _ = both
    assert sorted(run.source_paths) == sorted(reader.source_file_list())
    for host, path in run.source_paths[:5] + run.source_paths[-5:]:
        lines = reader.source_lines(host, path)
        assert list(run.source(host, path).lines) == [line.rstrip("\r\n") for line in lines]
