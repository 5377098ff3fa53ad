"""What lists are narrowed to: a filter as it is typed, or one made of what is focused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import file_name, graph_id_of, op_type_of
from tfdbg_tui.query import (
    BAD_KINDS,
    OF_TENSORS,
    QueryError,
    kind_of,
    parse,
    selects_some,
    with_kind,
)
from tfdbg_tui.tui.navigation.asking_why import close_why
from tfdbg_tui.tui.navigation.chosen import chosen_tensor
from tfdbg_tui.tui.panes import PANES, graph_execution, pane_named
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis import TensorEvent
    from tfdbg_tui.query import Kind
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot

_BAD = "bad"
_USUAL_PANE = graph_execution.SPEC.name  # where the focused pane has no filter


def pane_to_filter(focus: Focus) -> str:
    """Return the name of the pane that a filter narrows: the focused one, if it can have one."""
    return focus.pane if pane_named(focus.pane).rows.VOCABULARY else _USUAL_PANE


def set_filter(focus: Focus, text: str) -> Focus:
    """List only what a filter selects; all again for "".

    Raises:
        NowhereError: It cannot be understood.
    """
    text = " ".join(text.split())
    pane = pane_to_filter(focus)
    rows, filtered = pane_named(pane).rows, replace(focus.filtered(pane, text), pane=pane)
    try:
        for part in (text, *(selection for _, selection in rows.selections(filtered))):
            parse(part, rows.VOCABULARY or OF_TENSORS)
    except QueryError as error:
        raise NowhereError(str(error)) from error
    return filtered


def _pane_of_tensors(focus: Focus) -> str:
    """Return the name of the pane that a filter of tensors narrows."""
    pane = pane_to_filter(focus)
    return pane if pane_named(pane).rows.VOCABULARY is OF_TENSORS else _USUAL_PANE


def next_kind(focus: Focus) -> Focus:
    """List only what holds NaN in the pane; then only −∞, only +∞, and all again."""
    focus = replace(focus, pane=_pane_of_tensors(focus))
    text = focus.filter_of(focus.pane)
    now = kind_of(text)
    later = BAD_KINDS[BAD_KINDS.index(now) + 1 :] if now else BAD_KINDS
    return set_filter(focus, with_kind(text, next(iter(later), None)))


def toggle_bad_only(snapshot: Snapshot, focus: Focus) -> Focus:
    """List only what holds NaN or ∞ in the pane, or all again.

    In a pane that lists nothing else, that is meant of Graph Execution.

    Raises:
        NowhereError: There is nothing.
    """
    pane = pane_to_filter(focus)
    if pane_named(pane).rows.ALL_BAD:
        pane = _USUAL_PANE
    if focus.filter_of(pane) == _BAD:
        return focus.filtered(pane, "")
    run = snapshot.run
    events = run.graph_executions if pane == _USUAL_PANE else run.executions
    if pane_named(pane).rows.VOCABULARY is OF_TENSORS and not len(events.alert_rows):
        raise NowhereError("nothing with NaN or ∞ has been recorded here")
    return focus.filtered(pane, _BAD)


def close(snapshot: Snapshot, focus: Focus) -> Focus:
    """Leave the order that the focused pane is sorted in; else its filter; else close Why."""
    if focus.sort_of(focus.pane):
        return focus.sorted_by(focus.pane, None)
    if focus.filter_of(focus.pane):
        return focus.filtered(focus.pane, "")
    return close_why(snapshot, focus)


def tensors_of_line(snapshot: Snapshot, focus: Focus) -> Focus:
    """List all tensors that the focused source line computes.

    Raises:
        NowhereError: No line is focused.
    """
    if focus.place is None:
        raise NowhereError("no line is focused")
    name = file_name(focus.place.path)
    return _only(snapshot, focus, f"line={_quoted(name)}:{focus.place.line}")


def tensors_of_type(snapshot: Snapshot, focus: Focus) -> Focus:
    """List all tensors that ops of the focused one's type compute.

    Raises:
        NowhereError: No tensor is focused, or the type of its op is not on record.
    """
    event = _focused(snapshot, focus)
    op_type = op_type_of(snapshot.run, event)
    if not op_type:
        raise NowhereError("the type of its op is not on record")
    return _only(snapshot, focus, f"type={_quoted(op_type)}", event.kind)


def tensors_of_function(snapshot: Snapshot, focus: Focus) -> Focus:
    """List all tensors computed in the function of the focused one.

    Raises:
        NowhereError: No tensor of a function is focused.
    """
    graph_id = graph_id_of(snapshot.run, _focused(snapshot, focus))
    graph = snapshot.run.graphs.get(graph_id) if graph_id else None
    if graph is None or not graph.name:
        raise NowhereError("it was not computed in a function")
    return _only(snapshot, focus, f"fn={_quoted(snapshot.graph_name(graph_id))}")


def _focused(snapshot: Snapshot, focus: Focus) -> TensorEvent:
    event = chosen_tensor(snapshot, focus)
    if event is None:
        raise NowhereError("no tensor is focused")
    return event


def _only(snapshot: Snapshot, focus: Focus, text: str, first: Kind = "graph_execution") -> Focus:
    """Filter the list of tensors of graphs, or of executions: the first that has such tensors.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        text: The filter.
        first: Which list is looked at first, and shown where neither has any.
    """
    lists = {
        kind: spec.name
        for spec in PANES
        if not spec.rows.ALL_BAD
        for kind, _ in spec.rows.selections(focus.filtered(spec.name, text))
    }
    query = parse(text, OF_TENSORS)
    kinds = sorted(lists, key=lambda kind: kind != first)
    found = (kind for kind in kinds if selects_some(snapshot.run, kind, query))
    pane = lists[next(found, first)]
    return replace(focus.filtered(pane, text), pane=pane)


def _quoted(text: str) -> str:
    return f'"{text}"' if any(map(str.isspace, text)) else text
