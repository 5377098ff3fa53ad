"""Focusing what a tensor was computed from, and what was computed from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.session.focus import OpName
from tfdbg_tui.tui.session.focusing import focus_event, focus_execution, focus_op
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tfdbg_tui.diagnosis import Node, TensorEvent
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot

_NOTHING_ASSIGNED = "what was assigned to the variable is not on record"


def focus_producer(snapshot: Snapshot, focus: Focus) -> Focus:
    """Focus what the focused tensor was computed from: a bad input first.

    Raises:
        NowhereError: It has no inputs, or none that is recorded.
    """
    node = _middle(snapshot, focus)
    sources = snapshot.sources(node.event) if node.event is not None else ()
    event = _best(snapshot, (source.event for source in sources))
    if event is not None:
        return focus_event(snapshot, focus, event)
    return _focus_first(snapshot, focus, snapshot.neighbours.inputs, "it has no recorded inputs")


def focus_consumer(snapshot: Snapshot, focus: Focus) -> Focus:
    """Focus what was computed from the focused tensor: a bad result first.

    Raises:
        NowhereError: Nothing takes it.
    """
    node = _middle(snapshot, focus)
    uses = snapshot.neighbours.recorded_uses(node.event) if node.event is not None else ()
    event = _best(snapshot, uses)
    if event is not None:
        return focus_event(snapshot, focus, event)
    nothing = "no recorded op takes it"
    graph = snapshot.run.graphs.get(node.graph_id or "")
    if graph is not None and snapshot.dataflow.calls.in_pipeline(graph.graph_id):
        nothing = "no op of the input pipeline takes it: what comes out there is IteratorGetNext's"
    return _focus_first(snapshot, focus, snapshot.neighbours.uses, nothing)


def focus_node(snapshot: Snapshot, focus: Focus, node: Node) -> Focus:
    """Focus the tensor of a node, or just its op where that left no record.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        node: The node.
    """
    if node.event is not None:
        return focus_event(snapshot, focus, node.event)
    if node.graph_id is None or node.kind == "variable":
        raise NowhereError(_NOTHING_ASSIGNED)
    return focus_op(snapshot, focus, OpName(node.graph_id, node.name), node.slot)


def cross(snapshot: Snapshot, focus: Focus, node: Node, *, upwards: bool) -> Focus:
    """Focus the first op behind a boundary, or else the call that Python made.

    Args:
        snapshot: The run.
        focus: The focus.
        node: The boundary.
        upwards: Whether to go to what it was computed from, rather than to what takes it.

    Raises:
        NowhereError: Nothing is known to lie behind it, nor the call of the function.
    """
    step = snapshot.neighbours.inputs if upwards else snapshot.neighbours.uses
    found = _first_op(node, step)
    if found is not None:
        return focus_node(snapshot, focus, found)
    if node.kind == "variable":
        raise NowhereError(_NOTHING_ASSIGNED if upwards else "no recorded op reads the variable")
    return _focus_call(snapshot, focus, node)


def _focus_call(snapshot: Snapshot, focus: Focus, node: Node) -> Focus:
    """Focus the execution of the function whose argument or result a boundary is."""
    index = None
    if node.graph_id is None and node.event is not None:
        index = node.event.index
    elif node.at is not None and snapshot.dataflow.calls.call_site(node.graph_id or "") is None:
        index = snapshot.dataflow.timeline.execution_of(node.at.row)
    if index is None:
        raise NowhereError("nothing on record lies behind it")
    return focus_execution(snapshot, focus, index)


def recorded_at(snapshot: Snapshot, node: Node) -> TensorEvent | None:
    """Return the record of a node's tensor: of a boundary, what was handed across it."""
    found, seen = node.event, {node}
    while node.is_boundary and (found is None or found.kind == "execution"):
        before = snapshot.neighbours.inputs(node)
        if not before or before[0] in seen:
            break
        node = before[0]
        seen.add(node)
        found = node.event or found
    return found


def _middle(snapshot: Snapshot, focus: Focus) -> Node:
    node = snapshot.middle(focus)
    if node is None:
        raise NowhereError("no op is focused")
    return node


def _focus_first(
    snapshot: Snapshot, focus: Focus, step: Callable[[Node], tuple[Node, ...]], nothing: str
) -> Focus:
    """Focus the first op, recorded or not, that steps lead to."""
    found = _first_op(_middle(snapshot, focus), step)
    if found is None:
        raise NowhereError(nothing)
    return focus_node(snapshot, focus, found)


def _first_op(node: Node, step: Callable[[Node], tuple[Node, ...]]) -> Node | None:
    seen = {node}
    while True:
        found = step(node)
        if not found or found[0] in seen:
            return None
        node = found[0]
        if not node.is_boundary:
            return node
        seen.add(node)


def _best(snapshot: Snapshot, events: Iterable[TensorEvent | None]) -> TensorEvent | None:
    """Return the first bad of some recorded tensors, or the first."""
    recorded = [event for event in events if event is not None]
    return next(filter(snapshot.is_bad, recorded), recorded[0] if recorded else None)
