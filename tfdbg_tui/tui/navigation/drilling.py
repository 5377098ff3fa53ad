"""One level deeper: from alert to tensor, op, stack frame, source line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui.navigation.alerts import step_alert
from tfdbg_tui.tui.navigation.finding import find_place
from tfdbg_tui.tui.navigation.links import centre_on
from tfdbg_tui.tui.navigation.moving import move_to
from tfdbg_tui.tui.navigation.nowhere import NowhereError
from tfdbg_tui.tui.navigation.showing import unfold
from tfdbg_tui.tui.panes import alert_rows
from tfdbg_tui.tui.panes.lists import CHAIN, FRAMES, LISTS, NEIGHBOURS
from tfdbg_tui.tui.panes.why_rows import shown_chain
from tfdbg_tui.tui.session.focus import Focus, OpName
from tfdbg_tui.tui.session.focusing import (
    focus_event,
    focus_execution,
    focus_graph_execution,
    focus_op,
    pane_of_subject,
)

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.snapshot import Snapshot


def enter(snapshot: Snapshot, focus: Focus) -> Focus:
    """Go one level deeper: alert, tensor, op, stack frame, source line.

    Raises:
        NowhereError: There is no alert, or no line that a cause names.
    """
    match focus.pane:
        case "alerts":
            return _enter_alert(snapshot, focus)
        case "timeline":
            if focus.execution is not None:
                focus = focus_execution(snapshot, focus, focus.execution, focus.slot)
            return replace(focus, pane="stack_trace")
        case "graph_execution":
            if focus.graph_execution is not None:
                focus = focus_graph_execution(snapshot, focus, focus.graph_execution)
            return replace(focus, pane="graph_structure")
        case "graph_structure":
            return _enter_neighbour(snapshot, focus)
        case "stack_trace":
            row = FRAMES.position(snapshot, focus)
            if row is not None and FRAMES.rows(snapshot, focus)[row].folded:
                return replace(focus, library_frames=True)
            return replace(focus, pane="source_code")
        case "source_code":
            return replace(focus, pane="stack_trace")
        case "why":
            return _enter_chain(snapshot, focus)
        case "cause":
            return _to_source_of_cause(snapshot, focus)


def click(snapshot: Snapshot, focus: Focus, row: int) -> Focus:
    """Focus a row of the focused pane; where it is focused already, go one level deeper."""
    if LISTS[focus.pane].position(snapshot, focus) == row and focus.pane != "source_code":
        return enter(snapshot, focus)
    return move_to(snapshot, focus, row)


def _enter_alert(snapshot: Snapshot, focus: Focus) -> Focus:
    """Unfold the alerts of a cause, or go to the tensor of an alert or a suspect."""
    if focus.alert is None:
        focus = step_alert(snapshot, focus, 1)
    group = None
    if focus.cause is not None and not focus.in_time and snapshot.explanation is not None:
        number = snapshot.explanation.group_of(focus.cause)
        group = None if number is None else snapshot.explanation.groups[number]
    if group is not None and group.num_alerts:
        unfolded = focus.cause not in focus.open_causes
        return alert_rows.unfold(snapshot, focus, group, unfolded=unfolded)
    focus = focus_event(snapshot, focus, focus.alert or snapshot.alerts[0])
    return replace(focus, pane=pane_of_subject(focus))


def _enter_neighbour(snapshot: Snapshot, focus: Focus) -> Focus:
    if focus.op is None:
        return focus
    row = NEIGHBOURS.position(snapshot, focus)
    neighbour = snapshot.neighbours(focus.op)[row or 0]
    if neighbour.role != "op":
        return centre_on(snapshot, focus, row or 0)
    op = snapshot.run.op(focus.op.graph_id, focus.op.name)
    for graph_id in snapshot.dataflow.calls.called_graphs(op) if op else ():
        graph = snapshot.run.graphs.get(graph_id)
        if graph is not None and graph.ops:
            return focus_op(snapshot, focus, OpName(graph_id, next(reversed(graph.ops))))
    return replace(focus, pane="stack_trace")


def _enter_chain(snapshot: Snapshot, focus: Focus) -> Focus:
    """Unfold a run of copies, or go to the pane that lists the tensor."""
    row = CHAIN.position(snapshot, focus)
    if row is None:
        return focus
    if CHAIN.rows(snapshot, focus)[row].folded:
        return unfold(snapshot, focus, unfolded=True)
    focus = CHAIN.select(snapshot, focus, row)
    return replace(focus, pane=pane_of_subject(focus))


def _to_source_of_cause(snapshot: Snapshot, focus: Focus) -> Focus:
    """Go to the line that the card names.

    Raises:
        NowhereError: It names none.
    """
    chain = shown_chain(snapshot, focus)
    finding = chain.finding if chain else None
    if finding is None or finding.location is None:
        raise NowhereError("no line of the program is known")
    focus = focus_event(snapshot, focus, finding.event)
    place = find_place(snapshot, finding.location.file, finding.location.line)
    return replace(focus, place=place or focus.place, pane="source_code")
