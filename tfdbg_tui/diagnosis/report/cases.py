"""What rules look at: a root with its inputs, what those were made from, and what uses it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import UNKNOWN_OP, graph_id_of, op_name_of, op_type_of, stack_id_of
from tfdbg_tui.diagnosis.gradients import forward_op, is_backward, is_backward_op
from tfdbg_tui.diagnosis.locations import in_optimizer, location_of
from tfdbg_tui.diagnosis.losses import loss_scale
from tfdbg_tui.diagnosis.report.first_large import outlier_of
from tfdbg_tui.diagnosis.report.gaps import is_circular
from tfdbg_tui.diagnosis.report.growth import (
    fall_of_loss,
    growth_of_gradient,
    growths_of,
    start_of,
    steady_before,
)
from tfdbg_tui.diagnosis.report.weights import grown_first, weights_by_step
from tfdbg_tui.diagnosis.report.when import element_of, step_of
from tfdbg_tui.diagnosis.roots import Health
from tfdbg_tui.diagnosis.rules.model import Case, Input, User
from tfdbg_tui.diagnosis.updates import changed_at
from tfdbg_tui.logdir import TensorSummary
from tfdbg_tui.logdir.index.training_calls import is_backward_stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow, Producer, Use
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots import Causes, Root
    from tfdbg_tui.diagnosis.rules.model import WeightGrowth
    from tfdbg_tui.logdir import Variable
    from tfdbg_tui.logdir.index.columns import Int64Array
    from tfdbg_tui.logdir.index.magnitudes import Floats

_PATTERN_DEPTH = 3
_SOURCES = 64  # inputs of an op, of which is looked what they are made from
_INNER_SOURCES = 8  # the same of the ops behind them, as their number multiplies at each level
_USERS = 8  # of a tensor, that are looked at
_USERS_DEPTH = 3  # ops behind these
_KEEPING = frozenset(("Reshape", "ExpandDims", "BroadcastTo", "Tile", "Cast", "AddV2", "Maximum"))
"""Ops whose results are still sums, or numbers of the program, where their inputs are."""


class CaseBuilder:
    """Gathers what is known about roots.

    Args:
        dataflow: Where tensors come from and go to.
        causes: The roots of its alerts.
    """

    def __init__(self, dataflow: Dataflow, causes: Causes) -> None:
        self._run = dataflow.run
        self._dataflow = dataflow
        self._causes = causes

    def case(self, root: Root) -> Case:
        """Return the case of a root; of what an op has added, as if nothing bad had come in."""
        case, added = self._whole_case(root), root.addition
        if added is None:
            return case
        inputs = [
            replace(given, summary=added.inputs.get(slot, given.summary), finite=True)
            for slot, given in enumerate(case.inputs)
        ]
        return replace(
            case,
            out=added.out,
            inputs=tuple(inputs),
            open=False,
            bad_input=False,
            unsure=case.unsure or not added.is_exact,
        )

    def _whole_case(self, root: Root) -> Case:
        case = self._with_gradients(self._case_of_op(root), root.event)
        return self._with_history(case, root.event)

    def _case_of_op(self, root: Root) -> Case:
        """Return what is known of the op of a root, of what it takes, and of what uses it."""
        run, event = self._run, root.event
        producers = self._dataflow.producers(event)
        graph = run.graphs.get(graph_id_of(run, event) or "")
        return Case(
            op_type=op_type_of(run, event) or UNKNOWN_OP,
            op_name=op_name_of(run, event),
            slot=event.slot,
            out=self._causes.summary(event) or TensorSummary(0),
            inputs=tuple(
                self._input(event, producer, _PATTERN_DEPTH if number < _SOURCES else 0)
                for number, producer in enumerate(producers)
            ),
            open=root.node.open,
            unsure=root.unsure or (root.node.open and run.has_skipped),
            bad_input=any(
                self._causes.health(event, producer) is Health.BAD for producer in producers
            ),
            eager=event.kind == "execution",
            function=event.kind == "execution" and run.executions.kind(event.index).is_function,
            users=self._users(event),
            used_with_input=self._used_with_input(event),
            index=event.index,
            cut_off=self._is_cut_off(event),
            graph_name=graph.name if graph else "",
            limits=", ".join(run.limits),
        )

    def _grown_weights(self, event: TensorEvent) -> WeightGrowth | None:
        step = step_of(self._dataflow, event)
        grown = grown_first(self._weights, step) if step is not None else None
        if grown is None:
            return None
        variable, growth = grown
        line = location_of(self._run, changed_at(self._dataflow, variable))
        return replace(growth, changed_at=line.short) if line is not None else growth

    @cached_property
    def _weights(self) -> dict[Variable, tuple[Int64Array, Floats]]:
        return weights_by_step(self._dataflow)

    def _with_gradients(self, case: Case, event: TensorEvent) -> Case:
        """Return a case with what the op has to do with the gradients of the program."""
        backward = is_backward(self._run, event)
        forward = forward_op(self._dataflow, event) if backward else None
        return replace(
            case,
            backward=backward,
            gradient_of=forward.op_type if forward else "",
            gradients=self._gradients,
            loss_scale=self._loss_scale if backward else 1.0,
            optimizer=in_optimizer(self._run, stack_id_of(self._run, event)),
        )

    def _with_history(self, case: Case, event: TensorEvent) -> Case:
        """Return a case with what the tensor, its data and losses were in earlier steps."""
        dataflow, training = self._dataflow, self._is_training(event)
        growth, loop_growth = growths_of(dataflow, event)
        return replace(
            case,
            healthy_before=self._healthy_before(event),
            in_earlier_step=self._is_in_earlier_step(event),
            # Before the training has begun, no steps are those of the training.
            growth=growth if training or not dataflow.variables.trained else None,
            steady=steady_before(dataflow, event),
            fall=fall_of_loss(dataflow, event) if training else None,
            loop_growth=loop_growth,
            weights=self._grown_weights(event) if training else None,
            gradient_growth=growth_of_gradient(dataflow, event) if case.optimizer else None,
            outlier=outlier_of(dataflow, event) if training else None,
            start=start_of(dataflow, event) if training else None,
            training=training,
        )

    @cached_property
    def _loss_scale(self) -> float:
        return loss_scale(self._dataflow)

    @cached_property
    def _gradients(self) -> bool:
        """Whether the program computes gradients."""
        run = self._run
        return (
            bool(run.gradient_requests)
            or any(
                is_backward_op(run, op)
                for graph in list(run.graphs.values())
                for op in list(graph.ops.values())
            )
            or any(
                is_backward_stack(run.stack(stack_id))
                for stack_id in np.unique(run.executions.stack_ids[:]).tolist()
            )
        )

    def _is_training(self, event: TensorEvent) -> bool:
        """Whether the program changes variables, and has begun to."""
        variables, timeline = self._dataflow.variables, self._dataflow.timeline
        if not variables.trained:
            return False
        execution = timeline.execution_at(event)
        return execution is None or execution >= variables.first_update

    def _is_cut_off(self, event: TensorEvent) -> bool:
        """Whether a circular buffer has dropped what an event, or its execution, was made from."""
        if not is_circular(self._run):
            return False
        timeline = self._dataflow.timeline
        if event.kind == "graph_execution":
            return timeline.execution_of(event.index) in (None, 0)
        first_made = min(timeline.execution(0).output_tensor_ids, default=0)
        taken = zip(
            timeline.execution(event.index).input_tensor_ids,
            self._dataflow.producers(event),
            strict=False,
        )
        return event.index == 0 or any(
            tensor_id < first_made and producer.event is None for tensor_id, producer in taken
        )

    def _input(self, event: TensorEvent, producer: Producer, depth: int) -> Input:
        summary = self._causes.input_summary(producer)
        finite = self._causes.health(event, producer) is Health.FINITE
        op_type, made_from = self._made_from(producer, depth)
        inferred = producer.inferred or self._dataflow.timeline.overtaken(event, producer.event)
        return Input(
            summary, finite, inferred, producer.name, op_type, made_from, producer.updated_by
        )

    def _made_from(self, producer: Producer, depth: int) -> tuple[str | None, tuple[Input, ...]]:
        """Return the type of op behind an input, and that op's inputs."""
        if producer.event is None:
            return producer.op_type, ()
        source = self._dataflow.origin(producer.event)
        op_type = op_type_of(self._run, source)
        if depth == 0:
            return op_type, ()
        inputs = []
        for inner in self._dataflow.producers(source)[:_INNER_SOURCES]:
            inner_type, made_from = self._made_from(inner, depth - 1)
            summary = self._causes.input_summary(inner)
            inputs.append(Input(summary, False, inner.inferred, inner.name, inner_type, made_from))
        return op_type, tuple(inputs)

    def _users(self, event: TensorEvent) -> tuple[User, ...]:
        return tuple(
            User(
                use.op_type or "",
                use.input_slot,
                self._types_beside(use),
                self._then(use),
                name=use.name,
            )
            for use in self._dataflow.consumers(event)[:_USERS]
        )

    def _then(self, use: Use, depth: int = _USERS_DEPTH) -> tuple[User, ...]:
        uses = self._dataflow.consumers(use.event)[:_USERS] if use.event and depth else ()
        return tuple(
            User(after.op_type or "", after.input_slot, then=self._then(after, depth - 1))
            for after in uses
        )

    def _types_beside(self, use: Use) -> frozenset[str]:
        """Return the types of the ops that make the other inputs of an op that uses a tensor."""
        found = set[str]()
        producers = self._dataflow.producers(use.event) if use.event else ()
        for producer in producers[:_SOURCES]:
            if producer.input_slot != use.input_slot:
                found.update(_types_of(*self._made_from(producer, _PATTERN_DEPTH)))
        return frozenset(found)

    def _used_with_input(self, event: TensorEvent) -> frozenset[str]:
        """Return types of the ops that take the result together with the op's own input."""
        mine = {p.event for p in self._dataflow.producers(event)[:1] if p.event}
        found = set()
        for use in self._dataflow.consumers(event)[:_USERS]:
            if use.event and use.op_type:
                theirs = {p.event for p in self._dataflow.producers(use.event)}
                if mine & theirs:
                    found.add(use.op_type)
        return frozenset(found)

    def _healthy_before(self, event: TensorEvent) -> int:
        if event.kind == "graph_execution":
            timeline = self._dataflow.timeline
            computed = int(np.searchsorted(timeline.rows_of(event.index), event.index))
            mine = timeline.execution_of(event.index)
            # A session runs the op once each time, a loop over a dataset for each batch.
            if mine is None or element_of(self._dataflow, event) is not None:
                return computed
            outermost = self._dataflow.calls.outermost(graph_id_of(self._run, event) or "")
            # A loop computes it several times in a call, and a branch in some calls alone.
            return min(computed, int(np.searchsorted(timeline.executions_of(outermost), mine)))
        return int(np.searchsorted(self._dataflow.timeline.alike(event.index), event.index))

    def _is_in_earlier_step(self, event: TensorEvent) -> bool:
        timeline = self._dataflow.timeline
        in_graph = event.kind == "graph_execution"
        rows = timeline.rows_of(event.index) if in_graph else timeline.alike(event.index)
        first = replace(event, index=int(rows[0]))
        before, now = (step_of(self._dataflow, one) for one in (first, event))
        return before is not None and now is not None and before < now


def _types_of(op_type: str | None, made_from: tuple[Input, ...]) -> Iterator[str]:
    """Yield the type of an op, and of those whose results it only reshapes, converts, adds to."""
    yield op_type or ""
    if op_type in _KEEPING:
        for given in made_from:
            yield from _types_of(given.op_type, given.made_from)
