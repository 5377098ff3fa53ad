"""Training steps that a loss scaler skips, because gradients are not finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import op_type_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import History, history_of, measured_tensors
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.explanations import ALL_STEPS_SKIPPED, MOST_STEPS_SKIPPED
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect

if TYPE_CHECKING:
    import numpy.typing as npt

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots import Causes, Root
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.magnitudes import Floats

_STEPS = 16  # a loss scaler may well skip the first few steps
_TRIED = 8  # bad tensors of a place: eagerly, one line makes several, and one of them is asked
_MOST = 0.5  # share of the later half of the steps, or of all
_TOO_MANY = 24  # in all: so often a scale has to be halved that begins far too large


def find_skipped_steps(run: Run, dataflow: Dataflow, causes: Causes) -> list[Suspect]:
    """Return the first bad gradient where most steps are skipped, and not only the first few.

    Args:
        run: The run.
        dataflow: Of the run.
        causes: The roots of its alerts.
    """
    for root in causes.roots:
        skipped = _skipped(run, dataflow, root)
        if len(skipped) < _STEPS:
            continue
        later = skipped[len(skipped) // 2 :]
        is_most = skipped.mean() > _MOST and skipped.sum() >= _TOO_MANY
        if later.mean() <= _MOST and not is_most:
            continue
        rule = ALL_STEPS_SKIPPED if skipped.all() else MOST_STEPS_SKIPPED
        evidence = (
            f"the gradients were not finite in {skipped.sum():,} of {len(skipped):,} steps, "
            f"in the last {len(later):,} in {later.sum():,}{_scale_text(run)}"
        )
        return [Suspect(root.event, rule, Match("likely", evidence), int(skipped.sum()))]
    return []


def _skipped(run: Run, dataflow: Dataflow, root: Root) -> npt.NDArray[np.bool_]:
    """Return of each step whether the program asked if gradients are finite, and they were not."""
    found = np.zeros(0, bool)
    for member in root.members:
        event = member.site.first
        if not is_backward(run, event):
            continue  # TensorFlow's own algorithms ask as well
        history = history_of(run, dataflow, event)
        tried = map(history.event, np.flatnonzero(history.bad)[:_TRIED].tolist())
        if any(_is_asked(dataflow, other) for other in tried):
            bad = history.bad if event.kind == "graph_execution" else _by_step(run, history)
            found = found | bad if len(found) == len(bad) else max(found, bad, key=len)
    return found


def _is_asked(dataflow: Dataflow, event: TensorEvent) -> bool:
    return any(use.op_type == "IsFinite" for use in dataflow.consumers(event))


def _by_step(run: Run, history: History) -> npt.NDArray[np.bool_]:
    """Return of each step whether a tensor of it was bad: eagerly, one line makes many."""
    steps = run.executions.steps.numbers_of(history.rows)
    _, which = np.unique(steps[steps >= 0], return_inverse=True)
    return np.bincount(which, history.bad[steps >= 0]) > 0


def _scale_text(run: Run) -> str:
    """Say what became of the loss scale: of a variable that is only ever doubled and halved."""
    for event, found in measured_tensors(run):
        if op_type_of(run, event) == "ReadVariableOp" and _is_scale(found.largest):
            return f"; the loss scale went from {found.largest[0]:.3g} to {found.largest[-1]:.3g}"
    return ""


def _is_scale(largest: Floats) -> bool:
    """Whether numbers differ by powers of two alone, and do differ."""
    if len(largest) < 2 or not (largest > 0).all():
        return False
    powers = np.log2(largest[1:] / largest[:-1])
    return bool(np.any(powers != 0) and np.all(powers == np.round(powers)))
