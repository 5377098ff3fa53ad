"""What copying puts on the clipboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import chain_to_text
from tfdbg_tui.tui.panes import pane_named
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


def copy_text(snapshot: Snapshot, focus: Focus) -> str:
    """Return what copying puts on the clipboard: a name, a fix, ``path:line``; "" for nothing."""
    return pane_named(focus.pane).rows.text(snapshot, focus)


def diagnosis_text(snapshot: Snapshot, focus: Focus) -> str:
    """Return all that is known of why the focused tensor is as it is, to paste into a message.

    Raises:
        NowhereError: No tensor is focused, or the run has not been diagnosed yet.
    """
    event = focus.why or pane_named(focus.pane).rows.tensor(snapshot, focus)
    if event is None:
        raise NowhereError("no tensor is focused")
    if snapshot.explanation is None:
        raise NowhereError("the run has not been diagnosed yet")
    return chain_to_text(snapshot.explanation.find_chain(event, snapshot.run))
