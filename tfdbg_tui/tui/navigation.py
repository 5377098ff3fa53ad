"""What keys and clicks do: functions from a snapshot and a focus to the next focus."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import TensorEvent, name_of
from tfdbg_tui.tui import alert_rows, card
from tfdbg_tui.tui.focus import (
    PANES,
    WHY_PANES,
    Focus,
    OpName,
    PaneName,
    Place,
    focus_alert,
    focus_event,
    focus_execution,
    focus_graph_execution,
    focus_op,
    focused_event,
)
from tfdbg_tui.tui.lists import ALERTS, FRAMES, LISTS, NEIGHBOURS, WAY
from tfdbg_tui.tui.matching import matches
from tfdbg_tui.tui.why_rows import shown_way

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.dataflow import Producer, Use
    from tfdbg_tui.tui.snapshot import Snapshot


class NowhereError(Exception):
    """There is nothing to go to; the message says so."""


def show_pane(focus: Focus, pane: PaneName) -> Focus:
    """Go to a pane."""
    return replace(focus, pane=pane)


def cycle_pane(focus: Focus, step: int) -> Focus:
    """Go to the next (1) or previous (-1) pane."""
    panes = WHY_PANES if focus.pane in WHY_PANES else PANES
    return replace(focus, pane=panes[(panes.index(focus.pane) + step) % len(panes)])


def move(snapshot: Snapshot, focus: Focus, rows: int) -> Focus:
    """Move by a number of rows in the focused pane, as far as they go."""
    pane_list = LISTS[focus.pane]
    position = pane_list.position(snapshot, focus)
    return move_to(snapshot, focus, 0 if position is None else position + rows)


def move_to(snapshot: Snapshot, focus: Focus, row: int) -> Focus:
    """Move to a row of the focused pane; a negative one counts from the end."""
    pane_list = LISTS[focus.pane]
    count = pane_list.count(snapshot, focus)
    if not count:
        return focus
    return pane_list.select(snapshot, focus, min(max(0, row), count - 1))


def last_row(snapshot: Snapshot, focus: Focus) -> Focus:
    """Move to the last row of the focused pane."""
    return move_to(snapshot, focus, LISTS[focus.pane].count(snapshot, focus) - 1)


def click(snapshot: Snapshot, focus: Focus, row: int) -> Focus:
    """Focus a row of the focused pane; where it is focused already, go one level deeper."""
    if LISTS[focus.pane].position(snapshot, focus) == row and focus.pane != "source_code":
        return enter(snapshot, focus)
    return move_to(snapshot, focus, row)


def copy_text(snapshot: Snapshot, focus: Focus) -> str:
    """Return what copying puts on the clipboard: a name, a fix, or ``path:line``."""
    if focus.pane in WHY_PANES:
        way = shown_way(snapshot, focus)
        return card.fix(way.finding) if way and way.finding else ""
    if focus.pane in ("source_code", "stack_trace"):
        return f"{focus.place.path}:{focus.place.line}" if focus.place else ""
    if focus.pane == "graph_structure":
        return focus.op.name if focus.op else ""
    event = focused_event(snapshot, focus)
    return name_of(snapshot.run, event) if event else ""


def step_alert(snapshot: Snapshot, focus: Focus, step: int) -> Focus:
    """Go to the next (1) or previous (-1) alert.

    Raises:
        NowhereError: There is none.
    """
    alerts = snapshot.alerts
    if not len(alerts):
        raise NowhereError("no tensor with NaN or ∞ has been recorded")
    position = alerts.position(focus.alert) if focus.alert else None
    if position is None:
        return focus_alert(snapshot, focus, _position_of_first(snapshot))
    target = position + step
    if not 0 <= target < len(alerts):
        raise NowhereError("this is the last alert" if step > 0 else "this is the first alert")
    return focus_alert(snapshot, focus, target)


def first_alert(snapshot: Snapshot, focus: Focus) -> Focus:
    """Go to the tensor that the trouble began with, in the pane that lists it.

    As long as the run has not been diagnosed, that is the first alert in order of time.

    Raises:
        NowhereError: There is none.
    """
    focus = step_alert(snapshot, replace(focus, alert=None), 1)
    return replace(focus, pane=_pane_of_subject(focus))


def enter(snapshot: Snapshot, focus: Focus) -> Focus:
    """Go one level deeper: alert, tensor, op, stack frame, source line."""
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
            return _enter_way(snapshot, focus)
        case "cause":
            return _to_source_of_cause(snapshot, focus)


def to_producer(snapshot: Snapshot, focus: Focus) -> Focus:
    """Go to what the focused tensor was computed from: a bad input first.

    Raises:
        NowhereError: It has no inputs, or none that is recorded.
    """
    event = focused_event(snapshot, focus)
    if event is None or _stands_on_op_alone(snapshot, focus):
        return _to_neighbour(snapshot, focus, "input")
    chosen = _best(snapshot, snapshot.sources(event))
    if chosen is None or chosen.event is None:
        if event.kind == "graph_execution":
            return _to_neighbour(snapshot, focus, "input")
        raise NowhereError("it has no recorded inputs")
    return _at_event(focus, focus_event(snapshot, focus, chosen.event))


def to_consumer(snapshot: Snapshot, focus: Focus) -> Focus:
    """Go to what was computed from the focused tensor: a bad result first.

    Raises:
        NowhereError: Nothing takes it.
    """
    event = focused_event(snapshot, focus)
    if event is None or _stands_on_op_alone(snapshot, focus):
        return _to_neighbour(snapshot, focus, "consumer")
    chosen = _best(snapshot, snapshot.dataflow.consumers(event))
    if chosen is None or chosen.event is None:
        if event.kind == "graph_execution":
            return _to_neighbour(snapshot, focus, "consumer")
        raise NowhereError("no recorded op takes it")
    return _at_event(focus, focus_event(snapshot, focus, chosen.event))


def why(snapshot: Snapshot, focus: Focus) -> Focus:
    """Show the way to the focused tensor, and stand on its root; or close that again.

    Raises:
        NowhereError: No tensor is focused.
    """
    if focus.pane in WHY_PANES:
        return close_why(snapshot, focus)
    event = _asked_about(snapshot, focus)
    if event is None:
        raise NowhereError("no tensor is focused")
    focus = replace(focus, why=event, why_from=focus.pane, pane="why", link=None, part=0)
    way = shown_way(snapshot, focus)
    return focus_event(snapshot, focus, way.links[way.start].event) if way else focus


def close_why(snapshot: Snapshot, focus: Focus) -> Focus:
    """Close the way to a tensor; the focus stays where it was moved to."""
    pane = focus.why_from if focus.pane in WHY_PANES else focus.pane
    return replace(focus, why=None, pane=pane)


def unfold(snapshot: Snapshot, focus: Focus, *, unfolded: bool) -> Focus:
    """Unfold or fold the focused row of Alerts or Why: a cause's alerts, a run of copies."""
    if not LISTS[focus.pane].count(snapshot, focus):
        return focus
    row = LISTS[focus.pane].position(snapshot, focus) or 0
    if focus.pane == "alerts":
        group = ALERTS.at(snapshot, focus, row).group
        if group is None:
            raise NowhereError("alerts are listed in order of time: r groups them by cause")
        return alert_rows.unfold(snapshot, focus, group, unfolded=unfolded)
    copies = WAY.fold_at(snapshot, focus, row)
    if copies is None:
        return focus
    opened = focus.open_copies | {copies} if unfolded else focus.open_copies - {copies}
    return replace(focus, open_copies=opened)


def toggle_in_time(snapshot: Snapshot, focus: Focus) -> Focus:
    """List each alert in order of time in Alerts, or their causes again.

    Raises:
        NowhereError: There are no causes to list.
    """
    if not focus.in_time and ALERTS.explanation(snapshot, focus) is None:
        raise NowhereError("the alerts have not been diagnosed yet")
    return replace(focus, in_time=not focus.in_time)


def step_frame(snapshot: Snapshot, focus: Focus, step: int) -> Focus:
    """Go one frame up to the caller (-1) or down to the callee (1).

    Raises:
        NowhereError: There is no such frame.
    """
    position = FRAMES.position(snapshot, focus)
    target = None if position is None else position + step
    if target is None or not 0 <= target < FRAMES.count(snapshot, focus):
        raise NowhereError("this is the outermost frame" if step < 0 else "the innermost frame")
    return FRAMES.select(snapshot, focus, target)


def toggle_library_frames(focus: Focus) -> Focus:
    """Fold or unfold the frames of libraries."""
    return replace(focus, library_frames=not focus.library_frames)


def toggle_bad_only(snapshot: Snapshot, focus: Focus) -> Focus:
    """List only tensors with NaN or ∞ in Graph Execution, or all again."""
    if not focus.bad_only and not len(snapshot.run.graph_executions.alert_rows):
        raise NowhereError("no graph execution with NaN or ∞ has been recorded")
    return replace(focus, bad_only=not focus.bad_only)


def latest(snapshot: Snapshot, focus: Focus) -> Focus:
    """Go to what was recorded last: in both lists of events, or in that of alerts."""
    if focus.pane in WHY_PANES:
        return focus
    if focus.pane == "alerts" and len(snapshot.alerts):
        return focus_alert(snapshot, focus, len(snapshot.alerts) - 1)
    run = snapshot.run
    graph_executions, executions = len(run.graph_executions), len(run.executions)
    eager = focus.pane == "timeline" or not graph_executions
    if graph_executions:
        focus = focus_graph_execution(snapshot, focus, graph_executions - 1)
    if executions and eager:
        focus = focus_execution(snapshot, focus, executions - 1)
    return focus


def looks_elsewhere(before: Focus, after: Focus) -> bool:
    """Whether the user has moved to another event, op or line, rather than to another pane."""
    return after != replace(
        before,
        pane=after.pane,
        library_frames=after.library_frames,
        bad_only=after.bad_only,
        in_time=after.in_time,
    )


def search(snapshot: Snapshot, focus: Focus, text: str, step: int, *, inclusive: bool) -> Focus:
    """Go to the next (1) or previous (-1) row of the focused pane that matches.

    Args:
        snapshot: The run.
        focus: The focus.
        text: What to look for; capital letters count only if it has any.
        step: Direction.
        inclusive: Whether the focused row itself may be the match.

    Raises:
        NowhereError: No row matches.
    """
    pane_list = LISTS[focus.pane]
    position = pane_list.position(snapshot, focus)
    start = 0 if position is None else position + (0 if inclusive else step)
    found = pane_list.find(snapshot, focus, text, start, step)
    if found is None:  # wrap around
        end = 0 if step > 0 else pane_list.count(snapshot, focus) - 1
        found = pane_list.find(snapshot, focus, text, end, step)
    if found is None:
        raise NowhereError(f"not found: {text}")
    return pane_list.select(snapshot, focus, found)


def goto(snapshot: Snapshot, focus: Focus, target: str) -> Focus:
    """Go to what `target` names.

    Args:
        snapshot: The run.
        focus: The focus.
        target: ``trace:88``, ``exec:12``, ``alert:3``, an index in the focused pane's list,
            ``file.py:120``, or a part of the name of an op.

    Raises:
        NowhereError: There is no such thing.
    """
    target = target.strip()
    if match := re.fullmatch(r"(?:(trace|exec|alert):)?(\d[\d,_]*)", target):
        index = int(re.sub(r"\D", "", match[2])[:18])
        return _goto_index(snapshot, focus, match[1], index)
    if match := re.fullmatch(r"(.+):(\d+)", target):
        place = find_place(snapshot, match[1], int(match[2][:9]))
        if place is not None:
            return replace(focus, place=place, pane="source_code")
    return _goto_op(snapshot, focus, target)


_LISTS_BY_PREFIX: dict[str, PaneName] = {
    "trace": "graph_execution",
    "exec": "timeline",
    "alert": "alerts",
}


def _goto_index(snapshot: Snapshot, focus: Focus, prefix: str | None, index: int) -> Focus:
    if prefix is None and focus.pane == "source_code":
        return move_to(snapshot, focus, index - 1)
    in_list = focus.pane in _LISTS_BY_PREFIX.values()
    pane = _LISTS_BY_PREFIX[prefix] if prefix else focus.pane if in_list else "graph_execution"
    moved = replace(focus, pane=pane, bad_only=False)
    events = snapshot.alerts if pane == "alerts" else None
    count = LISTS[pane].count(snapshot, moved) if events is None else len(events)
    if index >= count:
        raise NowhereError(f"there is no {index:,}: the last one is {count - 1:,}")
    return (
        move_to(snapshot, moved, index) if events is None else focus_alert(snapshot, moved, index)
    )


def find_place(snapshot: Snapshot, path: str, line: int) -> Place | None:
    """Return a line of the first source file whose path ends in `path`."""
    for host, known in snapshot.run.source_paths:
        if (
            known == path
            or known.endswith("/" + path.lstrip("/"))
            or (os.path.basename(known) == path)
        ):
            return Place(host, known, max(1, line))
    return None


def _goto_op(snapshot: Snapshot, focus: Focus, name: str) -> Focus:
    """Focus the op whose name fits best, and its first computation."""
    op_name = name.rpartition(":")[0] if re.search(r":\d+$", name) else name
    found: list[tuple[int, int, OpName]] = []
    for order, graph in enumerate(list(snapshot.run.graphs.values())):
        if op_name in graph.ops:
            found.append((0, order, OpName(graph.graph_id, op_name)))
            continue
        part = next((op for op in list(graph.ops) if matches(op_name, op)), None)
        if part is not None:
            found.append((1, order, OpName(graph.graph_id, part)))
    if not name or not found:
        raise NowhereError(f"no op, line or index is called {name!r}")
    # The same name is often in several graphs: one that was computed comes first.
    last = len(snapshot.run.graph_executions) - 1
    _, _, op = min(found, key=lambda f: (f[0], snapshot.computation(f[2], None, last) is None))
    row = snapshot.computation(op, None, last)
    if row is not None:
        focus = focus_graph_execution(snapshot, focus, row)
    return replace(focus_op(snapshot, focus, op), pane="graph_structure")


def _position_of_first(snapshot: Snapshot) -> int:
    """Return the position of the alert that the trouble began with.

    Within one call of a function the order of time need not be the order of cause and effect.
    """
    root = snapshot.explanation.root if snapshot.explanation else None
    return (snapshot.alerts.position(root) if root else None) or 0


def _enter_alert(snapshot: Snapshot, focus: Focus) -> Focus:
    """Unfold the alerts of a cause, or go to the tensor of an alert or a suspect."""
    if focus.alert is None:
        focus = step_alert(snapshot, focus, 1)
    group = None
    if focus.cause is not None and not focus.in_time and snapshot.explanation is not None:
        number = snapshot.explanation.group_of(focus.cause)
        group = None if number is None else snapshot.explanation.groups[number]
    if group is not None and len(group.alerts):
        unfolded = focus.cause not in focus.open_causes
        return alert_rows.unfold(snapshot, focus, group, unfolded=unfolded)
    focus = focus_event(snapshot, focus, focus.alert or snapshot.alerts[0])
    return replace(focus, pane=_pane_of_subject(focus))


def _enter_way(snapshot: Snapshot, focus: Focus) -> Focus:
    """Unfold a run of copies, or go to the pane that lists the tensor."""
    row = WAY.position(snapshot, focus)
    if row is None:
        return focus
    if WAY.rows(snapshot, focus)[row].folded:
        return unfold(snapshot, focus, unfolded=True)
    focus = WAY.select(snapshot, focus, row)
    return replace(focus, pane=_pane_of_subject(focus))


def _to_source_of_cause(snapshot: Snapshot, focus: Focus) -> Focus:
    """Go to the line that the card names.

    Raises:
        NowhereError: It names none.
    """
    way = shown_way(snapshot, focus)
    finding = way.finding if way else None
    if finding is None or finding.location is None:
        raise NowhereError("no line of the program is known")
    focus = focus_event(snapshot, focus, finding.event)
    place = find_place(snapshot, finding.location.file, finding.location.line)
    return replace(focus, place=place or focus.place, pane="source_code")


def _asked_about(snapshot: Snapshot, focus: Focus) -> TensorEvent | None:
    """Return the tensor that the user looks at."""
    if focus.pane == "alerts" and focus.alert is not None:
        return focus.alert
    if focus.pane == "graph_structure" and focus.op is not None:
        row = NEIGHBOURS.position(snapshot, focus)
        found = neighbour_event(snapshot, focus, row or 0)
        if found is None:
            raise NowhereError("no tensor of this op has been recorded")
        return found
    return focused_event(snapshot, focus)


def _pane_of_subject(focus: Focus) -> PaneName:
    return "timeline" if focus.subject == "execution" else "graph_execution"


def _op_is_elsewhere(snapshot: Snapshot, focus: Focus) -> bool:
    """Whether Graph Structure stands on another op than that of the focused graph execution."""
    if focus.graph_execution is None:
        return focus.op is not None
    site = snapshot.run.graph_executions.site(focus.graph_execution)
    return focus.op != OpName(site.graph_id, site.op_name)


def _stands_on_op_alone(snapshot: Snapshot, focus: Focus) -> bool:
    """Whether the user looks at an op of which no computation is focused."""
    return focus.subject == "op" and _op_is_elsewhere(snapshot, focus)


def _best(snapshot: Snapshot, links: Sequence[Producer] | Sequence[Use]) -> Producer | Use | None:
    """Return the first bad of the recorded tensors, or the first."""
    recorded = [link for link in links if link.event is not None]
    bad = (link for link in recorded if link.event and snapshot.is_bad(link.event))
    return next(bad, recorded[0] if recorded else None)


def _at_event(before: Focus, focus: Focus) -> Focus:
    """Stay in a pane that shows the newly focused event."""
    shows_ops = before.pane not in ("timeline", "graph_execution", "alerts")
    if shows_ops and focus.subject == "op":
        return focus
    return replace(focus, pane=_pane_of_subject(focus))


def _enter_neighbour(snapshot: Snapshot, focus: Focus) -> Focus:
    if focus.op is None:
        return focus
    row = NEIGHBOURS.position(snapshot, focus)
    neighbour = snapshot.neighbours(focus.op)[row or 0]
    if neighbour.role != "op":
        return _centre_on(snapshot, focus, row or 0)
    op = snapshot.run.op(focus.op.graph_id, focus.op.name)
    for graph_id in snapshot.dataflow.calls.called_graphs(op) if op else ():
        graph = snapshot.run.graphs.get(graph_id)
        if graph is not None and graph.ops:
            return focus_op(snapshot, focus, OpName(graph_id, next(reversed(graph.ops))))
    return replace(focus, pane="stack_trace")


def _to_neighbour(snapshot: Snapshot, focus: Focus, role: str) -> Focus:
    """Re-centre Graph Structure on the chosen input or consumer, or else on the first one."""
    if focus.op is None:
        raise NowhereError("no op is focused")
    rows = snapshot.neighbours(focus.op)
    chosen = focus.neighbour
    if chosen is None or rows[chosen].role != role:
        chosen = next((i for i, n in enumerate(rows) if n.role == role), None)
    if chosen is None:
        raise NowhereError("it has no inputs" if role == "input" else "nothing takes its outputs")
    return _centre_on(snapshot, focus, chosen)


def _centre_on(snapshot: Snapshot, focus: Focus, row: int) -> Focus:
    """Follow a row of Graph Structure: to the tensor it stands for, or just to its op."""
    assert focus.op is not None
    event = neighbour_event(snapshot, focus, row)
    if event is not None:
        return _at_event(focus, focus_event(snapshot, focus, event))
    neighbour = snapshot.neighbours(focus.op)[row]
    return focus_op(snapshot, focus, OpName(focus.op.graph_id, neighbour.op_name))


def neighbour_event(snapshot: Snapshot, focus: Focus, row: int) -> TensorEvent | None:
    """Return the recorded tensor that a row of Graph Structure stands for.

    Of an input what the focused tensor was computed from, wherever that was recorded; of a consumer
    the first tensor that it made after the focused one.
    """
    if focus.op is None:
        return None
    at = focus.graph_execution
    if at is None:
        at = len(snapshot.run.graph_executions) - 1
    neighbour = snapshot.neighbours(focus.op)[row]
    op = OpName(focus.op.graph_id, neighbour.op_name)
    here = focus.graph_execution is not None and not _op_is_elsewhere(snapshot, focus)
    if neighbour.role == "consumer":
        return snapshot.next_computation(op, at) if at >= 0 else None
    if neighbour.role == "op":
        index = at if here else snapshot.computation(op, None, at)
        return _graph_event(snapshot, index)
    focused = _graph_event(snapshot, focus.graph_execution) if here else None
    if focused is not None:
        for producer in snapshot.sources(focused):
            if producer.input_slot == neighbour.input_slot and producer.event is not None:
                return producer.event
    return _graph_event(snapshot, snapshot.computation(op, neighbour.output_slot, at))


def _graph_event(snapshot: Snapshot, index: int | None) -> TensorEvent | None:
    if index is None:
        return None
    slot = snapshot.run.graph_executions.site(index).output_slot
    return TensorEvent("graph_execution", index, slot)
