"""Whether bad values got anywhere: those that a program leaves out again do no harm.

An attention mask of -∞ ends in a softmax, NaN where data is missing ends in a ``tf.where``, an
overflow in ``1 / (1 + exp(-x))`` ends as 0.  A loss scaler asks whether gradients are finite and
skips the step.  In a search for shortest paths ∞ is the distance of what has not been reached.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.elements import Elements
from tfdbg_tui.diagnosis.dataflow.unrecorded import UnrecordedLinks
from tfdbg_tui.diagnosis.dataflow.variables import assigns
from tfdbg_tui.diagnosis.events import graph_op_of, op_type_of, size_of
from tfdbg_tui.diagnosis.gradients import (
    is_backward,
    is_kept_by_library,
    is_not_given,
    is_passed_on,
)
from tfdbg_tui.diagnosis.op_traits import (
    ARGUMENTS,
    ASKS,
    BATCH_NORMS,
    BOUNDS,
    COMBINES_ANSWERS,
    COMPARISONS,
    COUNTS_ANSWERS,
    DATASET_ELEMENTS,
    MOVES,
    SHOWS,
    SMALL_TYPES,
    is_list_op,
    only_makes_floats,
)
from tfdbg_tui.diagnosis.roots.bad_use import BadUse, may_hold_nan
from tfdbg_tui.diagnosis.roots.pipelines import Pipelines
from tfdbg_tui.diagnosis.roots.questions import Questions
from tfdbg_tui.diagnosis.roots.tolerance import Infinity, Tolerance, tolerance_of
from tfdbg_tui.diagnosis.roots.uses import does_no_harm
from tfdbg_tui.diagnosis.unread import is_unread_element
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow, Use
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots.alert_sites import AlertSite, Summaries

_TRIED = 16  # later computations of a gradient that are looked at

_PARTS = (
    *("GatherNd", "GatherV2", "ResourceGather", "Slice"),
    *("Split", "SplitV", "StridedSlice", "Unpack"),
)
_EXTREMES = frozenset({"Max", "Min"})
_KEEP_BAD = COMPARISONS | BOUNDS | frozenset(_PARTS)
"""Ops that compare a tensor, bound it or take parts of it: it is as bad to Python as without."""

SPREAD = 500
"""So many places that are bad were not contained."""


@dataclass(frozen=True, slots=True)
class _Bug:
    """What is known of a root by which what it has made bad is judged.

    Attributes:
        tolerance: What its ∞ may become.
        is_given: Whether it was given to the program, or is of no elements, as is meant.
        list_is_read: Whether something bad was read of a list, into which the program has put it.
    """

    tolerance: Tolerance
    is_given: bool
    list_is_read: bool


class Containment:
    """Follows bad tensors to their uses.

    Attributes:
        pipelines: Knows what goes out of the pipelines of data.

    Args:
        dataflow: Where tensors come from and go to.
        summaries: Returns what was recorded of a tensor.
    """

    def __init__(self, dataflow: Dataflow, summaries: Summaries) -> None:
        self._run = dataflow.run
        self._dataflow = dataflow
        self._summaries = summaries
        self._unrecorded = UnrecordedLinks(dataflow)
        self._questions = Questions(dataflow, summaries)
        self._elements = Elements(dataflow)
        self.pipelines = Pipelines(dataflow, self._unrecorded, self._elements)

    def contained(self, root: TensorEvent, sites: list[AlertSite], *, given: bool) -> bool:
        """Whether every use of every bad tensor of these places gives finite values again.

        Args:
            root: The first bad tensor.
            sites: All places that are bad because of it, its own included.
            given: Whether an input of the root left no record, so that it may be from outside.
        """
        if len(sites) > SPREAD:
            return False
        made = self._infinity(root, sites, given=given)
        if made.grows_in_loop:
            return True
        bug = _Bug(
            tolerance_of(made),
            made.is_from_outside or made.is_given_by_python or self._is_of_nothing(root),
            any(is_list_op(op_type_of(self._run, site.first)) for site in sites),
        )
        places = {site.place for site in sites}
        asked = any(self._questions.leave_out(site.first, places) for site in sites)
        # Uses inside graphs are quick to look up, those of eager tensors are not.
        ordered = sorted(sites, key=lambda site: site.first.kind == "execution")
        return all(
            self._harmless(event, bug)
            or (self._passing(site, event) and (asked or self._left_out_by_python(site)))
            for site in ordered
            for event in dict.fromkeys((site.first, site.last))
        )

    def is_from_outside(self, root: TensorEvent, *, given: bool) -> bool:
        """Whether no op has computed a bad tensor, as far as is recorded; see `Infinity`.

        Args:
            root: The first bad tensor.
            given: Whether an input of it left no record.
        """
        return self._infinity(root, [], given=given).is_from_outside

    def is_data(self, root: TensorEvent, *, given: bool) -> bool:
        """Whether it is NaN that the program, or a function, was given.

        Args:
            root: The first bad tensor.
            given: Whether an input of it left no record.
        """
        summary = self._summaries(root)
        if op_type_of(self._run, root) not in ARGUMENTS or summary is None or not summary.nan:
            return False
        return self.is_from_outside(root, given=given)

    def _infinity(self, root: TensorEvent, sites: list[AlertSite], *, given: bool) -> Infinity:
        return Infinity(self._dataflow, self._summaries, root, sites, given)

    def _uses(self, event: TensorEvent) -> tuple[Use, ...]:
        """Return the uses of a tensor.

        What becomes of a gradient that is given to the program is up to the program: that the tape
        goes on to other gradients with it is no use of it.
        """
        uses = self._dataflow.consumers(event)
        if uses and is_passed_on(self._run, event):
            return tuple(u for u in uses if u.event is None or not is_backward(self._run, u.event))
        return uses

    def _passing(self, site: AlertSite, event: TensorEvent) -> bool:
        """Whether a tensor that nothing recorded takes, such as a loss, was finite again later.

        Where the program asks whether values are finite, it has then left out what was not.
        """
        uses = [use for use in self._uses(event) if use.op_type not in ASKS]
        return not uses and self._recovered(site)

    def _left_out_by_python(self, site: AlertSite) -> bool:
        """Whether gradients that nothing takes are taken in a later step: Python has looked first.

        A loss scaler written by hand asks NumPy, which leaves no record.
        """
        if site.last.kind != "execution" or not is_backward(self._run, site.last):
            return False
        last = site.last.index
        alike = self._dataflow.timeline.alike(last)
        steps = self._run.executions.steps.numbers_of(alike)
        later = alike[(alike > last) & (steps > steps[alike == last][0])]
        events = (replace(site.last, index=row) for row in later[:_TRIED].tolist())
        return any(map(self._uses, events))

    def _recovered(self, site: AlertSite) -> bool:
        last = site.last.index
        if site.last.kind == "graph_execution":
            return bool(self._dataflow.timeline.rows_of(last)[-1] > last)
        alike = self._dataflow.timeline.alike(last)
        return bool(alike[-1] > last)

    def _harmless(self, event: TensorEvent, bug: _Bug) -> bool:
        """Whether a bad tensor does no harm: by its uses, or though it has none."""
        tolerance = self._tolerated(event, bug.tolerance)
        uses = self._uses(event)
        if uses and self.pipelines.leaves(event, uses):
            return True  # what comes out of the pipeline is looked at by itself
        uses = tuple(use for use in uses if use.op_type not in SHOWS)
        if event.kind == "execution":
            if self._guards_python(event, uses):
                return True
            uses = self._uses_besides_python(event, uses, bug)
        if not uses:
            return self._harmless_without_uses(event, tolerance)
        if tolerance is not Tolerance.KEPT and self._bounded(event, uses):
            tolerance = Tolerance.ABSORBED
        recorded = any(use.event is not None for use in uses)
        return all(
            self._does_no_harm(event, use, tolerance, list_is_read=bug.list_is_read)
            or (recorded and self._never_ran(event, use))
            for use in uses
        )

    def _tolerated(self, event: TensorEvent, tolerance: Tolerance) -> Tolerance:
        """Return what a bad tensor may become: less where it may hold NaN.

        Args:
            event: The tensor.
            tolerance: What ∞ may become, by the root.
        """
        summary = self._summaries(event)
        if summary is None or (summary.nan and tolerance is not Tolerance.MARKER):
            return Tolerance.LEFT_OUT
        if summary.nan is None and tolerance is Tolerance.KEPT:
            return Tolerance.ABSORBED  # NaN or ∞: the dump does not tell which
        return tolerance

    def _uses_besides_python(
        self, event: TensorEvent, uses: tuple[Use, ...], bug: _Bug
    ) -> tuple[Use, ...]:
        """Return the uses of an eager tensor that may do other harm than what Python does with it.

        Args:
            event: The tensor.
            uses: All of them.
            bug: What has made it bad.
        """
        uses = tuple(use for use in uses if not self._only_told(use))
        if self._is_result(event, uses):
            return ()
        if not bug.is_given and self._is_read(event):
            return tuple(use for use in uses if not self._stays_bad(use))
        return uses

    def _harmless_without_uses(self, event: TensorEvent, tolerance: Tolerance) -> bool:
        """Whether a bad tensor does no harm though nothing that is recorded takes it.

        Args:
            event: The tensor.
            tolerance: What it may become.
        """
        # Statistics are NaN for an empty batch; it is their use that would do harm.
        # (tf.debugging.enable_check_numerics leaves them out as well.)
        statistics = op_type_of(self._run, event) in BATCH_NORMS and event.slot > 0
        stays = tolerance in (Tolerance.KEPT, Tolerance.MARKER)
        harmless = statistics or stays or self._unused(event) or self._is_spare(event)
        return harmless or self._unrecorded.goes_into_call(event)

    def _is_result(self, event: TensorEvent, uses: tuple[Use, ...]) -> bool:
        """Whether only gradients are computed from an eager tensor: Python has the tensor itself.

        Of a function's outputs, which may be kept for its gradient alone, those inside tell.
        """
        if self._run.executions.kind(event.index).is_function or is_backward(self._run, event):
            return False
        takers = [use.event for use in uses]
        return all(taker is not None and is_backward(self._run, taker) for taker in takers)

    def _is_of_nothing(self, event: TensorEvent) -> bool:
        """Whether a tensor is the largest or the smallest of no elements: ∞, as is meant."""
        if op_type_of(self._run, event) not in _EXTREMES:
            return False
        sizes = (
            size_of(self._run, one.event) for one in self._dataflow.producers(event) if one.event
        )
        return 0 in sizes

    def _is_read(self, event: TensorEvent) -> bool:
        """Whether Python has read an eager tensor, and may show it, whatever ops make of it.

        A loss is printed, and compared with the best one so far.
        """
        made = self._run.executions[event.index].output_tensor_ids[event.slot : event.slot + 1]
        file_set = self._run.executions.kind(event.index).file_set
        return bool(made) and self._run.is_read_by_python(file_set, made[0])

    def _stays_bad(self, use: Use) -> bool:
        """Whether a bad tensor that Python shows does as much harm with a use as without it.

        It does where eager code cuts it off at a number that is written down: who does so reckons
        with what is beyond.  The best one so far was computed, or is kept in a variable.  And where
        it is compared with a logarithm it is one itself: that of 0, as a sampler's ratio may be.
        """
        made_of = () if use.event is None else self._dataflow.producers(use.event)
        is_log = use.op_type in COMPARISONS and any(one.op_type == "Log" for one in made_of)
        if use.op_type not in _KEEP_BAD or is_log:
            return False
        if use.event is None or use.event.kind != "execution" or use.op_type not in BOUNDS & MOVES:
            return True
        kept = any(assigns(taker.op_type or "") for taker in self._dataflow.consumers(use.event))
        # Of an eager constant there is no record; nor is there of what is read of a variable.
        return kept or all(made.event for made in made_of)

    def _only_told(self, use: Use) -> bool:
        """Whether only Python learns if a tensor is finite: perhaps to tell the user.

        What Python does then leaves no record.
        """
        if use.op_type not in ASKS:
            return False
        answers = Worklist([use.event] if use.event is not None else [])
        for event in answers:
            for answer in self._dataflow.consumers(event):
                if answer.event is None or answer.op_type not in COUNTS_ANSWERS:
                    return False
                answers.add(answer.event)
        return True

    def _guards_python(self, event: TensorEvent, uses: tuple[Use, ...]) -> bool:
        """Whether Python asks whether a gradient is finite, to leave it out, and nothing takes it.

        A loss scaler does; numbers of its small types count even where they are no gradient yet.
        """
        if not uses or not all(map(self._only_told, uses)):
            return False
        summary = self._summaries(event)
        if summary is not None and summary.dtype in SMALL_TYPES:
            return True
        return is_backward(self._run, event) and any(use.op_type == "IsFinite" for use in uses)

    def _never_ran(self, event: TensorEvent, use: Use) -> bool:
        """Whether an op was left out by TensorFlow, as nothing that has an effect needs it.

        This project's writer lets it do so in ADAPTIVE: neither the op nor any that was made from
        it has left a record, and none of them is an output of the function.
        """
        op = graph_op_of(self._run, event)
        timeline = self._dataflow.timeline
        if op is None or not timeline.grouped or self._run.has_skipped:
            return False
        graph = self._run.graphs[op.graph_id]
        outputs = {ref.op_name for ref in self._dataflow.calls.outputs(op.graph_id)}
        names = Worklist([use.name])
        for name in names:
            follower = graph.ops.get(name)
            known = follower is not None and _has_no_effect(follower.op_type)
            if not known or name in outputs or timeline.sites(op.graph_id, name):
                return False
            names.add(*(consumer.op_name for consumer in graph.consumers(name)))
        return True

    def _unused(self, event: TensorEvent) -> bool:
        """Whether a bad tensor is a gradient that nobody asked for, is kept for one, or not read.

        A loss that is not used is no such thing: what matters is its gradient.
        """
        op = graph_op_of(self._run, event)
        if op is not None and op.op_type == "Placeholder":
            return True  # an argument that this branch does not use
        if op is None:
            if op_type_of(self._run, event) in DATASET_ELEMENTS:
                return is_unread_element(self._run, event)
            return is_not_given(self._run, event) or is_kept_by_library(self._run, event)
        if not is_backward(self._run, event):
            return False
        return not self._dataflow.calls.may_call_unrecorded(op.graph_id)

    def _is_spare(self, event: TensorEvent) -> bool:
        """Whether an op of a graph has another output that is taken, while nothing takes this one.

        What a function gives and keeps, this project's writer records.
        """
        op = graph_op_of(self._run, event)
        if op is None or op.num_outputs < 2:
            return False
        graph = self._run.graphs[op.graph_id]
        given = {name for signature in graph.signatures for name in signature.output_names}
        is_given = f"{op.name}:{event.slot}" in given
        return bool(given) and not is_given and bool(graph.consumers(op.name))

    def _does_no_harm(
        self, event: TensorEvent, use: Use, tolerance: Tolerance, *, list_is_read: bool
    ) -> bool:
        taken = BadUse(
            dataflow=self._dataflow,
            summaries=self._summaries,
            unrecorded=self._unrecorded,
            event=event,
            use=use,
            tolerance=tolerance,
            list_is_read=list_is_read,
            elements=self._elements,
        )
        return does_no_harm(taken)

    def _bounded(self, event: TensorEvent, uses: tuple[Use, ...]) -> bool:
        """Whether the program sets a bound to ∞, and so reckons with it, also in the gradient."""
        made = [self._summaries(u.event) for u in uses if u.event and u.op_type in BOUNDS]
        finite = any(summary is not None and summary.has_inf_or_nan is False for summary in made)
        return finite and not may_hold_nan(self._summaries(event))


def _has_no_effect(op_type: str) -> bool:
    """Whether ops of a type do nothing but make tensors; of floating-point ones there is a record.

    A comparison has none, but what is computed from its answer, or decided by it.
    """
    return only_makes_floats(op_type) or op_type in COMPARISONS | COMBINES_ANSWERS | {"Cast"}
