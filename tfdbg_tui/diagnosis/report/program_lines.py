"""Which lines of the user's program made a tensor, and what else led to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import (
    TensorEvent,
    graph_id_of,
    is_bad,
    op_type_of,
    recorded_layer,
    stack_id_of,
)
from tfdbg_tui.diagnosis.gradients import ForwardOp, forward_op, is_backward, is_users_gradient
from tfdbg_tui.diagnosis.locations import (
    Location,
    in_optimizer,
    is_converted,
    location_of,
    source_lines,
    starts_fit,
)
from tfdbg_tui.diagnosis.report.loaded import calling_line, is_loaded
from tfdbg_tui.diagnosis.statements import line_of_op

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow

_FROM_LOSS = 6  # ops from a loss to what Keras makes of it


class ProgramLines:
    """Finds the lines of the program that tensors come from."""

    def __init__(self, dataflow: Dataflow) -> None:
        self._run = dataflow.run
        self._dataflow = dataflow

    def ran(self, event: TensorEvent) -> Location | None:
        """Return the user's line that made a tensor.

        For what Python runs as a whole, a gradient function or a replica's thread, and for what it
        feeds to a session, that is the line that ran it; of a function that was loaded, the line
        that called it.  A variable that an update in a graph has made bad was made by that update.
        """
        run = self._run
        if (updated := self._updated_at(event)) is not None:
            return updated
        if is_loaded(run, event) and (called := calling_line(self._dataflow, event)):
            return called
        calls = self._dataflow.calls
        graph = run.graphs.get(calls.outermost(graph_id_of(run, event) or ""))
        created = self._written_at(event)
        if event.kind == "execution" or graph is None:
            return created
        is_fed = not graph.name and op_type_of(run, event) == "Placeholder"
        if created is not None and not (is_fed or graph.name.startswith("__backward_")):
            return created
        index = self._dataflow.timeline.execution_of(event.index)
        ran = location_of(run, run.executions.stack_ids[index]) if index is not None else None
        return ran or created

    def evidence(self, event: TensorEvent) -> str:
        """Say where else something was done to a tensor, and in which thread."""
        return self._loaded_at(event) + self._changed_at(event) + self._in_thread(event)

    def _loaded_at(self, event: TensorEvent) -> str:
        """Say where an op was loaded, which was made by no line of the program."""
        line = self._written_at(event) if is_loaded(self._run, event) else None
        return f"; loaded at {line.short}" if line else ""

    def _updated_at(self, event: TensorEvent) -> Location | None:
        """Return the user's line that has updated, in a graph, what is read of a variable, bad."""
        if not is_bad(self._run, event):
            return None
        producers = self._dataflow.producers(event)
        updates = [one.updated_at for one in producers if one.updated_by is not None]
        return next(filter(None, (location_of(self._run, stack_id) for stack_id in updates)), None)

    def _written_at(self, event: TensorEvent) -> Location | None:
        """Return the user's line that made a tensor, in a statement of several lines as well."""
        run, stack_id = self._run, stack_id_of(self._run, event)
        known = location_of(run, stack_id)
        if known is None or not is_converted(run, stack_id):
            return known
        for lines in (source_lines(run, host, known.file) for host in run.hosts):
            line = line_of_op(lines, known.line, op_type_of(run, event) or "")
            if line != known.line:
                return replace(known, line=line, code=lines[line - 1].strip())
        return known

    def _changed_at(self, event: TensorEvent) -> str:
        """Say where Python assigned a variable what is read of it, or where an update is read.

        Of what is not bad the line that made the variable would tell nothing.
        """
        if not is_bad(self._run, event):
            return ""
        updated, read = self._updated_at(event), self._written_at(event)
        if updated is not None and read is not None:
            named = f"; read at {read.short}"
            return named if (read.file, read.line) != (updated.file, updated.line) else ""
        assigned = [
            location_of(self._run, stack_id_of(self._run, producer.event))
            for producer in self._dataflow.producers(event)
            if producer.via == "variable" and producer.event and producer.event.kind == "execution"
        ]
        lines = [line.short for line in assigned if line]
        return f"; assigned at {lines[0]}" if lines else ""

    def _in_thread(self, event: TensorEvent) -> str:
        """Say which thread has made a tensor, where it is not the one that began."""
        timeline = self._dataflow.timeline
        index = timeline.execution_at(event)
        thread = timeline.execution(index).thread if index is not None else None
        return f"; in another thread than the first (number {thread})" if thread else ""

    def made_of(self, event: TensorEvent) -> TensorEvent | None:
        """Return what the user's own loss gave, where a tensor is what Keras' `fit` made of that.

        Keras averages it, or multiplies it by the size of the batch; None for all other tensors.
        """
        run, made = self._run, event
        for _ in range(_FROM_LOSS):
            stack_id = stack_id_of(run, made)
            is_of_loss = recorded_layer(run, made) is None and not in_optimizer(run, stack_id)
            if is_backward(run, made) or not is_of_loss:
                return None
            if not starts_fit(run, stack_id):
                return made if made != event and location_of(run, stack_id) else None
            given = (producer.event for producer in self._dataflow.producers(made))
            made = next((one for one in given if one is not None), event)
        return None

    def differentiated(self, event: TensorEvent) -> ForwardOp | None:
        """Return the op whose gradient an event is, unless the user has written the gradient."""
        run = self._run
        if not is_backward(run, event) or is_users_gradient(run, event):
            return None
        return forward_op(self._dataflow, event)
