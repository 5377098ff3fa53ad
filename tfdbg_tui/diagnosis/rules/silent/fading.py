"""Gradients that halve with each step of time in a loop, where nothing is learned."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis.events import graph_id_of, op_type_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import VANISHING_GRADIENT
from tfdbg_tui.diagnosis.rules.silent.layer_gradients import MANY
from tfdbg_tui.diagnosis.rules.silent.learning import learns
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

_OF_CELLS = frozenset({"TanhGrad", "SigmoidGrad", "ReluGrad", "MatMul"})
_ITERATIONS = 3  # that are measured of a long loop at least: 0, 4 and 32
_LONG = 32  # iterations


def find_fading(
    dataflow: Dataflow, measured: list[tuple[TensorEvent, Magnitudes]]
) -> Iterator[Suspect]:
    """Yield a gradient of each loop that halves with each iteration, where nothing is learned.

    What is short-lived is learned all the same, and gradients of it may well fade in time.

    Args:
        dataflow: Of the run.
        measured: Its tensors that were measured often enough.
    """
    run = dataflow.run
    loops: dict[str | None, list[_InTime]] = defaultdict(list)
    for event, found in measured:
        if op_type_of(run, event) in _OF_CELLS and is_backward(run, event):
            in_time = _in_time(dataflow, event, found)
            if in_time is not None:
                loops[graph_id_of(run, event)].append(in_time)
    for some in loops.values():
        if any(one.last > one.first * 0.5**one.iterations for one in some):
            continue
        if learns(dataflow):
            return
        one = max(some, key=lambda one: one.last)
        evidence = (
            f"{one.first:.3g} at most at the last step of time, {one.last:.3g} at the one that is "
            f"{one.iterations:,} before it, as in most steps measured; and the loss is what it was"
        )
        yield Suspect(one.event, VANISHING_GRADIENT, Match("likely", evidence), len(some))


class _InTime(NamedTuple):
    """A gradient in a loop: what it is in the first iteration, and in the last one measured."""

    event: TensorEvent
    first: float
    last: float
    iterations: int


def _in_time(dataflow: Dataflow, event: TensorEvent, found: Magnitudes) -> _InTime | None:
    """Return how a gradient fades in a loop, in the median of runs; None where it is in none."""
    executions, counts = np.unique(found.executions, return_counts=True)
    if event.kind == "execution" or len(executions) < MANY or counts.min() < _ITERATIONS:
        return None
    number = len(executions)
    # Some of the later half: where all steps are on record, the last ones are near one another.
    some = np.linspace(min(number // 2, number - MANY), number - 1, MANY).astype(int)
    fading = []
    for execution in executions[some]:
        mine = found.some(found.executions == execution)
        ends = dataflow.timeline.at(int(mine.rows[0])), dataflow.timeline.at(int(mine.rows[-1]))
        first, last = (at.iteration for at in ends)
        if first != 0 or last is None or last < _LONG:
            return None
        fading.append(_InTime(event, float(mine.largest[0]), float(mine.largest[-1]), last))
    fading.sort(key=lambda one: one.last / one.first if one.first else np.inf)
    return fading[len(fading) // 2]
