"""What is focused when a run opens, and when what was focused has gone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import TensorEvent
from tfdbg_tui.tui.panes import PANES, alerts, pane_named
from tfdbg_tui.tui.session.calls import first_row
from tfdbg_tui.tui.session.focus import Focus
from tfdbg_tui.tui.session.focusing import (
    focus_event,
    focus_execution,
    focus_first_alert,
    focus_graph_execution,
)

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis import Headroom
    from tfdbg_tui.tui.session.snapshot import Snapshot


def first_focus(snapshot: Snapshot) -> Focus:
    """Return what is focused when a run opens: its first events, in the first pane with rows."""
    focus = nothing = Focus(PANES[0].name)
    if len(snapshot.run.graph_executions):
        focus = focus_graph_execution(snapshot, focus, 0)
    if len(snapshot.run.executions):
        focus = focus_execution(snapshot, focus, 0)
    if focus == nothing:
        return focus
    panes = (spec.name for spec in PANES if spec.rows.count(snapshot, focus))
    return replace(focus, pane=next(panes, focus.pane))


def open_on_root(snapshot: Snapshot, focus: Focus) -> Focus:
    """Return the focus on the first root or suspect, in the list of alerts.

    Where there is no other, its alerts are listed.  The focus is as it was where there is none, and
    in the pane that the user has gone to where it is there.  Where nothing is bad, it goes to the
    largest number, or where none is known to the first training step.
    """
    explanation = snapshot.explanation
    if explanation is None:
        return focus
    if explanation.first is None:
        return _open_on_healthy(snapshot, explanation.report.headroom, focus)
    on_root = focus_first_alert(snapshot, focus)
    if len(explanation.groups) == 1:
        on_root = replace(on_root, open_causes=focus.open_causes | {explanation.first})
    is_there = replace(on_root, pane=focus.pane) == focus
    return focus if is_there else replace(on_root, pane=alerts.SPEC.name)


def _open_on_healthy(snapshot: Snapshot, largest: Headroom | None, focus: Focus) -> Focus:
    """Return the focus on the largest number or first step, and on the verdict.

    It is as it was where the user has moved.
    """
    first = replace(first_focus(snapshot), sorts=focus.sorts)
    event = largest.event if largest else _first_of_steps(snapshot)
    if event is None or replace(first, pane=focus.pane) != focus:
        return focus
    pane = alerts.SPEC.name if focus.pane == first.pane else focus.pane
    return replace(focus_event(snapshot, focus, event), pane=pane)


def _first_of_steps(snapshot: Snapshot) -> TensorEvent | None:
    """Return the first tensor of a graph in the first training step, else its first execution."""
    run, steps = snapshot.run, snapshot.run.executions.steps
    if not len(steps):
        return None
    execution = steps.first_execution(int(steps.numbers[0])) or 0
    row = first_row(snapshot, execution)
    if row is None:
        return TensorEvent("execution", execution, 0)
    return TensorEvent("graph_execution", row, run.graph_executions.site(row).output_slot)


def settle(snapshot: Snapshot, focus: Focus) -> Focus:
    """Return a focus that stands on something: in a pane that is open, and on what that shows."""
    if focus.why is None and pane_named(focus.pane).answers_why:
        focus = replace(focus, pane=focus.why_from or PANES[0].name)
    if not pane_named(focus.pane).is_there(snapshot):
        focus = replace(focus, pane=PANES[0].name)
    if focus.execution is not None or focus.graph_execution is not None:
        return pane_named(focus.pane).rows.look(snapshot, focus)
    first = replace(first_focus(snapshot), sorts=focus.sorts)
    untouched = focus == Focus(PANES[0].name, sorts=focus.sorts)
    return first if untouched else replace(first, pane=focus.pane)
