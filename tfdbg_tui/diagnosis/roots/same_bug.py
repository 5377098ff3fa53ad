"""Whether two places that made NaN or ∞ of finite values have one and the same bug.

A zero that log turns into -∞ is divided by in the gradient as well; a function that is traced for
two shapes, run on two replicas, or run eagerly too, fails in both; numbers that grow overflow in
many places.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.variables import computes
from tfdbg_tui.diagnosis.events import (
    Kind,
    TensorEvent,
    graph_id_of,
    graph_op_of,
    op_name_of,
    op_type_of,
    stack_id_of,
)
from tfdbg_tui.diagnosis.gradients import forward_op, is_backward, is_users_gradient
from tfdbg_tui.diagnosis.locations import (
    frames_of_traced,
    is_without_file,
    source_lines,
    user_frame,
)
from tfdbg_tui.diagnosis.op_traits import ARGUMENTS, DIVISIONS, GROWS, MOVES, SOURCES
from tfdbg_tui.diagnosis.statements import times_written
from tfdbg_tui.diagnosis.values import bad_kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow, Producer
    from tfdbg_tui.diagnosis.gradients import ForwardOp
    from tfdbg_tui.diagnosis.roots.alert_sites import Summaries
    from tfdbg_tui.logdir import TensorSummary

_TENSORFLOW = "/tensorflow/python/"  # its frames differ between graphs and eager ops
_SCHEDULES = "/optimizers/schedules/"  # Keras' own: of all of its versions
_GRADIENT_DEPTH = 3  # ops: how far back in a gradient forward values are looked for

Source = TensorEvent | tuple[str | None, str]
"""A recorded tensor; or graph and name of one that left no record."""

Mark = tuple[str, Hashable]
"""What tensors with the same bug have in common: its kind, and what it is."""

Role = str | tuple[str | None, int] | None
"""What an op is for others that take the same: of which pass, of what kind, in which line."""

_FORWARD, _BACKWARD = "forward", "backward"

_OVERFLOW: Mark = ("overflow", "")
"""Numbers have become too large, here and there."""


class SameBug:
    """Finds those of the tensors known so far that a tensor shares its bug with.

    Args:
        dataflow: Where tensors come from.
        summaries: Returns what was recorded of a tensor.
        finite: Tells whether an input of an event is known to be finite.
    """

    def __init__(
        self,
        dataflow: Dataflow,
        summaries: Summaries,
        finite: Callable[[TensorEvent, Producer], bool],
    ) -> None:
        self._run = dataflow.run
        self._dataflow = dataflow
        self._summaries = summaries
        self._finite = finite
        self._sources: dict[tuple[TensorEvent, int], set[Source]] = {}
        self._forward_ops: dict[TensorEvent, ForwardOp | None] = {}
        self._known: dict[Mark, list[int]] = {}

    def add_root(self, event: TensorEvent, number: int) -> None:
        """Add what was bad first of a group of alerts, under the number of the group."""
        self._known.setdefault(("graph", graph_id_of(self._run, event)), []).append(number)

    def add(self, event: TensorEvent, number: int) -> None:
        """Add a tensor that one bug made bad, under the number of its group."""
        line = op_type_of(self._run, event), stack_id_of(self._run, event)
        marks = self._marks(event) | {("name", op_name_of(self._run, event)), ("line", line)}
        marks |= self._of_inputs(event, self._roles(event))
        if self._is_too_large(event):
            marks |= self._led_to(event)
        for mark in marks | self._made_by_lines(event, event.kind):
            self._known.setdefault(mark, []).append(number)
        forward = self._forward_op(event)
        if forward is not None and event.kind == "graph_execution":
            run_of = self._run_of(event, forward.op_type, forward.stack_id)
            self._known.setdefault(("gradient", run_of), []).append(number)

    def find(self, event: TensorEvent, *, of_other_elements: bool = False) -> list[int]:
        """Return the numbers of the groups that a tensor shares its bug with, ascending.

        Args:
            event: The tensor.
            of_other_elements: Whether it is known to be bad in other elements than those groups,
                so that what one line makes of one tensor need not be one bug: ``exp(x) / x``.
        """
        other_kind: Kind = "execution" if event.kind == "graph_execution" else "graph_execution"
        marks = self._marks(event) | self._forward_marks(event)
        marks |= self._made_by_lines(event, other_kind)
        akin = self._akin(event)
        if of_other_elements:
            akin -= set(self._lines(event)[:1])
        marks |= self._of_inputs(event, akin)
        if is_users_gradient(self._run, event):  # It may compute again what its forward pass did.
            marks |= self._made_by_lines(event, event.kind)
        return sorted({number for mark in marks for number in self._known.get(mark, ())})

    def of_same_line(self, event: TensorEvent, other: TensorEvent) -> bool:
        """Whether one line of code, which is called in several places, has made two tensors.

        What it makes in one place may be of several bugs: ``a / b + c / d``.  Outside of graphs
        the place is another one for each layer, and once the dump tells less of what it makes.
        """
        lines = [self._made_by_lines(one, "graph_execution") for one in (event, other)]
        if not lines[0] or lines[0] != lines[1]:
            return False
        if self._place(event) != self._place(other):
            return not self._are_unlike(event, other)
        return self._is_of_unrolled_loop(event)

    def _are_unlike(self, event: TensorEvent, other: TensorEvent) -> bool:
        """Whether of results in two places one has ∞ and the other NaN, each for its own reason.

        ``log(x)`` is -∞ at 0 and NaN below.  A division by 0 gives both, and so do large numbers.
        """
        if op_type_of(self._run, event) in DIVISIONS:
            return False
        if self._is_too_large(event) and self._is_too_large(other):
            return False
        kinds = [bad_kinds(self._summaries(one)) for one in (event, other)]
        is_nan = ["nan" in one for one in kinds]
        return all(kinds) and is_nan[0] != is_nan[1]

    def of_other_layer(self, event: TensorEvent, other: TensorEvent) -> bool:
        """Whether two tensors were made eagerly, in different layers."""
        if "graph_execution" in (event.kind, other.kind):
            return False
        kind = self._run.executions.kind
        return kind(event.index).layer != kind(other.index).layer

    def _is_of_unrolled_loop(self, event: TensorEvent) -> bool:
        """Whether all ops of a type that a line makes in a graph are of one expression there."""
        op_type = op_type_of(self._run, event) or ""
        if event.kind == "execution" or is_backward(self._run, event):
            return False
        path, line = self._lines(event)[-1]
        texts = (source_lines(self._run, host, path) for host in self._run.hosts)
        return any(text and times_written(text, line, op_type) == 1 for text in texts)

    def _place(self, event: TensorEvent) -> Hashable:
        """Return where a line made a tensor: frames are equal that run other expressions of it."""
        stack_id = stack_id_of(self._run, event)
        frames = self._run.stack(stack_id) if stack_id is not None else ()
        if event.kind == "execution":
            return self._run.executions.kinds[event.index], frames
        return graph_id_of(self._run, event), frames

    def find_gradient(self, event: TensorEvent) -> int | None:
        """Return the number of a group that began with the gradient of an op that made a tensor.

        A gradient that takes nothing that the op has made may be computed before it.
        """
        if event.kind == "execution":
            return None
        of_op = op_type_of(self._run, event), stack_id_of(self._run, event)
        found = self._known.get(("gradient", self._run_of(event, *of_op)))
        return found[0] if found else None

    def _run_of(self, event: TensorEvent, op_type: str | None, stack_id: int | None) -> Hashable:
        """Return what an op and its gradient have in common in the run of the graph of an event."""
        at = self._dataflow.timeline.at(event.index)
        return op_type, stack_id, at.execution, at.iteration

    def _marks(self, event: TensorEvent) -> set[Mark]:
        """Return what a tensor has in common with others: numbers too large, its code."""
        marks: set[Mark] = set()
        if self._is_too_large(event) or self._is_step_to_infinity(event):
            marks.add(_OVERFLOW)
        if self._is_of_nothing(event):  # As the mean for each class of a batch, in a loop.
            marks.add(("nothing", self._lines(event)))
        if self._is_made_by_library(event):  # As the step of an optimizer, for each variable.
            line = op_type_of(self._run, event), event.slot, stack_id_of(self._run, event)
            marks.add(("library", line))
        if schedule := self._schedule(event):  # Computed in training, and to look at it.
            marks.add(("schedule", (op_type_of(self._run, event), event.slot, schedule)))
        if self._op(event) is not None:
            marks.add(("op", self._op(event)))
        if op_type_of(self._run, event) in ARGUMENTS:  # Data, of which several parts may be bad.
            graph_id = graph_id_of(self._run, event)
            marks.add(("given", event.index if graph_id is None else graph_id))
        key = self._code_key(event)
        return marks | {("code", key)} if key is not None else marks

    def _of_inputs(self, event: TensorEvent, roles: set[Role]) -> set[Mark]:
        return {("input", (source, role)) for source in self._inputs(event) for role in roles}

    def _roles(self, event: TensorEvent) -> set[Role]:
        """Return what an op is for others that take what it takes: see `_akin`."""
        if is_backward(self._run, event):
            return {_BACKWARD}
        op_type = op_type_of(self._run, event)
        kind = "a division" if op_type in DIVISIONS else op_type
        return {_FORWARD, kind, *self._lines(event)[:1]}

    def _akin(self, event: TensorEvent) -> set[Role]:
        """Return the roles in which an op that takes what another takes has the other's bug.

        A gradient has that of its forward pass.  What different lines make of one tensor by
        different ops has to be mended in each: ``tf.sqrt(x)``, ``tf.pow(x, 0.3)``.
        """
        if is_backward(self._run, event) or not self._lines(event):
            return {_FORWARD, _BACKWARD}
        return self._roles(event) - {_FORWARD} | {_BACKWARD}

    def _op(self, event: TensorEvent) -> Hashable:
        """Return what all results of an op have in common; None where it need not be one bug.

        What moves tensors, or runs a function, may have got several that were bad.
        """
        op_type, eager = op_type_of(self._run, event), event.kind == "execution"
        if op_type is None or op_type in MOVES | SOURCES:
            return None
        if eager and self._run.executions.kind(event.index).is_function:
            return None
        return (
            event.index if eager else (graph_id_of(self._run, event), op_name_of(self._run, event))
        )

    def _is_too_large(self, event: TensorEvent) -> bool:
        """Whether numbers may have become too large: in partial sums that gives NaN as well.

        NaN of a power, of no elements, or of NaN that was given has nothing to do with that.
        """
        op_type, summary = op_type_of(self._run, event), self._summaries(event)
        # A loss scale makes all gradients too large, wherever they are cast.
        grows = op_type in GROWS or (op_type == "Cast" and is_backward(self._run, event))
        if not grows or summary is None or not summary.nan:
            return grows
        if summary.pos_inf or summary.neg_inf:
            return True
        is_given = any(one.nan for one in self._given(event))
        return op_type != "Pow" and not is_given and not self._is_of_nothing(event)

    def _is_of_nothing(self, event: TensorEvent) -> bool:
        """Whether an input of what has made a tensor has no elements."""
        return any(one.size == 0 for one in self._given(event))

    def _led_to(self, event: TensorEvent, depth: int = _GRADIENT_DEPTH) -> set[Mark]:
        """Return marks of the ops that a tensor was made by, of finite values, for their gradients.

        Args:
            event: The tensor.
            depth: How many ops back.
        """
        marks: set[Mark] = set()
        for producer in self._dataflow.producers(event) if depth else ():
            if producer.event is not None and self._finite(event, producer):
                source = self._dataflow.origin(producer.event)
                made_by = op_type_of(self._run, source), stack_id_of(self._run, source)
                marks |= {("led to overflow", made_by), *self._led_to(source, depth - 1)}
        return marks

    def _is_quotient_too_large(self, event: TensorEvent) -> bool:
        """Whether a division overflowed, by a number that is not 0."""
        producers = self._dataflow.producers(event)
        if op_type_of(self._run, event) not in DIVISIONS or not producers:
            return False
        divisor = producers[-1]
        given = divisor.given or (self._summaries(divisor.event) if divisor.event else None)
        return self._finite(event, divisor) and given is not None and given.zero == 0

    def _given(self, event: TensorEvent) -> Iterator[TensorSummary]:
        """Yield what is on record of the inputs of a tensor."""
        for producer in self._dataflow.producers(event):
            one = producer.given or (self._summaries(producer.event) if producer.event else None)
            if one is not None:
                yield one

    def _is_step_to_infinity(self, event: TensorEvent) -> bool:
        """Whether a variable became infinite when it was updated, not NaN as by 0 / 0."""
        summary = self._summaries(event)
        if summary is None or summary.nan != 0:
            return False
        step = computes(op_type_of(self._run, event) or "")
        return step or any(producer.updated_by for producer in self._dataflow.producers(event))

    def _is_made_by_library(self, event: TensorEvent) -> bool:
        """Whether a line of a library, not of the user, has made a tensor in a forward pass."""
        return not is_backward(self._run, event) and len(self._lines(event)) > 1

    def _made_by_lines(self, event: TensorEvent, kind: Kind) -> set[Mark]:
        """Return what a tensor has that one code made in a graph, or eagerly."""
        lines = self._lines(event)
        made = kind, op_type_of(self._run, event), event.slot, lines
        return {("code", made)} if lines else set()

    def _lines(self, event: TensorEvent) -> tuple[tuple[str | None, int], ...]:
        """Return the user's line, and those of libraries on the way from there to TensorFlow.

        Lines of code that was generated are not among them: what that is given can be changed.
        """
        stack_id = stack_id_of(self._run, event)
        frames = self._run.stack(stack_id) if stack_id is not None else ()
        position = user_frame(frames)
        if position is None:
            return ()
        inner = [f for f in frames[position + 1 :] if not is_without_file(f)]
        lines = [frames[position], *inner]
        return tuple((f.path, f.line) for f in lines if _TENSORFLOW not in (f.path or ""))

    def _schedule(self, event: TensorEvent) -> tuple[tuple[str | None, int], ...]:
        """Return the lines of the learning rate schedule of Keras that has made a tensor, if any.

        The user's line is not where its numbers are chosen, and is another one wherever it is asked
        for a rate.
        """
        lines = self._lines(event)
        inside = [_SCHEDULES in (path or "") for path, _ in lines]
        return lines[inside.index(True) :] if True in inside else ()

    def _forward_marks(self, event: TensorEvent) -> set[Mark]:
        """Return what the tensor has whose gradient an event is."""
        marks: set[Mark] = {("graph", graph_id) for graph_id in self._forward_graphs(event)}
        before, *after = (op_name_of(self._run, event) or "").split("_grad/")
        for part in after:
            names = before.split("/")
            marks |= {("name", "/".join(names[start:])) for start in range(len(names))}
            before = f"{before}_grad/{part}"
        forward = self._forward_op(event)
        if forward is not None:
            made_by = forward.op_type, forward.stack_id
            marks.add(("line", made_by))
            if self._is_quotient_too_large(event):
                marks.add(("led to overflow", made_by))
        return marks

    def _forward_op(self, event: TensorEvent) -> ForwardOp | None:
        """Return the op whose gradient an event computes, or None."""
        if not is_backward(self._run, event):
            return None
        if event not in self._forward_ops:
            self._forward_ops[event] = forward_op(self._dataflow, event)
        return self._forward_ops[event]

    def _forward_graphs(self, event: TensorEvent) -> set[str]:
        """Return the graphs whose gradient an executed function computes, called ones included."""
        if event.kind != "execution":
            return set()
        calls = self._dataflow.calls
        kind = self._run.executions.kind(event.index)
        ids = calls.executed_graphs(kind)
        forward = {calls.forward_graph(i) for i in ids if i in self._run.graphs} - {None}
        names = {self._run.graphs[i].name for i in forward if i}
        return {
            graph_id
            for graph_id in list(self._run.graphs)
            if names and self._run.graphs[calls.outermost(graph_id)].name in names
        }

    def _inputs(self, event: TensorEvent, depth: int = _GRADIENT_DEPTH) -> set[Source]:
        """Return the tensors that an event was computed from: log(p) and 1/p share theirs.

        A gradient is computed from forward values, and from gradients of other values.  What the
        gradients of two ops begin with is no bug of theirs: they are added, or 1 to begin with.
        """
        if (event, depth) in self._sources:
            return self._sources[event, depth]
        found: set[Source] = set()
        for producer in self._dataflow.producers(event):
            if producer.event is None:
                if producer.op_type != "Const":
                    found.add((graph_id_of(self._run, event), producer.name))
                continue
            if not self._finite(event, producer):
                continue
            source = self._dataflow.origin(producer.event)
            if self._is_of_other_gradient(event, source):
                continue
            summary = producer.given or self._summaries(source)
            has_zero = summary is not None and bool(summary.zero)
            scalar = summary is not None and summary.size == 1
            number = scalar or op_type_of(self._run, source) == "Const"
            if has_zero or not number:
                found.add(source)
                if depth and is_backward(self._run, source):
                    found |= self._inputs(source, depth - 1)
        self._sources[event, depth] = found
        return found

    def _is_of_other_gradient(self, event: TensorEvent, source: TensorEvent) -> bool:
        """Whether two tensors are of the gradients of two ops, as far as these are known."""
        ops = self._forward_op(event), self._forward_op(source)
        return None not in ops and ops[0] != ops[1]

    def _code_key(self, event: TensorEvent) -> Hashable:
        """Return what an op keeps when its function is traced anew or run on another replica.

        Functions of one name may be different ones, as closures and lambdas are: lines tell.
        """
        op = graph_op_of(self._run, event)
        if op is None:
            return None
        forward = self._forward_op(event)
        parts = [part for part in op.name.split("/") if not part.startswith("replica_")]
        graph = self._run.graphs[op.graph_id]
        line = self._traced_line((forward or op).stack_id)
        return graph.name, "/".join(parts), event.slot, line

    def _traced_line(self, stack_id: int | None) -> tuple[str | None, int] | None:
        """Return the user's line in the function that was traced; None where it has none."""
        frames = self._run.stack(stack_id) if stack_id is not None else ()
        inner = frames_of_traced(frames)
        position = user_frame(inner)
        return (inner[position].path, inner[position].line) if position is not None else None
