"""All ops of some types that a program has executed, in graphs and eagerly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import TensorEvent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from tfdbg_tui.logdir import Run


def first_computations(run: Run, op_types: AbstractSet[str]) -> Iterator[tuple[TensorEvent, int]]:
    """Yield the first result of each op of a graph, or of eager ops by one line; how many it has.

    Args:
        run: The run.
        op_types: The types of the ops.
    """
    for site, number in list(run.site_numbers.items()):
        op = run.op(site.graph_id, site.op_name)
        if op is None or op.op_type not in op_types:
            continue
        rows = run.graph_executions.rows_of(number)
        if len(rows):
            yield TensorEvent("graph_execution", int(rows[0]), site.output_slot), len(rows)
    rows = run.executions.of_kinds(lambda kind: kind.op_type in op_types)
    stacks = run.executions.stack_ids.take(rows)
    _, first, counts = np.unique(stacks, return_index=True, return_counts=True)
    for row, count in zip(rows[first].tolist(), counts.tolist(), strict=True):
        yield TensorEvent("execution", row, 0), count
