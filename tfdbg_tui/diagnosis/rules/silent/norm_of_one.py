"""Normalisations over a single number, which leave 0 of whatever they are given."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.diagnosis.events import graph_op_of, op_type_of, size_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import outputs_of_same_op
from tfdbg_tui.diagnosis.layers import LayersOfOps
from tfdbg_tui.diagnosis.losses import given_to, losses, made_of
from tfdbg_tui.diagnosis.op_traits import ARRANGES, BATCH_NORMS, ELEMENTWISE, JOINS
from tfdbg_tui.diagnosis.roots.alert_sites import place_of
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import NORM_OF_ONE
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect
from tfdbg_tui.diagnosis.worklist import Worklist
from tfdbg_tui.logdir.text import counted

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.rules.silent.saturation import Measured
    from tfdbg_tui.logdir import Layer, Run
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

_DIFFERENCES = frozenset({"Sub", "SquaredDifference"})
_SCALES = frozenset({"Mul", "RealDiv"})
_OF_NORMS = ELEMENTWISE | (ARRANGES - JOINS) | {"Mean", "Sum"}
_MEAN, _VARIANCE = 1, 2  # outputs of these


class _Norm(NamedTuple):
    """Differences of a tensor from its mean, or their variance, and of what they are measured."""

    event: TensorEvent
    found: Magnitudes
    of: TensorEvent


class NormsOfOne(NamedTuple):
    """Normalisations over a single number.

    Attributes:
        suspects: At most one, which names the layers of all.
        behind: The layers that what is normalised comes from: no gradient gets to them by that way.
    """

    suspects: list[Suspect]
    behind: set[Layer]


def find_norms_of_one(dataflow: Dataflow, measured: Measured) -> NormsOfOne:
    """Return the normalisations in the way of a loss whose means are each of one number alone.

    What a mean is taken of is as large as the mean itself then, and their difference is 0.

    Args:
        dataflow: Of the run.
        measured: Its tensors that were measured often enough.
    """
    run = dataflow.run
    ones = {_op_of(run, norm.event): norm for norm in _zeros(dataflow, measured)}
    layers = LayersOfOps(run)
    behind: set[Layer] = set()
    told: dict[Hashable, _Norm] = {}
    for loss in losses(dataflow) if ones else ():
        users = made_of(dataflow, loss)
        given = given_to(users)
        for made in users:
            norm = ones.get(_op_of(run, made))
            if norm is None or (of := _op_of(run, norm.of)) in told:
                continue
            if _is_divided_by(dataflow, users, made):
                told[of] = norm
                before = _reached(given, [made])
                behind.update(layer for one in before if (layer := layers.of_event(one)))
    return NormsOfOne(_suspects(layers, [*told.values()]), behind)


def _op_of(run: Run, event: TensorEvent) -> Hashable:
    op = graph_op_of(run, event)
    return (op.graph_id, op.name) if op is not None else place_of(run, event)


def _zeros(dataflow: Dataflow, measured: Measured) -> Iterator[_Norm]:
    """Yield the differences from a mean, or variances, that are 0 as each mean is of one number.

    Args:
        dataflow: Of the run.
        measured: Its tensors that were measured often enough.
    """
    run = dataflow.run
    for event, found in measured:
        op_type = op_type_of(run, event)
        if found.largest.any() or is_backward(run, event):
            continue
        given = _given_to(dataflow, event)
        if op_type in _DIFFERENCES and len(given) == 2:
            pairs = [(mean, of) for mean, of in permutations(given) if _is_mean(dataflow, mean, of)]
        elif op_type in BATCH_NORMS and event.slot == _VARIANCE:
            outputs = outputs_of_same_op(dataflow, event)
            pairs = [(one, given[0]) for one in outputs if one.slot == _MEAN]
        else:
            continue
        for mean, of in pairs:
            if mean is not None and of is not None and size_of(run, mean) == size_of(run, of) > 0:
                yield _Norm(event, found, of)


def _is_mean(dataflow: Dataflow, mean: TensorEvent | None, of: TensorEvent | None) -> bool:
    """Whether a tensor is the mean of another one.

    Args:
        dataflow: Of the run.
        mean: The tensor.
        of: The other one.
    """
    if mean is None or op_type_of(dataflow.run, mean) != "Mean":
        return False
    return of in _given_to(dataflow, mean)


def _is_divided_by(
    dataflow: Dataflow, users: Mapping[TensorEvent, Set[TensorEvent]], event: TensorEvent
) -> bool:
    """Whether what was centred is scaled by what comes of the differences: their deviation.

    Args:
        dataflow: Of the run.
        users: What a loss is made of, and what each is used for there.
        event: The differences.
    """
    run = dataflow.run
    if op_type_of(run, event) in BATCH_NORMS:
        return True
    by_element = {
        made: {taker for taker in takers if op_type_of(run, taker) in _OF_NORMS}
        for made, takers in users.items()
    }
    centred = {event} | {one for one in _given_to(dataflow, event) if one is not None}
    deviation = _reached(by_element, [event])
    scaled = centred | _reached(by_element, centred)
    return any(
        op_type_of(run, one) in _SCALES and _is_of(_given_to(dataflow, one), scaled, deviation)
        for one in scaled
    )


def _is_of(
    given: Sequence[TensorEvent | None], some: Set[TensorEvent], others: Set[TensorEvent]
) -> bool:
    """Whether of two different tensors one is of some, and one of others."""
    first, second = (*given, None, None)[:2]
    pairs = ((first, second), (second, first)) if first != second else ()
    return any(one in some and other in others for one, other in pairs)


def _given_to(dataflow: Dataflow, event: TensorEvent) -> list[TensorEvent | None]:
    """Return what an op has taken, behind copies; None for what is not on record."""
    return [p.event and dataflow.origin(p.event) for p in dataflow.producers(event)]


def _reached(
    links: Mapping[TensorEvent, Set[TensorEvent]], events: Iterable[TensorEvent]
) -> set[TensorEvent]:
    """Return all that links lead to from some tensors, by way of others."""
    found = Worklist(one for event in events for one in links.get(event, ()))
    for event in found:
        found.add(*links.get(event, ()))
    return found.seen


def _suspects(layers: LayersOfOps, norms: list[_Norm]) -> list[Suspect]:
    """Return one suspect for all normalisations: they have one mistake in common.

    Args:
        layers: Of the run.
        norms: These.
    """
    if not norms:
        return []
    first, *others = sorted(norms, key=lambda norm: norm.event.index)
    more = f"; so in {counted(len(others), 'more normalisation')}" if others else ""
    evidence = (
        "each mean is of one number alone, so that what is left without it is 0: in all "
        f"{len(first.found):,} computations measured{more}"
    )
    of = [layer for norm in others if (layer := layers.of_event(norm.event))]
    match = Match("proved", evidence)
    return [Suspect(first.event, NORM_OF_ONE, match, len(norms), others=tuple(dict.fromkeys(of)))]
