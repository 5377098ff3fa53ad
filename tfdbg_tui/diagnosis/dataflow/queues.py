"""What comes out of a queue: something that was put into it.

Runs that put in and take out go on at the same time, and each is on record when it has ended or
enough of it has run: what was put in may come after what was taken out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.links import MAX_DEPTH, Producer, copied_input
from tfdbg_tui.diagnosis.events import is_bad, op_type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import GraphOp, Run, TensorRef

_LOOK_AROUND = 50
"""So many computations of what is put into a queue are looked through, before and after."""


class Queues:
    """Finds what made the tensors that come out of queues.

    Args:
        run: The run.
        timeline: Which record is of which computation.
    """

    def __init__(self, run: Run, timeline: Timeline) -> None:
        self._run = run
        self._timeline = timeline

    def put(self, event: TensorEvent, op: GraphOp) -> Producer:
        """Return the last bad tensor that was put into the queue of an op, if a bad one came out.

        Most likely it is that one, or where there is none before, the first that is on record
        later; which healthy one it is where that came out is not known.

        Args:
            event: What came out.
            op: The op that took it.
        """
        refs = list(self._put_by(op, event.slot)) if is_bad(self._run, event) else []
        made = self._last_bad(op.graph_id, refs, event.index)
        if made is None:
            made = self._first_bad(op.graph_id, refs, event.index)
        made_by = op_type_of(self._run, made) if made is not None else op.op_type
        return Producer(0, f"{op.name}:{event.slot}", made, made is not None, "graph", made_by)

    def _put_by(self, op: GraphOp, slot: int) -> Iterator[TensorRef]:
        """Yield what ops of the graph put into a queue, given an op that takes an output out."""
        graph = self._run.graphs[op.graph_id]
        queue = op.input(0)
        for use in graph.consumers(queue.op_name) if queue is not None else ():
            user = graph.ops.get(use.op_name)
            if user is None or not user.op_type.startswith("QueueEnqueue"):
                continue
            if user.input(0) == queue and slot + 1 < len(user.inputs):
                yield self._recorded(op.graph_id, user.inputs[slot + 1])

    def _last_bad(self, graph_id: str, refs: Sequence[TensorRef], row: int) -> TensorEvent | None:
        """Return the last computation of one of some tensors before a row that is bad."""
        before = (self._last_bad_of(graph_id, ref, row) for ref in refs)
        return max(filter(None, before), key=lambda event: event.index, default=None)

    def _last_bad_of(self, graph_id: str, ref: TensorRef, row: int) -> TensorEvent | None:
        for _ in range(_LOOK_AROUND):
            event = self._timeline.last_before(graph_id, ref, row)
            if event is None or is_bad(self._run, event):
                return event
            row = event.index
        return None

    def _first_bad(self, graph_id: str, refs: Sequence[TensorRef], row: int) -> TensorEvent | None:
        """Return the first computation of one of some tensors after a row that is bad."""
        after = (self._first_bad_of(graph_id, ref, row) for ref in refs)
        return min(filter(None, after), key=lambda event: event.index, default=None)

    def _first_bad_of(self, graph_id: str, ref: TensorRef, row: int) -> TensorEvent | None:
        later = self._timeline.after(graph_id, ref, row, _LOOK_AROUND)
        return next((event for event in later if is_bad(self._run, event)), None)

    def _recorded(self, graph_id: str, ref: TensorRef) -> TensorRef:
        """Return a tensor, or what it is a copy of where it is not recorded itself."""
        for _ in range(MAX_DEPTH):
            op = self._run.op(graph_id, ref.op_name)
            source = copied_input(op, ref.slot) if op is not None else None
            if source is None or self._timeline.is_traced(graph_id, ref):
                break
            ref = source
        return ref
