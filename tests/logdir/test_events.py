"""What is handed out of a record: all that its fields tell."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from tests.logdir.synthetic import (
    EXECUTION,
    TRACE,
    execution_record,
    read,
    record,
    trace_record,
    vector_proto,
    write_logdir,
)
from tfdbg_tui.wire import events
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from pathlib import Path

CURT_EXECUTION = dataclasses.replace(
    EXECUTION,
    tensor_debug_mode=TensorDebugMode.CURT_HEALTH,
    tensor_protos=[vector_proto([-1.0, 1.0])],
)
"""One whose values do not tell their types."""


def told(
    directory: Path,
    *,
    execution: events.Execution = EXECUTION,
    trace: events.GraphExecutionTrace = TRACE,
) -> str:
    """Returns what a reader hands out of an execution and of a graph execution."""
    frame = events.StackFrameWithId("frame", events.FileLineCol(0, 7, func="f")).encode()
    device = events.DebuggedDevice("/device:CPU:0", 1).encode()
    layer = events.Layer(1, 0, "encoder", "Encoder").encode()
    logdir = write_logdir(
        directory,
        executions=execution_record(execution),
        traces=trace_record(trace),
        frames=record(stack_frame_with_id=frame),
        graphs=record(debugged_device=device) + record(layer=layer),
    )
    run = read(logdir)
    made, computed = run.executions[0], run.graph_executions[0]
    return repr([dataclasses.asdict(made), run.stack(made.stack_id), dataclasses.asdict(computed)])


def test_equal_records_tell_the_same(tmp_path: Path) -> None:
    assert told(tmp_path / "one") == told(tmp_path / "other")


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(EXECUTION)])
def test_every_field_of_an_execution_is_handed_out(tmp_path: Path, field: str) -> None:
    whole = CURT_EXECUTION if field == "measured_types" else EXECUTION
    without = dataclasses.replace(whole, **{field: getattr(events.Execution(), field)})
    assert told(tmp_path / "without", execution=without) != told(tmp_path / "with", execution=whole)


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(TRACE)])
def test_every_field_of_a_trace_is_handed_out(tmp_path: Path, field: str) -> None:
    without = dataclasses.replace(TRACE, **{field: getattr(events.GraphExecutionTrace(), field)})
    assert told(tmp_path / "without", trace=without) != told(tmp_path / "with")


def test_executions_that_may_have_a_tensor_are_found_without_decoding(tmp_path: Path) -> None:
    """Those that have it are among them, and those that are long, which are not looked at."""
    ids = [[300, 301], [301], [], [1 << 40], [300], []]
    logdir = write_logdir(
        tmp_path / "logdir",
        executions=b"".join(
            execution_record(
                dataclasses.replace(
                    EXECUTION,
                    op_type="x" * (3000 if number == 5 else 3),
                    input_tensor_ids=taken,
                    output_tensor_ids=[10_000 + number],
                )
            )
            for number, taken in enumerate(ids)
        ),
    )
    executions = read(logdir).executions
    assert list(executions.naming(300, range(6))) == [0, 4, 5]
    assert list(executions.naming(301, [1, 2, 3])) == [1]
    assert list(executions.naming(1 << 40, range(5))) == [3]
    assert list(executions.naming(10_004, range(5))) == [4]
