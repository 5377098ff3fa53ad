"""Focusing what a tensor was computed from, and what was computed from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import TensorEvent
from tfdbg_tui.tui.session.focus import OpName
from tfdbg_tui.tui.session.focusing import focus_event, focus_op, focused_event
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis import Producer, Use
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


def focus_producer(snapshot: Snapshot, focus: Focus) -> Focus:
    """Focus what the focused tensor was computed from: a bad input first.

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
    return focus_event(snapshot, focus, chosen.event)


def focus_consumer(snapshot: Snapshot, focus: Focus) -> Focus:
    """Focus what was computed from the focused tensor: a bad result first.

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
    return focus_event(snapshot, focus, chosen.event)


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


def focus_neighbour(snapshot: Snapshot, focus: Focus, row: int) -> Focus:
    """Focus the tensor that a row of Graph Structure stands for, or just its op."""
    assert focus.op is not None
    event = neighbour_event(snapshot, focus, row)
    if event is not None:
        return focus_event(snapshot, focus, event)
    neighbour = snapshot.neighbours(focus.op)[row]
    return focus_op(snapshot, focus, OpName(focus.op.graph_id, neighbour.op_name))


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
    return focus_neighbour(snapshot, focus, chosen)


def _best(snapshot: Snapshot, links: Sequence[Producer] | Sequence[Use]) -> Producer | Use | None:
    """Return the first bad of the recorded tensors, or the first."""
    recorded = [link for link in links if link.event is not None]
    bad = (link for link in recorded if link.event and snapshot.is_bad(link.event))
    return next(bad, recorded[0] if recorded else None)


def _stands_on_op_alone(snapshot: Snapshot, focus: Focus) -> bool:
    """Whether the user looks at an op of which no computation is focused."""
    return focus.subject == "op" and _op_is_elsewhere(snapshot, focus)


def _op_is_elsewhere(snapshot: Snapshot, focus: Focus) -> bool:
    """Whether Graph Structure stands on another op than that of the focused graph execution."""
    if focus.graph_execution is None:
        return focus.op is not None
    site = snapshot.run.graph_executions.site(focus.graph_execution)
    return focus.op != OpName(site.graph_id, site.op_name)


def _graph_event(snapshot: Snapshot, index: int | None) -> TensorEvent | None:
    if index is None:
        return None
    slot = snapshot.run.graph_executions.site(index).output_slot
    return TensorEvent("graph_execution", index, slot)
