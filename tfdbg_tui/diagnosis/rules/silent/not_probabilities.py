"""Cross entropies that want probabilities and are given other numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import op_type_of, summary_of
from tfdbg_tui.diagnosis.history import magnitudes_of, sample_of
from tfdbg_tui.diagnosis.losses import losses, made_of
from tfdbg_tui.diagnosis.roots.alert_sites import place_of
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import NOT_PROBABILITIES
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.rules.silent.saturation import Measured

_MANY = 5  # measured computations that have to show it: those of eight steps or more
_SAMPLE = 8  # of them whose records are read
_ROUNDED = 0.01  # a probability is no further from 0 and 1


def find_not_probabilities(dataflow: Dataflow, measured: Measured) -> Iterator[Suspect]:
    """Yield what is clipped to 0 to 1 and given to a logarithm, where it never is in between.

    Args:
        dataflow: Of the run.
        measured: Its tensors that were measured.
    """
    run = dataflow.run
    clipped = {
        place_of(run, event)
        for event, found in measured
        if op_type_of(run, event) == "Maximum" and len(found) >= _MANY and found.largest.max() <= 1
    }
    if not clipped:
        return
    for loss in losses(dataflow):
        for made in made_of(dataflow, loss):
            given = _clipped(dataflow, made) if place_of(run, made) in clipped else None
            if given is None:
                continue
            ends = _outside(dataflow, given)
            if ends:
                evidence = (
                    f"numbers of {min(ends)[0]:.3g} to {max(high for _, high in ends):.3g} are "
                    f"clipped to 0 to 1 before the logarithm, some in each of {len(ends):,} "
                    "computations looked at"
                )
                event = _predicted(dataflow, given)
                yield Suspect(event, NOT_PROBABILITIES, Match("likely", evidence), len(ends))


def _clipped(dataflow: Dataflow, event: TensorEvent) -> TensorEvent | None:
    """Return what a clip is given whose result a logarithm takes: `Maximum` of a `Minimum`."""
    if not _goes_to_log(dataflow, event):
        return None
    for producer in dataflow.producers(event):
        if producer.event is not None and producer.op_type == "Minimum":
            return next((given.event for given in dataflow.producers(producer.event)), None)
    return None


def _goes_to_log(dataflow: Dataflow, event: TensorEvent) -> bool:
    """Whether a logarithm takes a tensor, or the sum of it and a small number, as Keras has it."""
    uses = dataflow.consumers(event)
    sums = [use.event for use in uses if use.op_type == "AddV2" and use.event is not None]
    after = [use for added in sums for use in dataflow.consumers(added)]
    return any(use.op_type == "Log" for use in (*uses, *after))


def _outside(dataflow: Dataflow, event: TensorEvent) -> list[tuple[float, float]]:
    """Return the extremes of some computations of a tensor, if all are beyond 0 to 1."""
    rows = magnitudes_of(dataflow, event).rows
    if len(rows) < _MANY:
        return []
    found = []
    for row in sample_of(rows, _SAMPLE).tolist():
        summary = summary_of(dataflow.run, replace(event, index=row))
        if summary is None or summary.minimum is None or summary.maximum is None:
            return []
        if summary.minimum >= -_ROUNDED and summary.maximum <= 1 + _ROUNDED:
            return []
        found.append((summary.minimum, summary.maximum))
    return found


def _predicted(dataflow: Dataflow, event: TensorEvent) -> TensorEvent:
    """Return what a model gives: Keras divides it by its sum before."""
    if op_type_of(dataflow.run, event) != "RealDiv":
        return event
    return next((given.event for given in dataflow.producers(event) if given.event), event)
