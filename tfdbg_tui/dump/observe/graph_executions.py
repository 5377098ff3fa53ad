"""Records what groups tell of the executions of their graphs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tfdbg_tui.dump.encode import batches
from tfdbg_tui.dump.encode.batches import Executions, RowsBatch
from tfdbg_tui.dump.encode.queue_rows import COUNTED, FIRST_SETTLED, KEY, QueueRows
from tfdbg_tui.dump.encode.records import Batch
from tfdbg_tui.dump.errors import bad_tensor_message
from tfdbg_tui.dump.interrupts import is_interrupt
from tfdbg_tui.wire import omissions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfdbg_tui.dump.encode.causes import Cause
    from tfdbg_tui.dump.encode.group_plan import Row, Values
    from tfdbg_tui.dump.encode.queue_rows import Rows
    from tfdbg_tui.dump.encode.records import GroupRecords
    from tfdbg_tui.dump.observe.calls import Call
    from tfdbg_tui.dump.observe.graphs import GraphDefinitions
    from tfdbg_tui.dump.observe.groups import Group
    from tfdbg_tui.dump.options import Options
    from tfdbg_tui.dump.record.recorder import Recorder
    from tfdbg_tui.dump.record.stacks import CodeLocations

_APART_SECONDS = 1e-6
"""Between the times of a bad execution and of its neighbours in the file: whoever reads it takes
records with one time for records of one execution."""


class GraphExecutions:
    """Queues the records of executions of graphs; remembers which tensor was bad first.

    Args:
        options: The user's.
        recorder: Takes the records.
        graphs: Knows where ops were created.
        locations: Knows the user's line of a stack trace.
        calls: The calls in progress, by their serial numbers.
    """

    def __init__(
        self,
        options: Options,
        recorder: Recorder,
        graphs: GraphDefinitions,
        locations: CodeLocations,
        calls: Mapping[int, Call],
    ) -> None:
        self._recorder = recorder
        self._graphs = graphs
        self._locations = locations
        self._calls = calls
        self._freezes = options.keep_after_bad is not None
        self._watches_bad = options.watches_bad
        self._raises = options.on_bad == "raise"
        self._bad_message: str | None = None

    def add_rows(self, groups: Sequence[Group], taken: QueueRows) -> None:
        """Queue executions together, those of which more is told one by one, in their order.

        Their rows tell all of the others, or they are healthy and were measured.

        Args:
            groups: The groups that the rows refer to.
            taken: Rows of whole executions.
        """
        for cause in taken.causes:
            call = self._calls.get(cause.serial)
            if call is not None and call.order is not None:
                call.order.hand_on_kept()
        records = [group.records for group in groups]
        heads = taken.heads()
        ends = np.append(heads[1:], len(taken.rows))
        which, keys = taken.which[heads], taken.rows[heads, KEY]
        is_measured = np.zeros(len(heads), bool)
        for place in np.flatnonzero(keys > 0).tolist():
            is_measured[place] = groups[which[place]].is_healthy(keys[place])
        alone = self._are_queued_alone(groups, np.where((keys <= 0) | is_measured, which, -1))
        measured = np.flatnonzero(is_measured & ~alone).tolist()
        extremes = {
            int(keys[place]): groups[which[place]].take_extremes(keys[place]) for place in measured
        }
        is_bad = keys != 0
        taken = _set_apart(taken, heads[is_bad | alone])
        tells_all = (keys == COUNTED) | (keys <= FIRST_SETTLED)
        together = ~is_bad | is_measured | (tells_all & (not self._watches_bad))
        single = alone | ~together
        done = 0
        for head, end in zip(heads[single].tolist(), ends[single].tolist(), strict=True):
            self._add_together(taken[done:head], records, extremes)
            done = end
            group, cause = groups[taken.which[head]], taken.causes[taken.caused[head]]
            group.guarded(self._add_alone, group, taken.rows[head:end], cause)
        self._add_together(taken[done:], records, extremes)

    def _are_queued_alone(
        self, groups: Sequence[Group], which: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        """Return which executions have to be, whatever their rows tell."""
        alone = np.full(len(which), self._freezes)
        for number, group in enumerate(groups):
            if group.plan.has_bad_constants:
                places = np.flatnonzero(which == number)
                alone[places[: group.take_constants(len(places))]] = True
        return alone

    def _add_alone(self, group: Group, rows: Rows, cause: Cause) -> None:
        values = group.values_of(rows)
        if values is not None:
            self._add(self._calls.get(cause.serial), group, values, cause)

    def _add_together(
        self,
        taken: QueueRows,
        records: Sequence[GroupRecords],
        extremes: Mapping[int, npt.NDArray[np.float64]],
    ) -> None:
        try:
            repeats = self._recorder.repeats
            for part in batches.parts(taken, records):
                self._recorder.traces(RowsBatch(Executions(part, records, extremes), repeats))
        except Exception as error:  # What comes after in the queue may be bad.
            self._recorder.lose(omissions.SKIPPED, "graph executions", error)
            if is_interrupt(error):
                raise

    def add(self, group: Group, values: Values, cause: Cause) -> None:
        """Queue one execution of a group: in a session, after those that it has to come after.

        Args:
            group: The group.
            values: What it told.
            cause: What has caused the execution.
        """
        call = self._calls.get(cause.serial)
        if call is None or call.order is None:
            self._add(call, group, values, cause)
        else:
            call.order.take(group, partial(self._add, call, group, values, cause))

    def _add(self, call: Call | None, group: Group, values: Values, cause: Cause) -> None:
        self._recorder.traces(Batch(group.records, values, cause))
        bad = group.records.first_bad(values) if self._watches_bad else None
        if bad is None:
            return
        self._recorder.bad_tensor_seen()
        if self._raises:
            row, counts = bad
            line = self._locations.user_line(self._graphs.location(row.graph_id, row.op_name))
            self._keep_first(
                call, group, row, bad_tensor_message(row.op_name, row.slot, counts, line)
            )

    def _keep_first(self, call: Call | None, group: Group, row: Row, message: str) -> None:
        """Keep the message about the first bad tensor until the call that made it ends."""
        if call is None:
            self._bad_message = self._bad_message or message
        # The sinks of a function run in order, those of a session do not.
        elif call.bad is None or (group.plan.run_in_no_order and row.tensor_id < call.bad[0]):
            call.bad = row.tensor_id, message

    def take_bad_message(self, call: Call) -> str | None:
        """Return what to tell the program of bad tensors in a call that has ended; None of none.

        What is not known to be of one call is told by the next one that ends.
        """
        message, self._bad_message = self._bad_message, None
        return message if call.bad is None else call.bad[1]


def _set_apart(taken: QueueRows, heads: npt.NDArray[np.int64]) -> QueueRows:
    """Give executions, whose rows begin at `heads`, times that differ from their neighbours'."""
    if not len(heads):
        return taken
    causes = [
        cause._replace(wall_time=cause.wall_time + _APART_SECONDS * turn)
        for turn in range(3)
        for cause in taken.causes
    ]
    caused = taken.caused.copy()
    caused[heads] += len(taken.causes) * (1 + np.arange(len(heads)) % 2)
    return QueueRows(taken.which, causes, caused, taken.rows)
