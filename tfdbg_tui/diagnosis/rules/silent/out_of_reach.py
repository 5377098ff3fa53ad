"""Targets that a model can never give, or does not come near in any number of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import op_type_of
from tfdbg_tui.diagnosis.history import by_step, magnitudes_of
from tfdbg_tui.diagnosis.losses import (
    all_comes_through,
    behind,
    losses,
    made_of,
    magnitudes_of_loss,
)
from tfdbg_tui.diagnosis.op_traits import ARRANGES
from tfdbg_tui.diagnosis.roots.alert_sites import place_of
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import (
    TARGET_OUT_OF_REACH,
    TARGETS_TOO_LARGE,
)
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.rules.silent.saturation import Measured
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

_MANY = 5  # measured computations that have to show it: those of eight steps or more
_LONG = 30  # steps after which a training that comes nearer to its targets shows it
_TIMES = 1e4  # times as large as what a model gives are targets that it does not come near
_BOUNDED = frozenset({"Sigmoid", "Tanh"})  # at most 1
_FAR = {"Sub": 10.0, "SquaredDifference": 100.0}
"""How far from the result of such an activation targets are at least, in each computation.

Those of which but a few are out of reach, as standardised ones are, may be meant to be cut off.
"""
_DISTANCES = frozenset({"Square", "Abs"})


def find_out_of_reach(dataflow: Dataflow, measured: Measured) -> Iterator[Suspect]:
    """Yield the activations whose results a loss compares with what is far above all of them.

    Args:
        dataflow: Of the run.
        measured: Its tensors that were measured.
    """
    run = dataflow.run
    far = {place_of(run, event): found for event, found in measured if _is_far(run, event, found)}
    if not far:
        return
    for loss in losses(dataflow):
        for made in made_of(dataflow, loss):
            found = far.get(place_of(run, made))
            activation = _compared(dataflow, made) if found is not None else None
            if found is not None and activation is not None:
                match = Match("likely", _evidence(run, activation, made, found))
                yield Suspect(activation, TARGET_OUT_OF_REACH, match, len(found))


def find_too_large(dataflow: Dataflow, measured: Measured) -> Iterator[Suspect]:
    """Yield what models give, where losses are made of targets that are far larger.

    The loss shows that the targets are no numbers that a mask takes out, and no few among others.

    Args:
        dataflow: Of the run.
        measured: Its tensors that were measured.
    """
    run = dataflow.run
    differences = {
        place_of(run, event): found
        for event, found in measured
        if op_type_of(run, event) in _FAR and len(found) >= _MANY
    }
    for loss in losses(dataflow):
        steps, of_loss = by_step(run, magnitudes_of_loss(dataflow, loss))
        if len(steps) < _MANY or steps[-1] - steps[0] < _LONG:
            continue
        for event in made_of(dataflow, loss):
            found = differences.get(place_of(run, event))
            if found is None:
                continue
            given, *others = *_compared_with_data(dataflow, event), None
            if given is None or others != [None]:
                continue
            away = found.largest.min() ** (1.0 if op_type_of(run, event) == "Sub" else 0.5)
            mean = of_loss.min() ** (0.5 if _is_squared(dataflow, event) else 1.0)
            largest = magnitudes_of(dataflow, given).largest.max(initial=0.0)
            if 0 < _TIMES * largest <= min(away, mean):
                evidence = (
                    f"the model gives at most {largest:.3g}, and is compared with numbers that are "
                    f"{away:.3g} away and more in each of {len(found):,} computations measured; "
                    f"the loss was {of_loss[0]:.3g}, and is {of_loss[-1]:.3g}"
                )
                yield Suspect(given, TARGETS_TOO_LARGE, Match("likely", evidence), len(found))


def _is_squared(dataflow: Dataflow, difference: TensorEvent) -> bool:
    """Whether the loss is of the squares of differences."""
    uses = {use.op_type for use in dataflow.consumers(difference)}
    return op_type_of(dataflow.run, difference) == "SquaredDifference" or "Square" in uses


def _is_far(run: Run, event: TensorEvent, found: Magnitudes) -> bool:
    """Whether a difference is large in each computation measured: its largest element."""
    least = _FAR.get(op_type_of(run, event) or "")
    return least is not None and len(found) >= _MANY and bool(found.largest.min() >= least)


def _compared(dataflow: Dataflow, event: TensorEvent) -> TensorEvent | None:
    """Return the activation that a difference compares with what no trained variable is in."""
    found = _compared_with_data(dataflow, event)
    return next((made for made in found if op_type_of(dataflow.run, made) in _BOUNDED), None)


def _compared_with_data(dataflow: Dataflow, event: TensorEvent) -> Iterator[TensorEvent]:
    """Yield what a difference compares with what no trained variable is in.

    Where no variable is known, that is both.
    """
    run = dataflow.run
    uses = {use.op_type for use in dataflow.consumers(event)}
    if op_type_of(run, event) == "Sub" and uses.isdisjoint(_DISTANCES):
        return
    users = made_of(dataflow, event)
    for producer in dataflow.producers(event):
        made = behind(dataflow, producer.event, ARRANGES) if producer.event is not None else None
        if made is not None and all_comes_through(dataflow, users, made):
            yield made


def _evidence(run: Run, activation: TensorEvent, event: TensorEvent, found: Magnitudes) -> str:
    """Return what was measured.

    Args:
        run: The run.
        activation: The activation that is compared.
        event: The difference.
        found: Its magnitudes.
    """
    largest = found.largest if op_type_of(run, event) == "Sub" else found.largest**0.5
    return (
        f"{op_type_of(run, activation)} gives at most 1, and is compared with numbers that are up "
        f"to {largest.min():.3g} to {largest.max():.3g} away in each of {len(found):,} computations"
        " measured"
    )
