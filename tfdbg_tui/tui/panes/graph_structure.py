"""Graph Structure: the focused op between the tensors it takes and the ops that use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.navigation import neighbour_event
from tfdbg_tui.tui.panes.base import Pane
from tfdbg_tui.tui.panes.lists import NEIGHBOURS
from tfdbg_tui.tui.widgets import chips

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tfdbg_tui.tui.session.neighbours import Neighbour
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_SLOT_WIDTH = 8
_TYPE_WIDTH = 14


class GraphStructure(Pane):
    """The Graph Structure pane."""

    NAME = "graph_structure"
    TITLE = "Graph Structure"
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
        centre = NEIGHBOURS.centre(snapshot, op)
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
