"""What was looked for in a run, and where its tensor debug mode cannot look: said with "clean"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.report.advice import modes_of, names_of
from tfdbg_tui.diagnosis.report.gaps import is_blind
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from tfdbg_tui.logdir import Run

_WITH_SIGNS = {TensorDebugMode.FULL_HEALTH, TensorDebugMode.FULL_TENSOR}


def looked_for(run: Run) -> str:
    """Return what was looked for in a run, in two sentences; "" where nothing could be."""
    modes = modes_of(run)
    if not run.num_events or is_blind(run):
        return ""
    mode = run.files.mode_name or names_of(modes)
    measured = run.graph_executions.num_measured + run.executions.num_measured
    silent = " and numbers that grow towards them" if measured else ""
    if modes and modes <= _WITH_SIGNS:
        silent = " and values that only lead there"
    is_ours = bool(run.files.mode_name)
    unseen = "tensors that nothing uses, " if is_ours else ""
    return (
        f"NaN and ∞{silent} in the floating-point and complex tensors that TensorFlow "
        f"computed, in {mode}. Not looked at: {unseen}numbers of NumPy and Python."
    )
