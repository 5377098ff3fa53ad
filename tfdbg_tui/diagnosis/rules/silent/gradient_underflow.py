"""Gradients that float16 rounds to 0, or leaves few digits of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import dtype_of, magnitudes_of
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import GRADIENT_UNDERFLOW
from tfdbg_tui.diagnosis.rules.silent.layer_gradients import lost_at
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect
from tfdbg_tui.diagnosis.values import told_apart
from tfdbg_tui.logdir import Layer
from tfdbg_tui.logdir.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.rules.silent.layer_gradients import LayerGradient

_SMALLEST_HALF = float(np.finfo(np.float16).tiny)  # that has all its digits
_FEW_UNITS = 4 * float(np.finfo(np.float16).smallest_subnormal)  # two digits of two are left


def find_underflowing(dataflow: Dataflow, gradients: list[LayerGradient]) -> Iterator[Suspect]:
    """Yield the first gradient in float16 that is lost, all the time, as it is too small.

    Either all are below what has all its digits (one alone may be of what the program leaves out),
    or those of some layers are 0, or next to it, because what they are made of is that small.

    Args:
        dataflow: Of the run.
        gradients: Those of its layers.
    """
    half = [
        gradient for gradient in gradients if dtype_of(dataflow.run, gradient.event) == "float16"
    ]
    largest = max((float(gradient.largest.max()) for gradient in half), default=np.inf)
    if len(half) < 2 or not 0 < largest < _SMALLEST_HALF:
        yield from _rounded_to_zero(dataflow, half)
        return
    first = min(half, key=lambda gradient: gradient.event.index)
    reached, bound = told_apart(largest, _SMALLEST_HALF, 3)
    evidence = (
        f"all {len(half):,} gradients of layers in float16 are at most {reached} in all "
        f"{len(first.largest):,} steps measured: numbers below {bound} lose digits, "
        "and those below 3e-8 are 0"
    )
    yield Suspect(first.event, GRADIENT_UNDERFLOW, Match("likely", evidence), len(half))


def _rounded_to_zero(dataflow: Dataflow, half: list[LayerGradient]) -> Iterator[Suspect]:
    """Yield the first gradient that is rounded to 0, with the layers that get none therefore.

    Of what is in no layer several have to be: one alone may be of what the program leaves out.

    Args:
        dataflow: Of the run.
        half: The gradients of layers in float16.
    """
    alive = {one.layer for one in half if one.layer and one.largest.max() > _FEW_UNITS}
    lost: dict[TensorEvent, float] = {}
    of: dict[Layer | TensorEvent, int] = {}
    for gradient in half:
        if gradient.layer in alive or gradient.largest.max() > (
            _FEW_UNITS if gradient.layer else 0
        ):
            continue
        at = gradient.event if gradient.largest.any() else lost_at(dataflow, gradient.event)
        largest = float(gradient.largest.max()) or _rounded(dataflow, at)
        if largest:
            lost[at] = largest
            of[gradient.layer or gradient.event] = len(gradient.largest)
    layers = [one for one in of if isinstance(one, Layer)]
    if len(of) < 2 and not layers:
        return
    told = counted(len(layers), "layer") if layers else counted(len(of), "gradient")
    first = min(lost, key=lambda event: event.index)
    evidence = (
        f"gradients are at most {lost[first]:.3g} there, and float16 rounds what is below 3e-8 to "
        f"0: next to nothing gets to {told} in all {max(of.values()):,} steps measured"
    )
    layer = next(iter(layers), None)
    match = Match("likely", evidence)
    yield Suspect(first, GRADIENT_UNDERFLOW, match, len(of), layer, tuple(layers[1:]))


def _rounded(dataflow: Dataflow, event: TensorEvent) -> float:
    """Return how large the gradients were, where a gradient in float16 of 0 is of small ones.

    0 where something else makes it 0: they are not that small, or what multiplies them is 0.

    Args:
        dataflow: Of the run.
        event: The gradient.
    """
    if dtype_of(dataflow.run, event) != "float16":
        return 0.0
    given = [producer.event for producer in dataflow.producers(event) if producer.event is not None]
    found = [(one, magnitudes_of(dataflow, one).largest) for one in given]
    measured = [(one, float(largest.max())) for one, largest in found if largest.size]
    gradients = [largest for one, largest in measured if is_backward(dataflow.run, one)]
    smallest = min(gradients, default=0.0)  # beside one there may be a constant, as a count
    is_small = smallest < _SMALLEST_HALF and all(largest for _, largest in measured)
    return smallest if is_small else 0.0
