"""What each pane lists: how many rows, which is focused, what focusing another one means.

Pure functions of a snapshot and a focus.  Navigation moves through these lists; panes draw them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from tfdbg_tui.tui.panes.alert_rows import AlertList
from tfdbg_tui.tui.panes.matching import first_match, matches, rows_from
from tfdbg_tui.tui.panes.why_rows import CauseParts, ChainList
from tfdbg_tui.tui.session.focus import Focus, OpName, PaneName, Place
from tfdbg_tui.tui.session.focusing import focus_execution, focus_frame, focus_graph_execution
from tfdbg_tui.tui.session.folding import FoldedRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.tui.session.snapshot import Snapshot

_WINDOW = 1 << 16


class PaneList(Protocol):
    """The list in a pane."""

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """Return the number of rows."""

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """Return the focused row."""

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """Focus a row."""

    def find(
        self, snapshot: Snapshot, focus: Focus, text: str, start: int, step: int
    ) -> int | None:
        """Return the first row that matches `text` from row `start` on, going by `step` ±1."""


class ExecutionList:
    """The executions."""

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `PaneList`."""
        return len(snapshot.run.executions)

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `PaneList`."""
        return focus.execution

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `PaneList`."""
        return focus_execution(snapshot, focus, row)

    def find(
        self, snapshot: Snapshot, focus: Focus, text: str, start: int, step: int
    ) -> int | None:
        """See `PaneList`."""
        executions = snapshot.run.executions
        wanted = [
            matches(text, executions.kind_by_id(i).op_type) for i in range(executions.num_kinds)
        ]
        return _find_number(executions.kinds, wanted, start, step)


class GraphExecutionList:
    """The graph executions, or those of them that hold a NaN or an infinity."""

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `PaneList`."""
        executions = snapshot.run.graph_executions
        return len(executions.alert_rows) if focus.bad_only else len(executions)

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `PaneList`: the last row at or before the focus, where that is not listed."""
        if focus.graph_execution is None or not focus.bad_only:
            return focus.graph_execution
        rows = snapshot.run.graph_executions.alert_rows
        return max(0, int(rows.searchsorted(focus.graph_execution, side="right")) - 1)

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `PaneList`."""
        return focus_graph_execution(snapshot, focus, self.index(snapshot, focus, row))

    def index(self, snapshot: Snapshot, focus: Focus, row: int) -> int:
        """Return which graph execution is in a row."""
        return int(snapshot.run.graph_executions.alert_rows[row]) if focus.bad_only else row

    def find(
        self, snapshot: Snapshot, focus: Focus, text: str, start: int, step: int
    ) -> int | None:
        """See `PaneList`."""
        executions = snapshot.run.graph_executions
        wanted = [self._matches(snapshot, text, i) for i in range(executions.num_sites)]
        if not focus.bad_only:
            return _find_number(executions.site_ids, wanted, start, step)
        sites = executions.site_ids.take(executions.alert_rows[:])
        rows = rows_from(start, step, len(sites))
        return next((row for row in rows if wanted[int(sites[row])]), None)

    def _matches(self, snapshot: Snapshot, text: str, site_id: int) -> bool:
        site = snapshot.run.graph_executions.site_by_id(site_id)
        op = snapshot.run.op(site.graph_id, site.op_name)
        return matches(text, site.tensor_name) or (op is not None and matches(text, op.op_type))


class NeighbourList:
    """The op of Graph Structure and its neighbours."""

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `PaneList`."""
        return len(snapshot.neighbours(focus.op)) if focus.op else 0

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `PaneList`."""
        if focus.op is None:
            return None
        if focus.neighbour is not None:
            return focus.neighbour
        return self.centre(snapshot, focus.op)

    def centre(self, snapshot: Snapshot, op: OpName) -> int:
        """Return the row of the op itself."""
        return next(i for i, n in enumerate(snapshot.neighbours(op)) if n.role == "op")

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `PaneList`."""
        return replace(focus, neighbour=row)

    def find(
        self, snapshot: Snapshot, focus: Focus, text: str, start: int, step: int
    ) -> int | None:
        """See `PaneList`."""
        rows = snapshot.neighbours(focus.op) if focus.op else ()
        return first_match(
            rows_from(start, step, len(rows)),
            text,
            lambda row: f"{rows[row].op_name} {rows[row].op_type}",
        )


class SourceLines:
    """The lines of the focused source file."""

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `PaneList`."""
        return len(self.lines(snapshot, focus))

    def lines(self, snapshot: Snapshot, focus: Focus) -> Sequence[str]:
        """Return the text of the focused file; nothing where the dump does not hold it."""
        if focus.place is None:
            return ()
        source = snapshot.source(focus.place.host, focus.place.path)
        return source.lines if source else ()

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `PaneList`."""
        return focus.place.line - 1 if focus.place else None

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `PaneList`."""
        if focus.place is None:
            return focus
        return replace(focus, place=Place(focus.place.host, focus.place.path, row + 1))

    def find(
        self, snapshot: Snapshot, focus: Focus, text: str, start: int, step: int
    ) -> int | None:
        """See `PaneList`."""
        lines = self.lines(snapshot, focus)
        return first_match(rows_from(start, step, len(lines)), text, lambda row: lines[row])


class FrameList:
    """The frames of a stack trace, outermost first."""

    def rows(self, snapshot: Snapshot, focus: Focus) -> Sequence[FoldedRow]:
        """Return the rows; runs of library frames are one row unless they are unfolded."""
        if focus.library_frames:
            return [FoldedRow(i, i) for i in range(len(snapshot.frames(focus)))]
        return snapshot.folded_frames(focus)

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `PaneList`."""
        return len(self.rows(snapshot, focus))

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `PaneList`."""
        if focus.frame is None:
            return None
        rows = self.rows(snapshot, focus)
        return next((i for i, r in enumerate(rows) if r.first <= focus.frame <= r.last), None)

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `PaneList`."""
        return focus_frame(snapshot, focus, self.rows(snapshot, focus)[row].last)

    def find(
        self, snapshot: Snapshot, focus: Focus, text: str, start: int, step: int
    ) -> int | None:
        """See `PaneList`."""
        frames = snapshot.frames(focus)
        rows = self.rows(snapshot, focus)

        def name(row: int) -> str:
            inside = frames[rows[row].first : rows[row].last + 1]
            return " ".join(f"{frame.path} {frame.function}" for frame in inside)

        return first_match(rows_from(start, step, len(rows)), text, name)


ALERTS = AlertList()
GRAPH_EXECUTIONS = GraphExecutionList()
NEIGHBOURS = NeighbourList()
SOURCE_LINES = SourceLines()
FRAMES = FrameList()
CHAIN = ChainList()

LISTS: dict[PaneName, PaneList] = {
    "alerts": ALERTS,
    "timeline": ExecutionList(),
    "graph_execution": GRAPH_EXECUTIONS,
    "graph_structure": NEIGHBOURS,
    "source_code": SOURCE_LINES,
    "stack_trace": FRAMES,
    "why": CHAIN,
    "cause": CauseParts(),
}


class _Numbers(Protocol):
    def __len__(self) -> int: ...
    def __getitem__(self, rows: slice, /) -> object: ...


def _find_number(column: _Numbers, wanted: Sequence[bool], start: int, step: int) -> int | None:
    """Return the first row of a column of numbers whose number is wanted."""
    import numpy as np

    if not any(wanted):
        return None
    table = np.array(wanted)
    while 0 <= start < len(column):
        end = start + step * _WINDOW
        low, high = (start, end) if step > 0 else (max(0, end + 1), start + 1)
        found = np.flatnonzero(table[np.asarray(column[low:high])])
        if found.size:
            return low + int(found[0] if step > 0 else found[-1])
        start = end
    return None
