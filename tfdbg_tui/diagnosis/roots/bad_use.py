"""An op that takes a bad tensor: what is asked about that, to judge whether it does harm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.calls import CONTROL
from tfdbg_tui.diagnosis.events import graph_op_of, is_bad, op_type_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.op_traits import (
    ARRANGES,
    BOUNDS,
    COMBINES_ANSWERS,
    COMPARISONS,
    DIVISIONS,
    LEAVES_OUT,
    SELECTS_ELEMENTS,
    SUMS,
    is_list_op,
    unrecorded,
)
from tfdbg_tui.diagnosis.roots.candidates import Candidates
from tfdbg_tui.diagnosis.roots.guards import Guards
from tfdbg_tui.diagnosis.roots.tolerance import Tolerance
from tfdbg_tui.diagnosis.values import total
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow, Use
    from tfdbg_tui.diagnosis.dataflow.elements import Elements
    from tfdbg_tui.diagnosis.dataflow.neighbours import Node
    from tfdbg_tui.diagnosis.dataflow.unrecorded import UnrecordedLinks
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots.alert_sites import Summaries
    from tfdbg_tui.logdir import TensorSummary


_REDUCES_ANSWERS = frozenset({"All", "Any"})
_PASSES_ANSWERS = COMBINES_ANSWERS | _REDUCES_ANSWERS
_FOLLOWED = 100  # answers that come of one comparison, numbers of one conversion


@dataclass(frozen=True)
class BadUse:
    """An op that takes a bad tensor.

    Attributes:
        dataflow: Of the run.
        summaries: What is on record of its tensors.
        unrecorded: What tensors lead to that is not on record.
        event: The bad tensor.
        use: Its use by the op.
        tolerance: What may become of the tensor for it to count as harmless.
        list_is_read: Whether the program reads the list again into which it is put.
        elements: What becomes of elements of datasets.
    """

    dataflow: Dataflow
    summaries: Summaries
    unrecorded: UnrecordedLinks
    event: TensorEvent
    use: Use
    tolerance: Tolerance
    list_is_read: bool
    elements: Elements

    @property
    def op_type(self) -> str:
        """Type of the op; "" if it is not known."""
        return self.use.op_type or ""

    @property
    def made(self) -> TensorSummary | None:
        """What the op made of the tensor; None where that is not on record.

        Of an eager op that makes an index, a sample or a condition only that it ran is on record.
        """
        return self.summaries(self.use.event) if self.use.event is not None else None

    @property
    def unseen(self) -> bool:
        """Whether it is not on record what the op made."""
        return self.made is None

    @property
    def may_be_nan(self) -> bool:
        """Whether the tensor may hold NaN, and not only ∞."""
        return may_hold_nan(self.summaries(self.event))

    @property
    def has_place_in_order(self) -> bool:
        """Whether one element alone is ∞: of several that overflowed the order is lost."""
        given = self.summaries(self.event)
        if given is None or self.may_be_nan:
            return False
        return max(given.neg_inf or 0, given.pos_inf or 0) == 1

    @property
    def is_bound(self) -> bool:
        """Whether the tensor is a bound that the program has set, or ∞ moved from such bounds.

        The maximum of no elements, in each iteration of a `tf.map_fn`, is one in a list.
        """
        if self.may_be_nan:
            return op_type_of(self.dataflow.run, self.event) in BOUNDS
        waiting, seen = [self.event], {self.event}
        while waiting and len(seen) <= _FOLLOWED:
            event = waiting.pop()
            op_type = op_type_of(self.dataflow.run, event)
            if op_type in BOUNDS:
                continue
            if op_type not in ARRANGES and not is_list_op(op_type):
                return False
            bad = {maker for maker in self._makers(event) if is_bad(self.dataflow.run, maker)}
            if not bad:
                return False
            waiting += bad - seen
            seen |= bad
        return not waiting

    def _makers(self, event: TensorEvent) -> list[TensorEvent]:
        return [maker.event for maker in self.dataflow.producers(event) if maker.event is not None]

    @property
    def decides_about_itself(self) -> bool:
        """Whether comparisons of ∞ only tell selects where to take that very tensor.

        So a program replaces ∞, or sets a bound to it, by hand.
        """
        if self.may_be_nan:
            return False
        uses, takers = self.dataflow.neighbours.uses, self._takers
        selects = {_op_of(taker) for taker in takers if taker.op_type in SELECTS_ELEMENTS}
        answers = Worklist(taker for taker in takers if taker.op_type in COMPARISONS)
        decided: set[Node] = set()
        for answer in answers:
            for taker in uses(answer):
                if taker.op_type in COMBINES_ANSWERS:
                    answers.add(taker)
                else:
                    decided.add(taker)
        return bool(decided) and selects.issuperset(map(_op_of, decided))

    @property
    def decides_about_bad_elements(self) -> bool:
        """Whether comparisons of NaN only tell selects that give NaN as often as it was compared.

        So an algorithm that computes many numbers at once goes on with what it leaves out later.
        That a loop ends at last decides nothing, where NaN goes on by itself.
        """
        uses = self.dataflow.neighbours.uses
        takers, answers, decided = self._takers, Worklist(self._of_this_op), False
        for answer in answers:
            followers = uses(answer)
            ends = answer.is_boundary or answer.op_type in _REDUCES_ANSWERS
            decided |= not followers and ends and any(map(self._holds_it, takers))
            for taker in followers:
                if taker.op_type in SELECTS_ELEMENTS and taker.input_slot == 0:
                    if not self._holds_it(taker):
                        return False
                    decided = True
                elif (
                    not (taker.is_boundary or taker.op_type in _PASSES_ANSWERS)
                    or len(answers.seen) > _FOLLOWED
                ):
                    return False
                else:
                    answers.add(taker)
        return decided

    @property
    def is_bounded_later(self) -> bool:
        """Whether the program bounds, replaces or leaves out what comes of what the op makes."""
        made, bounding = Worklist(self._of_this_op, most=_FOLLOWED + 1), BOUNDS | LEAVES_OUT
        for node in made:
            for taker in self.dataflow.neighbours.uses(node):
                if taker.op_type in bounding:
                    return True
                made.add(taker)
        return False

    @property
    def is_guarded(self) -> bool:
        """Whether the answers about bad elements do not count: see `guards`."""
        guards = Guards(self.dataflow, self.summaries)
        return guards.leave_out(self.event, self._of_this_op)

    @property
    def is_left_out_candidate(self) -> bool:
        """Whether the program keeps what it had chosen before: see `candidates`."""
        candidates = Candidates(self.dataflow, self.summaries)
        return candidates.leave_out(self.event, self._of_this_op)

    @property
    def _takers(self) -> tuple[Node, ...]:
        neighbours = self.dataflow.neighbours
        return neighbours.uses(neighbours.of_event(self.event))

    @property
    def _of_this_op(self) -> list[Node]:
        """Return the op, where it takes the tensor; eager ones have only types for names."""
        return [taker for taker in self._takers if taker.name == self.use.name]

    def _holds_it(self, taker: Node) -> bool:
        """Whether what takes NaN, or an answer about it, is NaN as often."""
        given = self.summaries(self.event)
        made = self.summaries(taker.event) if taker.event is not None else None
        return made is not None and given is not None and (made.nan or 0) >= (given.nan or 1)

    @property
    def goes_into_function(self) -> bool:
        """Whether the op is a call, and what happens inside is on record."""
        if self.op_type in CONTROL or self.use.via == "argument":
            return True
        calls, timeline = self.dataflow.calls, self.dataflow.timeline
        return (self.use.via == "eager" and self.op_type.startswith("__")) and any(
            timeline.recorded_whole(graph_id) for graph_id in calls.function_graphs(self.op_type)
        )

    @property
    def decides_about_element(self) -> bool:
        """Whether a dataset's filter looks at an element, and what takes that is on record."""
        return self.elements.is_decided_about(self.event)

    @property
    def is_of_dropped_element(self) -> bool:
        """Whether a dataset ignores the errors of the function that has made the tensor."""
        op = graph_op_of(self.dataflow.run, self.event)
        return op is not None and self.elements.are_dropped(op.graph_id)

    @property
    def goes_into_read_list(self) -> bool:
        """Whether the tensor is put into a list that the program reads again."""
        return is_list_op(self.op_type) and self.list_is_read

    @property
    def comes_again(self) -> bool:
        """Whether ∞ is kept for the gradient, or handed out of a loop's body or a branch."""
        if self.tolerance is Tolerance.LEFT_OUT or self.may_be_nan:
            return False
        if self.op_type == "TensorListPushBack":
            return True
        return self.unrecorded.goes_out(self.event, self.use)

    @property
    def is_discarded(self) -> bool:
        """Whether it is handed out of a loop or a branch, to nobody."""
        return self.unrecorded.is_discarded(self.event, self.use)

    @property
    def ended_before(self) -> bool:
        """Whether the op is recorded at other times, but the program ended before it ran.

        Pipelines prepare data that nobody asks for any more.
        """
        op = graph_op_of(self.dataflow.run, self.event)
        calls, timeline = self.dataflow.calls, self.dataflow.timeline
        return (
            op is not None
            and calls.in_pipeline(op.graph_id)
            and bool(timeline.sites(op.graph_id, self.use.name))
        )

    @property
    def becomes_no_float(self) -> bool:
        """Whether the op makes an index, a sample or a condition, of which there are no records."""
        return bool(self.op_type) and not unrecorded(self.op_type)

    @property
    def doubtful(self) -> bool:
        """Whether it is not certain what the op made of the tensor in this very call."""
        made = self.made
        return made is None or made.has_inf_or_nan is None or not self._same_call

    @property
    def divides_by_it(self) -> bool:
        """Whether the op divides by the tensor."""
        return self.op_type in DIVISIONS and self.use.input_slot == (self.op_type == "RealDiv")

    @property
    def loses_numerators(self) -> bool:
        """Whether numbers are divided by a sum that is ∞, as which they are all lost.

        The constant of a harmonic mean, 1 / (1/a + 1/b), is none to lose.
        """
        if not self.divides_by_it or op_type_of(self.dataflow.run, self.event) not in SUMS:
            return False
        below, made = self.summaries(self.event), self.made
        if below is None or made is None or not below.size or not made.size:
            return False
        infinite = total(below, "pos_inf", "neg_inf") or 0
        shown = total(made, "nan", "pos_inf", "neg_inf") or 0
        if infinite * (made.size // below.size) <= shown or self.use.event is None:
            return False
        return not self._divides_constant

    @property
    def is_reciprocal(self) -> bool:
        """Whether a constant is divided by the tensor, as in 1 / (1 + x * x)."""
        return self.divides_by_it and self.use.event is not None and self._divides_constant

    @property
    def _divides_constant(self) -> bool:
        producers = self.dataflow.producers(self.use.event) if self.use.event is not None else ()
        numerator = next(iter(producers), None)
        return numerator is None or (
            self.op_type == "Reciprocal" or numerator.op_type in (None, "Const", "Reciprocal")
        )

    @property
    def is_in_its_gradient(self) -> bool:
        """Whether a value goes into a gradient: SqrtGrad takes what Sqrt has made."""
        made = self.use.event
        return (
            made is not None
            and is_backward(self.dataflow.run, made)
            and not is_backward(self.dataflow.run, self.event)
        )

    @property
    def is_bad_again(self) -> bool:
        """Whether the op has made a bad tensor of it, this time or in another run of its call."""
        made = self.made
        return (made is not None and bool(made.has_inf_or_nan)) or self._is_bad_elsewhere

    @property
    def _is_bad_elsewhere(self) -> bool:
        timeline, made = self.dataflow.timeline, self.use.event
        if made is None or not timeline.grouped or not timeline.overtaken(made, self.event):
            return False
        others = map(self.summaries, timeline.alternatives(made))
        return any(other is not None and bool(other.has_inf_or_nan) for other in others)

    @property
    def _same_call(self) -> bool:
        event, made = self.event, self.use.event
        if made is None or event.kind != "graph_execution" or made.kind != "graph_execution":
            return True
        timeline = self.dataflow.timeline
        return timeline.execution_of(event.index) == timeline.execution_of(made.index)


def _op_of(node: Node) -> tuple[str | None, str, TensorEvent | None]:
    """Return what tells the op of a node from others."""
    return node.graph_id, node.name, node.event


def may_hold_nan(summary: TensorSummary | None) -> bool:
    """Whether a bad tensor may hold NaN, and not only ∞."""
    return summary is None or summary.nan is None or summary.nan > 0
