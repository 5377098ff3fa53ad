"""Graph Execution: every tensor computed inside a graph, in order, with its kinds of values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tfdbg_tui.diagnosis import TensorEvent, iteration_text
from tfdbg_tui.query import SORT_FIELDS
from tfdbg_tui.tui.panes.base import Pane, PaneSpec
from tfdbg_tui.tui.panes.event_rows import EventRows
from tfdbg_tui.tui.panes.trace_columns import (
    FLUSH_RIGHT,
    PATHS,
    TraceColumns,
    TraceRow,
    choose_columns,
)
from tfdbg_tui.tui.session.focusing import (
    focus_graph_execution,
    focused_event,
    look_at_graph_execution,
)
from tfdbg_tui.tui.terminal.text import compact, short_device
from tfdbg_tui.tui.widgets import chips
from tfdbg_tui.tui.widgets.cells import indented, width_of
from tfdbg_tui.tui.widgets.names import Column, in_column, with_columns
from tfdbg_tui.tui.widgets.virtual_list import DrawnRow

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from tfdbg_tui.logdir import GraphExecution
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_TALL = 9
_ROOMY = 11  # a pane this tall has a line more for all but the device, if that is cut else
_TITLES = {"type": "op type", "fn": "function", "name": "tensor"}  # of fields of the language
_COUNTS = {"-inf": "neg_inf", "+inf": "pos_inf"}  # the same in a `TensorSummary`


class GraphExecutionRows(EventRows):
    """The graph executions."""

    PANE = "graph_execution"
    KIND = "graph_execution"

    def columns(self, snapshot: Snapshot) -> Sequence[str]:
        """See `Rows`."""
        return SORT_FIELDS

    def total(self, snapshot: Snapshot) -> int:
        """See `EventRows`."""
        return len(snapshot.run.graph_executions)

    def focused(self, focus: Focus) -> int | None:
        """See `EventRows`."""
        return focus.graph_execution

    def focus_on(self, snapshot: Snapshot, focus: Focus, index: int) -> Focus:
        """See `EventRows`."""
        return focus_graph_execution(snapshot, focus, index)

    def look(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`."""
        if focus.subject == "op" or focus.graph_execution is None:
            return focus
        return look_at_graph_execution(snapshot, focus, focus.graph_execution)

    def enter(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: to the op that computed the tensor."""
        if focus.graph_execution is not None:
            focus = focus_graph_execution(snapshot, focus, focus.graph_execution)
        return replace(focus, pane="graph_structure")


ROWS = GraphExecutionRows()


class GraphExecutionPane(Pane):
    """The Graph Execution pane."""

    EMPTY = "No graph executions recorded."
    _inputs: frozenset[int] = frozenset()
    _several_devices = False
    _columns = TraceColumns()

    def forget_rows(self) -> None:
        """See `VirtualList`."""
        snapshot = self.session.snapshot
        self._several_devices = snapshot is not None and len(snapshot.run.devices) > 1
        super().forget_rows()

    def update(self) -> None:
        """See `VirtualList`."""
        self._inputs = self._input_rows()
        super().update()

    def fit_columns(self, rows: range, width: int) -> None:
        """See `VirtualList`."""
        shown = [self._trace_row(self._trace(row)) for row in rows]
        room = width - 3 - self._index_width(self.snapshot)
        self._columns = choose_columns(
            shown,
            room,
            self.charset,
            several_devices=self._several_devices,
            sorted_by=self._sorted_title,
        )

    @property
    def _sorted_title(self) -> str:
        """The title of the column that the list is sorted by."""
        sort = self.session.focus.sort_of(self.spec.name)
        return _TITLES.get(sort.column, sort.column) if sort else ""

    def _trace(self, row: int) -> GraphExecution:
        snapshot = self.snapshot
        return snapshot.graph_execution(ROWS.index(snapshot, self.session.focus, row))

    def _trace_row(self, trace: GraphExecution) -> TraceRow:
        return TraceRow(trace.tensor_name, self._facts(self.snapshot, trace), trace.summary)

    def _input_rows(self) -> frozenset[int]:
        """Return the graph executions that the focused tensor was computed from."""
        snapshot = self.session.snapshot
        event = focused_event(snapshot, self.session.focus) if snapshot else None
        if snapshot is None or event is None:
            return frozenset()
        made_by = (producer.event for producer in snapshot.sources(event))
        return frozenset(e.index for e in made_by if e and e.kind == "graph_execution")

    def belongs_to_cursor(self, row: int) -> bool:
        """See `VirtualList`: whether it is an input."""
        return ROWS.index(self.snapshot, self.session.focus, row) in self._inputs

    def row_state(self, row: int) -> Hashable:
        """See `VirtualList`."""
        index = ROWS.index(self.snapshot, self.session.focus, row)
        focused = index == self.session.focus.graph_execution
        return index, focused, index in self._inputs, self._columns

    def row(self, row: int, width: int) -> DrawnRow:
        """See `VirtualList`."""
        snapshot, columns = self.snapshot, self._columns
        index = ROWS.index(snapshot, self.session.focus, row)
        mark, behind = " ", ""
        if index in self._inputs:
            mark, behind = self.charset.input, "input"
        if index == self.session.focus.graph_execution:
            mark, behind = self.charset.focus, "focus"
        trace = snapshot.graph_execution(index)
        start: list[Cell] = [
            (mark + " ", ""),
            (f"{index:>{self._index_width(snapshot)}} ", "dim"),
        ]
        name = self.charset.safe(trace.tensor_name.removeprefix(columns.prefix))
        if trace.unreadable is not None:
            reason = self.charset.safe(f" unreadable: {trace.unreadable}")
            named = with_columns(name, columns.name, (), self.charset)
            above = indented(named.above, width_of(start))
            return DrawnRow((*start, (named.name, ""), (reason, "dim")), behind, above)
        facts, by = self._facts(snapshot, trace), self._sorted_title
        behind_name = [
            Column(facts[t], w, t in FLUSH_RIGHT, stays=t == by, is_path=t in PATHS)
            for t, w in columns.facts
        ]
        named = with_columns(name, columns.name, behind_name, self.charset)
        cells = (
            *start,
            (named.name, ""),
            *((text, "dim") for text in named.texts),
            *chips.columns(trace.summary, self.charset, columns.counts),
        )
        return DrawnRow(cells, behind, indented(named.above, width_of(start)))

    def _facts(self, snapshot: Snapshot, trace: GraphExecution) -> dict[str, str]:
        summary = trace.summary
        size = summary.size if summary else None
        rank = summary.rank if summary else None
        op = snapshot.run.op(trace.graph_id, trace.op_name)
        event = TensorEvent("graph_execution", trace.index, trace.output_slot)
        by = self._sorted_title
        layer = snapshot.layer(event)
        step = snapshot.step(event) if by == "step" or trace.step is not None else None
        if step is None and by == "step":
            step = snapshot.used_in.get(trace.index)
        return {
            "layer": self.charset.safe(layer.path) if layer else "",
            "device": self.charset.safe(short_device(trace.device)),
            "function": self.charset.safe(snapshot.graph_name(trace.graph_id)),
            "op type": self.charset.safe(trace.op_type or ""),
            "size": "" if size is None else compact(size),
            "dtype": (summary.dtype or "") if summary else "",
            "rank": "" if rank is None else f"{rank}D",
            "line": self.charset.safe(snapshot.line(op.stack_id) if op else ""),
            "min": self._number(summary.minimum if summary else None),
            "max": self._number(summary.maximum if summary else None),
            "step": "" if step is None else str(step),
            "iteration": "" if trace.iteration is None else str(trace.iteration),
        }

    def _number(self, value: float | None) -> str:
        """Return an extreme; "" where it was not measured, or there is no finite element."""
        return "" if value is None or math.isnan(value) else chips.number(value, self.charset)

    def _index_width(self, snapshot: Snapshot) -> int:
        return max(3, len(str(len(snapshot.run.graph_executions))))

    def title_lines(self, width: int, height: int) -> tuple[Line, ...]:
        """See `Pane`."""
        columns = self._columns
        chosen = self._sorted_title
        titles = [
            (self._titled(title, w), "strong" if title == chosen else "dim")
            for title, w in columns.facts
        ]
        name = f"tensor in {columns.prefix}" if columns.prefix else "tensor"
        if cell_len(name) > columns.name:
            name = self.charset.fit_path(name.removeprefix("tensor "), columns.name)
        name = self.charset.fit(name, columns.name)
        start = (f"  {'':{self._index_width(self.snapshot)}} ", "dim")
        named = (name, "strong" if chosen == "tensor" else "dim")
        kind = _COUNTS.get(chosen, chosen)
        counts = chips.column_titles(self.charset, columns.counts, kind)
        return ((start, named, *titles, *counts),)

    def _titled(self, title: str, width: int) -> str:
        return in_column(title, width, self.charset, flush_right=title in FLUSH_RIGHT)

    def foot(self, width: int, height: int) -> tuple[Line, ...]:
        """See `VirtualList`: the focused tensor in full."""
        snapshot, index = self.session.snapshot, self.session.focus.graph_execution
        trace = snapshot.graph_execution(index) if snapshot and index is not None else None
        if snapshot is None or trace is None or not self.row_count or height < _TALL:
            return ()
        event = TensorEvent("graph_execution", trace.index, trace.output_slot)
        facts = [
            (snapshot.step_text(event), "dim"),
            (snapshot.batch_text(event), "dim"),
            (iteration_text(trace.iteration), "dim"),
            (snapshot.process_text(event), "dim"),
            (self.charset.safe(chips.size_and_type(trace.summary)), "dim"),
            (self.charset.safe(short_device(trace.device)), "dim"),
        ]
        values = chips.chips(trace.summary, self.charset)
        if trace.unreadable is not None:
            values = ((self.charset.safe(f"unreadable: {trace.unreadable}"), "dim"),)
        name = self.name_in_full(trace.tensor_name, facts, width)
        lines = (*name, *self.layer_line(event), (("  ", ""), *values))
        blank = self.lines_left(height, len(lines))
        whole = self.name_in_full(trace.tensor_name, facts[:-1], width)[-1]
        if height >= _ROOMY and width_of(whole) > width:
            blank = max(1, blank)
        return self.on_blank_lines(lines, width, blank)

    def summary(self) -> str:
        """See `Pane`."""
        snapshot, index = self.session.snapshot, self.session.focus.graph_execution
        if snapshot is None or index is None:
            return ""
        total = len(snapshot.run.graph_executions)
        return self.position_and_filter(self.index_words(index, total)) + self.sort_words()


def _is_there(snapshot: Snapshot | None) -> bool:
    """Whether there are graph executions, or may be: of eager programs there are none."""
    if snapshot is None:
        return True
    run = snapshot.run
    ran_eagerly = run.progress.complete and len(run.executions) > 0
    return len(run.graph_executions) > 0 or not ran_eagerly


SPEC = PaneSpec(
    name="graph_execution",
    title="Graph Execution",
    short_title="Graph",
    rows=ROWS,
    view=GraphExecutionPane,
    tile=3,
    companions=("graph_structure",),
    keys=(
        *("first_alert", "why", "next_alert", "history"),
        *("producer", "consumer", "bad_only", "filter", "sort"),
    ),
    prefix="trace",
    total=lambda snapshot: len(snapshot.run.graph_executions),
    beside_why=frozenset({"wide"}),
    is_there=_is_there,
    missing="no tensors of graphs are recorded: eager ops are in Python Execution Timeline",
)
