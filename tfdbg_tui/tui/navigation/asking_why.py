"""Asking why a tensor is as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui.navigation.chosen import chosen_tensor
from tfdbg_tui.tui.panes import PANES, pane_named
from tfdbg_tui.tui.panes.chain_pane import shown_chain
from tfdbg_tui.tui.session.calls import bad_inside
from tfdbg_tui.tui.session.focusing import focus_event
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis import TensorEvent
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


def why(snapshot: Snapshot, focus: Focus) -> Focus:
    """Show the chain of the focused tensor, and stand on its root; or close that again.

    Of a call whose output is not on record it is the chain of the first bad tensor inside it.

    Raises:
        NowhereError: No tensor is focused.
    """
    if pane_named(focus.pane).answers_why:
        return close_why(snapshot, focus)
    event = chosen_tensor(snapshot, focus)
    if event is None:
        raise NowhereError("no tensor is focused")
    event = _inside(snapshot, event)
    pane = next(spec.name for spec in PANES if spec.answers_why)
    focus = replace(focus, why=event, why_from=focus.pane, pane=pane, link=None, part=0)
    return stand_on_root(snapshot, focus)


def _inside(snapshot: Snapshot, event: TensorEvent) -> TensorEvent:
    """Return the first bad tensor inside a call that tells nothing itself, a harmless one last."""
    if event.kind == "graph_execution" or snapshot.summary(event) is not None:
        return event
    explanation = snapshot.explanation

    def does_harm(bad: TensorEvent) -> bool:
        number = explanation.group_of(bad) if explanation else None
        return number is None or explanation is None or explanation.groups[number].kind != "benign"

    first = next(bad_inside(snapshot, event.index), event)
    return next(filter(does_harm, bad_inside(snapshot, event.index)), first)


def stand_on_root(snapshot: Snapshot, focus: Focus) -> Focus:
    """Stand on the root of the chain that Why shows, once it is known, and while the user is there.

    Whoever has chosen another tensor of the chain, or another pane, stays there.
    """
    chain = shown_chain(snapshot, focus)
    if chain is None or not pane_named(focus.pane).answers_why or focus.link is not None:
        return focus
    return focus_event(snapshot, focus, chain.links[chain.start].event)


def close_why(snapshot: Snapshot, focus: Focus) -> Focus:
    """Close the chain of a tensor; the focus stays where it was moved to."""
    pane = focus.why_from if pane_named(focus.pane).answers_why else focus.pane
    return replace(focus, why=None, pane=pane)
