"""Which executions caused many graph executions at once, where only their times tell."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.dataflow.timeline import Timeline

if TYPE_CHECKING:
    import numpy.typing as npt

    from tfdbg_tui.diagnosis.dataflow.calls import Calls
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.columns import Int64Array


class CallersByTime:
    """Finds executions as `Timeline.execution_of` does, without looking at each row alone.

    Args:
        run: The run.
        calls: The calls between its graphs.
    """

    def __init__(self, run: Run, calls: Calls) -> None:
        self._run = run
        self._calls = calls
        self._timeline = Timeline(run, calls)
        self._ends = cache(self._find_ends)

    def of(self, rows: Int64Array) -> Int64Array:
        """Return the execution that caused each of some rows; -1 where none is known.

        A writer that records it has told it already, where it is known at all.
        """
        traces, found = self._run.graph_executions, np.full(len(rows), -1, np.int64)
        if self._timeline.grouped:
            return found
        numbers, places = np.unique(traces.site_ids.take(rows), return_inverse=True)
        graphs = (traces.site_by_id(number).graph_id for number in numbers.tolist())
        outermost = np.array([self._calls.outermost(graph_id) for graph_id in graphs])
        times = traces.wall_times(rows)
        for graph_id in np.unique(outermost).tolist():
            mine = (outermost == graph_id)[places]
            callers, ends = self._ends(graph_id)
            found[mine] = np.append(callers, -1)[ends.searchsorted(times[mine])]
        return found

    def _find_ends(self, graph_id: str) -> tuple[Int64Array, npt.NDArray[np.float64]]:
        """Return (the executions of a graph's function, when each had ended)."""
        executions = self._timeline.executions_of(graph_id)
        return executions, self._run.executions.wall_times(executions)
