"""Which panes a terminal has room for."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from tfdbg_tui.tui.panes import pane_named, present_panes
from tfdbg_tui.tui.panes.base import Layout

if TYPE_CHECKING:
    from tfdbg_tui.tui.panes.base import PaneSpec
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot

LAYOUTS: tuple[Layout, ...] = get_args(Layout)

_FEW = 3  # suspects that a low pane shows all at once


def layout_for(width: int, height: int) -> Layout:
    """Return the arrangement for a terminal of `width` columns and `height` rows."""
    if width < 40 or height < 10:
        return "nothing"
    if width < 60 or height < 15:
        return "tiny"
    if width < 100 or height < 32:
        return "small"
    return "wide" if width >= 160 else "normal"


def has_no_alerts(snapshot: Snapshot | None) -> bool:
    """Whether it is known that Alerts has nothing to list but a few suspects."""
    if snapshot is None or snapshot.explanation is None:
        return False
    return not len(snapshot.alerts) and len(snapshot.explanation.groups) <= _FEW


def shown_panes(
    layout: Layout, snapshot: Snapshot | None, focus: Focus, *, zoomed: bool
) -> frozenset[str]:
    """Return the names of the panes to show.

    Args:
        layout: The arrangement.
        snapshot: The run.
        focus: What is focused.
        zoomed: Whether the focused pane has the whole screen.
    """
    focused, there = pane_named(focus.pane), present_panes(snapshot)
    if zoomed or layout == "tiny":
        return frozenset({focused.name})
    if layout == "small":
        names = {spec.name for spec in there}
        below = [name for name in focused.companions if name in names]
        return frozenset({focused.name, *below[:1]})
    if focus.why is None or not (focused.answers_why or layout in focused.beside_why):
        return frozenset(_tiles(focused, [spec for spec in there if not spec.answers_why]))
    asked = [spec for spec in there if spec.answers_why]
    beside = [spec for spec in there if layout in spec.beside_why]
    return frozenset({*_tiles(focused, asked), *_tiles(focused, beside)})


def _tiles(focused: PaneSpec, specs: list[PaneSpec]) -> set[str]:
    """Return the pane in front of each tile: the focused one, or else the first."""
    front: dict[int, str] = {}
    for spec in specs:
        if spec is focused:
            front[spec.tile] = spec.name
        front.setdefault(spec.tile, spec.name)
    return set(front.values())
