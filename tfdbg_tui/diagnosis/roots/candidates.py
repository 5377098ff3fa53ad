"""Candidates that a program does not take: it keeps the best one so far, not a bad number.

``if error < best: best = error`` is false for NaN, so a candidate whose error is NaN is left out,
as in a search that tries many starting points, or by RANSAC.  That is so where the same comparison
chooses between what it compares, or what that was computed from, and where what was kept was itself
chosen before: a bound that is written down, or another number, is none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.dataflow.calls import BRANCHES, LOOPS
from tfdbg_tui.diagnosis.dataflow.links import copied_input
from tfdbg_tui.diagnosis.dataflow.neighbours import Node
from tfdbg_tui.diagnosis.dataflow.variables import assigns
from tfdbg_tui.diagnosis.op_traits import COMBINES_ANSWERS, SELECTS_ELEMENTS
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots.alert_sites import Summaries
    from tfdbg_tui.logdir import GraphOp, TensorRef
    from tfdbg_tui.logdir.index.columns import Int64Array

_ORDERS = frozenset({"Greater", "GreaterEqual", "Less", "LessEqual"})
_ANSWERS = 16  # that come of one comparison
_TERMS = 32  # tensors that one is computed from
_AROUND = 16  # computations of a line before one, and after it


@dataclass(frozen=True)
class _Choice:
    """What an answer chooses from.

    Attributes:
        chooser: The op that chooses: a select, or a branch.
        one: A tensor.
        another: Another one, or the variable that is assigned the first one, or is not.
    """

    chooser: Node
    one: Node
    another: Node


@dataclass(frozen=True)
class Candidates:
    """Tells whether a program has kept something else than a bad number.

    Attributes:
        dataflow: Of the run.
        summaries: What is on record of its tensors.
    """

    dataflow: Dataflow
    summaries: Summaries

    def leave_out(self, event: TensorEvent, comparisons: list[Node]) -> bool:
        """Whether comparisons choose between a bad tensor and what was chosen before.

        What is chosen is looked at by itself.

        Args:
            event: The bad tensor.
            comparisons: Ops that compare it.
        """
        neighbours = self.dataflow.neighbours
        takers = neighbours.uses(neighbours.of_event(event))
        choosing = {
            self._compared(node)
            for node in takers
            if node.op_type in _ORDERS and self._chooses(event, node)
        }
        return bool(comparisons) and all(
            node.op_type in _ORDERS
            and (self._compared(node) in choosing or self._is_left_out_by_python(node))
            for node in comparisons
        )

    # ---- By a select or a branch

    def _compared(self, comparison: Node) -> Hashable:
        """Return what tells the tensors that an op compares from others."""
        inputs = self.dataflow.neighbours.all_inputs(comparison)
        return tuple((node.input_slot, self._tensor(node)) for node in inputs)

    def _chooses(self, event: TensorEvent, comparison: Node) -> bool:
        sides = self.dataflow.neighbours.all_inputs(comparison)
        mine = [node for node in sides if node.input_slot == comparison.input_slot]
        others = [node for node in sides if node not in mine]
        candidates = {term for node in mine for term in self._terms(node)}
        before = {term for node in others for term in self._terms(node)}
        is_finite = all(map(self._holds_finite, others)) or self._is_finite_elsewhere(event)
        return is_finite and any(
            self._is_compared(new, old, candidates, before)
            and self._was_chosen(event, old, choice.chooser)
            for choice in self._choices(comparison)
            for new, old in ((choice.one, choice.another), (choice.another, choice.one))
        )

    def _is_compared(
        self, new: Node, old: Node, candidates: set[Hashable], before: set[Hashable]
    ) -> bool:
        """Whether what is chosen from was compared: one with the other, or their difference.

        Of a difference, it is the bad one that is not chosen.

        Args:
            new: The candidate.
            old: What is kept otherwise.
            candidates: What is compared, and what it was computed from.
            before: The same of what it is compared with.
        """
        one, another = self._tensor(new), self._tensor(old)
        if one not in candidates or one == another:
            return False
        summary = self.summaries(new.event) if new.event is not None else None
        is_bad = summary is not None and summary.has_inf_or_nan is True
        return (another in before and one not in before) or (another in candidates and is_bad)

    def _choices(self, comparison: Node) -> Iterator[_Choice]:
        """Yield what is chosen by an answer."""
        answers = Worklist([comparison], most=_ANSWERS)
        for answer in answers:
            for taker in self.dataflow.neighbours.uses(answer):
                if taker.op_type in SELECTS_ELEMENTS and taker.input_slot == 0:
                    given = self.dataflow.neighbours.all_inputs(taker)[1:]
                    if len(given) == 2:
                        yield _Choice(taker, *given)
                elif taker.op_type in BRANCHES and taker.slot is None:
                    yield from self._of_branches(taker)
                elif taker.is_boundary or taker.op_type in COMBINES_ANSWERS:
                    answers.add(taker)

    def _of_branches(self, taker: Node) -> Iterator[_Choice]:
        """Yield what branches only hand out, or assign, of what they are given."""
        op, calls = self.dataflow.run.op(taker.graph_id or "", taker.name), self.dataflow.calls
        called = calls.called_graphs(op) if op is not None else ()
        if op is None:
            return
        outputs = zip(*map(calls.outputs, called[:2]), strict=False)
        for one, another in outputs:
            new, old = (
                self._given(op, called[0], one, taker),
                self._given(op, called[1], another, taker),
            )
            if new is not None and old is not None:
                yield _Choice(taker, new, old)
        for graph_id in called:
            for inside in list(self.dataflow.run.graphs[graph_id].ops.values()):
                if assigns(inside.op_type) and len(inside.inputs) > 1:
                    value = self._given(op, graph_id, inside.inputs[-1], taker)
                    if value is not None:
                        variable = Node("variable", graph_id, inside.name, inside.op_type)
                        yield _Choice(taker, value, variable)

    def _given(self, op: GraphOp, graph_id: str, ref: TensorRef, taker: Node) -> Node | None:
        """Return the input of a branch that a tensor of one of its graphs is, or None.

        Args:
            op: The branch.
            graph_id: The graph.
            ref: The tensor.
            taker: The branch, as it was computed.
        """
        inside = self.dataflow.run.op(graph_id, self._copied(graph_id, ref).op_name)
        if inside is None or inside.op_type != "Placeholder" or taker.at is None:
            return None
        given = self.dataflow.calls.given(inside, op)
        if given is None:
            return None
        given = self._copied(op.graph_id, given)
        node = self.dataflow.neighbours.of_op(op.graph_id, given.op_name, given.slot, taker.at.row)
        return replace(node, event=self.dataflow.timeline.find(op.graph_id, given, taker.at))

    def _copied(self, graph_id: str, ref: TensorRef) -> TensorRef:
        """Return the tensor that one of a graph is a copy of, or the tensor itself."""
        source: TensorRef | None = ref
        while source is not None:
            ref = source
            op = self.dataflow.run.op(graph_id, ref.op_name)
            source = copied_input(op, ref.slot) if op is not None else None
        return ref

    def _terms(self, node: Node) -> set[Hashable]:
        """Return a tensor and those that it was computed from, since a loop's iteration began."""
        waiting, seen = [node], {self._tensor(node)}
        while waiting and len(seen) < _TERMS:
            term = waiting.pop(0)
            if term.is_boundary and not self._is_of_branch(term):
                continue
            for given in self.dataflow.neighbours.all_inputs(term):
                if self._tensor(given) not in seen:
                    seen.add(self._tensor(given))
                    waiting.append(given)
        return seen

    def _tensor(self, node: Node) -> Hashable:
        """Return what tells a tensor from others: a branch's argument is what it was given.

        What reads a variable, or assigns to it, stands for it.
        """
        while self._is_of_branch(node):
            inputs = self.dataflow.neighbours.inputs(node)
            if not inputs:
                break
            node = inputs[0]
        op = self.dataflow.run.op(node.graph_id, node.name) if node.graph_id else None
        if op is not None and (op.op_type == "ReadVariableOp" or assigns(op.op_type)):
            return self.dataflow.variables.handle(op) or node.name
        if node.graph_id is None:
            return node.event or node.name
        return node.graph_id, node.name, node.slot

    def _is_of_branch(self, node: Node) -> bool:
        return node.kind == "argument" and self._called_by(node) in BRANCHES

    def _called_by(self, node: Node) -> str:
        """Return the type of the op that calls the graph of a node; "" for none."""
        site = self.dataflow.calls.call_site(node.graph_id or "")
        return site.op.op_type if site is not None and site.op is not None else ""

    def _was_chosen(self, event: TensorEvent, old: Node, chooser: Node) -> bool:
        """Whether what is kept was chosen before, or the next is chosen from what has come of it.

        Args:
            event: The bad tensor.
            old: What is kept in its place.
            chooser: The op that chooses.
        """
        return (
            old.kind == "variable"
            or old.op_type in SELECTS_ELEMENTS | BRANCHES
            or (old.kind == "argument" and self._called_by(old) in LOOPS)
            or self._is_assigned(chooser, self._tensor(old))
            or self._comes_again(event, old, chooser)
        )

    def _is_assigned(self, chooser: Node, variable: Hashable) -> bool:
        """Whether what is chosen is assigned to a variable."""
        takers = self.dataflow.neighbours.uses(chooser)
        return any(
            assigns(taker.op_type or "") and self._tensor(taker) == variable for taker in takers
        )

    def _comes_again(self, event: TensorEvent, old: Node, chooser: Node) -> bool:
        """Whether Python gives what has come of a choice to the next one of the same line."""
        calls, timeline = self.dataflow.calls, self.dataflow.timeline
        row, slot = timeline.execution_at(event), None
        if chooser.graph_id is None and chooser.event is not None:
            row, slot = chooser.event.index, old.input_slot
        elif old.kind == "argument" and calls.call_site(old.graph_id or "") is None:
            slot = calls.argument_slot(old.graph_id or "", old.name)
        if row is None or slot is None:
            return False
        rows = _near(timeline.alike(row), row)
        made = {tensor_id for index in rows for tensor_id in timeline.output_ids(index)}
        return any(not made.isdisjoint(timeline.input_ids(index)[slot:][:1]) for index in rows)

    def _holds_finite(self, node: Node) -> bool:
        """Whether a tensor, or what a branch has handed out, is finite."""
        while node.is_boundary and (inside := self.dataflow.neighbours.inputs(node)):
            node = inside[0]
        return node.event is not None and self._is_finite(node.event)

    def _is_finite_elsewhere(self, event: TensorEvent) -> bool:
        """Whether other computations of a tensor are finite."""
        timeline = self.dataflow.timeline
        is_eager = event.kind == "execution"
        rows = timeline.alike(event.index) if is_eager else timeline.rows_of(event.index)
        return any(self._is_finite(replace(event, index=row)) for row in _near(rows, event.index))

    def _is_finite(self, event: TensorEvent) -> bool:
        summary = self.summaries(event)
        return summary is not None and summary.has_inf_or_nan is False

    # ---- By Python

    def _is_left_out_by_python(self, comparison: Node) -> bool:
        """Whether Python uses other candidates of a line, but not this one, and has gone on."""
        if comparison.graph_id is not None or comparison.event is None:
            return False
        if self.dataflow.neighbours.uses(comparison):
            return False
        timeline, row = self.dataflow.timeline, comparison.event.index
        rows = _near(timeline.alike(row), row)
        taken = {index for index in rows if self._is_taken(index, comparison.input_slot, rows)}
        return row not in taken and bool(taken) and row != max(rows)

    def _is_taken(self, row: int, slot: int, rows: list[int]) -> bool:
        """Whether what a line compares is used otherwise than as a candidate.

        Args:
            row: A comparison.
            slot: Which of its inputs the candidates are.
            rows: The comparisons of that line.
        """
        timeline = self.dataflow.timeline
        candidate = timeline.input_ids(row)[slot]
        made = timeline.maker(candidate, row)
        users = timeline.users(candidate, made.index if made is not None else row)
        return any(
            other_slot != slot
            if user in rows
            else self.dataflow.run.executions.kind(user).op_type not in _ORDERS
            for user, other_slot in users
        )


def _near(rows: Int64Array, row: int) -> list[int]:
    """Return those of some rows, ascending, that are near one of them."""
    place = int(np.searchsorted(rows, row))
    found: list[int] = rows[max(0, place - _AROUND) : place + _AROUND].tolist()
    return found
