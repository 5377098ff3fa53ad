"""Defects that have not led to NaN or ∞, or not yet.

A healthy program must never be suspected: these tests want to see the same thing in all of many
calls, of tensors of some size.  They look at a sample of each place's tensors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import (
    TensorEvent,
    graph_id_of,
    name_of,
    op_type_of,
    recorded_layer,
)
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import measured_tensors, sample_of
from tfdbg_tui.diagnosis.layers import LayersOfOps
from tfdbg_tui.diagnosis.roots.alert_sites import place_of
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent import defects
from tfdbg_tui.diagnosis.rules.silent.bounded import find_at_bound
from tfdbg_tui.diagnosis.rules.silent.broadcast import find_broadcasts
from tfdbg_tui.diagnosis.rules.silent.cross_entropies import (
    find_minus_missing,
    find_no_probabilities,
)
from tfdbg_tui.diagnosis.rules.silent.dead_relu import RECTIFIERS, dead_relu, is_hinge
from tfdbg_tui.diagnosis.rules.silent.divergence import find_divergence, find_exploded
from tfdbg_tui.diagnosis.rules.silent.headroom import find_near_overflow
from tfdbg_tui.diagnosis.rules.silent.long_steps import find_long_steps
from tfdbg_tui.diagnosis.rules.silent.no_gradient import find_only_of_penalties
from tfdbg_tui.diagnosis.rules.silent.not_probabilities import find_not_probabilities
from tfdbg_tui.diagnosis.rules.silent.nothing_trained import (
    find_gradients_none,
    find_not_applied,
    find_nothing_trained,
)
from tfdbg_tui.diagnosis.rules.silent.only_zeros import find_only_zeros
from tfdbg_tui.diagnosis.rules.silent.out_of_reach import find_out_of_reach, find_too_large
from tfdbg_tui.diagnosis.rules.silent.penalty import find_too_strong
from tfdbg_tui.diagnosis.rules.silent.skipped_steps import find_skipped_steps
from tfdbg_tui.diagnosis.rules.silent.slots import find_exploded_slots
from tfdbg_tui.diagnosis.rules.silent.softmax_of_one import find_softmax_of_one
from tfdbg_tui.diagnosis.rules.silent.softmax_twice import find_sigmoid_twice, find_softmax_twice
from tfdbg_tui.diagnosis.rules.silent.stalled import find_stalled
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect
from tfdbg_tui.diagnosis.rules.silent.symmetry import find_units_alike
from tfdbg_tui.diagnosis.rules.silent.tiny_updates import find_tiny_updates
from tfdbg_tui.diagnosis.rules.silent.unchanged import find_unchanged

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.roots import Causes
    from tfdbg_tui.diagnosis.rules.model import Defect
    from tfdbg_tui.logdir import Site, TensorSummary
    from tfdbg_tui.logdir.index.columns import Int64Array

_SAMPLE = 12  # computations of a place that are looked at
_MANY = 8  # computations of a place that are needed to say that something always happens
_SOME_SIZE = 32  # elements of a tensor of which it means something that all are alike

_LOGITS = frozenset({"BiasAdd", "MatMul"})
_SAMPLED = RECTIFIERS | {"Exp", "Cast", "Softmax"}

_CONSEQUENCES = (
    (defects.SOFTMAX_OF_ONE, (defects.NO_GRADIENT,)),
    (defects.ALL_STEPS_SKIPPED, (defects.TRAINING_DIVERGES,)),  # gradients grow with their scale
    (defects.ONLY_ZEROS, (defects.LAYER_NEVER_CHANGES, defects.DEAD_RELU)),
    (
        defects.NUMBERS_EXPLODE,
        (defects.SATURATED_SOFTMAX, defects.SATURATED_ACTIVATION),
    ),
)
"""What is always so where something else is, and is told by that."""

_TOO_LONG = (
    defects.STEPS_TOO_LONG,
    defects.ONE_STEP_TOO_LONG,
    defects.TRAINING_DIVERGES,
    defects.LOSS_FALLS_WITHOUT_END,
)
_FOLLOW = {
    defects.DEAD_RELU: "all outputs are 0",
    defects.SATURATED_SOFTMAX: "the softmax is saturated",
    defects.SATURATED_ACTIVATION: "activations are saturated",
    defects.VANISHING_GRADIENT: "gradients vanish",
    defects.UPDATES_TOO_SMALL: "steps are too short to change weights",
    defects.GRADIENT_NEXT_TO_NOTHING: "gradients are too small to change weights",
}
"""What steps that are too long lead to, in words."""


def find_suspects(dataflow: Dataflow, causes: Causes) -> list[Suspect]:
    """Return the places with silent defects, in order of their first tensors.

    Args:
        dataflow: Where tensors come from.
        causes: The roots of its alerts.
    """
    skipped = find_skipped_steps(dataflow, causes)
    if any(not root.contained for root in causes.roots):
        return skipped  # every other statistic of a run with NaN is distorted
    search = _Search(dataflow, causes)
    measured = list(measured_tensors(dataflow.run))
    found = [
        *skipped,
        *search.sampled(),
        *find_softmax_twice(dataflow),
        *find_sigmoid_twice(dataflow),
        *find_broadcasts(dataflow, causes),
        *find_softmax_of_one(dataflow, measured),
        *find_not_probabilities(dataflow, measured),
        *find_out_of_reach(dataflow, measured),
        *find_too_large(dataflow, measured),
        *find_no_probabilities(dataflow),
        *find_minus_missing(dataflow),
        *find_only_zeros(dataflow, measured),
        *find_near_overflow(dataflow.run, search.reckoned),
        *(
            list(find_at_bound(dataflow))
            or find_divergence(dataflow)
            or find_exploded(dataflow)
            or find_long_steps(dataflow)
        ),
        *find_unchanged(dataflow),
        *find_only_of_penalties(dataflow),
        *find_nothing_trained(dataflow),
        *find_not_applied(dataflow),
        *find_gradients_none(dataflow),
        *find_tiny_updates(dataflow),
        *find_too_strong(dataflow),
        *find_units_alike(dataflow),
        *find_exploded_slots(dataflow),
        *find_stalled(dataflow),
    ]
    told = _with_what_follows(dataflow, _without_consequences(found))
    return sorted(_told_once(dataflow, told), key=lambda suspect: suspect.event.index)


def _without_consequences(found: list[Suspect]) -> list[Suspect]:
    """Return suspects without those that others are the reason of."""
    told = {suspect.rule.id for suspect in found}
    follow = {one.id for cause, some in _CONSEQUENCES if cause.id in told for one in some}
    return [suspect for suspect in found if suspect.rule.id not in follow]


def _with_what_follows(dataflow: Dataflow, found: list[Suspect]) -> list[Suspect]:
    """Return suspects, those that another one has led to as part of that.

    Steps that are too long, or the first layer that has died of one of them: layers after it are
    given zeros.  What was so in the first step has another cause.

    Args:
        dataflow: Of the run.
        found: The suspects.
    """
    first = next(iter(dataflow.run.executions.steps.numbers.tolist()), None)
    late = [one for one in found if one.rule in _FOLLOW and one.since != first]
    dead = [one for one in late if one.rule is defects.DEAD_RELU and one.since is not None]
    dead.sort(key=lambda one: one.since or 0)
    causes = [*(one for one in found if one.rule in _TOO_LONG), *dead[:1]]
    if not causes:
        return found
    cause = causes[0]
    follow = late if cause.rule in _TOO_LONG else dead[1:]
    evidence, layers = cause.match.evidence, LayersOfOps(dataflow.run)
    for rule, what in _FOLLOW.items():
        mine = [one for one in follow if one.rule is rule]
        of = [(one.event, layers.of_event(one.event)) for one in mine]
        named = (layer.path if layer else name_of(dataflow.run, event) for event, layer in of)
        names = ", ".join(dict.fromkeys(named))
        since = min((one.since for one in mine if one.since is not None), default=None)
        evidence += f"; then {what} in {names}" * bool(mine)
        evidence += f" from step {since:,} on" if since is not None else ""
    same = (layers.of_event(one.event) for one in follow if one.rule is cause.rule)
    others = (*cause.others, *dict.fromkeys(layer for layer in same if layer is not None))
    told = replace(cause, match=replace(cause.match, evidence=evidence), others=others)
    return [told if one is cause else one for one in found if one not in follow]


def _told_once(dataflow: Dataflow, found: list[Suspect]) -> Iterator[Suspect]:
    """Yield suspects, those of the same ops once.

    Where zeros are counted as well as measured, both ways find a layer that is off.  Training and
    evaluation compute it in functions of their own, or eagerly: that of the training is told.
    """
    run = dataflow.run
    told: set[Hashable] = set()
    graphs: dict[Hashable, str | None] = {}
    for suspect in sorted(found, key=lambda suspect: _order(dataflow, suspect.event)):
        kind = suspect.rule.id, suspect.layer
        layer, graph = recorded_layer(run, suspect.event), graph_id_of(run, suspect.event)
        place = *kind, place_of(run, suspect.event)
        ops_of_layer = *kind, layer, op_type_of(run, suspect.event)
        elsewhere = layer is not None and graphs.setdefault(ops_of_layer, graph) != graph
        if place not in told and not elsewhere:
            told.add(place)
            yield suspect


def _order(dataflow: Dataflow, event: TensorEvent) -> tuple[bool, int]:
    """Return a key by which what is in a training step sorts first, and then what ran first."""
    return _step(dataflow, event) is None, dataflow.timeline.first_execution(event)


def _step(dataflow: Dataflow, event: TensorEvent) -> int | None:
    mine = dataflow.timeline.execution_at(event)
    return dataflow.run.executions.steps.of(mine) if mine is not None else None


class _Search:
    def __init__(self, dataflow: Dataflow, causes: Causes) -> None:
        run = dataflow.run
        self._run = run
        self._dataflow = dataflow
        self._causes = causes
        # Where numbers overflow and do no harm, those that are about to are reckoned with too.  A
        # loss scale makes gradients overflow on purpose, and nothing else.
        self.reckoned = {
            graph_id_of(run, node.site.first)
            for root in causes.roots
            for node in root.members
            if not is_backward(run, root.event)
        }

    def sampled(self) -> Iterator[Suspect]:
        """Look at a sample of the tensors of places that can have defects."""
        for site, site_id in list(self._run.site_numbers.items()):
            op = self._run.op(site.graph_id, site.op_name)
            if op is None or op.op_type not in _SAMPLED or site.graph_id in self.reckoned:
                continue
            rows = self._run.graph_executions.rows_of(site_id)
            if len(rows) < _MANY:
                continue
            suspect = self._of_site(site, op.op_type, rows)
            if suspect is not None:
                yield suspect

    def _of_site(self, site: Site, op_type: str, rows: Int64Array) -> Suspect | None:
        events = [
            TensorEvent("graph_execution", row, site.output_slot)
            for row in sample_of(rows, _SAMPLE).tolist()
        ]
        summaries = [self._causes.summary(event) for event in events]
        known = [summary for summary in summaries if summary is not None]
        if len(known) < len(events):
            return None
        if op_type in RECTIFIERS and all(map(_all_zero, known)):
            if is_hinge(self._dataflow, events[-1]):
                return None
            return self._suspect(
                dead_relu(self._dataflow, events[0]),
                events,
                len(rows),
                f"all {known[-1].size:,} outputs are 0 in each of {len(rows):,} computations",
            )
        if op_type == "Exp" and all(map(_all_zero, known)):
            return self._suspect(
                defects.EXP_UNDERFLOW,
                events,
                len(rows),
                f"all {known[-1].size:,} results are 0 in each of {len(rows):,} computations",
            )
        if op_type == "Softmax":
            return self._saturated(events, known, len(rows))
        if op_type == "Cast":
            return self._underflow(events, known, len(rows))
        return None

    def _saturated(
        self, events: list[TensorEvent], known: list[TensorSummary], times: int
    ) -> Suspect | None:
        """A layer's softmax of which most is 0; where there is a mask, that is as it should be."""
        producers = self._dataflow.producers(events[-1])
        if not producers or producers[0].op_type not in _LOGITS or known[-1].dtype == "float16":
            return None
        zeros = sum(summary.zero or 0 for summary in known)
        size = sum(summary.size or 0 for summary in known)
        always = all(
            (s.size or 0) >= _SOME_SIZE and (s.zero or 0) * 2 >= (s.size or 0) for s in known
        )
        if not always or not self._dataflow.variables.trained:
            return None
        evidence = f"{zeros:,} of {size:,} probabilities looked at are exactly 0"
        return self._suspect(defects.SATURATED_SOFTMAX, events, times, evidence)

    def _underflow(
        self, events: list[TensorEvent], known: list[TensorSummary], times: int
    ) -> Suspect | None:
        """Gradients that a cast to float16 turns into zeros."""
        lost = size = 0
        for event, after in zip(events, known, strict=True):
            producers = self._dataflow.producers(event)
            before = (
                self._causes.summary(producers[0].event)
                if (producers and producers[0].event)
                else None
            )
            if after.dtype != "float16" or before is None:
                return None
            if before.zero is None or after.zero is None or (after.size or 0) < _SOME_SIZE:
                return None
            lost += after.zero - before.zero
            size += (after.size or 0) - before.zero
        if not size or lost < 0.9 * size or not is_backward(self._run, events[0]):
            return None
        evidence = f"{lost:,} of {size:,} gradients that are not 0 in float32 are 0 in float16"
        return self._suspect(defects.GRADIENT_UNDERFLOW, events, times, evidence)

    def _suspect(
        self, rule: Defect, events: list[TensorEvent], times: int, evidence: str
    ) -> Suspect:
        since = _step(self._dataflow, events[0])
        return Suspect(events[0], rule, Match("likely", evidence), times, since=since)


def _all_zero(summary: TensorSummary) -> bool:
    return summary.zero is not None and summary.zero == summary.size and summary.zero >= _SOME_SIZE
