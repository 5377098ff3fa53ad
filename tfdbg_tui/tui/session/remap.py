"""Keeping a focus on the same events when a run has grown.

Mostly nothing has to be done: a file only gets longer.  But events of several processes are merged
by time, so that late ones move others up; and a circular buffer drops its oldest events.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdbg_tui.logdir.index.traces import GraphExecutions

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.diagnosis import TensorEvent
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.executions import Executions
    from tfdbg_tui.tui.session.focus import Focus

    Events = Executions | GraphExecutions

_CLOCK_STEPS = 512  # rows on either side that are searched: clocks of programs may step back


def is_same_run(before: Run, after: Run) -> bool:
    """Whether a run is a later state of the same one, rather than the same one opened anew."""
    return before.files.identity == after.files.identity and (
        before.state.generation != after.state.generation
        or (
            len(before.executions) <= len(after.executions)
            and len(before.graph_executions) <= len(after.graph_executions)
        )
    )


def keeps_rows(before: Run, after: Run) -> bool:
    """Whether all rows of a run have the same places in a later state of it."""
    same = before.state.generation == after.state.generation
    return same and is_same_run(before, after) and len(after.files.file_sets) == 1


def remapped(focus: Focus, before: Run, after: Run) -> Focus:
    """Return the focus of one state of a run as it is in a later one.

    What has left a circular buffer is no longer focused.

    Args:
        focus: The focus, in the earlier state.
        before: The earlier state.
        after: The later one.
    """
    if before.state.generation == after.state.generation and len(after.files.file_sets) == 1:
        return focus

    def row(events: Events, later: Events, index: int | None) -> int | None:
        if index is None or index >= len(events):
            return None
        if before.state.generation != after.state.generation:
            return _by_time(events, later, index)
        place = events.place(index)
        if index < len(later) and later.place(index) == place:
            return index
        return later.index_of(place)

    def tensor(event: TensorEvent | None) -> TensorEvent | None:
        if event is None:
            return None
        index = row(_lists(before, event), _lists(after, event), event.index)
        return None if index is None else replace(event, index=index)

    remap: dict[str, Callable[[Any], Any]] = {
        "execution": partial(row, before.executions, after.executions),
        "graph_execution": partial(row, before.graph_executions, after.graph_executions),
        "tensor": tensor,
        "tensors": lambda events: frozenset(filter(None, map(tensor, events))),
    }
    kinds = {field.name: field.metadata["remap"] for field in fields(focus)}
    moved = {
        name: remap[kind](getattr(focus, name)) for name, kind in kinds.items() if kind != "kept"
    }
    return replace(focus, **moved)


def _lists(run: Run, event: TensorEvent) -> Events:
    return run.executions if event.kind == "execution" else run.graph_executions


def _by_time(events: Events, later: Events, index: int) -> int | None:
    """Return the row of the same op recorded at the same time as a row was before."""
    time = float(events.wall_times([index])[0])
    low, high = 0, len(later)
    while low < high:
        middle = (low + high) // 2
        if float(later.wall_times([middle])[0]) < time:
            low = middle + 1
        else:
            high = middle
    start = max(0, low - _CLOCK_STEPS)
    rows = np.arange(start, min(len(later), low + _CLOCK_STEPS))
    same = rows[later.wall_times(rows) == time]
    kind = _kind(events, index)
    return next((row for row in same.tolist() if _kind(later, row) == kind), None)


def _kind(events: Events, row: int) -> object:
    """Return what an event is a computation of."""
    return events.site(row) if isinstance(events, GraphExecutions) else events.kind(row)
