"""Whether two places that made NaN or ∞ of finite values have one and the same bug.

A zero that log turns into -∞ is divided by in the gradient as well; a function that is traced for
two shapes, run on two replicas, or run eagerly too, fails in both; numbers that grow overflow in
many places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import (
    TensorEvent,
    graph_id_of,
    graph_op_of,
    op_name_of,
    op_type_of,
    stack_id_of,
)
from tfdbg_tui.diagnosis.gradients import forward_op, is_backward
from tfdbg_tui.diagnosis.locations import user_frame
from tfdbg_tui.diagnosis.op_traits import GROWS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.diagnosis.dataflow import Dataflow, Producer
    from tfdbg_tui.diagnosis.roots.alert_sites import Summaries
    from tfdbg_tui.logdir import Run

_TENSORFLOW = "/tensorflow/python/"  # its frames differ between graphs and eager ops
_GRADIENT_DEPTH = 3  # ops: how far back in a gradient forward values are looked for

Source = TensorEvent | tuple[str | None, str]
"""A recorded tensor; or graph and name of one that left no record."""


class SameBug:
    """Compares the first bad tensors of two places.

    Args:
        run: The run.
        dataflow: Where its tensors come from.
        summaries: Returns what was recorded of a tensor.
        finite: Tells whether an input of an event is known to be finite.
    """

    def __init__(
        self,
        run: Run,
        dataflow: Dataflow,
        summaries: Summaries,
        finite: Callable[[TensorEvent, Producer], bool],
    ) -> None:
        self._run = run
        self._dataflow = dataflow
        self._summaries = summaries
        self._finite = finite
        self._sources: dict[TensorEvent, set[Source]] = {}

    def same(self, event: TensorEvent, first: TensorEvent) -> bool:
        """Whether two tensors were made bad by one and the same bug."""
        if self._is_overflow(event) and self._is_overflow(first):
            return True  # numbers have become too large, here and there
        key = self._code_key(event)
        if key is not None and key == self._code_key(first):
            return True
        if self._is_eager_twin(event, first):
            return True
        forward = op_name_of(self._run, first)
        if forward and f"{forward}_grad/" in (op_name_of(self._run, event) or ""):
            return True
        if self._is_gradient_of(event, first):
            return True
        return bool(self._inputs(event) & self._inputs(first))

    def _is_gradient_of(self, event: TensorEvent, first: TensorEvent) -> bool:
        if not is_backward(self._run, event):
            return False
        forward = forward_op(self._run, self._dataflow, event)
        of_first = op_type_of(self._run, first), stack_id_of(self._run, first)
        return forward is not None and (forward.op_type, forward.stack_id) == of_first

    def _is_eager_twin(self, event: TensorEvent, first: TensorEvent) -> bool:
        """Whether one code made both, once in a graph and once eagerly."""
        if event.kind == first.kind or event.slot != first.slot:
            return False
        if op_type_of(self._run, event) != op_type_of(self._run, first):
            return False
        lines = self._lines(event)
        return bool(lines) and lines == self._lines(first)

    def _lines(self, event: TensorEvent) -> list[tuple[str | None, int]]:
        """Return the user's line, and those of libraries on the way from there to TensorFlow."""
        stack_id = stack_id_of(self._run, event)
        frames = self._run.stack(stack_id) if stack_id is not None else ()
        position = user_frame(frames)
        inner = frames[position:] if position is not None else ()
        return [(f.path, f.line) for f in inner if _TENSORFLOW not in (f.path or "")]

    def _is_overflow(self, event: TensorEvent) -> bool:
        return op_type_of(self._run, event) in GROWS

    def forward_graphs(self, event: TensorEvent) -> set[str]:
        """Return the graphs whose gradient an executed function computes, called ones included."""
        if event.kind != "execution":
            return set()
        calls = self._dataflow.calls
        kind = self._run.executions.kind(event.index)
        ids = [kind.graph_id] if kind.graph_id else calls.function_graphs(kind.op_type)
        forward = {calls.forward_graph(i) for i in ids if i in self._run.graphs} - {None}
        names = {self._run.graphs[i].name for i in forward if i}
        return {
            graph_id
            for graph_id in list(self._run.graphs)
            if names and self._run.graphs[calls.outermost(graph_id)].name in names
        }

    def _inputs(self, event: TensorEvent, depth: int = _GRADIENT_DEPTH) -> set[Source]:
        """Return the tensors that an event was computed from: log(p) and 1/p share theirs.

        A gradient is computed from forward values, and from gradients of other values.
        """
        if depth == _GRADIENT_DEPTH and event in self._sources:
            return self._sources[event]
        found: set[Source] = set()
        for producer in self._dataflow.producers(event):
            if producer.event is None:
                if producer.op_type != "Const":
                    found.add((graph_id_of(self._run, event), producer.name))
                continue
            if not self._finite(event, producer):
                continue
            source = self._dataflow.origin(producer.event)
            summary = producer.given or self._summaries(source)
            scalar = summary is not None and summary.size == 1 and not summary.zero
            if not scalar and op_type_of(self._run, source) != "Const":
                found.add(source)
                if depth and is_backward(self._run, source):
                    found |= self._inputs(source, depth - 1)
        if depth == _GRADIENT_DEPTH:
            self._sources[event] = found
        return found

    def _code_key(self, event: TensorEvent) -> tuple[str, str, int] | None:
        """Return what an op keeps when its function is traced anew or run on another replica."""
        op = graph_op_of(self._run, event)
        if op is None:
            return None
        parts = [part for part in op.name.split("/") if not part.startswith("replica_")]
        graph = self._run.graphs[op.graph_id]
        return graph.name, "/".join(parts), event.slot
