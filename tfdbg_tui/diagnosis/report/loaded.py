"""Which line called a function that was loaded: its ops were made by no code of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import graph_op_of
from tfdbg_tui.diagnosis.locations import (
    Location,
    frames_of_traced,
    is_imported,
    location_of,
    user_frame,
)
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Run


def is_loaded(run: Run, event: TensorEvent) -> bool:
    """Whether the op of an event was loaded with its graph, of a SavedModel for example."""
    op = graph_op_of(run, event)
    return op is not None and is_imported(run, op.stack_id)


def calling_line(dataflow: Dataflow, event: TensorEvent) -> Location | None:
    """Return the user's line that called the loaded function that an event is of.

    That is in a function that calls it, or where Python has called it; None where it is not known.

    Args:
        dataflow: Of the run.
        event: What an op that was loaded has made.
    """
    run = dataflow.run
    op = graph_op_of(run, event)
    graphs, lines = Worklist([op.graph_id] if op is not None else []), set()
    for graph_id in graphs:
        for site in dataflow.calls.call_sites(graph_id):
            stack_id = site.op.stack_id if site.op is not None else None
            frames = run.stack(stack_id) if stack_id is not None else ()
            if user_frame(frames_of_traced(frames)) is not None:
                lines.add(location_of(run, stack_id))
            else:
                graphs.add(site.caller_id)
    if len(lines) == 1:
        return lines.pop()
    index = dataflow.timeline.execution_of(event.index)
    return location_of(run, run.executions.stack_ids[index]) if index is not None else None
