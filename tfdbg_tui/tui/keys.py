"""The registry of actions as Textual's key bindings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.binding import Binding

from tfdbg_tui.tui.actions import ACTIONS

if TYPE_CHECKING:
    from textual.binding import BindingType

BINDINGS: list[BindingType] = [
    Binding(",".join(action.keys), f"app.act('{action.id}')", action.label, id=action.id)
    for action in ACTIONS
]
"""For the panes, and for the app itself where there is no room for any pane."""
