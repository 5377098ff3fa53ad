"""The state that a function which scans or reduces a dataset gets from its last call.

Its first arguments are what it has returned first for the element before; for the first element,
they are what the program has given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.logdir.definitions.graphs import TensorRef

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow.call_rows import At
    from tfdbg_tui.diagnosis.dataflow.calls import Calls
    from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import GraphOp, Run


class States:
    """Finds what the state of such functions is.

    Args:
        run: The run.
        calls: Which graph calls which.
        timeline: Which record is of which computation.
    """

    def __init__(self, run: Run, calls: Calls, timeline: Timeline) -> None:
        self._run = run
        self._calls = calls
        self._timeline = timeline

    def slot(self, argument: GraphOp) -> int | None:
        """Return which part of the state an argument of a function is; None if it is none."""
        graph_id = argument.graph_id
        slot = self._calls.argument_slot(graph_id, argument.name)
        return slot if slot is not None and slot < self._calls.num_states(graph_id) else None

    def last(self, argument: GraphOp, slot: int, at: At) -> TensorEvent | None:
        """Return what the call before has made of the state; None in the first call.

        Args:
            argument: The argument that is a part of the state.
            slot: Which part.
            at: Where in time.
        """
        graph_id, timeline = argument.graph_id, self._timeline
        outputs = self._calls.outputs(graph_id)[slot : slot + 1]
        recorded = [tensor for ref in outputs for tensor in timeline.recorded(graph_id, ref)]
        found = [timeline.last_before(*tensor, at.row) for tensor in recorded]
        last = max((event.index for event in found if event is not None), default=None)
        if last is None or not self._may_be(argument, at, last):
            return None
        return next(event for event in found if event is not None and event.index == last)

    def first(self, argument: GraphOp, slot: int) -> TensorEvent | None:
        """Return the eager tensor that was given as the state before the first element.

        Args:
            argument: The argument that is a part of the state.
            slot: Which part.
        """
        executions = self._run.executions
        for number in self._calls.named_by(argument.graph_id).values():
            row = executions.kinds.last_equal(number, len(executions))
            given = self._timeline.input_ids(row)[1 + slot :] if row is not None else ()
            if row is not None and given:
                return self._timeline.maker(given[0], row)
        return None

    def following(self, graph_id: str, slot: int, at: At) -> tuple[str, TensorEvent] | None:
        """Return the argument of the next call that an output becomes, and its record.

        Args:
            graph_id: The graph of the function.
            slot: Which output of it.
            at: Where in time the output was made.
        """
        if slot >= self._calls.num_states(graph_id):
            return None
        name = self._calls.arguments(graph_id)[slot]
        later = self._timeline.after(graph_id, TensorRef(name, 0), at.row, 1)
        same = [event for event in later if self._timeline.same_counts(at.row, event.index)]
        return (name, same[0]) if same else None

    def _may_be(self, argument: GraphOp, at: At, last: int) -> bool:
        """Whether the state of a call is what a row has computed, as far as it is on record."""
        if at.row >= len(self._run.graph_executions):
            return True
        site = self._run.graph_executions.site(at.row)
        is_recorded = (site.graph_id, site.op_name) == (argument.graph_id, argument.name)
        return not is_recorded or self._timeline.same_counts(at.row, last)
