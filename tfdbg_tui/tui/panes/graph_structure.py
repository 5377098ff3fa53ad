"""Graph Structure: the focused op between the tensors it takes and the ops that use it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui.panes.base import Pane, PaneSpec
from tfdbg_tui.tui.panes.matching import matches
from tfdbg_tui.tui.panes.rows import Rows
from tfdbg_tui.tui.session.focus import OpName
from tfdbg_tui.tui.session.focusing import (
    focus_graph_execution,
    focus_op,
    focused_event,
    pane_of_subject,
)
from tfdbg_tui.tui.session.links import (
    focus_consumer,
    focus_neighbour,
    focus_producer,
    neighbour_event,
)
from tfdbg_tui.tui.session.nowhere import NowhereError
from tfdbg_tui.tui.widgets import chips

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from tfdbg_tui.diagnosis import TensorEvent
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.neighbours import Neighbour
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_SLOT_WIDTH = 8
_TYPE_WIDTH = 14


class NeighbourRows(Rows):
    """The op and its neighbours."""

    SIDEWAYS_JUMPS = True

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `Rows`."""
        return len(snapshot.neighbours(focus.op)) if focus.op else 0

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `Rows`."""
        if focus.op is None:
            return None
        if focus.neighbour is not None:
            return focus.neighbour
        return self.centre(snapshot, focus.op)

    def centre(self, snapshot: Snapshot, op: OpName) -> int:
        """Return the row of the op itself."""
        return next(i for i, n in enumerate(snapshot.neighbours(op)) if n.role == "op")

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `Rows`."""
        return replace(focus, neighbour=row)

    def texts(self, snapshot: Snapshot, focus: Focus) -> Sequence[str]:
        """See `Rows`."""
        rows = snapshot.neighbours(focus.op) if focus.op else ()
        return [f"{row.op_name} {row.op_type}" for row in rows]

    def enter(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: to the neighbour, into the function that the op calls, or to its creation."""
        if focus.op is None:
            return focus
        row = self.position(snapshot, focus) or 0
        if snapshot.neighbours(focus.op)[row].role != "op":
            return _shown(focus_neighbour(snapshot, focus, row))
        op = snapshot.run.op(focus.op.graph_id, focus.op.name)
        for graph_id in snapshot.dataflow.calls.called_graphs(op) if op else ():
            graph = snapshot.run.graphs.get(graph_id)
            if graph is not None and graph.ops:
                return focus_op(snapshot, focus, OpName(graph_id, next(reversed(graph.ops))))
        return replace(focus, pane="stack_trace")

    def step_sideways(self, snapshot: Snapshot, focus: Focus, step: int) -> Focus:
        """See `Rows`: to what the op takes, or to what takes its outputs."""
        to_neighbour = focus_producer if step < 0 else focus_consumer
        return _shown(to_neighbour(snapshot, focus))

    def tensor(self, snapshot: Snapshot, focus: Focus) -> TensorEvent | None:
        """See `Rows`: the one that the row stands for."""
        if focus.op is None:
            return focused_event(snapshot, focus)
        found = neighbour_event(snapshot, focus, self.position(snapshot, focus) or 0)
        if found is None:
            raise NowhereError("no tensor of this op has been recorded")
        return found

    def text(self, snapshot: Snapshot, focus: Focus) -> str:
        """See `Rows`."""
        return focus.op.name if focus.op else ""

    def go_to_name(self, snapshot: Snapshot, focus: Focus, name: str) -> Focus | None:
        """See `Rows`: to the op whose name fits best, and its first computation."""
        op_name = name.rpartition(":")[0] if re.search(r":\d+$", name) else name
        found: list[tuple[bool, int, OpName]] = []
        for order, graph in enumerate(list(snapshot.run.graphs.values())):
            exact = op_name in graph.ops
            part = next((op for op in list(graph.ops) if matches(op_name, op)), None)
            if exact or part is not None:
                op = OpName(graph.graph_id, op_name if exact else part or "")
                found.append((not exact, order, op))
        if not found:
            return None
        # The same name is often in several graphs: one that was computed comes first.
        last = len(snapshot.run.graph_executions) - 1
        _, _, op = min(found, key=lambda f: (f[0], snapshot.computation(f[2], None, last) is None))
        row = snapshot.computation(op, None, last)
        if row is not None:
            focus = focus_graph_execution(snapshot, focus, row)
        return focus_op(snapshot, focus, op)


ROWS = NeighbourRows()


def _shown(focus: Focus) -> Focus:
    """Stay with the op, or go to the pane that lists an execution outside of graphs."""
    return focus if focus.subject == "op" else replace(focus, pane=pane_of_subject(focus))


class GraphStructure(Pane):
    """The Graph Structure pane."""

    EMPTY = "No graph op selected. Choose a tensor in Graph Execution to see what surrounds its op."

    def row_state(self, row: int) -> Hashable:
        """See `VirtualList`."""
        return self.session.focus.op, self.session.focus.graph_execution, row == self.cursor

    def row(self, row: int, width: int) -> tuple[Line, str]:
        """See `VirtualList`."""
        snapshot, op = self.snapshot, self.session.focus.op
        assert op is not None
        neighbour = snapshot.neighbours(op)[row]
        selected = row == self.cursor
        mark = self.charset.focus if selected else " "
        health = self._health(row)
        room = width - _SLOT_WIDTH - 2 - chips.BRIEF - 2
        type_width = _TYPE_WIDTH if room > 2 * _TYPE_WIDTH + 4 else 0
        name = neighbour.op_name
        if neighbour.role == "input":
            name += f":{neighbour.output_slot}"
        cells: list[Cell] = [
            (mark + " ", ""),
            (f"{self._slot(neighbour):{_SLOT_WIDTH}}", "dim"),
            (
                self.charset.fit_name(name, room - type_width),
                "strong" if neighbour.role == "op" else "",
            ),
        ]
        if type_width:
            op_type = neighbour.op_type or "not recorded"
            cells.append((" " + self.charset.fit(op_type, type_width - 1), "dim"))
        behind = {"op": "focus", "input": "input", "consumer": "mark" if selected else ""}
        return (*cells, (" ", ""), *health, (" ", "")), behind[neighbour.role]

    def _slot(self, neighbour: Neighbour) -> str:
        if neighbour.role == "input":
            return f"in {neighbour.input_slot}"
        if neighbour.role == "op":
            return "op"
        arrow = self.charset.right
        return f"{self.charset.branch}:{neighbour.output_slot}{arrow}{neighbour.input_slot}"

    def _health(self, row: int) -> Line:
        snapshot = self.snapshot
        width = chips.BRIEF
        event = neighbour_event(snapshot, self.session.focus, row)
        if event is None:
            return chips.flush_right("not recorded", width, "faint")
        summary = snapshot.summary(event)
        if summary is None or summary.has_inf_or_nan is None:
            return chips.flush_right(f"#{event.index:,}", width, "dim")
        if summary.bad:
            return chips.brief(summary, self.charset)
        return chips.flush_right("finite", width, "good")

    def title_lines(self, width: int, height: int) -> tuple[Line, ...]:
        """See `Pane`: the graph and those that it was built in, and what it has around the op."""
        snapshot, op = self.snapshot, self.session.focus.op
        assert op is not None
        path = snapshot.run.graph_path(op.graph_id)
        names = [self.charset.safe(graph.name or "main graph") for graph in path]
        where = f" {self.charset.inside} ".join(names) or "unknown graph"
        rows = snapshot.neighbours(op)
        centre = ROWS.centre(snapshot, op)
        num_inputs, num_consumers = centre, len(rows) - centre - 1
        counts = f"{num_inputs:,} in, {num_consumers:,} out "
        room = width - len(counts) - 2
        return (
            (
                (" " + self.charset.fit(self.charset.fit_path(where, room), room), "call"),
                (" " + counts, "dim"),
            ),
        )

    def summary(self) -> str:
        """See `Pane`."""
        return ""


SPEC = PaneSpec(
    name="graph_structure",
    title="Graph Structure",
    short_title="Op",
    rows=ROWS,
    view=GraphStructure,
    tile=4,
    companion="graph_execution",
    keys=("why", "producer", "consumer"),
)
