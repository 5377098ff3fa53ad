"""Rectifiers that let nothing through, in all that was measured of late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import op_type_of, size_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import magnitudes_of
from tfdbg_tui.diagnosis.rules.model import Defect, Match
from tfdbg_tui.diagnosis.rules.silent.defects import DEAD_FROM_THE_FIRST, DEAD_RELU
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect, first_step, in_which_steps
from tfdbg_tui.wire.events import SESSION_RUN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir.index.magnitudes import Floats, Magnitudes

RECTIFIERS = frozenset({"Relu", "Relu6"})
_REDUCTIONS = frozenset({"Mean", "Sum"})

_OFF = {32: 3, 256: 2}  # elements: measured computations in which all of so many are 0
_FEW, _TOGETHER = 8, 256
"""Or so many elements at least, if all that was measured is so many: a small batch tells little."""
_OFF_FOR = 5  # computations, from the first of these to the last


def is_hinge(dataflow: Dataflow, event: TensorEvent) -> bool:
    """Whether the result of a rectifier goes into a single number alone: the loss, as a hinge does.

    That is 0 when all have been learned.

    Args:
        dataflow: Of the run.
        event: The result.
    """
    run = dataflow.run
    uses = [use for use in dataflow.consumers(event) if use.event is not None]
    forward = [use.event for use in uses if use.event and not is_backward(run, use.event)]
    return bool(forward) and all(
        op_type_of(run, made) in _REDUCTIONS and size_of(run, made) == 1 for made in forward
    )


def find_off(
    dataflow: Dataflow, measured: list[tuple[TensorEvent, Magnitudes]]
) -> Iterator[Suspect]:
    """Yield the rectifiers that let nothing through.

    Args:
        dataflow: Of the run.
        measured: Its tensors that were measured often enough.
    """
    run = dataflow.run
    for event, found in measured:
        if op_type_of(run, event) not in RECTIFIERS or found.largest[-1]:
            continue
        on, size = np.flatnonzero(found.largest), size_of(run, event)
        times = len(found) - (int(on[-1]) + 1 if on.size else 0)
        off = found.some(np.arange(len(found) - times, len(found)))
        is_off = any(size >= least and times >= needed for least, needed in _OFF.items())
        is_off |= size >= _FEW and times * size >= _TOGETHER
        if (
            is_off
            and _computations(dataflow, event, off) >= _OFF_FOR
            and not is_hinge(dataflow, event)
            and not _is_given_zeros(dataflow, event, times)
        ):
            always = times == len(found)
            evidence = (
                f"all {size:,} outputs are 0 in {'all' if always else 'the last'} {times:,} "
                f"computations measured{in_which_steps(run, off)}"
            )
            rule = dead_relu(dataflow, event) if always else DEAD_RELU
            match, since = Match("likely", evidence), first_step(run, off)
            yield Suspect(event, rule, match, times, since=since)


def dead_relu(dataflow: Dataflow, event: TensorEvent) -> Defect:
    """Return what tells of a rectifier that was off whenever it was computed.

    Training may have led there before it was computed at all, as it is in an evaluation.  In a
    session of TensorFlow 1 that is the same computation.

    Args:
        dataflow: Of the run.
        event: The result of the rectifier.
    """
    variables, first = dataflow.variables, dataflow.timeline.first_execution(event)
    if not variables.trained or first <= variables.first_update:
        return DEAD_FROM_THE_FIRST
    in_session = dataflow.run.executions.kind(first).op_type.startswith(SESSION_RUN)
    return DEAD_FROM_THE_FIRST if in_session else DEAD_RELU


def _computations(dataflow: Dataflow, event: TensorEvent, found: Magnitudes) -> int:
    """Return how many computations of a tensor there are from the first of some to the last."""
    if event.kind == "execution":
        rows = dataflow.timeline.alike(event.index)
    else:
        rows = dataflow.timeline.rows_of(event.index)
    first, last = np.searchsorted(rows, found.rows[[0, -1]])
    return int(last - first) + 1


def is_given(dataflow: Dataflow, suspect: Suspect) -> bool:
    """Whether a rectifier is given something: of what is tried out with zeros nothing comes.

    Args:
        dataflow: Of the run.
        suspect: What tells of the rectifier.
    """
    largest = _largest_given(dataflow, suspect.event, suspect.times)
    return bool(largest.size and largest.all())


def _is_given_zeros(dataflow: Dataflow, event: TensorEvent, times: int) -> bool:
    """Whether a rectifier is known to be given zeros alone, as of batches that are blank."""
    largest = _largest_given(dataflow, event, times)
    return bool(largest.size and not largest.any())


def _largest_given(dataflow: Dataflow, event: TensorEvent, times: int) -> Floats:
    """Return the largest magnitudes of what a rectifier takes, the last times it was measured."""
    given = next((p.event for p in dataflow.producers(event)), None)
    return magnitudes_of(dataflow, given).largest[-times:] if given else np.zeros(0)
