"""Training steps that a loss scaler skips, because gradients are not finite."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import TensorEvent, op_type_of
from tfdbg_tui.diagnosis.gradients import is_backward, is_not_given
from tfdbg_tui.diagnosis.history import History, by_step, computed, history_of, measured_tensors
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import (
    ALL_STEPS_SKIPPED,
    LOSS_SCALE_BELOW_ONE,
    MANY_STEPS_SKIPPED,
    MOST_STEPS_SKIPPED,
    SCALE_RISES,
)
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.roots import Causes, Root
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.columns import Int64Array
    from tfdbg_tui.logdir.index.magnitudes import Floats, Magnitudes

_STEPS = 16  # a loss scaler may well skip the first few steps
_TRIED = 8  # bad tensors of a place: eagerly, one line makes several, and one of them is asked
_MOST = 0.5  # share of the later half of the steps, or of all
_MANY = 0.4  # share of the later half, and of its later half: a scale that grows too soon each time
_TOO_MANY = 24  # in all: so often a scale has to be halved that begins far too large
_HALVED = 8  # steps, from a scale of at least this to one below 1
_LARGE_SCALE = 2.0**_HALVED  # a learning rate is never that large


def find_skipped_steps(dataflow: Dataflow, causes: Causes) -> list[Suspect]:
    """Return the first bad gradient where most steps are skipped, and not only the first few.

    Args:
        dataflow: Of the run.
        causes: The roots of its alerts.
    """
    for root in causes.roots:
        suspect = _suspect(dataflow.run, root.event, _skipped(dataflow, root))
        if suspect is not None:
            return [suspect]
    asked = (_suspect(dataflow.run, made.event(0), made.bad) for made in _asked(dataflow))
    return [suspect for suspect in asked if suspect is not None][:1]


def _suspect(run: Run, event: TensorEvent, skipped: npt.NDArray[np.bool_]) -> Suspect | None:
    """Return what is to be said, if most of the steps are skipped.

    Args:
        run: The run.
        event: A gradient that was not finite.
        skipped: Of each step whether it was skipped.
    """
    if len(skipped) < _STEPS:
        return None
    later = skipped[len(skipped) // 2 :]
    is_most = skipped.mean() > _MOST and skipped.sum() >= _TOO_MANY
    scale = _scale(run)
    if skipped.all():
        rises = scale is not None and scale.largest[-1] > scale.largest[0]
        rule = SCALE_RISES if rises else ALL_STEPS_SKIPPED
    elif later.mean() > _MOST or is_most:
        rule = MOST_STEPS_SKIPPED
    elif _is_below_one(scale) and skipped.sum() >= _HALVED:
        rule = LOSS_SCALE_BELOW_ONE
    elif later[-len(later) // 2 :].mean() > _MANY and later.mean() > _MANY:
        rule = MANY_STEPS_SKIPPED
    else:
        return None
    evidence = (
        f"the gradients were not finite in {skipped.sum():,} of {len(skipped):,} steps, "
        f"in the last {len(later):,} in {later.sum():,}{_what_became_of(run, scale)}"
    )
    return Suspect(event, rule, Match("likely", evidence), int(skipped.sum()))


def _asked(dataflow: Dataflow) -> Iterator[History]:
    """Yield the gradients in graphs of which the program asks if they are finite.

    They need not be of a root: NaN may come to them from the loss.
    """
    for graph in list(dataflow.run.graphs.values()):
        asked = [op.input(0) for op in list(graph.ops.values()) if op.op_type == "IsFinite"]
        for ref in asked:
            for event in computed(dataflow, graph.graph_id, ref.op_name):
                if event.slot == ref.slot and _is_of_gradients(dataflow, event):
                    yield history_of(dataflow, event)


def _is_of_gradients(dataflow: Dataflow, event: TensorEvent) -> bool:
    """Whether a tensor is a gradient, or their sum, where a variable is used several times."""
    made = [p.event for p in dataflow.producers(event) if p.event is not None]
    return any(is_backward(dataflow.run, one) for one in (event, *made))


def _skipped(dataflow: Dataflow, root: Root) -> npt.NDArray[np.bool_]:
    """Return of each step whether gradients were not finite, and the program asked if they are.

    What it asks in Python leaves no record: but then it changes no variable in such a step.  What
    is made of a bad gradient, as where a library divides it by the scale, is one as well.
    """
    run = dataflow.run
    found = np.zeros(0, bool)
    of_gradient = is_backward(run, root.event)
    assigned = cache(lambda: _steps_that_assign(dataflow))
    for member in root.members:
        event = member.site.first
        if not (of_gradient or is_backward(run, event)) or is_not_given(run, event):
            continue  # TensorFlow's own algorithms ask as well; and only what is given is applied
        history = history_of(dataflow, event)
        tried = map(history.event, np.flatnonzero(history.bad)[:_TRIED].tolist())
        is_asked = any(_is_asked(dataflow, other) for other in tried)
        if event.kind == "graph_execution":
            bad = history.bad & is_asked
        else:
            steps, bad = _by_step(run, history)
            bad = bad if is_asked else bad & ~np.isin(steps, assigned())
        found = found | bad if len(found) == len(bad) else max(found, bad, key=len)
    return found


def _is_asked(dataflow: Dataflow, event: TensorEvent) -> bool:
    return any(use.op_type == "IsFinite" for use in dataflow.consumers(event))


def _by_step(run: Run, history: History) -> tuple[Int64Array, npt.NDArray[np.bool_]]:
    """Return the steps, and whether a tensor of each was bad: eagerly, one line makes many."""
    steps = run.executions.steps.numbers_of(history.rows)
    numbers, which = np.unique(steps[steps >= 0], return_inverse=True)
    return numbers, np.bincount(which, history.bad[steps >= 0]) > 0


def _steps_that_assign(dataflow: Dataflow) -> Int64Array:
    """Return the steps in which variables are assigned, or may be."""
    executions = dataflow.run.executions
    return executions.steps.numbers_of(executions.of_kinds(dataflow.variables.may_assign))


def _scale(run: Run) -> Magnitudes | None:
    """Return what the loss scale was: of a variable that is only ever doubled and halved."""
    scales = [
        found
        for event, found in measured_tensors(run)
        if op_type_of(run, event) == "ReadVariableOp" and _is_scale(found.largest)
    ]
    # In functions that run at times, others are measured.
    return max(scales, key=lambda one: (-int(one.executions[0]), len(one)), default=None)


def _what_became_of(run: Run, scale: Magnitudes | None) -> str:
    """Say from what to what the loss scale went, as far as it was measured.

    Args:
        run: The run.
        scale: The loss scale; None where it is not on record.
    """
    if scale is None:
        return ""
    steps, _ = by_step(run, scale)
    last = f" in step {steps[-1]:,}, the last one measured" if steps.size else ""
    first, most, now = scale.largest[0], scale.largest.max(), scale.largest[-1]
    meanwhile = f", and was at most {most:.3g}" if most > max(first, now) else ""
    return f"; the loss scale went from {first:.3g} to {now:.3g}{last}{meanwhile}"


def _is_below_one(scale: Magnitudes | None) -> bool:
    return scale is not None and bool(scale.largest[0] >= _LARGE_SCALE and scale.largest[-1] < 1)


def _is_scale(largest: Floats) -> bool:
    """Whether numbers differ by powers of two alone, and do differ."""
    if len(largest) < 2 or not (largest > 0).all():
        return False
    powers = np.log2(largest[1:] / largest[:-1])
    return bool(np.any(powers != 0) and np.all(powers == np.round(powers)))
