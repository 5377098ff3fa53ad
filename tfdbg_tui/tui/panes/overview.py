"""All executions in one line: where the alerts are, and where the focus is."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.cells import Cell, Line


_SOME_ALERTS = 2_000


def overview(snapshot: Snapshot, focused: int | None, width: int, charset: Charset) -> Line:
    """Return `width` cells that stand for all executions, higher where more of them are bad.

    A run without executions (a v1 session) shows its graph executions.

    Args:
        snapshot: What is shown.
        focused: Index of the focused execution, or None.
        width: How many cells.
        charset: The characters to draw with.
    """
    if width <= 0:
        return ()
    bars = charset.bars
    events = len(snapshot.run.executions) or len(snapshot.run.graph_executions)
    here = None if focused is None or not events else min(width - 1, focused * width // events)
    pauses = {min(width - 1, at * width // events) for at in snapshot.run.pauses if events}
    cells: list[Cell] = []
    for number, share in enumerate(_shares(snapshot, width)):
        level = min(len(bars) - 1, 1 + int(share * (len(bars) - 1))) if share else 0
        text = bars[level] if level else charset.dot
        style = "bad" if level else "faint"
        if number in pauses and not level:
            text, style = charset.pause, "match"
        if number == here:
            text, style = charset.focus[:1], "focus"
        cells.append((text, style))
    return tuple(cells)


@lru_cache(8)
def _shares(snapshot: Snapshot, width: int) -> tuple[float, ...]:
    """Return which share of the executions in each of `width` equal parts of the run is bad."""
    import numpy as np

    run = snapshot.run
    events = run.executions if len(run.executions) else run.graph_executions
    if not len(events):
        return (0.0,) * width
    edges = np.linspace(0, len(events), width + 1)
    sizes = np.maximum(1, np.diff(np.ceil(edges)))
    alerts = events.alert_rows.searchsorted(np.ceil(edges)).tolist()
    bad = []
    for start, stop in pairwise(alerts):
        # An execution has an alert for each bad output; of very many alerts some tell how many.
        some = events.alert_rows[start : min(stop, start + _SOME_ALERTS)]
        bad.append((stop - start) * len(np.unique(some)) / max(1, len(some)))
    return tuple(np.minimum(1.0, np.array(bad) / sizes).tolist())
