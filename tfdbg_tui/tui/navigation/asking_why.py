"""Asking why a tensor is as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui.navigation.links import neighbour_event
from tfdbg_tui.tui.navigation.nowhere import NowhereError
from tfdbg_tui.tui.panes.lists import ALERTS, NEIGHBOURS
from tfdbg_tui.tui.panes.why_rows import shown_chain
from tfdbg_tui.tui.session.focus import WHY_PANES, Focus
from tfdbg_tui.tui.session.focusing import focus_event, focused_event

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.tui.session.snapshot import Snapshot


def why(snapshot: Snapshot, focus: Focus) -> Focus:
    """Show the chain to the focused tensor, and stand on its root; or close that again.

    Raises:
        NowhereError: No tensor is focused.
    """
    if focus.pane in WHY_PANES:
        return close_why(snapshot, focus)
    event = asked_about(snapshot, focus)
    if event is None:
        raise NowhereError("no tensor is focused")
    focus = replace(focus, why=event, why_from=focus.pane, pane="why", link=None, part=0)
    return stand_on_root(snapshot, focus)


def stand_on_root(snapshot: Snapshot, focus: Focus) -> Focus:
    """Stand on the root of the chain that Why shows, once it is known, and while the user is there.

    Whoever has chosen another tensor on the chain, or moved on to another pane, is left in peace.
    """
    chain = shown_chain(snapshot, focus)
    if chain is None or focus.pane not in WHY_PANES or focus.link is not None:
        return focus
    return focus_event(snapshot, focus, chain.links[chain.start].event)


def close_why(snapshot: Snapshot, focus: Focus) -> Focus:
    """Close the chain to a tensor; the focus stays where it was moved to."""
    pane = focus.why_from if focus.pane in WHY_PANES else focus.pane
    return replace(focus, why=None, pane=pane)


def asked_about(snapshot: Snapshot, focus: Focus) -> TensorEvent | None:
    """Return the tensor that the user looks at; None where no tensor is focused.

    Raises:
        NowhereError: It is an op of which no tensor has been recorded.
    """
    if focus.pane == "alerts" and ALERTS.count(snapshot, focus):
        return focus.alert or ALERTS.event(snapshot, ALERTS.at(snapshot, focus, 0))
    if focus.pane == "graph_structure" and focus.op is not None:
        row = NEIGHBOURS.position(snapshot, focus)
        found = neighbour_event(snapshot, focus, row or 0)
        if found is None:
            raise NowhereError("no tensor of this op has been recorded")
        return found
    return focused_event(snapshot, focus)
