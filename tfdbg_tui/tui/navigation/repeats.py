"""To the same op, computed again: what a tensor became in the next step of a training."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.tui.navigation.chosen import chosen_tensor, in_view
from tfdbg_tui.tui.session.focusing import focus_event
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.logdir.index.columns import ColumnView
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot

_WINDOW = 1 << 16  # rows looked at together


def step_computation(snapshot: Snapshot, focus: Focus, step: int) -> Focus:
    """Go to the next (1) or previous (-1) computation of the focused tensor.

    Outside of graphs that is the same op called from the same place.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        step: 1 or -1.

    Raises:
        NowhereError: There is none, or no tensor is focused.
    """
    event = chosen_tensor(snapshot, focus)
    if event is None:
        raise NowhereError("no tensor is focused")
    run = snapshot.run
    if event.kind == "graph_execution":
        row = _next_alike([run.graph_executions.site_ids], event.index, step)
    else:
        row = _next_alike([run.executions.kinds, run.executions.stack_ids], event.index, step)
    if row is None:
        raise NowhereError(f"this is its {'last' if step > 0 else 'first'} computation")
    return in_view(snapshot, focus_event(snapshot, focus, replace(event, index=row)))


def _next_alike(columns: Sequence[ColumnView], row: int, step: int) -> int | None:
    """Return the first row after or before one that holds the same numbers, or None."""
    wanted = [column[row] for column in columns]
    count = len(columns[0])
    start = row + step
    while 0 <= start < count:
        end = start + step * _WINDOW
        low, high = (start, min(end, count)) if step > 0 else (max(0, end + 1), start + 1)
        alike = [c[low:high] == number for c, number in zip(columns, wanted, strict=True)]
        found = np.flatnonzero(np.all(alike, axis=0))
        if found.size:
            return low + int(found[0] if step > 0 else found[-1])
        start = end
    return None
