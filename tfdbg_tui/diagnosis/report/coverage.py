"""What was looked for in a run, and where its tensor debug mode cannot look: said with "clean"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.report.advice import modes_of, names_of
from tfdbg_tui.diagnosis.report.gaps import is_blind, looks_at_complex
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from tfdbg_tui.logdir import Run


def looked_for(run: Run) -> str:
    """Return what was looked for in a run, in two sentences; "" where nothing could be."""
    modes = modes_of(run)
    if not run.num_events or is_blind(run):
        return ""
    mode = run.files.mode_name or names_of(modes)
    measured = run.graph_executions.num_measured + run.executions.num_measured
    wanted = "NaN and ∞"
    if measured:
        wanted = "NaN and ∞, numbers that grow towards them, and layers that cannot learn"
    elif modes == {TensorDebugMode.FULL_HEALTH}:
        wanted = "NaN and ∞ and values that only lead there"
    has_complex = looks_at_complex(run)
    types = "floating-point and complex" if has_complex else "floating-point"
    unseen = "tensors that nothing uses, " if run.files.mode_name else ""
    unseen += "" if has_complex else "complex tensors, "
    return (
        f"{wanted} in the {types} tensors that TensorFlow computed, in {mode}. "
        f"Not looked at: {unseen}numbers of NumPy and Python."
    )
