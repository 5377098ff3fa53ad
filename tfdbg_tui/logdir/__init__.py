"""From a directory to a `Run`: reads tfdbg2 logdirs without TensorFlow or protobuf.

`list_runs` finds the runs in a directory, `open_run` reads one whole, and `RunReader` reads one as
it grows.  Only an index is kept in memory; values are read from the files on demand.

Bytes become a `Run` so: `files` reads a chunk of a file and finds the records in it; `scan` looks
at thousands of them at once and leaves what it does not recognise to the scalar decoders in
`index`, which keeps what is known of each event; `definitions` holds what records refer to, and
`values` reads the tensors of one record; `file_set_reader` reads the files of one process, `reader`
those of a run.
"""

from __future__ import annotations

from tfdbg_tui.logdir.definitions.graphs import Consumer, Graph, GraphOp, TensorRef
from tfdbg_tui.logdir.definitions.variables import GradientRequest, Variable
from tfdbg_tui.logdir.discovery import EmptyLogdirError, LogdirError, RunFiles, Task, list_runs
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
from tfdbg_tui.logdir.fit_batches import FitBatch
from tfdbg_tui.logdir.index.event_list import UnreadableError
from tfdbg_tui.logdir.index.steps import Steps
from tfdbg_tui.logdir.layers import Layer
from tfdbg_tui.logdir.reader import RunReader, choose_run, open_run
from tfdbg_tui.logdir.run import Run

__all__ = [
    "Consumer",
    "EmptyLogdirError",
    "Execution",
    "ExecutionKind",
    "FitBatch",
    "GradientRequest",
    "Graph",
    "GraphExecution",
    "GraphOp",
    "Layer",
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
    "Steps",
    "Task",
    "TensorRef",
    "TensorSummary",
    "UnreadableError",
    "Variable",
    "choose_run",
    "list_runs",
    "open_run",
]
