"""Which panes a terminal has room for."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from tfdbg_tui.tui.panes import PANES, pane_named
from tfdbg_tui.tui.panes.base import Layout

if TYPE_CHECKING:
    from tfdbg_tui.tui.panes.base import PaneSpec
    from tfdbg_tui.tui.session.focus import Focus

LAYOUTS: tuple[Layout, ...] = get_args(Layout)


def layout_for(width: int, height: int) -> Layout:
    """Return the arrangement for a terminal of `width` columns and `height` rows."""
    if width < 40 or height < 10:
        return "nothing"
    if width < 60 or height < 15:
        return "tiny"
    if width < 100 or height < 32:
        return "small"
    return "wide" if width >= 160 else "normal"


def shown_panes(layout: Layout, focus: Focus, *, zoomed: bool) -> frozenset[str]:
    """Return the names of the panes to show.

    Args:
        layout: The arrangement.
        focus: What is focused.
        zoomed: Whether the focused pane has the whole screen.
    """
    focused = pane_named(focus.pane)
    if zoomed or layout == "tiny":
        return frozenset({focused.name})
    if layout == "small":
        return frozenset({focused.name, focused.companion})
    if focus.why is None or not (focused.answers_why or layout in focused.beside_why):
        return frozenset(_tiles(focused, [spec for spec in PANES if not spec.answers_why]))
    asked = [spec for spec in PANES if spec.answers_why]
    beside = [spec for spec in PANES if layout in spec.beside_why]
    return frozenset({*_tiles(focused, asked), *_tiles(focused, beside)})


def _tiles(focused: PaneSpec, specs: list[PaneSpec]) -> set[str]:
    """Return the pane in front of each tile: the focused one, or else the first."""
    front: dict[int, str] = {}
    for spec in specs:
        if spec is focused:
            front[spec.tile] = spec.name
        front.setdefault(spec.tile, spec.name)
    return set(front.values())
