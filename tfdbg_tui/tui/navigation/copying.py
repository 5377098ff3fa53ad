"""What copying puts on the clipboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import name_of
from tfdbg_tui.diagnosis.report.cards import fix
from tfdbg_tui.diagnosis.report.words import chain_to_text
from tfdbg_tui.tui.navigation.asking_why import asked_about
from tfdbg_tui.tui.navigation.nowhere import NowhereError
from tfdbg_tui.tui.panes.why_rows import shown_chain
from tfdbg_tui.tui.session.focus import WHY_PANES, Focus
from tfdbg_tui.tui.session.focusing import focused_event

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.snapshot import Snapshot


def copy_text(snapshot: Snapshot, focus: Focus) -> str:
    """Return what copying puts on the clipboard: a name, a fix, ``path:line``; "" for nothing."""
    if focus.pane in WHY_PANES:
        chain = shown_chain(snapshot, focus)
        return fix(chain.finding) if chain and chain.finding else ""
    if focus.pane in ("source_code", "stack_trace"):
        return f"{focus.place.path}:{focus.place.line}" if focus.place else ""
    if focus.pane == "graph_structure":
        return focus.op.name if focus.op else ""
    event = focused_event(snapshot, focus)
    return name_of(snapshot.run, event) if event else ""


def diagnosis_text(snapshot: Snapshot, focus: Focus) -> str:
    """Return all that is known of why the focused tensor is as it is, to paste into a message.

    Raises:
        NowhereError: No tensor is focused, or the run has not been diagnosed yet.
    """
    event = asked_about(snapshot, focus) if focus.why is None else focus.why
    if event is None:
        raise NowhereError("no tensor is focused")
    if snapshot.explanation is None or not snapshot.explanation.covers(event):
        raise NowhereError("the run has not been diagnosed yet")
    return chain_to_text(snapshot.explanation.find_chain(event))
