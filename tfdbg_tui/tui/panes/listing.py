"""Which pane lists an event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.panes import graph_execution, timeline

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.focus import Focus


def pane_of_subject(focus: Focus) -> str:
    """Return the pane that lists the event focused last."""
    spec = timeline.SPEC if focus.subject == "execution" else graph_execution.SPEC
    return spec.name
