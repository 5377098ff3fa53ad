"""From a directory to a `Run`: reads tfdbg2 logdirs without TensorFlow or protobuf.

`list_runs` finds the runs in a directory, `open_run` reads one whole, and `RunReader` reads one as
it grows.  Only an index is kept in memory; values are read from the files on demand.

The way of the bytes: `recordfile` takes a `chunk` of a file, `frames` finds the records in it,
`trace_scan` and `execution_scan` index thousands of them at once and leave what they do not
recognise to the scalar decoders in `traces` and `executions`; `definitions` reads what records
refer to; `merge` puts the events of several processes in order; `reader` publishes a `Run`.
"""

from __future__ import annotations

from tfdbg_tui.logdir.discovery import LogdirError, RunFiles, list_runs
from tfdbg_tui.logdir.eventlist import UnreadableError
from tfdbg_tui.logdir.events import (
    Execution,
    ExecutionKind,
    GraphExecution,
    Omission,
    Problem,
    Progress,
    RunState,
    Site,
    SourceFile,
    StackFrame,
    TensorSummary,
)
from tfdbg_tui.logdir.graphs import Consumer, Graph, GraphOp, TensorRef
from tfdbg_tui.logdir.reader import RunReader, open_run
from tfdbg_tui.logdir.run import Run

__all__ = [
    "Consumer",
    "Execution",
    "ExecutionKind",
    "Graph",
    "GraphExecution",
    "GraphOp",
    "LogdirError",
    "Omission",
    "Problem",
    "Progress",
    "Run",
    "RunFiles",
    "RunReader",
    "RunState",
    "Site",
    "SourceFile",
    "StackFrame",
    "TensorRef",
    "TensorSummary",
    "UnreadableError",
    "list_runs",
    "open_run",
]
