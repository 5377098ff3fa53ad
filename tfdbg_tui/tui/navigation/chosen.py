"""The tensor of the row that the focused pane shows as chosen: what keys act on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui.panes import pane_named
from tfdbg_tui.tui.panes.chain_pane import shown_chain
from tfdbg_tui.tui.panes.listing import pane_of_subject
from tfdbg_tui.tui.session.focusing import focus_event, focused_event

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis import TensorEvent
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


def chosen_tensor(snapshot: Snapshot, focus: Focus) -> TensorEvent | None:
    """Return the tensor of the chosen row of the focused pane; None where there is none.

    Raises:
        NowhereError: What is chosen has no tensor on record.
    """
    return pane_named(focus.pane).rows.tensor(snapshot, focus)


def on_chosen(snapshot: Snapshot, focus: Focus) -> Focus:
    """Focus the tensor of the chosen row, where the focused pane lists tensors."""
    if not pane_named(focus.pane).rows.LISTS_EVENTS:
        return focus
    event = chosen_tensor(snapshot, focus)
    is_focused = event is None or event == focused_event(snapshot, focus)
    return focus if is_focused or event is None else focus_event(snapshot, focus, event)


def in_view(snapshot: Snapshot, focus: Focus) -> Focus:
    """Stay in a pane that shows the focused tensor as chosen, or go to the one that lists it.

    Why shows it if it is on the chain.
    """
    spec, event = pane_named(focus.pane), focused_event(snapshot, focus)
    if spec.answers_why:
        chain = shown_chain(snapshot, focus)
        if chain is not None and any(link.event == event for link in chain.links):
            return replace(focus, link=event)
    elif not spec.rows.LISTS_EVENTS or chosen_tensor(snapshot, focus) == event:
        return focus
    return replace(focus, pane=pane_of_subject(focus))
