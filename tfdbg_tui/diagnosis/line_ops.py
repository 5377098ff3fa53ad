"""Which ops the lines of the program run."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.function_names import readable_function
from tfdbg_tui.diagnosis.locations import location_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.logdir import Run

LineOps = dict[str, dict[int, tuple[str, ...]]]
"""Op types by path of the source file and number of the line."""


def find_line_ops(run: Run) -> LineOps:
    """Return the types of the ops on record that each line of the user's code runs, each once.

    Those of graphs come first, in the order in which they were recorded first.
    """
    locate = cache(lambda stack_id: location_of(run, stack_id))
    found: dict[str, dict[int, dict[str, None]]] = {}
    for stack_id, op_type in (*_of_graphs(run), *_of_executions(run)):
        location = locate(stack_id)
        if location is not None:
            lines = found.setdefault(location.file, {})
            lines.setdefault(location.line, {})[op_type] = None
    return {
        path: {number: tuple(op_types) for number, op_types in lines.items()}
        for path, lines in found.items()
    }


def _of_graphs(run: Run) -> Iterator[tuple[int, str]]:
    """Yield stack trace and type of each op that computed a tensor on record."""
    traces = run.graph_executions
    for number in range(traces.num_sites):
        site = traces.site_by_id(number)
        op = run.op(site.graph_id, site.op_name)
        if op is not None and op.stack_id is not None:
            yield op.stack_id, readable_function(op.op_type)


def _of_executions(run: Run) -> Iterator[tuple[int, str]]:
    """Yield stack trace and type of all executions, each pair once."""
    executions = run.executions
    places = np.unique(executions.kinds[:] << 32 | executions.stack_ids[:])
    for place in places.tolist():
        yield place & 0xFFFFFFFF, readable_function(executions.distinct_kinds[place >> 32].op_type)
