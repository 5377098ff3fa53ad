"""What becomes of rows that were taken out of the queue; see `row_queue`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.dump.encode.queue_rows import SERIAL, QueueRows, without_details

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tfdbg_tui.dump.encode.causes import Cause
    from tfdbg_tui.dump.encode.elements import Words
    from tfdbg_tui.dump.encode.group_plan import GroupPlan
    from tfdbg_tui.dump.encode.queue_rows import ExecutionRows, Rows
    from tfdbg_tui.dump.observe.calls import Moment
    from tfdbg_tui.dump.observe.groups import Dump, Group


def hand_over(
    dump: Dump,
    groups: Sequence[Group | None],
    which: npt.NDArray[np.int64],
    moments: Sequence[Moment],
    when: npt.NDArray[np.int64],
    rows: Rows,
    words: Words,
) -> None:
    """Find out what causes some executions, look at their elements, and tell the dump of them.

    Args:
        dump: The dump.
        groups: Some groups.
        which: Which of them each row is of.
        moments: What ran when.
        when: To which of these moments each row belongs.
        rows: The rows.
        words: What each execution has handed over.
    """
    numbers, which = np.unique(which, return_inverse=True)
    own = [group for group in map(groups.__getitem__, numbers.tolist()) if group is not None]
    serials, runs = np.unique(rows[:, SERIAL], return_inverse=True)
    shape = len(moments), len(serials), len(own)
    each = np.ravel_multi_index((when, runs, which), shape)
    found, caused = np.unique(each, return_inverse=True)
    ran = zip(*np.unravel_index(found, shape), strict=True)
    causes = [
        _cause(moments[number], int(serials[run]), own[which].plan) for number, run, which in ran
    ]
    taken = QueueRows(which, causes, caused, rows)
    dump.rows_taken(own, taken.with_rows(_rows_of_elements(own, taken, words)))
    for group, executions in zip(own, np.bincount(which[taken.heads()]).tolist(), strict=True):
        group.ran(executions)


def _cause(moment: Moment, serial: int, plan: GroupPlan) -> Cause:
    """Return what causes an execution of a group, given the number of the run if it is known."""
    return moment.cause_by(serial) if serial else moment.cause_of(plan.graph_id, plan.caller)


def _rows_of_elements(
    groups: Sequence[Group], taken: QueueRows, words: Words
) -> list[ExecutionRows]:
    """Return the rows of the executions of whose elements there is something to tell."""
    told: list[ExecutionRows] = []
    heads = taken.heads()
    which = np.where(words.sizes > 0, taken.which[heads], -1)
    measured = np.array([cause.measured for cause in taken.causes])
    for number in np.unique(which[which >= 0]).tolist():
        group, places = groups[number], np.flatnonzero(which == number)
        parts = np.arange(group.plan.rows_put(0))
        rows = taken.rows[heads[places, None] + parts]
        of_each = measured[taken.caused[heads[places]]]
        found = group.guarded(group.rows_of_elements, rows, words.of(places), of_each)
        if found is None:
            found = [(np.arange(len(rows)), np.array([without_details(some) for some in rows]))]
        told += [(places[numbers], some) for numbers, some in found]
    return told
