"""Which arrangement of the panes fits a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.focus import PaneName

Layout = Literal["wide", "normal", "small", "tiny", "nothing"]
"""All panes with a column for the alerts; all panes; two of them; one; none."""

LAYOUTS: tuple[Layout, ...] = get_args(Layout)

COMPANIONS: dict[PaneName, PaneName] = {
    "alerts": "graph_execution",
    "timeline": "graph_execution",
    "graph_execution": "graph_structure",
    "graph_structure": "graph_execution",
    "source_code": "stack_trace",
    "stack_trace": "source_code",
    "why": "cause",
    "cause": "why",
}
"""The pane shown below each pane where only two fit."""


BESIDE_WHY: dict[Layout, frozenset[PaneName]] = {
    "wide": frozenset({"alerts", "timeline", "graph_execution", "source_code", "why", "cause"}),
    "normal": frozenset({"source_code", "why", "cause"}),
}
"""The panes that there is room for beside Why and Cause, in the arrangements with tiles.

Going to another one brings the usual tiles back.
"""


def layout_for(width: int, height: int) -> Layout:
    """Return the arrangement for a terminal of `width` columns and `height` rows."""
    if width < 40 or height < 10:
        return "nothing"
    if width < 60 or height < 15:
        return "tiny"
    if width < 100 or height < 32:
        return "small"
    return "wide" if width >= 160 else "normal"
